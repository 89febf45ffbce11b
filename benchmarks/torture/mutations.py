"""Damage to the content of a file, drawn from a seed."""

from collections.abc import Callable, Sequence
from random import Random

# What breaks parsers: ends of strings, lines and files, numbers without end, other encodings, spreadsheets' formulas.
HOSTILE = (
    b"", b"\0", b"\n", b"\r", b"\r\n", b'"', b'""', b"\\", b"\\u0000", b"\\ud800", b"\xff\xfe", b"\xef\xbb\xbf",
    b"{", b"}", b"[", b"]", b"[" * 400, b'{"a":' * 400, b",", b":", b"- ", b"\t", b"&a [*a, *a]", b"*a", b"<<: *a",
    b"!!python/object:os.system x", b"NaN", b"-Infinity", b"1e999", b"9" * 5000, b"0x" + b"f" * 5000, b"null", b"true",
    b"no", b"2024-13-45", b"=1+1", b"\xe2\x80\xae", b"\xf0\x9f\x92\xa9", b"A" * 100_000, b"%YAML 1.1\n---\n", b"\x85",
    b"\xe2\x80\xa8",
)  # fmt: skip
MOST = 4


def mutated(content: bytes, rng: Random) -> bytes:
    """Return the content after one to MOST changes."""
    for _ in range(rng.randint(1, MOST)):
        content = rng.choice(CHANGES)(content, rng)
    return content


def _flip(content: bytes, rng: Random) -> bytes:
    changed = bytearray(content)
    if changed:
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def _insert(content: bytes, rng: Random) -> bytes:
    place = rng.randint(0, len(content))
    return content[:place] + rng.choice(HOSTILE) + content[place:]


def _replace(content: bytes, rng: Random) -> bytes:
    start, end = _span(content, rng)
    return content[:start] + rng.choice(HOSTILE) + content[end:]


def _cut(content: bytes, rng: Random) -> bytes:
    return content[: rng.randint(0, len(content))]


def _repeat(content: bytes, rng: Random) -> bytes:
    start, end = _span(content, rng)
    return content[:end] + content[start:end] * rng.randint(1, 20) + content[end:]


def _swap_lines(content: bytes, rng: Random) -> bytes:
    lines = content.splitlines(keepends=True)
    if lines:
        lines.insert(rng.randrange(len(lines)), lines.pop(rng.randrange(len(lines))))
    return b"".join(lines)


def _span(content: bytes, rng: Random) -> tuple[int, int]:
    start = rng.randint(0, len(content))
    return start, min(len(content), start + rng.choice((1, 2, 8, 40)))


CHANGES: Sequence[Callable[[bytes, Random], bytes]] = (_flip, _insert, _replace, _cut, _repeat, _swap_lines)
