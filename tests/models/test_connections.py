"""No connection: each cause is its own sentence, with the setting or the variable that helps."""

import datetime as dt
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import httpx2
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.errors import ModelError, ServerError
from goldmeter.models import bounded_client
from goldmeter.models.bounded_client import connection_problem, trusted_certificates
from goldmeter.models.chat.client import Chat
from goldmeter.models.chat.exchange import Endpoint
from goldmeter.models.chat.limits import ConcurrencyLimit
from goldmeter.models.embedding.remote import OpenAIEncoder
from goldmeter.models.servers import open_client
from tests.judge_server import NO_KEY
from tests.raw_server import at_once, raw_server

VARIABLES = ("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
PROXIES = [name for one in ("http_proxy", "https_proxy", "all_proxy", "no_proxy") for name in (one, one.upper())]
START = dt.datetime(2020, 1, 1, tzinfo=dt.UTC)


@pytest.fixture
def unused_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*VARIABLES, *PROXIES):
        monkeypatch.delenv(name, raising=False)


class Certificate(NamedTuple):
    path: Path
    context: ssl.SSLContext


def certificate(folder: Path, *, years: int = 100) -> Certificate:
    """A certificate of `localhost`, signed by itself."""
    key, name = (
        ec.generate_private_key(ec.SECP256R1()),
        x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "test")]),
    )
    built = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(START)
        .not_valid_after(START.replace(year=START.year + years))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    path = folder / "certificate.pem"
    path.write_bytes(built.public_bytes(serialization.Encoding.PEM))
    kinds = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    both = folder / "both.pem"
    both.write_bytes(path.read_bytes() + key.private_bytes(serialization.Encoding.PEM, *kinds))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(both)
    return Certificate(path, context)


@contextmanager
def tls_server(context: ssl.SSLContext) -> Iterator[int]:
    """The port of a server with TLS, whose reply to anything is a completion."""
    content = b'{"choices": [{"message": {"content": "{}"}}]}'
    reply = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%b" % (len(content), content)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        ended = threading.Event()

        def serve() -> None:
            while not ended.is_set():
                connection, _ = listening.accept()
                with suppress(OSError), connection, context.wrap_socket(connection, server_side=True) as secure:
                    secure.settimeout(5)
                    received = b""
                    while not received.endswith(b"}"):
                        received += secure.recv(1 << 16) or b"}"
                    secure.sendall(reply)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield listening.getsockname()[1]
        finally:
            ended.set()
            socket.create_connection(listening.getsockname()).close()
            thread.join()


def ask(url: str) -> str | None:
    endpoint = Endpoint(url, "m", NO_KEY, 5.0, 0)
    with Chat(endpoint, ConcurrencyLimit(1)) as chat:
        return chat.ask("", "row", None).text


@pytest.mark.parametrize("variable", ["SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"])
def test_certificates_that_a_variable_names_are_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    own = certificate(tmp_path)
    monkeypatch.setenv(variable, str(own.path))

    with tls_server(own.context) as port:
        assert ask(f"https://localhost:{port}/v1") == "{}"


def test_an_unknown_certificate_names_the_variable_that_helps(tmp_path: Path) -> None:
    with (
        tls_server(certificate(tmp_path).context) as port,
        pytest.raises(ModelError, match=r"certificate of localhost .*self-signed.* SSL_CERT_FILE") as refused,
    ):
        ask(f"https://localhost:{port}/v1")
    assert not isinstance(refused.value, ServerError)


def test_a_certificate_of_another_name_asks_for_that_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = certificate(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(own.path))

    with tls_server(own.context) as port, pytest.raises(ModelError, match=r"a name that it holds in judge\.base_url"):
        ask(f"https://127.0.0.1:{port}/v1")


def test_an_expired_certificate_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = certificate(tmp_path, years=1)
    monkeypatch.setenv("SSL_CERT_FILE", str(own.path))

    with tls_server(own.context) as port, pytest.raises(ModelError, match=r"expired.*have it renewed"):
        ask(f"https://localhost:{port}/v1")


def test_a_server_without_tls_is_told_from_one_with_a_wrong_certificate() -> None:
    error = chained("ConnectError", ssl.SSLError(1, "[SSL: WRONG_VERSION_NUMBER]"))

    found = connection_problem(error, "https://localhost:8000/v1", "judge.base_url")

    assert found
    assert "does not speak TLS" in found.sentence
    assert found.sentence.endswith("begin judge.base_url with http://")


