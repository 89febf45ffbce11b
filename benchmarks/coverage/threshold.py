"""Thresholds learnt from labels: coverage and width of their accuracy, and the promise about false passes."""

from collections.abc import Callable, Iterator
from itertools import product
from math import sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

from benchmarks.coverage.cells import Cell, generator, share_error
from tasks.statistics.mean import mean_interval
from tasks.statistics.threshold import threshold_from_labels

TOPIC = "threshold accuracy interval"
COVERED, RELATIVE_WIDTH = 0.935, 0.75
RISK = 0.1


class Design(NamedTuple):
    """Scores are normal, `separation` standard deviations higher where people let the row pass, in a share `good`.

    With `grades` they are rounded to whole numbers, so that many are equal. With `icc` rows come in fives, whose scores
    share that part of their variance and whose labels are then equal too.
    """

    n: int
    separation: float
    good: float
    grades: bool = False
    icc: float = 0.0

    def __str__(self) -> str:
        kind = ", grades" if self.grades else f", fives with icc = {self.icc}" if self.icc else ""
        return f"n = {self.n}, separation {self.separation}, {self.good:.0%} good{kind}"

    def clusters(self) -> npt.NDArray[np.intp] | None:
        """The cluster of each row, shape (n,), or None."""
        return np.arange(self.n) // 5 if self.icc else None

    def sample(self, rng: np.random.Generator) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
        """Scores and labels, both shape (n,)."""
        clusters = self.clusters()
        if clusters is None:
            labels = rng.random(self.n) < self.good
            scores = rng.normal(size=self.n) + self.separation * labels
            return (np.rint(scores) if self.grades else scores), labels
        count = int(clusters[-1]) + 1
        labels = (rng.random(count) < self.good)[clusters]
        noise = sqrt(self.icc) * rng.normal(size=count)[clusters] + sqrt(1.0 - self.icc) * rng.normal(size=self.n)
        return noise + self.separation * labels, labels

    def accuracy(self, threshold: float) -> float:
        """How often a fresh row is on the right side of the threshold."""
        return (1.0 - self.good) * (1.0 - self._passes(threshold)) + self.good * self._passes(
            threshold - self.separation
        )

    def false_pass(self, threshold: float) -> float:
        """How often a fresh row passes although people reject it."""
        return (1.0 - self.good) * self._passes(threshold)

    def _passes(self, distance: float) -> float:
        """The chance of a standard normal number of at least this, after rounding if these are grades."""
        return float(1.0 - ndtr(np.ceil(distance) - 0.5 if self.grades else distance))


def accuracy_cells(design: Design, draws: int) -> Iterator[Cell]:
    """How often the interval contains the accuracy of its threshold; its width beside that of a half split."""
    rng, clusters, half = generator(TOPIC, design), design.clusters(), design.n // 2
    hits, widths = 0, np.empty((draws, 2))
    for draw in range(draws):
        scores, labels = design.sample(rng)
        learnt = threshold_from_labels(scores, labels, clusters)
        hits += learnt.accuracy.low <= design.accuracy(learnt.threshold) <= learnt.accuracy.high
        tried = None if clusters is None else clusters[half:]
        threshold = threshold_from_labels(scores[:half], labels[:half], None if clusters is None else clusters[:half])[
            0
        ]
        split = mean_interval((scores[half:] >= threshold) == labels[half:], tried)
        widths[draw] = learnt.accuracy.high - learnt.accuracy.low, split.high - split.low
    yield Cell(TOPIC, str(design), "coverage", "at least", COVERED, hits / draws, share_error(hits, draws), draws)
    ratio = float(widths[:, 0].sum() / widths[:, 1].sum())
    error = float((widths[:, 0] - ratio * widths[:, 1]).std() / widths[:, 1].mean()) / sqrt(draws)
    yield Cell(TOPIC, str(design), "width / half split's", "at most", RELATIVE_WIDTH, ratio, error, draws)


