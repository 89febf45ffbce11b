"""Thresholds learnt from labels: coverage and width of their accuracy, and the promise about false passes."""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from math import sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

from benchmarks.coverage.cells import Cell, Floats, covered, generator, mean_ratio
from tasks.statistics.clusters import Codes
from tasks.statistics.estimate import Estimate
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

    def clusters(self) -> Codes | None:
        """The cluster of each row, shape (n,), or None."""
        return np.arange(self.n) // 5 if self.icc else None

    def sample(self, rng: np.random.Generator) -> tuple[Floats, npt.NDArray[np.bool_]]:
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
    rng, clusters = generator(TOPIC, design), design.clusters()
    hits, widths = 0, np.empty((draws, 2))
    for draw in range(draws):
        scores, labels = design.sample(rng)
        learnt = threshold_from_labels(scores, labels, clusters)
        hits += learnt.accuracy.low <= design.accuracy(learnt.threshold) <= learnt.accuracy.high
        split = _split(scores, labels, clusters)
        widths[draw] = learnt.accuracy.high - learnt.accuracy.low, split.high - split.low
    yield covered(TOPIC, str(design), COVERED, hits, draws)
    ratio, error = mean_ratio(*widths.T)
    yield Cell(TOPIC, str(design), "width / half split's", "at most", RELATIVE_WIDTH, ratio, error, draws)


def _split(scores: Floats, labels: npt.NDArray[np.bool_], clusters: Codes | None) -> Estimate:
    """The accuracy on one half of a threshold learnt from the other."""
    half = scores.size // 2
    seen, tried = (None, None) if clusters is None else (clusters[:half], clusters[half:])
    threshold = threshold_from_labels(scores[:half], labels[:half], seen).threshold
    return mean_interval((scores[half:] >= threshold) == labels[half:], tried)


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
    yield covered(TOPIC, name, COVERED, hits, draws)
    yield Cell(TOPIC, name, "false passes", "at most", RISK, float(risks.mean()), error, draws)


def separated(n: int, separations: tuple[float, ...], draws: int) -> Iterator[Cell]:
    """Scores that say nothing (separation 0) up to such as nearly always agree with people (4)."""
    for separation, good in product(separations, (0.5, 0.8)):
        yield from accuracy_cells(Design(n, separation, good), draws)


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
    *(partial(separated, 300, (separation,)) for separation in (0.0, 1.0, 2.0, 4.0)),
    *(partial(separated, n, separations) for n in (50, 100) for separations in ((0.0, 1.0), (2.0, 4.0))),
    rare_failures,
    mostly_good,
    clustered_rows,
    false_passes,
    grades,
)
