"""The primary measure: the one that decides which candidate leads, and whether a release ships."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Annotated, Any, NamedTuple, NotRequired, TypedDict

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag

from goldmeter.errors import ParamsError, did_you_mean
from goldmeter.estimates.column_facts import VALUE
from goldmeter.estimates.human_labels import FEWEST, LABEL
from goldmeter.estimates.metrics_report import Limited
from goldmeter.estimates.sums import Counted, System, column_of
from goldmeter.metrics.catalogue import correctness_verdict
from goldmeter.pipeline.settings import Section, Share

# The judge's verdict on whether an answer is right.
VERDICT = correctness_verdict()
# The share of a candidate's rows that may lack a label when all rows are said to be labelled: rejected answers, typos.
MOST_UNLABELLED = 0.05
OPTION = "gate.primary"


class Reason(StrEnum):
    """Why a measure is the primary one, in the words of JSON and of the page."""

    NAMED = "named in gate.primary"
    LABELS = "human labels"
    LABELS_OF_ALL = "human labels of all systems"
    SOME_LABELS = "human labels do not cover all systems"
    NO_LABELS = "no human labels"
    LOST_LABELS = "the new answers have no human labels"
    NOTHING = "nothing is measured"


class Primary(NamedTuple):
    """The primary measure; reason: why it is this one; of logs in words of their own."""

    name: str
    reason: Reason | str


def primary(chosen: str | None, candidates: Sequence[System], *, random: bool = False, option: str = OPTION) -> Primary:
    """The measure that decides.

    It is the chosen one; else the human labels, if they allow a statement on all candidates; else the judge's verdict.

    Args:
        chosen: `gate.primary`.
        candidates: The candidates that it has to measure.
        random: Whether the labelled rows were chosen at random (`dataset.labels`).
        option: The option that names the measure, for messages.

    Raises:
        ParamsError: No candidate has the chosen measure; or none is chosen, and there are neither labels nor verdicts.
    """
    if not candidates:
        return Primary(chosen or LABEL, Reason.NOTHING)
    if chosen is not None:
        _require_known(chosen, candidates, option)
        return Primary(chosen, Reason.NAMED)
    labelled = [_is_labelled(candidate, random=random) for candidate in candidates]
    if all(labelled):
        return Primary(LABEL, Reason.LABELS_OF_ALL if len(labelled) > 1 else Reason.LABELS)
    judged = [_is_measured(column_of(candidate, VERDICT)) for candidate in candidates]
    if all(judged):
        any_label = any(_is_measured(column_of(candidate, LABEL)) for candidate in candidates)
        return Primary(VERDICT, Reason.SOME_LABELS if any_label else Reason.NO_LABELS)
    raise ParamsError(
        f"{option}: none, but there are neither human labels of all systems nor verdicts of a judge; name the "
        f"measure that decides: {', '.join(measure_names(candidates))}"
    )


def measure_names(candidates: Sequence[System]) -> list[str]:
    """The names of all measures of the candidates: a column's own name, and with .value the score beside a pass rate.

    A binary score has no .value: it would be the pass rate again.
    """
    columns = [column for candidate in candidates for column in candidate.columns]
    names = [name for column in columns for name in (column.name, *_value_name(column))]
    return list(dict.fromkeys(names))


def _value_name(column: Counted) -> list[str]:
    return [f"{column.name}{VALUE}"] if column.facts.has_graded_score else []


def _require_known(chosen: str, candidates: Sequence[System], option: str) -> None:
    names = [name for name in measure_names(candidates) if name != LABEL]
    if chosen not in (*names, LABEL):  # new answers may have no labels yet
        suggestion = did_you_mean(chosen, [*names, LABEL]) or ";"
        raise ParamsError(f"{option}: unknown measure {chosen!r}{suggestion} allowed: {', '.join([LABEL, *names])}")


def _is_labelled(candidate: System, *, random: bool) -> bool:
    """Whether the labels allow a statement on all rows: enough of them, on all rows or on a random part."""
    label = column_of(candidate, LABEL)
    if label is None:
        return False
    missing = label.n_rows - label.n_measured
    covers = label.n_rows > 0 and missing / label.n_rows <= MOST_UNLABELLED
    return label.n_measured >= FEWEST and (random or covers)


def _is_measured(column: Counted | None) -> bool:
    return column is not None and column.n_measured > 0


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
