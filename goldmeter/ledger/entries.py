"""Entries of the ledgers of replies: one line of JSON per reply of a judge, or of a model whose answers are scored."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NotRequired, Self, TypedDict, cast

from goldmeter.ledger.sqlite_file import SHORT
from goldmeter.pipeline.hashing import sha256

_KEY = re.compile("[0-9a-f]{64}")
_REQUIRED = frozenset({"raw", "verdict", "attempts", "tokens", "model"})
# How a line ends: with the first bytes of the SHA-256 of all that is before.
_CHECKED = re.compile(rb'(?P<content>.*),"sha256":"(?P<sum>[0-9a-f]{32})"}\n', re.DOTALL)
_LINE = re.compile(rb'\{"[a-z]+":[^\n]*?,"sha256":"[0-9a-f]{32}"}\n')
# In a text of a line each quotation mark follows a backslash: these can only be fields.
_KEY_FIELD = re.compile(rb'"key":"([0-9a-f]{64})"')
_NO_REPLY, _NO_VERDICT, _NOT_ASKED = b',"raw":null,', b',"verdict":null,', b'"attempts":0,'


class Entry(TypedDict):
    """One line of the ledger.

    key: 64 hex digits. metric, prompt (its hash), draw: part of the request, for readers; the key covers all of it.
    raw: the text of the last reply, None if there was none. verdict, reason: parsed from it, None if that failed; of
    an answer 1, and None. problem: why there is no verdict. model: the name that the server returned. asked: the
    reply format, and the options that the server does not support. tokens: of prompt and completion, as counted by
    the server. latency: seconds of the calls that were answered, without retries and their pauses. attempts: number
    of calls. server: address or name of the server, where the key holds one. batch: its calls were part of batches.
    met: of each criterion of a rubric 1 if it is met, else 0; `verdict` is the share of those that are. probability:
    from 0 to 1, that a verdict of true or false is true, where the judge states it.
    """

    key: str
    metric: str
    prompt: str
    draw: int
    raw: str | None
    verdict: float | None
    reason: str | None
    problem: str | None
    model: str | None
    asked: str | None
    tokens: dict[str, int] | None
    latency: float
    attempts: int
    server: NotRequired[str]
    batch: NotRequired[bool]
    met: NotRequired[str]
    probability: NotRequired[float]


@dataclass(frozen=True)
class Usage:
    """The calls and tokens of entries.

    uncounted: replies without a count of tokens. prompt, completion: tokens. served: models that the server named.
    batch_prompt, batch_completion: those of the tokens that have the price of batches.
    """

    verdicts: int = 0
    calls: int = 0
    replies: int = 0
    uncounted: int = 0
    prompt: int = 0
    completion: int = 0
    served: frozenset[str] = frozenset()
    batch_prompt: int = 0
    batch_completion: int = 0

    @classmethod
    def of(cls, entries: Iterable[Entry]) -> Self:
        """Add up the usage in one pass, without keeping the entries: there may be millions."""
        verdicts = calls = replies = uncounted = prompt = completion = batch_prompt = batch_completion = 0
        served = set[str]()
        for entry in entries:
            replied, model, tokens = entry["raw"] is not None, entry["model"], entry["tokens"]
            verdicts, calls, replies = verdicts + 1, calls + int(entry["attempts"]), replies + replied
            if model:
                served.add(model)
            if tokens and tokens["prompt"] is not None and tokens["completion"] is not None:
                prompt, completion = prompt + tokens["prompt"], completion + tokens["completion"]
                if entry.get("batch"):
                    batch_prompt += tokens["prompt"]
                    batch_completion += tokens["completion"]
            else:
                uncounted += replied
        return cls(
            verdicts, calls, replies, uncounted, prompt, completion, frozenset(served), batch_prompt, batch_completion
        )

    @classmethod
    def total(cls, usages: Iterable[Self]) -> Self:
        """Add up usages."""
        total = cls()
        for one in usages:
            total = cls(
                total.verdicts + one.verdicts,
                total.calls + one.calls,
                total.replies + one.replies,
                total.uncounted + one.uncounted,
                total.prompt + one.prompt,
                total.completion + one.completion,
                total.served | one.served,
                total.batch_prompt + one.batch_prompt,
                total.batch_completion + one.batch_completion,
            )
        return total


def canonical(value: Mapping[str, object] | Entry) -> bytes:
    r"""Return the JSON that is hashed and stored: sorted keys, no spaces, ASCII.

    >>> canonical({"b": "é", "a": 1})
    b'{"a":1,"b":"\\u00e9"}'
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False).encode("ascii")


def line_of(entry: Entry) -> bytes:
    """Return the line of an entry, with its checksum and its line break."""
    content = canonical(entry)[:-1]
    return b'%s,"sha256":"%s"}\n' % (content, checksum(content).hex().encode("ascii"))


def is_checked(line: bytes) -> bool:
    """Return whether a line ends with the checksum of its content: then it is as it was written."""
    found = _CHECKED.fullmatch(line)
    return found is not None and checksum(found["content"]).hex().encode("ascii") == found["sum"]


def parse(line: bytes) -> Entry:
    """Return the entry of a line. Raises ValueError, TypeError or KeyError when it is not a whole entry."""
    content = json.loads(line, parse_constant=_refuse)
    if not isinstance(content, dict):
        raise TypeError("not an object")
    if not is_checked(line):
        raise ValueError("its checksum is not that of its content")
    del content["sha256"]
    if unknown := content.keys() - Entry.__annotations__.keys():
        raise ValueError(f"unknown: {', '.join(sorted(unknown))}")
    entry = cast("Entry", content)
    if not _KEY.fullmatch(entry["key"]):
        raise ValueError(f"key {entry['key']!r}: expected 64 hex digits")
    if absent := _REQUIRED - entry.keys():
        raise KeyError(*sorted(absent))
    if (tokens := entry["tokens"]) and not tokens.keys() >= {"prompt", "completion"}:
        raise ValueError(f"tokens {tokens!r}: expected prompt and completion")
    return entry


def key_of(line: bytes) -> bytes | None:
    """Return the key that a line states, 32 bytes; None if it states none."""
    found = _KEY_FIELD.search(line)
    return bytes.fromhex(found[1].decode("ascii")) if found else None


def has_reply(line: bytes) -> bool:
    """Return whether there was a reply: without one an entry has cost nothing."""
    return _NO_REPLY not in line


def has_verdict(line: bytes) -> bool:
    """Return whether a reply was a verdict."""
    return _NO_VERDICT not in line


def was_asked(line: bytes) -> bool:
    """Return whether a call was made."""
    return _NOT_ASKED not in line


def rank_of(line: bytes) -> int:
    """Return the rank of an entry: of two with one key, the one with the smaller rank is preferred."""
    return 2 * (not has_verdict(line)) + (not has_reply(line))


def lines_in(content: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield key and line of each sound entry that lies anywhere in some bytes."""
    place = 0
    while found := _LINE.search(content, place):
        key, is_sound = key_of(found[0]), is_checked(found[0])
        if key and is_sound:
            yield key, found[0]
        place = found.end() if is_sound else found.start() + 1


def checksum(line: bytes) -> bytes:
    """Return the first bytes of the SHA-256 of a line without its end, as the line states them."""
    return sha256(line)[:SHORT]


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is no JSON")
