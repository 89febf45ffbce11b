"""A server on loopback whose replies are drawn from a seeded grammar: a request's path names kind and seed."""

import gzip
import json
import socket
import struct
import sys
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache, partial
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random
from socketserver import StreamRequestHandler, ThreadingTCPServer
from threading import Thread
from typing import Any, NamedTuple, TypeVar

from benchmarks.torture.damaged_files import mutated

Choice = TypeVar("Choice")
KEY = "sk-torture-5a1d0c7be2"
# Seconds between two bytes of a reply that drips; connections that send nothing more are held for so long.
PAUSE, HELD = 0.03, 20.0
LARGE = 30_000_000
HTML = b"<!doctype html><html><head><title>Sign in</title></head><body>It works!</body></html>"
NULLS = (b"null", b"[]", b"{}", b'""', b"0", b"true", b"NaN", b"", b"\x00", b"\xff\xfe{\x00}\x00", b"\xef\xbb\xbf{}")
ODD: Sequence[Any] = (
    None, True, 0, -1, 10**400, 1e308, -0.0, float("nan"), float("inf"), "", "x" * 100_000, "\ud800", "\x00\x1b[2J",
    KEY, [], [[]], {}, {"": None}, [1e308, 1e308], [0.0, 0.0], ["a"], [None],
)  # fmt: skip
SOUND: dict[str, Any] = {
    "judge": {
        "id": "1", "object": "chat.completion", "created": 0, "model": "judge-1",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {
            "role": "assistant", "content": '{"nonce": "n", "reason": "same", "verdict": true}'}}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
    },
    "embedding": {
        "object": "list", "model": "m", "usage": {"prompt_tokens": 2, "total_tokens": 2},
        "data": [{"object": "embedding", "index": i, "embedding": [0.6, 0.8, float(i)]} for i in range(2)],
    },
    "webhook": {"ok": True},
}  # fmt: skip
STATUSES = (
    b"200 OK", b"201 Created", b"204 No Content", b"206 Partial Content", b"301 Moved", b"302 Found",
    b"303 See Other", b"307 Temporary Redirect", b"308 Permanent Redirect", b"304 Not Modified",
    b"400 Bad Request", b"401 Unauthorized", b"402 Payment Required", b"404 Not Found", b"408 Request Timeout",
    b"409 Conflict", b"418 Teapot", b"422 Unprocessable", b"429 Too Many Requests", b"500 Internal Server Error",
    b"503 Service Unavailable", b"599 ?", b"099 Low", b"999 High", b"200", b"-1 No", b"2\xb2\xb2 No", b"",
)  # fmt: skip
CHARSETS = (b"utf-8", b"utf-16", b"utf-7", b"hex", b"zip", b"idna", b"undefined", b"no such", b"\x7f", b'"')


class Reply(NamedTuple):
    """The bytes of a reply, and how they are sent.

    drips_from: bytes before the first pause. cut: bytes that are sent; None: all. end: close, reset or hold.
    """

    content: bytes
    drips_from: int
    cut: int | None
    end: str


def drawn(kind: str, seed: str, elsewhere: str) -> Reply:
    """Return the reply to a request of a kind; elsewhere: where redirects point to."""
    rng = Random(seed)  # noqa: S311 (a seed repeats the reply)
    body, coding = _odd_one(CODINGS, rng)(_odd_one(BODIES, rng)(SOUND[kind], rng), rng)
    framing, sent = _odd_one(FRAMINGS, rng)(body, rng)
    types = b"Content-Type: " + rng.choice((b"application/json", b"text/html", b"*", b""))
    head = b"\r\n".join([
        b"HTTP/1.1 " + _odd_one(STATUSES, rng), types + b"; charset=" + _odd_one(CHARSETS, rng),
        f"Location: {elsewhere}/{seed}".encode(), *coding, *framing, *_odd_one(HEADERS, rng),
    ])  # fmt: skip
    content = _odd_one(INTERIM, rng) + head + b"\r\n\r\n" + sent
    drips = rng.randrange(len(content)) if not rng.randrange(6) else len(content)
    cut = rng.randrange(len(content)) if not rng.randrange(8) else None
    return Reply(content, drips, cut, _odd_one(("close", "reset", "hold"), rng))


