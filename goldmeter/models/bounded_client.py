"""The HTTP client of every server that is asked: a reply is bounded in time and size, however it is sent."""

import errno
import os
import socket
import ssl
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple
from urllib.parse import urlsplit
from urllib.request import proxy_bypass

import httpx2

from goldmeter.errors import ModelError

# Bytes of a reply, as received and as decompressed.
MOST_BYTES = 1 << 22
# Of the body of an error, which is quoted in part: clients parse it whole.
MOST_OF_AN_ERROR = 1 << 16
# Accepted compressions; a reply may use one. Two in a row would expand a block of 64 KiB to gigabytes.
CODINGS = ("gzip", "deflate")
# Seconds to establish a connection.
CONNECT = 10.0


class TooLargeError(httpx2.ReadError):
    """The reply has more bytes than allowed."""


class BoundedClient(httpx2.Client):
    """A client that reads replies whole, within limits, and follows no redirect: requests hold rows, prompts and keys.

    Replies are decoded as UTF-8, whatever charset they name. Of an error, the first 64 KiB of the body are kept.

    Args:
        seconds: Limit on a whole exchange: connection, interim replies, head, body and trailers.
        most_bytes: Limit on what is received, and on the decompressed body; a head has at most 100 KiB (httpcore).
        on_reply: Called with each reply that was read whole.
        on_lost: Called with each request whose reply was lost after a connection, and with why.
        options: As for `httpx2.Client`.

    Raises:
        ModelError: An environment variable names no certificates, or a proxy that can't be used.
    """

    def __init__(
        self,
        seconds: float,
        most_bytes: int = MOST_BYTES,
        *,
        on_reply: Callable[[httpx2.Response], None] = lambda _: None,
        on_lost: Callable[[httpx2.Request, httpx2.RequestError], None] = lambda *_: None,
        **options: Any,
    ) -> None:
        timeout = httpx2.Timeout(seconds, connect=min(CONNECT, seconds))
        headers = {"Accept-Encoding": ", ".join(CODINGS)}
        try:
            super().__init__(
                timeout=timeout, follow_redirects=False, headers=headers, verify=trusted_certificates(), **options
            )
        except ImportError:  # httpx2 asks for another package
            raise ModelError(
                "ALL_PROXY or HTTPS_PROXY names a SOCKS proxy; name one that begins with http://"
            ) from None
        self.seconds, self.most_bytes = seconds, most_bytes
        self._file: BinaryIO | None = None
        self._on_reply, self._on_lost = on_reply, on_lost

    @contextmanager
    def saving(self, file: BinaryIO) -> Iterator[None]:
        """Write the bodies of successful replies to a file during the `with` block, the last one from its beginning.

        Such a reply has no content. Only one thread may use the client meanwhile.
        """
        self._file = file
        try:
            yield
        finally:
            self._file = None

    def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        """Send a request and read its reply.

        Raises:
            httpx2.ReadTimeout: The exchange takes too long.
            TooLargeError: The reply is too large.
            httpx2.DecodingError: It is compressed in another way than was asked for.
        """
        exchange = _Exchange(time.monotonic() + self.seconds, self.most_bytes)
        request.extensions["trace"] = _bind
        token = _exchange.set(exchange)
        try:
            response = super().send(request, **options | {"stream": True, "follow_redirects": False})
            try:
                content = exchange.read(response, self._file if response.is_success else None)
            finally:
                response.close()
        except httpx2.RequestError as error:
            if not isinstance(error, _BEFORE):
                self._on_lost(request, error)
            raise
        finally:
            _exchange.reset(token)
        if not response.is_success:
            content = content[:MOST_OF_AN_ERROR]
        headers = [pair for pair in response.headers.raw if pair[0].lower() not in _OF_THE_BODY]
        whole = httpx2.Response(response.status_code, headers=headers, content=content, request=response.request)
        whole.encoding = "utf-8"
        self._on_reply(whole)
        return whole


# Errors before a request is sent.
_BEFORE = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout, httpx2.ProxyError)
# Headers that describe the body as it was sent.
_OF_THE_BODY = frozenset({b"content-encoding", b"content-length", b"transfer-encoding"})


class _Exchange:
    """The limits of one request and its reply; deadline: seconds of `time.monotonic`."""

    def __init__(self, deadline: float, most_bytes: int) -> None:
        self._deadline, self._most, self._received = deadline, most_bytes, 0

    def seconds(self, timeout: float | None) -> float:
        """Return the seconds that the next read or write may take."""
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise httpx2.ReadTimeout("the reply took too long")
        return left if timeout is None else min(timeout, left)

    def count(self, received: int) -> None:
        """Count bytes received."""
        self._received += received
        if self._received > self._most:
            raise TooLargeError("the reply is too large")

    def read(self, response: httpx2.Response, file: BinaryIO | None) -> bytes:
        """Return the body of a response, decompressed; with a file, write it there instead."""
        coding = response.headers.get("content-encoding", "").strip().lower()
        if coding not in ("", "identity", *CODINGS):
            raise httpx2.DecodingError(f"the reply is compressed by {coding[:60]!r}, which was not asked for")
        content, size = BytesIO(), 0
        sink = content if file is None else file
        if file is not None:
            file.seek(0)
            file.truncate()
        for piece in response.iter_bytes():
            self.seconds(None)
            size += len(piece)
            if size > self._most:
                raise TooLargeError("the reply is too large")
            sink.write(piece)
        return content.getvalue()


_exchange: ContextVar[_Exchange] = ContextVar("_exchange")


