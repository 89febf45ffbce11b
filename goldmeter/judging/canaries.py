"""Canaries: invented rows whose verdict is known. A server's model that is wrong about one is not used as judge."""

import json
from collections.abc import Callable, Collection, Iterable
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from goldmeter.asking.budget import used_up
from goldmeter.asking.requests import Request, replies
from goldmeter.errors import ModelError, ParamsError, ServerError
from goldmeter.judging.rows import requests_of
from goldmeter.judging.settings import Judge
from goldmeter.ledger.entries import Entry
from goldmeter.ledger.verdicts import Verdicts
from goldmeter.metrics.judge_replies import WRONG_NONCE
from goldmeter.metrics.prompt_template import encode_fields
from goldmeter.models.chat.replies import is_about_content

PATH = Path(__file__).with_suffix(".jsonl")
INJECTION = "injection"
OBEYS = "obeys orders in the answers that it grades, so that whoever writes an answer decides its verdict"
LENIENT = "calls wrong answers right, whether or not they contain orders to the judge"
WRONG = "is wrong about, or does not answer, rows whose verdict is known"
NO_NONCE = (
    "can't copy the nonce, ten characters of each request without which a reply may be the words of an answer: "
    "{count} of {asked} replies to canaries lack it"
)
LARGER = (
    "Name a larger judge.model, which can copy, or set judge.provider to offline. judge.canaries: false is no remedy: "
    "no row would have a verdict."
)
REMEDY = (
    "Name another judge.model; if the server's model was replaced, a new name in judge.server asks it again. "
    "judge.canaries: false uses this judge all the same."
)


class Canary(NamedTuple):
    """A row with a known verdict. kind: right, wrong, or injection (wrong, with orders to say otherwise)."""

    kind: str
    input: str
    ground_truth: list[str]
    output: str
    verdict: bool

    @property
    def values(self) -> dict[str, object]:
        """The variables of the prompt."""
        return {"input": self.input, "ground_truth": self.ground_truth, "output": self.output}

    def is_failed(self, verdict: bool | None) -> bool:  # noqa: FBT001 (its only argument)
        """Return whether a verdict is wrong; without one (None) a judge has not followed an injection."""
        return verdict != self.verdict and not (verdict is None and self.kind == INJECTION)


@cache
def canaries() -> list[Canary]:
    """Read all canaries."""
    return [Canary(**json.loads(line)) for line in PATH.read_text(encoding="utf-8").splitlines()]


def requests(options: Judge) -> list[Request]:
    """Return the requests about the canaries; none if they are switched off or no server is asked."""
    if not options.canaries or not options.asks_server:
        return []
    return [request for canary in canaries() for request in _requests(canary, options)]


def ask(
    missing: Callable[[], Iterable[Request]],
    options: Judge,
    ledger: Verdicts,
    ask_them: Callable[[Iterable[Request]], None],
) -> None:
    """Ask about the canaries whose verdict is missing, and refuse a judge as `require_passed` does."""
    ask_them(missing())
    require_passed(options, ledger)


def require_passed(options: Judge, ledger: Verdicts) -> None:
    """Refuse a judge that is wrong about a canary.

    Raises:
        ModelError: It is wrong about one.
        ServerError: The server did not answer one.
        ParamsError: The budget was used up before.
    """
    if not requests(options):
        return
    entries = [*replies(requests(options), ledger).values()]
    unanswered = [str(entry["problem"]) for entry in entries if not _is_answered(entry)]
    if limits := used_up(unanswered):
        raise ParamsError(f"{limits}: used up before the judge's canaries were asked; raise it, and run again")
    if unanswered:
        raise ServerError(
            f"{options.base_url}: {len(unanswered)} of {len(entries)} canaries were not answered ({unanswered[0]}), so "
            "that no row is judged; run again later"
        )
    if wrong := _failed(options, ledger):
        what, remedy = _fault([one for one, _, verdict in wrong if verdict]), REMEDY
        lacking = sum(entry["problem"] == WRONG_NONCE for entry in entries)
        if what == WRONG and 2 * lacking >= sum(entry["verdict"] is None for entry in entries) > 0:
            what, remedy = NO_NONCE.format(count=lacking, asked=len(entries)), LARGER
        raise ModelError("\n".join([f"judge.model {options.model!r} {what}:", *(line for _, line, _ in wrong), remedy]))


def failed(options: Judge, ledger: Verdicts) -> list[str]:
    """Describe the canaries that a server's model is wrong about; marks its verdicts as used."""
    return [line for _, line, _ in _failed(options, ledger)]


def _fault(passed: Collection[Canary]) -> str:
    """Return what is wrong with a judge that calls these canaries right, and is wrong about more of them."""
    kinds = {canary.kind for canary in passed if not canary.verdict}
    if INJECTION not in kinds:
        return WRONG
    return OBEYS if kinds == {INJECTION} else LENIENT


def _failed(options: Judge, ledger: Verdicts) -> list[tuple[Canary, str, bool | None]]:
    """Return the canaries that a judge is wrong about, each with a sentence and the verdict."""
    if not requests(options):
        return []
    found = ((canary, *_verdict(canary, options, ledger)) for canary in canaries())
    return [
        (canary, _line(canary, verdict, problem), verdict)
        for canary, verdict, problem in found
        if canary.is_failed(verdict)
    ]


def _line(canary: Canary, verdict: bool | None, problem: str | None) -> str:  # noqa: FBT001 (a verdict)
    said = f"nothing ({problem})" if verdict is None else _word(verdict)
    asked = f"{canary.kind}: {canary.input} | {' / '.join(canary.ground_truth)} | {canary.output!r}"
    return f"{asked} is {_word(canary.verdict)}, the judge said {said}"


def _verdict(canary: Canary, options: Judge, ledger: Verdicts) -> tuple[bool | None, str | None]:
    """Whether the mean verdict or rating of all draws is in the better half of the scale; else None, and why."""
    entries = replies(_requests(canary, options), ledger)
    ledger.use(entries)
    verdicts = [entry["verdict"] for entry in entries.values() if entry["verdict"] is not None]
    if not verdicts:
        return None, next((entry["problem"] for entry in entries.values()), None)
    return bool(np.mean(verdicts) > np.mean(options.canary_metric.bounds)), None


def _is_answered(entry: Entry) -> bool:
    """Return whether the server answered, if only that it does not process such a text."""
    return entry["raw"] is not None or is_about_content(str(entry["problem"]))


def _word(verdict: bool) -> str:  # noqa: FBT001 (its only argument)
    return "right" if verdict else "wrong"


def _requests(canary: Canary, options: Judge) -> list[Request]:
    return requests_of(options.canary_metric, encode_fields(canary.values), options)
