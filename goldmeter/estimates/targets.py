"""Targets of a run without a baseline: minimum rates, and maxima of what answers take; met or not."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, NotRequired, TypedDict

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag

from goldmeter.errors import ParamsError, did_you_mean
from goldmeter.estimates.metrics_report import Limited
from goldmeter.pipeline.settings import Section, Share

# Prefix of measures that are win rates over the candidate that follows.
PREFERRED_OVER = "preferred_over."
# Candidate → measure → its rate.
Rates = Mapping[str, Mapping[str, Limited]]


class TargetVerdict(StrEnum):
    """Whether a target is met; the words are those of JSON and of the page."""

    MET = "met"
    NOT_MET = "not met"
    UNDECIDED = "undecided"


class Maximum(Section):
    """A target of which less is better.

    max: of latency in seconds, tokens, or cost in US dollars.
    """

    max: Annotated[float, Field(ge=0, allow_inf_nan=False)]


def _kind(given: Any) -> str:
    return "|max" if isinstance(given, dict | Maximum) else "|share"


# A share, or a maximum of what answers take.
ShareOrMaximum = Annotated[Annotated[Share, Tag("|share")] | Annotated[Maximum, Tag("|max")], Discriminator(_kind)]


class Targets(BaseModel):
    """The targets in section `report` of params.yaml, whose other options change no number."""

    model_config = ConfigDict(frozen=True, extra="ignore")
    targets: Mapping[str, float | Maximum] = {}


class TargetEntry(TypedDict):
    """A minimum rate, or a maximum of what answers take, and whether it is met."""

    target: NotRequired[float]
    max: NotRequired[float]
    verdict: TargetVerdict


def target_verdict(target: float, low: float | None, high: float | None) -> TargetVerdict:
    """Decide from the interval of a rate; an unknown interval decides nothing.

    >>> [str(target_verdict(0.85, low, low + 0.1)) for low in (0.86, 0.70, 0.80)]
    ['met', 'not met', 'undecided']
    """
    if low is None or high is None:
        return TargetVerdict.UNDECIDED
    if low >= target:
        return TargetVerdict.MET
    return TargetVerdict.NOT_MET if high < target else TargetVerdict.UNDECIDED


def maximum_verdict(target: float, low: float | None, high: float | None) -> TargetVerdict:
    """Decide from the interval of a number of which less is better; a limit that is missing decides nothing.

    >>> [str(maximum_verdict(2.0, *limits)) for limits in ((1.2, 1.9), (2.1, None), (1.2, None))]
    ['met', 'not met', 'undecided']
    """
    if high is not None and high <= target:
        return TargetVerdict.MET
    return TargetVerdict.NOT_MET if low is not None and low > target else TargetVerdict.UNDECIDED


def decided(targets: Mapping[str, float | Maximum], rates: Rates) -> dict[str, dict[str, TargetEntry]]:
    """Decide on every target for each candidate; a candidate without the rate is undecided.

    A target of a win rate is one for those candidates that were compared with the named one.

    Raises:
        ParamsError: No candidate has a rate that a target names.
    """
    names = sorted({measure for measures in rates.values() for measure in measures})
    for name in targets:
        if name not in names:
            suggestion = did_you_mean(name, names) or ";"
            raise ParamsError(f"report.targets.{name}: unknown measure{suggestion} allowed: {', '.join(names)}")
    return {
        candidate: {
            name: _entry(target, measures.get(name))
            for name, target in targets.items()
            if name in measures or not name.startswith(PREFERRED_OVER)
        }
        for candidate, measures in rates.items()
    }


def _entry(target: float | Maximum, rate: Limited | None) -> TargetEntry:
    low, high = (None, None) if rate is None else (rate["low"], rate["high"])
    if isinstance(target, Maximum):
        return {"max": target.max, "verdict": maximum_verdict(target.max, low, high)}
    return {"target": target, "verdict": target_verdict(target, low, high)}