def _odd_one(choices: Sequence[Choice], rng: Random) -> Choice:
    """Return the first choice, which is the usual one, or in one of four draws any of them."""
    return choices[0] if rng.randrange(4) else rng.choice(choices)


def _sound(reply: Any, _: Random) -> bytes:
    return json.dumps(reply).encode()


def _odd(reply: Any, rng: Random) -> bytes:
    """A reply in which some value is another one; a key in it may be spelt in another way."""
    text = json.dumps(_replaced(reply, rng))
    return text.replace(KEY[:1], f"\\u{ord(KEY[0]):04x}").encode() if rng.randrange(2) else text.encode()


def _replaced(value: Any, rng: Random) -> Any:
    if isinstance(value, dict) and value and rng.randrange(5):
        name = rng.choice([*value])
        return {**value, name: _replaced(value[name], rng)}
    if isinstance(value, list) and value and rng.randrange(5):
        place = rng.randrange(len(value))
        return [_replaced(each, rng) if i == place else each for i, each in enumerate(value)]
    return rng.choice(ODD)


BODIES: Sequence[Callable[[Any, Random], bytes]] = (
    _sound, _odd, _odd, _odd, _odd, _odd, _odd,
    lambda reply, rng: mutated(_sound(reply, rng), rng),
    lambda reply, rng: _sound(reply, rng) * 2,
    lambda _, rng: rng.choice(NULLS),
    lambda _, rng: rng.choice((b"[", b'{"a":', b'{"data":[')) * 100_000,
    lambda _, rng: rng.choice((b"9", b"-1e", b"0.")) + b"9" * 1_000_000,
    lambda *_: HTML,
    lambda *_: b" " * LARGE,
    lambda *_: b'{"data":[{"index":0,"embedding":[' + b"0," * (LARGE // 2),
    lambda *_: b'{"data":[{"index":0,"embedding":[' + b"0.5," * (LARGE // 6) + b'1]},{"index":1,"embedding":[1]}]}',
    lambda *_: b"[" + b"[]," * (LARGE // 100) + b"[]]",
    lambda _, rng: rng.randbytes(1000),
)  # fmt: skip


def _gzip(body: bytes, level: int = 1) -> bytes:
    return gzip.compress(body, level, mtime=0)


@cache
def _bomb() -> bytes:
    return _gzip(bytes(10 * LARGE), 9)


def _raw(body: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(body) + packer.flush()


Coding = Callable[[bytes, Random], tuple[bytes, list[bytes]]]
CODINGS: Sequence[Coding] = (
    lambda body, _: (body, []),
    lambda body, _: (_gzip(body), [b"Content-Encoding: gzip"]),
    lambda body, _: (zlib.compress(body, 1), [b"Content-Encoding: deflate"]),
    lambda body, _: (_raw(body), [b"Content-Encoding: deflate"]),
    lambda body, _: (_gzip(_gzip(body)), [b"Content-Encoding: gzip, gzip"]),
    lambda body, _: (_gzip(body), [b"Content-Encoding: gzip", b"Content-Encoding: deflate"]),
    lambda body, rng: (body, [b"Content-Encoding: " + rng.choice((b"gzip", b"br", b"zstd", b"x" * 1000, b""))]),
    lambda body, rng: (_gzip(body)[: rng.randint(1, 30)], [b"Content-Encoding: gzip"]),
    lambda *_: (_bomb(), [b"Content-Encoding: gzip"]),
    lambda *_: (_gzip(_bomb()), [b"Content-Encoding: gzip, gzip"]),
)  # fmt: skip


def _length(more: int, body: bytes, _: Random) -> tuple[list[bytes], bytes]:
    return [b"Content-Length: %d" % (len(body) + more)], body


def _chunked(last: bytes, body: bytes, rng: Random) -> tuple[list[bytes], bytes]:
    size = rng.choice((1 << 20, max(1, len(body) // 3)))
    pieces = [body[start : start + size] for start in range(0, len(body), size)]
    sent = b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces)
    return [b"Transfer-Encoding: chunked"], sent + last


Framing = Callable[[bytes, Random], tuple[list[bytes], bytes]]
FRAMINGS: Sequence[Framing] = (
    partial(_length, 0), partial(_length, 1000), partial(_length, -1), partial(_chunked, b"0\r\n\r\n"),
    *[partial(_chunked, last) for last in (
        b"", b"zz\r\n", b"-1\r\n\r\n", b"f" * 5000, b"5;" + b"x" * 200_000, b"0\r\n" + b"X: 1\r\n" * 100_000,
        b"0\r\n" + b"T" * 300_000,
    )],
    lambda body, _: ([], body),
    lambda body, _: ([b"Content-Length: 1" + b"0" * 30], body),
    lambda body, _: ([b"Content-Length: 5", b"Content-Length: 6"], body),
    lambda body, _: ([b"Transfer-Encoding: chunked", b"Content-Length: 5"], body),
    lambda body, _: ([b"Transfer-Encoding: gzip, chunked, chunked"], body),
)  # fmt: skip
HEADERS: Sequence[Sequence[bytes]] = (
    (), [b"X-%d: 1" % i for i in range(20_000)], [b"X: " + b"x" * 300_000], [b"X: 1", b" folded"], [b"X: \x00"],
    [b"no colon"], [b": 1"], [b"Retry-After: 9" + b"9" * 400], [b"retry-after-ms: 1e999"],
    [b"Set-Cookie: a=" + b"b" * 4000], [b"Connection: Upgrade", b"Upgrade: h2c"], [b"X: \xff\xfe\r"],
)  # fmt: skip
INTERIM = (
    b"", b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" * 3,
    b"HTTP/1.1 102 Processing\r\n\r\n" * 300_000, b"HTTP/1.1 101 Switching Protocols\r\n\r\n", b"\r\n" * 1000,
)  # fmt: skip


@contextmanager
def hostile_server(strangers: Path) -> Iterator[str]:
    """A server in a process of its own, which ends with the block; yields its address.

    strangers: a folder that gets a file for each request to the host that redirects name, called as the seed.
    """
    context = get_context("spawn")
    ours, its = context.Pipe()
    process = context.Process(target=_serve, args=(its, strangers), daemon=True)
    process.start()
    try:
        yield ours.recv()
    finally:
        process.kill()
        process.join()


def _serve(parent: Connection, strangers: Path) -> None:
    stranger = _Server(lambda _, path: strangers.joinpath(path.strip("/")).touch())
    elsewhere = f"http://localhost:{stranger.server_address[1]}"
    server = _Server(partial(_reply, elsewhere))
    for each in (stranger, server):
        Thread(target=each.serve_forever, daemon=True).start()
    parent.send(f"http://127.0.0.1:{server.server_address[1]}")
    parent.recv()


class _Server(ThreadingTCPServer):
    """Calls a function with the connection and the path of each request."""

    daemon_threads, allow_reuse_address, request_queue_size = True, True, 128

    def __init__(self, answer: Callable[[socket.socket, str], object]) -> None:
        self.answer = answer
        super().__init__(("127.0.0.1", 0), _Handler)

    def handle_error(self, *_: object) -> None:
        """Say nothing of a connection that the client has ended."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(*_)  # type: ignore[arg-type]


class _Handler(StreamRequestHandler):
    def handle(self) -> None:
        words, size = self.rfile.readline().split(), 0
        while line := self.rfile.readline().strip():
            name, _, value = line.partition(b":")
            size = int(value) if name.lower() == b"content-length" else size
        self.rfile.read(size)
        if words:  # else the client had no time left to send its request
            self.server.answer(self.connection, words[1].decode())  # type: ignore[attr-defined]


def _reply(elsewhere: str, connection: socket.socket, path: str) -> None:
    _, kind, seed, *_rest = path.split("/")
    if seed == "sound":
        body = json.dumps(SOUND[kind]).encode()
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body))
        return
    _send(connection, drawn(kind, seed, elsewhere))


def _send(connection: socket.socket, reply: Reply) -> None:
    content = reply.content[: reply.cut]
    connection.sendall(content[: reply.drips_from])
    with suppress(OSError):
        for byte in content[reply.drips_from :]:
            connection.sendall(bytes([byte]))
            time.sleep(PAUSE)
        if reply.end == "hold":
            connection.settimeout(HELD)
            connection.recv(1)
        if reply.end == "reset":
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
