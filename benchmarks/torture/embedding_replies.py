"""Hostile replies to an embedding request: unit vectors, or one sentence that names the server."""

import gzip
import json
from collections.abc import Callable, Iterator, Sequence
from random import Random

import numpy as np

from benchmarks.torture.campaign import Campaign, Trial
from benchmarks.torture.limited import limited
from benchmarks.torture.mutations import mutated
from tasks.errors import ModelError
from tasks.models.embedding import remote
from tasks.models.embedding.remote import OpenAIEncoder
from tests.raw_server import at_once, raw_server

# Texts of a request.
FEW, MOST = 2, remote.REQUEST_TEXTS
# Bytes above the idle process, and seconds of a trial.
MOST_BYTES, SECONDS = 300 << 20, 20.0
# Characters of a message, and the largest difference of a vector's length from 1.
MOST_CHARS, TOLERANCE = 1_000, 1e-6
# Bytes of the largest bodies.
LARGE = remote.MOST_BYTES - 10_000
ODD_STATUS = (201, 204, 206, 301, 307, 400, 401, 404, 409, 429, 500, 503, 599)
# Repeated without end in a body that has the form of a reply.
FILLS = (b"[],", b"{},", b'"ab",', b"1.5,", b"12345,", b" ", b'{"index":0},', b"9", "😀".encode())


def _trials(seed: int, trials: int) -> Iterator[Trial]:
    remote.RETRIES = 0
    _ask("idle")  # what the client imports is no memory of a reply
    drawn = (f"{seed}-{number}" for number in range(trials))
    yield from limited(_ask, drawn, seconds=SECONDS, most_bytes=MOST_BYTES)


def _ask(drawn: str) -> Trial:
    """Ask a server for vectors; drawn: the seed of its reply."""
    rng = Random(drawn)  # noqa: S311 (a seed repeats the trial)
    texts = [str(number) for number in range(rng.choice((FEW, FEW, MOST)))]
    with raw_server(at_once(_reply(rng, len(texts)))) as server:
        address = f"{server.url}/v1"
        try:
            vectors = OpenAIEncoder("m", address, None, 8192, "s").encode(texts)
        except ModelError as error:
            message = str(error)
            is_told = (
                message.startswith(f"embed: m at {address} ") and message.isprintable() and len(message) <= MOST_CHARS
            )
            return Trial("refused", None if is_told else f"{drawn}: {message[:2000]!r}")
    lengths = np.linalg.norm(vectors.astype(np.float64), axis=1)
    is_usable = len(vectors) == len(texts) and bool((np.abs(lengths - 1.0) < TOLERANCE).all())
    return Trial("vectors", None if is_usable else f"{drawn}: lengths {lengths}")


def _reply(rng: Random, texts: int) -> bytes:
    body = rng.choice(BODIES)(rng, texts)
    if len(body) < LARGE and rng.randrange(2):
        body = mutated(body, rng)
    coding = b""
    if not rng.randrange(4):
        body, coding = gzip.compress(body, 1), b"Content-Encoding: gzip\r\n"
    status = rng.choice(ODD_STATUS) if not rng.randrange(4) else 200
    head = b"HTTP/1.1 %d Odd\r\nContent-Type: application/json\r\nContent-Length: %d\r\n" % (status, len(body))
    whole = head + coding + b"\r\n" + body
    return mutated(whole, rng) if len(body) < LARGE and not rng.randrange(4) else whole


def _vectors(rng: Random, texts: int) -> bytes:
    data = [{"index": i, "embedding": [_number(rng) for _ in range(3)]} for i in range(texts)]
    return json.dumps({"object": "list", "data": data, "model": "m", "usage": {"prompt_tokens": 2}}).encode()


def _number(rng: Random) -> object:
    odd: tuple[object, ...] = (0, 1e308, 1e-308, float("nan"), float("inf"), -(10**400), None, "1", True, [])
    return rng.choice(odd) if not rng.randrange(100) else rng.gauss(0.0, 1.0)


def _large(rng: Random, _: int) -> bytes:
    fill = rng.choice(FILLS)
    return b'{"data":[' + fill * (LARGE // len(fill)) + b'{"index":0,"embedding":[1.0]}]}'


def _error(*_: object) -> bytes:
    return json.dumps({"error": {"message": "no", "type": "invalid_request_error", "code": 429}}).encode()


def _nested(rng: Random, _: int) -> bytes:
    depth = rng.choice((10, 150, 290, 600, 950, 10_000))
    return b'{"error":' * depth + b"1" + b"}" * depth


BODIES: Sequence[Callable[[Random, int], bytes]] = (_vectors, _vectors, _vectors, _error, _nested, _large)
CAMPAIGN = Campaign(
    "embedding replies",
    "A hostile reply of an embedding server gives unit vectors, or one sentence that names the server, within 300 MB.",
    trials=1_000,
    few=50,
    run=_trials,
)
