"""Confidence sequences of rates and differences over clusters of rows: they hold at every look, so a run may stop."""

from math import exp, log

import numpy as np

from goldmeter.statistics.arrays import FloatArray

# Stakes, as shares of the largest one that keeps the wealth positive, below EVEN of that of EVEN. Means of groups and
# differences vary little, so that large stakes pay; closer ones gain nothing: each takes its share of the confidence.
STAKES, EVEN = 0.99 / 2.0 ** np.arange(7), 0.5
# Rates that are tried at once, and how often, ever closer: limits are exact to 4e-6.
_GRID, _ROUNDS = 65, 3


def confidence_sequence(
    totals: FloatArray, sizes: FloatArray, largest: float, confidence: float = 0.95
) -> tuple[float, float]:
    """Return the limits of a rate, valid at all looks together: the rate is ever outside with 1 - confidence at most.

    The rate is that of rows, E[total] / E[size], in the population of which the clusters are a random sequence. For
    each rate r, the wealth of bets on total - r * size is a martingale if r is the rate; a rate is excluded on
    either side when several stakes together reach 2 / (1 - confidence).

    Args:
        totals: Passing rows of each cluster, shape (m,), from 0 to its size. Independent rows are clusters of size 1.
        sizes: Rows of each cluster, or the sum of their weights, shape (m,), from 0 to `largest`.
        largest: The largest size that a cluster can have, known before the first look.
        confidence: In (0, 1).

    Raises:
        ValueError: A total above its size, or a size above `largest`.

    Source: Waudby-Smith & Ramdas 2024, hedged capital; a mixture of stakes instead of predictable ones.

    >>> ones = np.ones(100)
    >>> [round(limit, 3) for limit in confidence_sequence(ones * (np.arange(100) < 80), ones, 1.0)]
    [0.65, 0.907]
    """
    if not (np.all((totals >= 0.0) & (totals <= sizes) & (sizes <= largest)) and largest > 0.0):
        raise ValueError("expected totals from 0 to the sizes, and sizes up to the largest")
    totals, sizes, counts = _kinds(totals, sizes)
    limit = log(2.0 / (1.0 - confidence))

    def low(passed: FloatArray) -> float:
        """The least rate that bets on a higher one do not exclude: their wealth falls in the rate."""
        least, most = 0.0, 1.0
        for _ in range(_ROUNDS):
            rates = np.linspace(least, most, _GRID)
            excluded = int(np.count_nonzero(_log_wealth(passed, sizes, counts, rates, largest) >= limit))
            if not excluded:
                break
            least, most = float(rates[excluded - 1]), float(rates[min(excluded, _GRID - 1)])
        return least

    return low(totals), 1.0 - low(sizes - totals)


def difference_sequence(
    changes: FloatArray, sizes: FloatArray, largest: float, confidence: float = 0.95
) -> tuple[float, float, float]:
    """Return the limits of a mean difference and the p value of "no difference", valid at all looks together.

    The p value is at most 1 - confidence where the limits leave out 0, but for rounding.

    Args:
        changes: Sum of the differences of each cluster, shape (m,), from -size to its size.
        sizes, largest, confidence, errors, source: As of `confidence_sequence`.

    >>> ones = np.ones(400)
    >>> low, high, p_value = difference_sequence(ones * (np.arange(400) % 5 == 0), ones, 1.0)
    >>> round(low, 3), round(high, 3), p_value < 0.001
    (0.14, 0.272, True)
    """
    totals = (changes + sizes) / 2.0
    low, high = confidence_sequence(totals, sizes, largest, confidence)
    totals, sizes, counts = _kinds(totals, sizes)
    even = np.array([EVEN])
    most = max(float(_log_wealth(side, sizes, counts, even, largest)[0]) for side in (totals, sizes - totals))
    return 2.0 * low - 1.0, 2.0 * high - 1.0, min(2.0 * exp(-most), 1.0)


def _kinds(totals: FloatArray, sizes: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the totals and sizes of clusters that differ, and how many there are of each."""
    _, kinds, counts = np.unique(sizes + 1j * totals, return_index=True, return_counts=True)
    return totals[kinds], sizes[kinds], counts.astype(np.float64)


def _log_wealth(
    totals: FloatArray, sizes: FloatArray, counts: FloatArray, rates: FloatArray, largest: float
) -> FloatArray:
    """Return the logarithm of the wealth, from 1 on, of bets that the rate is higher than each of some rates."""
    gains = (totals - np.multiply.outer(rates, sizes)) / (largest * np.maximum(rates, EVEN)[:, None])
    stakes = np.multiply.outer(STAKES, gains)
    return np.asarray(np.logaddexp.reduce(np.log1p(stakes) @ counts) - log(len(STAKES)))
