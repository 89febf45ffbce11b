"""Canaries: invented rows whose verdict is known. A judge that fails them is not used."""

import json
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import NamedTuple

from tasks.judging.replies import replies
from tasks.judging.requests import Request
from tasks.judging.rows import requests_of
from tasks.judging.settings import Judge
from tasks.ledger.verdicts import Verdicts
from tasks.metrics.judge.meaning_match import MAJORITY, MeaningMatch
from tasks.models import offline

PATH = Path(__file__).with_suffix(".jsonl")


class Canary(NamedTuple):
    """A row with a known verdict. kind: right, wrong, or injection (wrong, with instructions to say otherwise)."""

    kind: str
    input: str
    ground_truth: list[str]
    output: str
    verdict: bool

    @property
    def values(self) -> dict[str, object]:
        """The variables of the prompt."""
        return {"input": self.input, "ground_truth": self.ground_truth, "output": self.output}


@cache
def canaries() -> list[Canary]:
    """Read all canaries."""
    return [Canary(**json.loads(line)) for line in PATH.read_text(encoding="utf-8").splitlines()]


def requests(options: Judge) -> list[Request]:
    """Return the requests about the canaries; none if they are switched off or no server is asked."""
    if not options.canaries or options.provider != "openai":
        return []
    return [request for canary in canaries() for request in _requests(canary, options)]


def failed(options: Judge, ledger: Verdicts) -> list[str]:
    """Describe the canaries that a server is wrong about or has not answered; marks its verdicts as used."""
    if not options.canaries:
        return []
    return _wrong(_verdict(canary, options, ledger) for canary in canaries())


def failed_offline(options: Judge) -> list[str]:
    """Describe the canaries that the offline judge is wrong about."""
    return _wrong(_offline_verdicts()) if options.canaries and options.provider == "offline" else []


def _wrong(verdicts: Iterable[bool | None]) -> list[str]:
    """Describe the canaries whose verdict is another one."""
    return [
        f"{canary.kind}: {canary.input} | {' / '.join(canary.ground_truth)} | {canary.output!r} is "
        f"{_word(canary.verdict)}, the judge said {'nothing' if verdict is None else _word(verdict)}"
        for canary, verdict in zip(canaries(), verdicts, strict=True)
        if verdict != canary.verdict
    ]


def _verdict(canary: Canary, options: Judge, ledger: Verdicts) -> bool | None:
    """The verdict of most draws; None without any."""
    entries = replies(_requests(canary, options), ledger)
    ledger.use(entries)
    verdicts = [entry["verdict"] for entry in entries.values() if entry["verdict"] is not None]
    return sum(verdicts) > MAJORITY * len(verdicts) if verdicts else None


def _offline_verdicts() -> list[bool | None]:
    columns = zip(*((canary.input, canary.ground_truth, canary.output) for canary in canaries()), strict=True)
    inputs, truths, outputs = map(list, columns)
    return [bool(p >= offline.RIGHT) for p in offline.judge(inputs, truths, outputs).probabilities]


def _word(verdict: bool) -> str:  # noqa: FBT001 (its only argument)
    return "right" if verdict else "wrong"


def _requests(canary: Canary, options: Judge) -> list[Request]:
    return requests_of(canary.values, options).get(MeaningMatch().name, [])
