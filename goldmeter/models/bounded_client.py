"""The HTTP client of every server that is asked: a reply is bounded in time and size, however it is sent."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from io import BytesIO
from typing import Any, BinaryIO

import httpx2

from goldmeter.errors import ModelError
from goldmeter.models.connections import trusted_certificates

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
