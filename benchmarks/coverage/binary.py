"""The mean of binary rows: coverage at 1121 true rates, enumerated over every count that can come out."""

from collections.abc import Callable, Iterator
from math import sqrt

import numpy as np
from scipy.special import stdtrit
from scipy.stats import binom

from benchmarks.coverage.cells import Cell, Floats
from tasks.statistics import mean_interval

Interval = Callable[[int, int], tuple[float, float]]
"""The limits of k right ones of n."""

TOPIC, GUARANTEED = "binary mean", "binary mean, guarantee"
SIZES = (5, 10, 20, 30, 50, 100, 300, 1000)
_EDGE = np.geomspace(1e-5, 1e-3, 62)[:-1]
RATES = np.concatenate([_EDGE, np.linspace(0.001, 0.999, 999), 1 - _EDGE])
HIGH = 0.98
"""Where evaluations live: what popular tools give there."""
_Z = 1.959963984540054


def ours(k: int, n: int) -> tuple[float, float]:
    """The limits of `mean_interval`."""
    return _limits(k, n, guarantee=False)


def guaranteed(k: int, n: int) -> tuple[float, float]:
    """The limits of `mean_interval` with a guarantee."""
    return _limits(k, n, guarantee=True)


def wilson(k: int, n: int) -> tuple[float, float]:
    """Wilson's limits, without a tail. Source: Wilson 1927."""
    p, shrink = k / n, 1.0 + _Z**2 / n
    centre, half = p + _Z**2 / (2 * n), _Z * sqrt(p * (1 - p) / n + _Z**2 / (4 * n * n))
    return (centre - half) / shrink, (centre + half) / shrink


def wald(k: int, n: int) -> tuple[float, float]:
    """The mean ± 1.96 standard errors, as most evaluation tools print it."""
    p = k / n
    half = _Z * sqrt(p * (1 - p) / n)
    return p - half, p + half


def student(k: int, n: int) -> tuple[float, float]:
    """The t interval of the rows."""
    p = k / n
    half = float(stdtrit(n - 1, 0.975)) * sqrt(p * (1 - p) / (n - 1))
    return p - half, p + half


def bootstrap(k: int, n: int) -> tuple[float, float]:
    """The percentile bootstrap with all resamples there are: quantiles of a binomial count."""
    if k in {0, n}:
        return k / n, k / n
    return float(binom.ppf(0.025, n, k / n)) / n, float(binom.ppf(0.975, n, k / n)) / n


PEERS: dict[str, Interval] = {"percentile bootstrap": bootstrap, "±1.96·SE": wald, "t interval": student}


def rates(_draws: int) -> Iterator[Cell]:
    """The default: coverage at the worst rate, and the expected width over Wilson's."""
    for n in SIZES:
        mine, plain = table(ours, n), table(wilson, n)
        yield worst_rate(TOPIC, "", 0.915, mine, n)
        yield worst_rate(TOPIC, "Wilson: ", None, plain, n)
        if n >= 10:  # noqa: PLR2004 (no target below)
            name, measure = f"n = {n}", "mean width over Wilson's"
            target = 1.01 if n >= 30 else 1.03  # noqa: PLR2004 (the table's rows)
            yield Cell(TOPIC, name, measure, "at most", target, width(mine, n) / width(plain, n), 0.0, 0)


def high_rate(_draws: int) -> Iterator[Cell]:
    """What popular tools give at a true rate of 98 %."""
    for n in (10, 30, 100):
        for peer, interval in PEERS.items():
            found = float(coverage(table(interval, n), n, HIGH)[0])
            yield Cell(TOPIC, f"{peer}: n = {n}, p = {HIGH}", "coverage", "contrast", None, found, 0.0, 0)


def guarantee(_draws: int) -> Iterator[Cell]:
    """Blaker's interval: coverage at the worst rate."""
    for n in SIZES:
        yield worst_rate(GUARANTEED, "", 0.95, table(guaranteed, n), n)


STUDIES: tuple[Callable[[int], Iterator[Cell]], ...] = (rates, high_rate, guarantee)


def table(interval: Interval, n: int) -> Floats:
    """Shape (n + 1, 2): the limits of each count."""
    return np.array([interval(k, n) for k in range(n + 1)])


def coverage(limits: Floats, n: int, p: float | Floats = RATES) -> Floats:
    """How often the interval of the count contains the true rate, one number a rate, exactly."""
    rate = np.atleast_1d(p)[:, None]
    inside = (limits[:, 0] <= rate) & (rate <= limits[:, 1])
    return np.asarray((_chances(n, rate) * inside).sum(axis=1))


def width(limits: Floats, n: int) -> float:
    """The expected width, averaged over the true rates."""
    return float((_chances(n, RATES[:, None]) @ (limits[:, 1] - limits[:, 0])).mean())


def worst_rate(topic: str, peer: str, target: float | None, limits: Floats, n: int) -> Cell:
    """The coverage at the rate where it is least; without a target it is a contrast."""
    found = coverage(limits, n)
    at = int(found.round(9).argmin())  # of p and 1 - p, which cover alike, the smaller
    name = f"{peer}n = {n}, p = {RATES[at]:.4g}"
    return Cell(topic, name, "coverage", "contrast" if target is None else "at least", target, float(found[at]), 0.0, 0)


def _limits(k: int, n: int, *, guarantee: bool) -> tuple[float, float]:
    estimate = mean_interval(np.repeat([1.0, 0.0], [k, n - k]), guarantee=guarantee)
    return estimate.low, estimate.high


def _chances(n: int, rate: Floats) -> Floats:
    """Shape (rates, n + 1): the chance of each count."""
    return np.asarray(binom.pmf(np.arange(n + 1), n, rate))
