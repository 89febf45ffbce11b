"""Thresholds learnt from labels: coverage and width of their accuracy."""

from collections.abc import Iterator
from itertools import product
from math import sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

from benchmarks.coverage.cells import Floats, Rng, Simulation, contains, covers, each, length, width
from goldmeter.statistics.clusters import Codes
from goldmeter.statistics.estimate import Estimate
from goldmeter.statistics.mean import mean_interval
from goldmeter.statistics.threshold import threshold_from_labels

TOPIC = "threshold accuracy interval"
COVERED = covers(0.935)


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

    def sample(self, rng: Rng) -> tuple[Floats, npt.NDArray[np.bool_]]:
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

    def _passes(self, distance: float) -> float:
        """The chance of a standard normal number of at least this, after rounding if these are grades."""
        return float(1.0 - ndtr(np.ceil(distance) - 0.5 if self.grades else distance))


def accuracy(design: Design) -> Simulation:
    """How often the interval contains the accuracy of its threshold; its width beside that of a half split."""
    clusters = design.clusters()

    def draw(rng: Rng) -> tuple[bool, tuple[float, float]]:
        scores, labels = design.sample(rng)
        learnt = threshold_from_labels(scores, labels, clusters)
        widths = length(learnt.accuracy), length(_split(scores, labels, clusters))
        return contains(learnt.accuracy, design.accuracy(learnt.threshold)), widths

    return Simulation(TOPIC, str(design), (TOPIC, design), each(draw), (COVERED, width(0.75, "width / half split's")))


def _split(scores: Floats, labels: npt.NDArray[np.bool_], clusters: Codes | None) -> Estimate:
    """The accuracy on one half of a threshold learnt from the other."""
    half = scores.size // 2
    seen, tried = (None, None) if clusters is None else (clusters[:half], clusters[half:])
    threshold = threshold_from_labels(scores[:half], labels[:half], seen).threshold
    return mean_interval((scores[half:] >= threshold) == labels[half:], tried)


def studies() -> Iterator[Simulation]:
    """Scores that say nothing (separation 0) up to such as nearly always agree with people (4)."""
    designs = [
        *(Design(n, *case) for n in (300, 50, 100) for case in product((0.0, 1.0, 2.0, 4.0), (0.5, 0.8))),
        *(Design(n, separation, 0.95) for n, separation in ((50, 0.0), (50, 2.0), (100, 2.0))),  # few rejected, or none
        *(Design(n, 0.0, 0.7) for n in (50, 100)),  # the plain .632 bootstrap covers 91.7 % of the first
        *(Design(n, 2.0, good, icc=0.3) for n, good in product((100, 300), (0.5, 0.8))),
    ]
    yield from map(accuracy, designs)
    yield from (accuracy(Design(n, 2.0, good, grades=True)) for n, good in product((50, 100), (0.5, 0.8)))
