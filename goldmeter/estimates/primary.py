"""The primary measure: the one that decides which candidate leads, and whether a release ships."""

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

from goldmeter.errors import ParamsError, did_you_mean
from goldmeter.estimates.column_facts import VALUE
from goldmeter.estimates.human_labels import FEWEST, LABEL
from goldmeter.estimates.sums import Counted, System, column_of
from goldmeter.metrics.catalogue import correctness_verdict

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
