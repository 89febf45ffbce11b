"""A confidence sequence for a rate over clusters of rows: its limits hold at every look, so a run may stop at any."""

from math import log

import numpy as np

from goldmeter.statistics.arrays import FloatArray

# Stakes, as shares of the largest one that keeps the wealth positive. The best stake for n rows is about 3.5 / sqrt(n);
# closer ones gain no width, as each takes its share of the confidence.
STAKES = 0.99 / 2.0 ** np.arange(6)
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
        sizes: Rows of each cluster, shape (m,), from 0 to `largest`.
        largest: The most rows that a cluster can have, known before the first look.
        confidence: In (0, 1).

    Raises:
        ValueError: A total above its size, or a size above `largest`.

    Source: Waudby-Smith & Ramdas 2024, hedged capital; a mixture of stakes instead of predictable ones.

    >>> ones = np.ones(100)
    >>> [round(limit, 3) for limit in confidence_sequence(ones * (np.arange(100) < 80), ones, 1.0)]
    [0.647, 0.908]
    """
    if not (np.all((totals >= 0.0) & (totals <= sizes) & (sizes <= largest)) and largest > 0.0):
        raise ValueError("expected totals from 0 to the sizes, and sizes up to the largest")
    _, kinds, counts = np.unique(sizes * (largest + 1.0) + totals, return_index=True, return_counts=True)
    totals, sizes = totals[kinds], sizes[kinds]
    limit = log(2.0 / (1.0 - confidence) * len(STAKES))

    def low(passed: FloatArray) -> float:
        """The least rate that bets on a higher one do not exclude: their wealth falls in the rate."""
        least, most = 0.0, 1.0
        for _ in range(_ROUNDS):
            rates = np.linspace(least, most, _GRID)
            stakes = np.multiply.outer(STAKES, (passed - np.multiply.outer(rates, sizes)) / largest)
            excluded = int(np.count_nonzero(np.logaddexp.reduce(np.log1p(stakes) @ counts) >= limit))
            if not excluded:
                break
            least, most = float(rates[excluded - 1]), float(rates[min(excluded, _GRID - 1)])
        return least

    return low(totals), 1.0 - low(sizes - totals)
