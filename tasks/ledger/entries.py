"""Entries of the ledgers of replies: one line of JSON per reply of a judge, or of a model whose answers are scored."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, NotRequired, Self, TypedDict, cast

from tasks.pipeline.hashing import sha256

# What an index states of an entry, as bits.
NO_REPLY: Final = 1
NO_VERDICT: Final = 2
NOT_ASKED: Final = 4
NO_SERVER: Final = 8
# Bytes of a key or of a checksum in an index: two entries agree in them by chance with 2**-128.
SHORT: Final = 16
# Of two entries with one key, the one with the smaller value of these bits is preferred.
RANK: Final = NO_VERDICT | NO_REPLY
_KEY = re.compile("[0-9a-f]{64}")
_REQUIRED = frozenset({"raw", "verdict", "attempts", "tokens", "model"})
# How a line ends: with the first bytes of the SHA-256 of all that is before. Lines of older versions have none.
_CHECKED = re.compile(rb'(?P<content>.*),"sha256":"(?P<sum>[0-9a-f]{32})"}\n', re.DOTALL)


class Entry(TypedDict):
    """One line of the ledger.

    key: 64 hex digits. metric, prompt (its hash), draw: part of the request, for readers; the key covers all of it.
    raw: the text of the last reply, None if there was none. verdict, reason: parsed from it, None if that failed; of
    an answer 1, and None. problem: why there is no verdict. model: the name that the server returned. asked: the
    reply format, and the options that the server does not support. tokens: of prompt and completion, as counted by
    the server. latency: seconds of the calls that were answered, without retries and their pauses. attempts: number
    of calls. server: address or name of the server, where the key holds one. batch: its calls were part of batches.
    met: of each criterion of a rubric 1 if it is met, else 0; `verdict` is the share of those that are.
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
    if content.pop("sha256", None) is not None and not is_checked(line):
        raise ValueError("its checksum is not that of its content")
    if unknown := content.keys() - Entry.__annotations__.keys():
        raise ValueError(f"unknown: {', '.join(sorted(unknown))}")
    entry = cast("Entry", content)
    if not _KEY.fullmatch(entry["key"]):
        raise ValueError(f"key {entry['key']!r}: expected 64 hex digits")
    if absent := _REQUIRED - entry.keys():
        raise KeyError(*sorted(absent))
    if (tokens := entry["tokens"]) and not tokens.keys() >= {"prompt", "completion"}:
        raise ValueError(f"tokens {tokens!r}: expected prompt and completion")
    if not line.endswith(b"\n"):
        raise ValueError("the line has no end")
    return entry


def flags_of(entry: Entry) -> int:
    """Return what an index states of an entry: NO_REPLY, NO_VERDICT, NOT_ASKED, NO_SERVER, added up."""
    facts = (entry["raw"] is None, entry["verdict"] is None, not entry["attempts"], "server" not in entry)
    return sum(flag for flag, holds in zip((NO_REPLY, NO_VERDICT, NOT_ASKED, NO_SERVER), facts, strict=True) if holds)


def short_key(key: str) -> bytes:
    """Return the first bytes of a key, as indexes hold it."""
    return bytes.fromhex(key[: 2 * SHORT])


def checksum(line: bytes) -> bytes:
    """Return the first bytes of the SHA-256 of a line, as indexes hold it."""
    return sha256(line)[:SHORT]


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is no JSON")