@pytest.mark.parametrize("variable", VARIABLES)
@pytest.mark.parametrize("content", [None, "no certificate"])
def test_a_variable_that_names_no_certificates_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str, content: str | None
) -> None:
    path = tmp_path / "bundle.pem"
    if content:
        path.write_text(content)
    monkeypatch.setenv(variable, str(path))

    with pytest.raises(ModelError, match=f"{variable} names no certificates: {path}"):
        trusted_certificates()


def test_a_port_where_nothing_listens(unused_port: int) -> None:
    with pytest.raises(ServerError, match=rf"nothing listens at 127\.0\.0\.1:{unused_port}: is it started\?"):
        ask(f"http://127.0.0.1:{unused_port}/v1")


def test_a_name_that_nobody_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: object, **__: object) -> None:
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)

    with pytest.raises(ServerError, match=r"the name of models\.example is not known.*HTTPS_PROXY"):
        ask("http://models.example/v1")


def test_a_proxy_that_refuses_is_named_by_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    refused = b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n"
    with raw_server(at_once(refused)) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", proxy.url)

        with pytest.raises(ModelError, match=r"the proxy in HTTPS_PROXY .*407.* list models\.example in NO_PROXY"):
            ask("https://models.example/v1")


def test_a_proxy_that_is_down_is_named_by_its_variable(monkeypatch: pytest.MonkeyPatch, unused_port: int) -> None:
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{unused_port}")

    with pytest.raises(ServerError, match=r"nothing listens at the proxy in http_proxy.*correct http_proxy"):
        ask("http://models.example/v1")


def test_a_proxy_of_another_kind_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "socks5://127.0.0.1:9")

    with pytest.raises(ModelError, match="a SOCKS proxy"):
        ask("http://models.example/v1")


def test_a_connection_that_takes_too_long_is_no_slow_reply() -> None:
    error = chained("ConnectTimeout", TimeoutError("timed out"))

    found = connection_problem(error, "http://models.example:81/v1", "judge.base_url")

    assert found
    assert found.sentence.startswith("models.example:81 does not answer when a connection is opened")
    assert connection_problem(chained("ReadTimeout", TimeoutError()), "http://m/v1", "judge.base_url") is None


def test_embeddings_say_the_same(unused_port: int) -> None:
    encoder = OpenAIEncoder("m", f"http://127.0.0.1:{unused_port}/v1", None, 100)

    with pytest.raises(ServerError, match=r"nothing listens at .* correct embed\.base_url"):
        encoder.encode(["a"])


def chained(name: str, cause: BaseException) -> BaseException:
    """An error of the HTTP client with its cause."""
    error: BaseException = getattr(httpx2, name)("no")
    error.__cause__ = cause
    return error


@given(
    st.sampled_from(["ConnectError", "ConnectTimeout", "ProxyError"]),
    st.builds(OSError, st.integers(-20, 200), st.text()) | st.builds(ssl.SSLError, st.text()),
    st.sampled_from(["http://h/v1", "https://[::1]:8000", "http://h:81/v1?api-version=1"]),
)
def test_any_failure_is_a_sentence(name: str, cause: BaseException, url: str) -> None:
    found = connection_problem(chained(name, cause), url, "judge.base_url")

    assert found
    assert found.sentence


@pytest.mark.parametrize(
    ("base_url", "path"),
    [
        ("/v1", b"/v1/chat/completions"),
        ("/openai/deployments/d?api-version=2026-01", b"/openai/deployments/d/chat/completions?api-version=2026-01"),
        ("/v1/?a=1&b=", b"/v1/chat/completions?a=1&b="),
    ],
)
def test_what_follows_a_question_mark_in_base_url_is_kept(base_url: str, path: bytes) -> None:
    reply = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"

    with raw_server(at_once(reply)) as server, bounded_client.BoundedClient(5) as http:
        open_client(f"{server.url}{base_url}", None, 0, http).post("/chat/completions", body={}, cast_to=object)
        assert server.requests[0].startswith(b"POST %b HTTP/1.1\r\n" % path)
