"""The band of a cascade that labels teach: how often more is wrong outside of it than was stated."""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from benchmarks.coverage.cells import Cell, alarmed, generator
from benchmarks.coverage.designed import Judged, blind_to_some, calibrated, lenient, too_sure
from tasks.statistics.risk_band import DISTANCES, risk_band

TOPIC = "learnt band of a cascade"
CONFIDENCE = 0.95
DESIGNS = ((0.1, 500), (0.02, 2_000))
"""Stated shares, and labels."""
ANSWERS = 3
"""Answers to a question that have one label in common."""
RATE, MANY = 0.7, 400_000
JUDGES: dict[str, Judged] = {
    "a calibrated judge": partial(calibrated, rate=RATE, strength=0.9),
    "a judge that is too sure": partial(too_sure, rate=RATE),
    "a lenient judge": partial(lenient, rate=RATE),
    "a judge that is blind to some": partial(blind_to_some, rate=RATE),
}


def exceeded(judge: str, share: float, n: int, answers: int, draws: int) -> Iterator[Cell]:
    """Learn the band from n labels; it fails if more than the share is wrong on a side of it."""
    rng = generator(TOPIC, judge, share, n, answers)
    wrong_below, wrong_above = _errors(judge, rng)
    failed = 0
    for _ in range(draws):
        p, right = JUDGES[judge](rng, n // answers)
        y = np.repeat(rng.random(p.size) < right, answers)
        questions = np.repeat(np.arange(p.size), answers) if answers > 1 else None
        band = risk_band(np.repeat(p, answers), y, share, questions, CONFIDENCE)
        failed += wrong_below[band.low] > share or wrong_above[band.high] > share
    name = f"{judge}, {share:.0%} of {n} labels" + (f" of {answers} answers each" if answers > 1 else "")
    yield alarmed(TOPIC, name, "more wrong than stated", 1.0 - CONFIDENCE, failed, draws)


def _errors(judge: str, rng: np.random.Generator) -> tuple[dict[float, float], dict[float, float]]:
    """The true share of wrong decisions beyond each possible limit."""
    p, right = JUDGES[judge](rng, MANY)
    lows, highs = (0.0, *DISTANCES), (1.0, *(round(1.0 - distance, 3) for distance in DISTANCES))
    below = {limit: float(right[p < limit].mean()) if limit and (p < limit).any() else 0.0 for limit in lows}
    above = {limit: float(1.0 - right[p > limit].mean()) if (p > limit).any() else 0.0 for limit in highs}
    return below, above


STUDIES: tuple[Callable[[int], Iterator[Cell]], ...] = (
    *(partial(exceeded, judge, share, n, 1) for judge in JUDGES for share, n in DESIGNS),
    partial(exceeded, "a judge that is too sure", 0.1, 600, ANSWERS),
)
