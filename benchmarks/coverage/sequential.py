"""Scheduled runs: false alarms of 90 daily looks, and how soon a drop of fresh rows is found."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

import numpy as np

from benchmarks.coverage.cells import Cell, Floats, alarmed, generator, share_error
from tasks.statistics.paired import paired_difference
from tasks.statistics.sequential import alpha_spending, drift_detector

LOOKS = "90 daily looks, same rows"
FRESH = "100 fresh rows a day, floor .85"
DAYS = 90
ROWS = 100
FLOOR = 0.85
EARLY = (0, {7: 0.50, 14: 0.90, 30: 0.99})
LATE = (30, {14: 0.55, 30: 0.99})
"""Good days before a drop, and how often it is to be found within how many days."""

Levels = Callable[[int], float]


def false_alarm(nights: Floats, level: Levels) -> bool:
    """Return whether any night is called worse; `nights`: shape (days, rows), differences to the baseline."""
    return any(
        paired_difference(d, confidence=1.0 - level(night)).high < 0.0
        for night, d in enumerate(nights, 1)
        if d.sum() < 0.0
    )


def binary_nights(rng: np.random.Generator) -> Floats:
    """Return 90 new versions as good as the baseline, whose rows differ in difficulty."""
    rate = rng.beta(8.0, 2.0, ROWS)
    right: Floats = (rng.random((DAYS + 1, ROWS)) < rate).astype(np.float64)
    change: Floats = right[1:] - right[0]
    return change


def persistent_nights(rng: np.random.Generator) -> Floats:
    """Return 90 nights on which a score keeps 0.9 of its last deviation."""
    step = 0.25 * rng.standard_normal((DAYS + 1, ROWS))
    deviation = step.copy()
    for night in range(1, DAYS + 1):
        deviation[night] = 0.9 * deviation[night - 1] + np.sqrt(1.0 - 0.9**2) * step[night]
    change: Floats = np.clip(deviation[1:] - deviation[0], -1.0, 1.0)
    return change


NIGHTS = {"binary": binary_nights, "persistent": persistent_nights}


def looks(kind: str, draws: int, level: Levels = alpha_spending) -> Iterator[Cell]:
    """Measure how often 90 unchanged nights raise an alarm."""
    rng = generator("looks", kind)
    hits = sum(false_alarm(NIGHTS[kind](rng), level) for _ in range(draws))
    yield alarmed(LOOKS, kind, "false alarms", 0.05, hits, draws)


def alarm_days(rates: Sequence[float], draws: int, scores: str = "binary") -> Floats:
    """Return the day of the first alarm of each draw, shape (draws,), infinite when there was none."""
    rng = generator("drift", scores, *rates)
    return np.array([_alarm_day(rates, rng, scores) for _ in range(draws)])


def _alarm_day(rates: Sequence[float], rng: np.random.Generator, scores: str) -> float:
    state = None
    for day, rate in enumerate(rates, 1):
        rows = (rng.random(ROWS) < rate).astype(float) if scores == "binary" else rng.beta(9 * rate, 9 - 9 * rate, ROWS)
        state = drift_detector(state, rows, FLOOR)
        if state.alarm():
            return float(day)
    return float("inf")


def no_drift(scores: str, draws: int) -> Iterator[Cell]:
    """Measure false alarms while the mean stays at the floor."""
    hits = int(np.isfinite(alarm_days([FLOOR] * DAYS, draws, scores)).sum())
    yield alarmed(FRESH, f"{scores}, stays", "false alarms", 0.05, hits, draws)


def drop(good_days: int, targets: Mapping[int, float], draws: int) -> Iterator[Cell]:
    """Measure how often a drop to 0.80, after days at 0.87, is found within some days; targets: days → how often."""
    found = alarm_days([0.87] * good_days + [0.80] * max(targets), draws) - good_days
    for within, target in targets.items():
        hits = int(((found > 0.0) & (found <= within)).sum())
        name = f"drop after {good_days} days, within {within}"
        yield Cell(FRESH, name, "found", "at least", target, hits / draws, share_error(hits, draws), draws)


STUDIES: tuple[Callable[[int], Iterator[Cell]], ...] = (
    *(partial(looks, kind) for kind in NIGHTS),
    *(partial(no_drift, scores) for scores in ("binary", "continuous")),
    partial(drop, *EARLY),
    partial(drop, *LATE),
)
