"""Coverage of paired differences where most rows gain a little and few lose much: the hardest that is known."""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import product

import numpy as np
import numpy.typing as npt
from scipy.stats import binom

from benchmarks.coverage.cells import Cell, generator
from benchmarks.coverage.paired import COVERAGE, coverage
from tasks.statistics.paired import paired_difference

TOPIC = "paired bounded, gains of most against losses of few"
GAINS = (0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5)
NOISES = (0.0, 0.02, 0.05, 0.1, 0.2)
ROWS = (10, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1000)
NEVER = 1e-12
"""A number of losses that is less likely is left out; all of them together change a share by less than 1e-8."""


def rare_losses(loss: str, draws: int) -> Iterator[Cell]:
    """Gains by about e on most rows, losses by so much on few that the mean is 0; e up to .5, noise of the gains."""
    for gain, noise, n in product(GAINS, NOISES, ROWS):
        yield rare_cell(gain, 1.0 if loss == "-1" else 1.0 - gain, noise, n, draws)


def rare_cell(gain: float, loss: float, noise: float, n: int, draws: int) -> Cell:
    """Coverage of gains by gain ± noise against losses by `loss`; without noise exactly, over the number of losses."""
    design, chance = f"+{gain:g} ± {noise:g} against -{loss:g}, n = {n}", gain / (gain + loss)
    if not noise:
        share = sum(weight for losses, weight in _losses(n, chance) if _covers(np.arange(n) < losses, loss, gain))
        return Cell(TOPIC, design, "coverage", "at least", COVERAGE, share, 0.0, 0)
    rng, found = generator(TOPIC, design), []
    for _ in range(draws):
        lost = rng.random(n) < chance
        found.append(paired_difference(np.where(lost, -loss, gain + rng.uniform(-noise, noise, n))))
    return coverage(TOPIC, design, COVERAGE, found, 0.0)  # the others are false alarms: 0 is the truth


def _losses(n: int, chance: float) -> Iterator[tuple[int, float]]:
    """Numbers of losses in n rows, each with its probability."""
    weights = binom.pmf(np.arange(n + 1), n, chance)
    yield from ((losses, float(weight)) for losses, weight in enumerate(weights) if weight > NEVER)


def _covers(lost: npt.NDArray[np.bool_], loss: float, gain: float) -> bool:
    found = paired_difference(np.where(lost, -loss, gain))
    return found.low <= 0.0 <= found.high


STUDIES: tuple[Callable[[int], Iterator[Cell]], ...] = (partial(rare_losses, "-(1 - e)"), partial(rare_losses, "-1"))
