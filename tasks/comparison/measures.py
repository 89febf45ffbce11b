"""Measures: what is compared of a candidate, a metric's pass rate or its value."""

from collections.abc import Iterator
from typing import Literal, NamedTuple

import numpy as np

from tasks.metrics.base import Floats
from tasks.scores.column_facts import VALUE
from tasks.scores.columns import Candidate, ScoreColumn

Bounds = tuple[float, float]
# The measure of human labels.
LABEL = "label"


class Measure(NamedTuple):
    """One number of a candidate, and the rows that it is made from."""

    name: str
    kind: Literal["rate", "mean", "corpus"]
    column: ScoreColumn

    @property
    def signature(self) -> str:
        """How the number was made; must be equal in both versions."""
        return (self.column.facts.rate_signature if self.kind == "rate" else None) or self.column.facts.signature

    @property
    def higher_is_better(self) -> bool:
        """Whether more of it is better; passing always is."""
        return self.kind == "rate" or self.column.facts.higher_is_better

    @property
    def bounds(self) -> Bounds | None:
        """Smallest and largest possible value; None where they are unknown."""
        return (0.0, 1.0) if self.kind == "rate" else self.column.facts.bounds

    @property
    def is_share(self) -> bool:
        """Whether it lies between 0 and 1, so that its differences are read in percentage points."""
        return self.bounds == (0.0, 1.0)

    @property
    def scale(self) -> float:
        """The width of the bounds, 1 without bounds: margins are shares of it."""
        return 1.0 if self.bounds is None else self.bounds[1] - self.bounds[0]

    @property
    def without_rows(self) -> "Measure":
        """What the measure is, without the rows."""
        return self._replace(column=self.column.rows(np.empty(0, np.intp)))

    @property
    def values(self) -> Floats:
        """The value of each row, NaN where unmeasured; shape (n,)."""
        if self.kind == "rate" and self.column.passed is not None:
            return np.where(np.isnan(self.column.values), np.nan, self.column.passed.astype(np.float64))
        return self.column.values


def measures(candidate: Candidate) -> dict[str, Measure]:
    """Every measure of a candidate by its name: `f1` is the pass rate of f1, `f1.value` its value.

    Of a metric without a pass rate, such as `rouge_recall`, the name alone is the value.
    """
    return {measure.name: measure for column in candidate.columns for measure in _of(column)}


def without_threshold(candidate: Candidate) -> list[str]:
    """The pass rates that a candidate lacks because its threshold is not fitted yet."""
    return [column.name for column in candidate.columns if column.facts.awaits_threshold]


def _of(column: ScoreColumn) -> Iterator[Measure]:
    value = Measure(column.name, "mean" if column.stats is None else "corpus", column)
    if column.facts.awaits_threshold:  # its name alone is the pass rate that it lacks
        yield value._replace(name=f"{column.name}{VALUE}")
        return
    if column.passed is None:
        yield value
        return
    yield value._replace(kind="rate")
    yield value._replace(name=f"{column.name}{VALUE}")
