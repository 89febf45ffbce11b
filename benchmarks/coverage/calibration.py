"""Calibration of probabilities: how often labels drawn with them reject them."""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from benchmarks.coverage.cells import Cell, Floats, alarmed, generator
from tasks.statistics.calibration import calibration

TOPIC = "calibration of the judge's probability"
SIZES = (50, 500)
ANSWERS = 3
"""Answers to a question that have one label in common."""
KINDS: dict[str, Callable[[np.random.Generator, int], Floats]] = {
    "even": lambda rng, n: rng.random(n),
    "near 1": lambda rng, n: rng.beta(30.0, 1.0, n),
}


def false_alarms(kind: str, n: int, draws: int) -> Iterator[Cell]:
    """Measure how often labels of n questions, each with several equal answers, reject their own probabilities."""
    rng, questions = generator("calibration", kind, n), np.repeat(np.arange(n), ANSWERS)
    alarms = 0
    for _ in range(draws):
        p = KINDS[kind](rng, n)
        right = rng.random(n) < p
        alarms += calibration(np.repeat(p, ANSWERS), np.repeat(right, ANSWERS), questions).p_value < 0.05  # noqa: PLR2004
    yield alarmed(TOPIC, f"{kind}, n = {n}", "false alarms", 0.05, alarms, draws)


STUDIES: tuple[Callable[[int], Iterator[Cell]], ...] = tuple(
    partial(false_alarms, kind, n) for kind in KINDS for n in SIZES
)
