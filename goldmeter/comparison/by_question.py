"""One measure of a system by question, and the difference of two systems over the questions that both answered."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from goldmeter.comparison.measures import Measure, measures
from goldmeter.errors import ParamsError, did_you_mean
from goldmeter.estimates.columns import Candidate, Hashes
from goldmeter.metrics.base import Floats
from goldmeter.statistics.repeated import variance_split


class ByQuestion(NamedTuple):
    """Values of one system, or differences of two (first minus second), as shares of the measure's width; n questions.

    Attributes:
        values: By the key of the question.
        draws: Answers of each system to each question, shape (n,).
        within: Variance between the answers of each system to one question; None where each question has one.
        groups: Cluster of each question, shape (n,); None without groups.
    """

    values: pd.Series
    draws: Sequence[Floats]
    within: Sequence[float | None]
    groups: NDArray[np.intp] | None

    @property
    def of_draws(self) -> float | None:
        """Mean variance of a value that is due to draws; None where a system has one answer to each question."""
        known = [
            within * float((1.0 / draws).mean())
            for within, draws in zip(self.within, self.draws, strict=True)
            if within is not None
        ]
        return sum(known) if len(known) == len(self.within) else None


def by_question(sides: Sequence[Candidate], measure: str) -> ByQuestion:
    """The values of one system, or the differences of two over shared questions.

    Raises:
        ParamsError: As `measure_of`.
    """
    return of_rows(sides, [rows_of(side, measure_of(side, measure)) for side in sides])


def of_rows(sides: Sequence[Candidate], rows: Sequence[tuple[Floats, Hashes]]) -> ByQuestion:
    """The same from the measured values of each system, and the question of each."""
    each = [pd.Series(values).groupby(keys).agg(["mean", "size"]) for values, keys in rows]
    means = pd.concat([one["mean"] for one in each], axis=1, join="inner")
    values = means.iloc[:, 0] - means.iloc[:, 1] if len(sides) > 1 else means.iloc[:, 0]
    splits = [variance_split(*one) for one in rows]
    return ByQuestion(
        values,
        [one.loc[means.index, "size"].to_numpy(np.float64) for one in each],
        [None if split is None else split.within for split in splits],
        groups_of(sides[0], means.index),
    )


def groups_of(side: Candidate, questions: pd.Index) -> NDArray[np.intp] | None:
    """The cluster of each of a system's questions, which are named by their keys; None without groups."""
    if side.groups is None:
        return None
    return pd.Series(side.groups, question_keys(side)).groupby(level=0).first()[questions].to_numpy()


def question_keys(side: Candidate) -> Hashes:
    """The key of each row's question, shape (rows,)."""
    return side.keys if side.questions is None else side.questions


def measure_of(side: Candidate, name: str) -> Measure:
    """A measure of a system by its name; ParamsError if it lacks it, or it has no bounds or no value of a row."""
    found = measures(side)
    usable = [one.name for one in found.values() if one.kind != "corpus" and one.bounds]
    if name not in usable:
        why = "has no bounded value of a row" if name in found else f"no such measure of {side.name}"
        suggestion = did_you_mean(name, usable) or ";"
        raise ParamsError(f"{name}: {why}{suggestion} name one by --measure: {', '.join(usable)}")
    return found[name]


def rows_of(side: Candidate, one: Measure) -> tuple[Floats, Hashes]:
    """The measured values as shares of the bounds, and the question of each."""
    low, high = one.bounds or (0.0, 1.0)
    measured = ~np.isnan(one.values)
    return (one.values[measured] - low) / (high - low), question_keys(side)[measured]
