"""Canaries: made-up rows whose verdict is known, asked about with the others; a judge that fails them is not used."""

import json
from functools import cache
from pathlib import Path
from typing import NamedTuple

from tasks.judging.requests import Request
from tasks.judging.rows import requests_of
from tasks.judging.settings import Judge
from tasks.ledger.verdicts import Verdicts
from tasks.metrics.judge.meaning_match import MAJORITY, MeaningMatch
from tasks.models import offline

PATH = Path(__file__).with_suffix(".jsonl")


class Canary(NamedTuple):
    """A row with a known verdict. kind: right, wrong, or injection (wrong, and tells the judge otherwise)."""

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
    """All of them."""
    return [Canary(**json.loads(line)) for line in PATH.read_text(encoding="utf-8").splitlines()]


def requests(options: Judge) -> list[Request]:
    """What to ask a server about them; nothing where they are off."""
    if not options.canaries or options.provider != "openai":
        return []
    return [request for canary in canaries() for request in _requests(canary, options)]


def failed(options: Judge, ledger: Verdicts) -> list[str]:
    """The canaries that the judge is wrong about, or has not answered, and which; marks its verdicts as used."""
    if not options.canaries or options.provider == "none":
        return []
    said = _said_offline() if options.provider == "offline" else [_said(each, options, ledger) for each in canaries()]
    return [
        f"{canary.kind}: {canary.input} | {' / '.join(canary.ground_truth)} | {canary.output!r} is "
        f"{_word(canary.verdict)}, the judge said {'nothing' if verdict is None else _word(verdict)}"
        for canary, verdict in zip(canaries(), said, strict=True)
        if verdict != canary.verdict
    ]


def _said(canary: Canary, options: Judge, ledger: Verdicts) -> bool | None:
    """The verdict of most draws; None without any."""
    known = ledger.get([each.key for each in _requests(canary, options)])
    ledger.use(known)
    verdicts = [entry["verdict"] for entry in known.values() if entry["verdict"] is not None]
    return sum(verdicts) > MAJORITY * len(verdicts) if verdicts else None


def _said_offline() -> list[bool | None]:
    rows = zip(*((each.input, each.ground_truth, each.output) for each in canaries()), strict=True)
    inputs, truths, outputs = map(list, rows)
    return [bool(each >= offline.RIGHT) for each in offline.judge(inputs, truths, outputs).probabilities]


def _word(verdict: bool) -> str:  # noqa: FBT001 (the verdict is all it takes)
    return "right" if verdict else "wrong"


def _requests(canary: Canary, options: Judge) -> list[Request]:
    return requests_of(canary.values, options).get(MeaningMatch().name, [])
