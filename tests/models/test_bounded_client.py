"""Replies of hostile servers end within their limits."""

import gzip
from itertools import chain, count, repeat

import httpx2
import pytest

from goldmeter.models.bounded_client import BoundedClient, TooLargeError
from tests.raw_server import at_once, dripping, raw_server

OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
ENDLESS = {
    "silence": (),
    "interim replies": repeat(b"HTTP/1.1 102 Processing\r\n\r\n"),
    "lines of a head": chain([OK], (b"X-%d: 1\r\n" % i for i in count())),
    "bytes of a head": chain([OK + b"X-Long: "], repeat(b"x")),
    "a body": chain([OK + b"Content-Length: 100000\r\n\r\n"], repeat(b" ")),
    "chunks": chain([CHUNKED], repeat(b"1\r\n \r\n")),
    "trailers": chain([CHUNKED + b"2\r\n{}\r\n0\r\n"], repeat(b"X: 1\r\n")),
    "empty blocks of deflate": chain([CHUNKED.replace(b"Tr", b"Content-Encoding: deflate\r\nTr", 1)],
                                     [b"2\r\n\x78\x9c\r\n"], repeat(b"5\r\n\x00\x00\x00\xff\xff\r\n")),
}  # fmt: skip


@pytest.mark.parametrize("pieces", ENDLESS.values(), ids=ENDLESS)
def test_an_exchange_ends_in_time_whatever_drips(pieces):
    endless = chain(pieces, repeat(b"", 100_000))

    with raw_server(dripping(endless)) as server, BoundedClient(0.3) as client, pytest.raises(httpx2.ReadTimeout):
        client.post(server.url, content=b"{}")


@pytest.mark.parametrize(
    "reply",
    [
        OK + b"Content-Length: 5000000\r\n\r\n" + b" " * 5_000_000,
        OK + b"Content-Encoding: gzip\r\n\r\n" + gzip.compress(bytes(1 << 24)),
    ],
    ids=["plain", "gzip"],
)
def test_a_reply_that_is_too_large_is_refused(reply):
    with raw_server(at_once(reply)) as server, BoundedClient(20) as client, pytest.raises(TooLargeError):
        client.post(server.url)


@pytest.mark.parametrize("coding", [b"gzip, gzip", b"br", b"zstd", b"x" * 1000])
def test_a_compression_that_nobody_asked_for_is_refused(coding):
    reply = OK + b"Content-Encoding: " + coding + b"\r\n\r\n" + gzip.compress(gzip.compress(bytes(1 << 24)))

    with raw_server(at_once(reply)) as server, BoundedClient(20) as client, pytest.raises(httpx2.DecodingError):
        client.post(server.url)


@pytest.mark.exhaustive
def test_interim_replies_without_end_are_too_large():
    flood = at_once(b"HTTP/1.1 102 Processing\r\n\r\n" * 200_000)

    with raw_server(flood) as server, BoundedClient(60) as client, pytest.raises(TooLargeError):
        client.post(server.url)


def test_a_head_without_end_is_refused():
    head = at_once(OK + b"X-Long: " + b"x" * 200_000)

    with raw_server(head) as server, BoundedClient(20) as client, pytest.raises(httpx2.RemoteProtocolError):
        client.post(server.url)


def test_a_header_may_hold_any_byte():
    reply = OK + b"Retry-After: \xff\r\n\r\n{}"

    with raw_server(at_once(reply)) as server, BoundedClient(20) as client:
        response = client.post(server.url)

    assert response.text == "{}"
    assert (b"Retry-After", b"\xff") in response.headers.raw


def test_of_the_body_of_an_error_the_beginning_is_kept():
    error = b"HTTP/1.1 500 No\r\n\r\n" + b"x" * 1_000_000

    with raw_server(at_once(error)) as server, BoundedClient(20) as client:
        assert client.post(server.url).text == "x" * 65_536


@pytest.mark.parametrize("status", [302, 303, 307])
def test_a_redirect_is_not_followed(status):
    with raw_server(at_once(OK + b"\r\n")) as stranger:
        moved = f"HTTP/1.1 {status} Moved\r\nLocation: {stranger.url}/v1\r\nContent-Length: 0\r\n\r\n"
        with raw_server(at_once(moved.encode())) as server, BoundedClient(20) as client:
            assert client.post(server.url, content=b"rows").status_code == status

    assert stranger.requests == []


def test_limits_are_of_each_exchange_on_a_connection_that_is_used_again():
    def script(connection, _):
        for _ in range(4):
            connection.sendall(OK + b"Content-Length: 600\r\n\r\n" + b"x" * 600)
            connection.recv(1 << 16)

    with raw_server(script) as server, BoundedClient(20, 1000) as client:
        for _ in range(3):
            assert len(client.get(server.url).content) == 600
    assert len(server.requests) == 1


@pytest.mark.parametrize("charset", ["hex", "undefined", "utf-16", "no such", "\x7f"])
def test_a_reply_is_utf8_whatever_charset_it_names(charset):
    head = OK + f"Content-Type: application/json; charset={charset}\r\n\r\n".encode()

    with raw_server(at_once(head + "Zürich".encode() + b"\xff")) as server, BoundedClient(20) as client:
        assert client.get(server.url).text == "Zürich\N{REPLACEMENT CHARACTER}"


def test_a_decompressed_reply_is_whole_and_its_head_no_longer_names_the_compression():
    body = gzip.compress(b"text" * 10_000)
    head = OK + b"Content-Encoding: gzip\r\nX-Request-Id: 1\r\nContent-Length: %d\r\n\r\n" % len(body)

    with raw_server(at_once(head + body)) as server, BoundedClient(20) as client:
        response = client.get(server.url)

    assert (response.text, response.headers["x-request-id"]) == ("text" * 10_000, "1")
    assert "content-encoding" not in response.headers
