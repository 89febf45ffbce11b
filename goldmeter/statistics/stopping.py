"""A confidence sequence for a rate over clusters of rows: its limits hold at every look, so a run may stop at any."""

from collections.abc import Callable
from math import log

import numpy as np

from goldmeter.statistics.arrays import FloatArray

# Stakes, as shares of the largest one that keeps the wealth positive. The best stake for n rows is about 3.5 / sqrt(n);
# closer ones gain no width, as each takes its share of the confidence.
_STAKES = 0.99 / 2.0 ** np.arange(6)
# Halvings of [0, 1]: limits are exact to 1e-6.
_HALVINGS = 20


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
    pairs, counts = np.unique(np.stack([totals, sizes]), axis=1, return_counts=True)
    limit = log(2.0 / (1.0 - confidence) * len(_STAKES))

    def low(passed: FloatArray) -> float:
        """The least rate that bets on a higher one do not exclude: their wealth falls in the rate."""

        def is_excluded(rate: float) -> bool:
            growth = np.log1p(np.outer(_STAKES, (passed - rate * pairs[1]) / largest)) @ counts
            return bool(np.logaddexp.reduce(growth) >= limit)

        return _last(is_excluded)

    return low(pairs[0]), 1.0 - low(pairs[1] - pairs[0])


def _last(holds: Callable[[float], bool]) -> float:
    """The largest number in [0, 1] up to which something holds, from below; 0 if it holds nowhere."""
    below, above = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (below + above) / 2.0
        below, above = (middle, above) if holds(middle) else (below, middle)
    return below
