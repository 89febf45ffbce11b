"""The win rate of one candidate over another: wins count 1, ties a half, losses 0."""

from typing import NamedTuple

import numpy as np

from tasks.statistics.clusters import ClusterTotals
from tasks.statistics.difference_sums import DifferenceSums
from tasks.statistics.estimate import Method
from tasks.statistics.paired import difference_of_sums


class WinRate(NamedTuple):
    """A win rate with its interval, and the p value of "both are preferred equally often".

    0.5 lies outside [low, high] exactly when p_value < 1 - confidence. Without rows the value is NaN.

    Attributes:
        value: The win rate, in [0, 1].
        low: Lower limit.
        high: Upper limit.
        n: Number of rows.
        method: How the interval was computed; part of the reports.
        p_value: Two-sided p value.
    """

    value: float
    low: float
    high: float
    n: int
    method: Method
    p_value: float


def win_rate(
    wins: int, ties: int, losses: int, clusters: ClusterTotals | None = None, confidence: float = 0.95
) -> WinRate:
    """Estimate a win rate and its interval by the paired difference of points: a win is +1, a tie 0, a loss -1.

    Args:
        wins: Rows won.
        ties: Rows that nobody won.
        losses: Rows lost.
        clusters: Wins less losses and the number of rows by cluster; None for independent rows.
        confidence: In (0, 1).

    Raises:
        ValueError: A negative count, or a single cluster.

    Warns:
        FewClusters: There are fewer than 10 clusters.

    Source: as of `tasks.statistics.paired.paired_difference`.

    >>> found = win_rate(1, 13, 7)
    >>> round(found.value, 4), round(found.low, 4), round(found.high, 4)  # (1 - 0.5084) / 2, (1 - 0.0134) / 2
    (0.3571, 0.2458, 0.4933)
    """
    if min(wins, ties, losses) < 0:
        raise ValueError(f"wins = {wins}, ties = {ties}, losses = {losses}: expected counts of 0 or more")
    points = np.repeat([1.0, 0.0, -1.0], [wins, ties, losses])
    value, low, high, n, method, p_value = difference_of_sums(
        DifferenceSums.of(points, 1.0), clusters, confidence=confidence
    )
    return WinRate((1.0 + value) / 2.0, (1.0 + low) / 2.0, (1.0 + high) / 2.0, n, method, p_value)
