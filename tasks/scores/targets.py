"""Targets of a run without a baseline: the minimum rates of `report.targets`, met or not."""

from collections.abc import Mapping
from typing import Literal, TypedDict

from pydantic import BaseModel, ConfigDict

from tasks.errors import ParamsError, did_you_mean
from tasks.scores.metrics_report import Limited

TargetVerdict = Literal["met", "not met", "undecided"]
# Candidate → measure → its rate.
Rates = Mapping[str, Mapping[str, Limited]]


class Targets(BaseModel):
    """The targets in section `report` of params.yaml, whose other options change no number."""

    model_config = ConfigDict(frozen=True, extra="ignore")
    targets: Mapping[str, float] = {}


class TargetEntry(TypedDict):
    """A minimum rate, and whether it is met."""

    target: float
    verdict: TargetVerdict


def target_verdict(target: float, low: float | None, high: float | None) -> TargetVerdict:
    """Decide from the interval of a rate; an unknown interval decides nothing.

    >>> target_verdict(0.85, 0.86, 0.91), target_verdict(0.85, 0.70, 0.84), target_verdict(0.85, 0.80, 0.90)
    ('met', 'not met', 'undecided')
    """
    if low is None or high is None:
        return "undecided"
    if low >= target:
        return "met"
    return "not met" if high < target else "undecided"


def decided(targets: Mapping[str, float], rates: Rates) -> dict[str, dict[str, TargetEntry]]:
    """Decide on every target for each candidate; a candidate without the rate is undecided.

    Raises:
        ParamsError: No candidate has a rate that a target names.
    """
    names = sorted({measure for measures in rates.values() for measure in measures})
    for name in targets:
        if name not in names:
            suggestion = did_you_mean(name, names) or ";"
            raise ParamsError(f"report.targets.{name}: unknown measure{suggestion} allowed: {', '.join(names)}")
    return {
        candidate: {name: _entry(target, measures.get(name)) for name, target in targets.items()}
        for candidate, measures in rates.items()
    }


def _entry(target: float, rate: Limited | None) -> TargetEntry:
    low, high = (None, None) if rate is None else (rate["low"], rate["high"])
    return {"target": target, "verdict": target_verdict(target, low, high)}
