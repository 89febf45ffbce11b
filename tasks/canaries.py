"""Canaries: made-up rows whose verdict is known, asked about with the others; a judge that fails them is not used."""

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tasks import offline
from tasks.judging import requests_of
from tasks.ledger.verdicts import Verdicts
from tasks.metrics.judge.meaning_match import MeaningMatch
from tasks.models.asking import Request

if TYPE_CHECKING:
    from tasks.judge import Judge

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


def requests(options: "Judge") -> list[Request]:
    """What to ask about them; nothing where they are off, or nobody asks for meaning_match."""
    if not options.canaries or options.provider != "openai":
        return []
    return [request for canary in canaries() for request in _requests(canary, options)]


def failed(options: "Judge", ledger: Verdicts) -> list[str]:
    """The canaries that the judge is wrong about, or does not answer; marks its verdicts as used."""
    if options.provider == "offline":
        judged = offline.judge(
            [each.input for each in canaries()],
            [each.ground_truth for each in canaries()],
            [each.output for each in canaries()],
        )
        verdicts = (judged.probabilities >= offline.RIGHT).tolist()
        return [_told(each) for each, said in zip(canaries(), verdicts, strict=True) if said != each.verdict]
    wrong = []
    for canary in canaries():
        known = ledger.get([each.key for each in _requests(canary, options)])
        ledger.use(known)
        if any(entry["verdict"] != float(canary.verdict) for entry in known.values()):
            wrong.append(_told(canary))
    return wrong


def _requests(canary: Canary, options: "Judge") -> list[Request]:
    return requests_of(canary.values, options).get(MeaningMatch().name, [])


def _told(canary: Canary) -> str:
    known = "right" if canary.verdict else "wrong"
    return f"{canary.kind}: {canary.input} | {' / '.join(canary.ground_truth)} | {canary.output!r} is {known}"