def _bind(event: str, info: dict[str, Any]) -> None:
    """Bind every new connection to the limits of the exchange that uses it: httpcore limits only single reads."""
    if event.endswith((".connect_tcp.complete", ".start_tls.complete")):
        stream = info["return_value"]
        stream.read, stream.write = partial(_read, stream.read), partial(_write, stream.write)


def _read(read: Callable[..., bytes], max_bytes: int, timeout: float | None = None) -> bytes:
    exchange = _exchange.get()
    received = read(max_bytes, timeout=exchange.seconds(timeout))
    exchange.count(len(received))
    return received


def _write(write: Callable[..., None], buffer: bytes, timeout: float | None = None) -> None:
    write(buffer, timeout=_exchange.get().seconds(timeout))


# Variables that name trusted certificates: those of OpenSSL, which the HTTP client reads, and those of other tools.
OF_OPENSSL = ("SSL_CERT_FILE", "SSL_CERT_DIR")
OF_OTHERS = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
NO_ROUTE = frozenset({errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN})


class ConnectionProblem(NamedTuple):
    """Why there is no connection. is_of_setup: a later attempt can't succeed."""

    sentence: str
    is_of_setup: bool = False


def trusted_certificates() -> ssl.SSLContext | bool:
    """Return the certificates that environment variables name; True for those of the HTTP client.

    Raises:
        ModelError: A variable names no file or folder of certificates.
    """
    variable = next((name for name in (*OF_OPENSSL, *OF_OTHERS) if os.environ.get(name)), None)
    if variable is None:
        return True
    path = Path(os.environ[variable])
    try:
        is_folder = path.is_dir()
        return ssl.create_default_context(
            cafile=None if is_folder else str(path), capath=str(path) if is_folder else None
        )
    except (OSError, ValueError) as error:
        raise ModelError(
            f"the environment variable {variable} names no certificates: {path}: {getattr(error, 'strerror', error)}; "
            "correct it, or unset it"
        ) from None


def connection_problem(error: BaseException, url: str, setting: str) -> ConnectionProblem | None:
    """Return why there was no connection to a server; None if there was one.

    Args:
        error: Of the HTTP client, or one that it caused.
        url: The address of the server.
        setting: The path in params.yaml of the address.
    """
    causes = [*_causes(error)]
    names = {type(cause).__name__ for cause in causes}
    if not names & {"ConnectError", "ConnectTimeout", "ProxyError"}:
        return None
    host, proxy = urlsplit(url).hostname or "", proxy_variable(url)
    if "ProxyError" in names:
        said = next(str(cause) for cause in causes if type(cause).__name__ == "ProxyError")
        sentence = f"the proxy in {proxy} refuses the connection ({said}); correct {proxy}, or list {host} in NO_PROXY"
        return ConnectionProblem(sentence, is_of_setup=True)
    if (of_tls := next((cause for cause in causes if isinstance(cause, ssl.SSLError)), None)) is not None:
        return ConnectionProblem(_of_tls(of_tls, host, setting), is_of_setup=True)
    os_errors = [cause for cause in causes if isinstance(cause, OSError)]
    whose = f"the proxy in {proxy}" if proxy else _shown(url)
    what = _what_failed(os_errors, whose, is_timeout="ConnectTimeout" in names) or f"{whose}: {causes[-1]}"
    behind = "" if proxy else "; behind a proxy, set HTTPS_PROXY"
    return ConnectionProblem(f"{what}; correct {proxy or setting}, or check the network{behind}")


def _what_failed(errors: Sequence[OSError], whose: str, *, is_timeout: bool) -> str | None:
    """Return what failed before a connection was there; None if it is unknown."""
    if any(isinstance(one, socket.gaierror) for one in errors):
        return f"the name of {whose} is not known"
    if any(isinstance(one, ConnectionRefusedError) for one in errors):
        return f"nothing listens at {whose}: is it started?"
    if any(one.errno in NO_ROUTE for one in errors):
        return f"the network has no way to {whose}"
    return f"{whose} does not answer when a connection is opened" if is_timeout else None


def proxy_variable(url: str) -> str | None:
    """Return the environment variable that names the proxy to a server; None if it is asked directly."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    names = (f"{parts.scheme}_proxy", "all_proxy")
    variable = next((name for one in names for name in (one, one.upper()) if os.environ.get(name)), None)
    return None if variable is None or proxy_bypass(host) else variable


def _of_tls(error: ssl.SSLError, host: str, setting: str) -> str:
    if not isinstance(error, ssl.SSLCertVerificationError):
        why = getattr(error, "reason", None) or error
        return f"{host} does not speak TLS ({why}); if it is a server without TLS, begin {setting} with http://"
    said = error.verify_message
    if error.verify_code in _OTHER_NAME:
        return f"the certificate of {host} is not accepted ({said}); use a name that it holds in {setting}"
    if error.verify_code == _EXPIRED:
        return f"the certificate of {host} is not accepted ({said}); check the clock, or have it renewed"
    return (
        f"the certificate of {host} is not accepted ({said}); name the file with the certificates of your organisation "
        "in the environment variable SSL_CERT_FILE"
    )


# Codes of OpenSSL: another name, another address; expired.
_OTHER_NAME, _EXPIRED = frozenset({62, 64}), 10


def _shown(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.hostname}:{parts.port}" if parts.port else str(parts.hostname)


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and what caused it, each once."""
    seen = set[int]()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        yield current
        current = current.__cause__ or current.__context__
