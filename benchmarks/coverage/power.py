"""Planned power: whether the rows that were asked for find the difference as often as promised."""

from collections.abc import Callable, Iterator

import numpy as np
from scipy.stats import binom

from benchmarks.coverage.cells import Cell, Floats, generator, share_error
from tasks.statistics.clusters import Codes
from tasks.statistics.paired import mcnemar_midp, paired_difference
from tasks.statistics.power import detectable_difference, required_rows, rows_to_find

TOPIC = "power planning"

# Difference and discordance; below about 30 rows a step of one row can miss the band.
BINARY_DESIGNS = ((0.03, 0.05), (0.03, 0.2), (0.05, 0.05), (0.05, 0.1), (0.05, 0.4), (0.1, 0.1), (0.1, 0.3), (0.2, 0.4))

# Difference and standard deviation.
BOUNDED_DESIGNS = ((0.01, 0.05), (0.03, 0.05), (0.05, 0.2), (0.05, 0.3), (0.1, 0.2))


def binary(_draws: int) -> Iterator[Cell]:
    """Power of mid-p McNemar at the rows asked for, exactly; also at a confidence corrected for 15 metrics."""
    for confidence in (0.95, 0.9973):
        for difference, discordance in BINARY_DESIGNS:
            n = required_rows(difference, discordance=discordance, confidence=confidence)
            power = mcnemar_power(n, difference, discordance, 1.0 - confidence)
            design = f"difference {difference}, discordance {discordance}, confidence {confidence}, n = {n}"
            yield from _band(design, power, 0.0, 0)


def binary_detectable(_draws: int) -> Iterator[Cell]:
    """Power at the difference that was said to be detectable, exactly."""
    for n, changed in ((50, 10), (100, 10), (300, 30), (300, 120), (1000, 20)):
        d = np.repeat([1.0, -1.0, 0.0], [changed // 2, changed // 2, n - changed])
        difference = detectable_difference(d)
        power = mcnemar_power(n, difference, max(changed / n, difference), 0.05)
        yield from _band(f"detectable: {changed} of {n} rows changed", power, 0.0, 0)


def bounded(draws: int) -> Iterator[Cell]:
    """Power of the interval of bounded differences at the rows asked for."""
    for difference, sd in BOUNDED_DESIGNS:
        n = required_rows(difference, sd=sd)
        rng = generator(TOPIC, difference, sd)
        rows = (np.clip(rng.normal(difference, sd, n), -1.0, 1.0) for _ in range(draws))
        yield from _simulated(
            f"difference {difference}, sd {sd}, n = {n}", (paired_difference(d).low > 0.0 for d in rows)
        )


def unbounded(draws: int) -> Iterator[Cell]:
    """Power of the t interval at the rows asked for."""
    for difference, sd in ((30.0, 100.0), (5.0, 10.0)):
        n = required_rows(difference, sd=sd, width=np.inf)
        rng = generator(TOPIC, "unbounded", difference, sd)
        rows = (rng.normal(difference, sd, n) for _ in range(draws))
        found = (paired_difference(d, bounds=(0.0, np.inf)).low > 0.0 for d in rows)
        yield from _simulated(f"unbounded, difference {difference}, sd {sd}, n = {n}", found)


def clustered(draws: int) -> Iterator[Cell]:
    """Power with the rows that a large pilot study of clusters asks for."""
    for difference in (0.05, 0.1):
        rng = generator(TOPIC, "clustered", difference)
        pilot, codes = _conversations(rng, 3000, 0.0)
        groups = round(rows_to_find(difference, pilot, codes) / 6)
        rows = (_conversations(rng, groups, difference) for _ in range(draws))
        yield from _simulated(
            f"clusters of 6, difference {difference}, G = {groups}",
            (paired_difference(*data).low > 0.0 for data in rows),
        )


def mcnemar_power(n: int, difference: float, discordance: float, alpha: float) -> float:
    """The chance that mid-p McNemar rejects on the true side: written out, over every number of changed rows."""
    changed = np.arange(n + 1)
    chances = binom.pmf(changed, n, discordance)
    share = (1.0 + difference / discordance) / 2.0
    kept = np.flatnonzero(chances > 1e-9)  # noqa: PLR2004 (what is left out cannot show)
    return float(sum(chances[m] * binom.sf(_fewest_wins(int(m), alpha) - 1, m, share) for m in kept))


def _fewest_wins(changed: int, alpha: float) -> int:
    wins = changed + 1
    while 2 * (wins - 1) > changed and mcnemar_midp(wins - 1, changed - wins + 1) < alpha:
        wins -= 1
    return wins


def _conversations(rng: np.random.Generator, groups: int, gain: float) -> tuple[Floats, Codes]:
    codes = np.repeat(np.arange(groups), 6)
    rates = (rng.beta(0.8 * p, 0.8 * (1.0 - p), groups)[codes] for p in (0.7, 0.7 + gain))
    base, head = (rng.random(codes.size) < rate for rate in rates)
    return head.astype(np.float64) - base, codes


def _simulated(design: str, found: Iterator[bool]) -> Iterator[Cell]:
    results = list(found)
    hits, draws = sum(results), len(results)
    yield from _band(design, hits / draws, share_error(hits, draws), draws)


def _band(design: str, power: float, error: float, draws: int) -> Iterator[Cell]:
    yield Cell(TOPIC, design, "power", "at least", 0.79, power, error, draws)
    yield Cell(TOPIC, design, "power", "at most", 0.83, power, error, draws)


STUDIES: tuple[Callable[[int], Iterator[Cell]], ...] = (binary, binary_detectable, bounded, unbounded, clustered)