def risk_cells(design: Design, draws: int) -> Iterator[Cell]:
    """How often fresh rows pass falsely under the promise, and whether the accuracy's interval still covers."""
    rng, clusters = generator(TOPIC, "risk", design), design.clusters()
    hits, risks = 0, np.empty(draws)
    for draw in range(draws):
        learnt = threshold_from_labels(*design.sample(rng), clusters, max_false_pass=RISK)
        hits += learnt.accuracy.low <= design.accuracy(learnt.threshold) <= learnt.accuracy.high
        risks[draw] = design.false_pass(learnt.threshold)
    name = f"{design}, at most {RISK:.0%} false passes"
    error = float(risks.std()) / sqrt(draws)
    yield Cell(TOPIC, name, "coverage", "at least", COVERED, hits / draws, share_error(hits, draws), draws)
    yield Cell(TOPIC, name, "false passes", "at most", RISK, float(risks.mean()), error, draws)


def _rows(n: int, separations: tuple[float, ...], draws: int) -> Iterator[Cell]:
    for separation, good in product(separations, (0.5, 0.8)):
        yield from accuracy_cells(Design(n, separation, good), draws)


def fifty_overlapping(draws: int) -> Iterator[Cell]:
    """Few rows, scores that say nothing or little."""
    return _rows(50, (0.0, 1.0), draws)


def fifty_apart(draws: int) -> Iterator[Cell]:
    """Few rows, scores that mostly or nearly always agree with people."""
    return _rows(50, (2.0, 4.0), draws)


def hundred_overlapping(draws: int) -> Iterator[Cell]:
    """As many rows as people often label, scores that say nothing or little."""
    return _rows(100, (0.0, 1.0), draws)


def hundred_apart(draws: int) -> Iterator[Cell]:
    """As many rows as people often label, scores that mostly or nearly always agree with people."""
    return _rows(100, (2.0, 4.0), draws)


def useless_scores(draws: int) -> Iterator[Cell]:
    """Many rows, scores that say nothing: the in-sample accuracy flatters most."""
    return _rows(300, (0.0,), draws)


def weak_scores(draws: int) -> Iterator[Cell]:
    """Many rows, overlapping scores."""
    return _rows(300, (1.0,), draws)


def good_scores(draws: int) -> Iterator[Cell]:
    """Many rows, scores that mostly agree with people."""
    return _rows(300, (2.0,), draws)


def splendid_scores(draws: int) -> Iterator[Cell]:
    """Many rows, scores that nearly always agree with people."""
    return _rows(300, (4.0,), draws)


def rare_failures(draws: int) -> Iterator[Cell]:
    """Few rows that people reject, or none."""
    for n, separation in ((50, 0.0), (50, 2.0), (100, 2.0)):
        yield from accuracy_cells(Design(n, separation, 0.95), draws)


def mostly_good(draws: int) -> Iterator[Cell]:
    """Scores that say nothing, where passing all is best: the plain .632 bootstrap covers 91.7 % of the first."""
    for n in (50, 100):
        yield from accuracy_cells(Design(n, 0.0, 0.7), draws)


def grades(draws: int) -> Iterator[Cell]:
    """Scores of a few levels only."""
    for n, good in product((50, 100), (0.5, 0.8)):
        yield from accuracy_cells(Design(n, 2.0, good, grades=True), draws)


def clustered_rows(draws: int) -> Iterator[Cell]:
    """Rows in clusters of five: 20 clusters, or 60."""
    for n, good in product((100, 300), (0.5, 0.8)):
        yield from accuracy_cells(Design(n, 2.0, good, icc=0.3), draws)


def false_passes(draws: int) -> Iterator[Cell]:
    """The promise of conformal risk control."""
    for design in (
        Design(50, 1.0, 0.5),
        Design(100, 0.0, 0.5),
        Design(100, 1.0, 0.8),
        Design(100, 2.0, 0.5),
        Design(100, 1.0, 0.5, grades=True),
        Design(100, 1.0, 0.5, icc=0.3),
    ):
        yield from risk_cells(design, draws)


STUDIES: tuple[Callable[[int], Iterator[Cell]], ...] = (
    useless_scores,
    weak_scores,
    good_scores,
    splendid_scores,
    fifty_overlapping,
    fifty_apart,
    hundred_overlapping,
    hundred_apart,
    rare_failures,
    mostly_good,
    clustered_rows,
    false_passes,
    grades,
)
