"""Limit on the duration and size of a response's body; the client's timeout limits only silence."""

import time
from collections.abc import Iterator
from typing import Any

import httpx2

MOST_BYTES = 1 << 22


class Deadline(httpx2.SyncByteStream):
    """A response's body; raises ReadTimeout after a deadline (seconds of `time.monotonic`), ReadError above 4 MiB."""

    def __init__(self, stream: Any, deadline: float) -> None:
        self._stream, self._deadline = stream, deadline

    def __iter__(self) -> Iterator[bytes]:
        size = 0
        for chunk in self._stream:
            size += len(chunk)
            if time.monotonic() > self._deadline:
                raise httpx2.ReadTimeout("the reply took too long")
            if size > MOST_BYTES:
                raise httpx2.ReadError("the reply is too large")
            yield chunk

    def close(self) -> None:
        self._stream.close()
