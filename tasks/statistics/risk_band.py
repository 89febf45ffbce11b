"""The probabilities outside of which a judge is seldom wrong, learnt from labels with a bound on its error."""

from collections.abc import Sequence
from math import ceil, log, log1p
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tasks.statistics.arrays import BoolArray, FloatArray, binary_array, check_confidence, check_scores, finite_array
from tasks.statistics.binomial_limits import exact_lower
from tasks.statistics.clusters import Codes, Labels, clustered_n, numbered
from tasks.statistics.wilson import exact_interval

# Distances from certainty, the strictest first. They are fixed: limits that depended on the labels would need another
# correction.
DISTANCES = (0.005, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5)
# Decimals of the limits; 1 - 0.93 has more in floating point.
_DECIMALS = 3


class Side(NamedTuple):
    """The labelled rows on one side of the band.

    Attributes:
        n: Number of labelled rows beyond the limit.
        wrong: How many of them the judge decides otherwise than their label.
        high: Upper limit of the share of wrong ones among all such rows; 1 without a limit.
    """

    n: int
    wrong: int
    high: float


class RiskBand(NamedTuple):
    """Limits outside of which a judge decides: it fails rows with p < low, and passes those with p > high.

    Attributes:
        low: In [0, 0.5]; 0: it fails none, because labels do not show that it is right often enough.
        high: In [0.5, 1]; 1: it passes none.
        fails: The labelled rows that it fails; without a limit, those beyond the strictest limit tested, if any.
        passes: The labelled rows that it passes, likewise.
    """

    low: float
    high: float
    fails: Side
    passes: Side


def risk_band(
    p: npt.ArrayLike, labels: npt.ArrayLike, share: float, clusters: Labels | None = None, confidence: float = 0.95
) -> RiskBand:
    """Learn the widest sides on each of which at most a share of the judge's decisions is wrong.

    On each side, limits are tested from the strictest outwards: that more than the share is wrong is rejected if the
    upper limit of Clopper and Pearson lies below it. The error probability of a side is divided evenly among its
    limits, and what a rejected one had is passed on to the next (fallback procedure), so with the given confidence at
    most the share is wrong on both sides, and so of all decided rows. The share of decided rows is a ratio, which need
    not be monotone in the limit, as conformal risk control asks of a loss; these tests need no monotony. Limits beyond
    which even labels without an error would be too few are left out, which depends on the number of rows alone.

    Args:
        p: The judge's probabilities, shape (n,), float64, in [0, 1]; it passes a row from 0.5 on.
        labels: Shape (n,), 1 where the human label is good, else 0, of rows chosen at random.
        share: Of wrong decisions, in (0, 0.5).
        clusters: Shape (n,), one label per row; rows of one cluster depend on each other. They count as fewer rows.
        confidence: In (0, 1), of both sides together.

    Raises:
        ValueError: Another shape, a probability outside [0, 1], labels other than 0 and 1, or a share outside (0, 0.5).

    Source: Angelopoulos, Bates, Candès, Jordan & Lei 2021 (Learn then Test, arXiv 2110.01052); Wiens & Dmitrienko 2005
    (fallback procedure); Clopper & Pearson 1934; Korn & Graubard 1998 for effective numbers of rows.

    >>> p = np.linspace(0.0, 1.0, 2001)
    >>> band = risk_band(p, p > 0.1, 0.05)  # right from 0.1 on
    >>> band.low, band.high, band.passes.n, band.passes.wrong
    (0.1, 0.5, 1000, 0)
    """
    probabilities, right = finite_array(p, "p", 1), binary_array(labels, "labels").astype(np.bool_)
    check_scores(probabilities, (0.0, 1.0), "p")
    check_confidence(confidence)
    if right.shape != probabilities.shape:
        raise ValueError(f"p has shape {probabilities.shape}, labels {right.shape}: expected one label per row")
    if not 0.0 < share < 0.5:  # noqa: PLR2004 (a coin)
        raise ValueError(f"share = {share}: expected a number above 0 and below 0.5")
    codes = numbered(clusters) if clusters is not None and right.size else None
    tail = (1.0 - confidence) / 2.0
    lows, highs = ([0.0, *DISTANCES], [1.0, *(round(1.0 - distance, _DECIMALS) for distance in DISTANCES)])
    low, fails = _side([probabilities < limit for limit in lows], right, codes, share, tail)
    high, passes = _side([probabilities > limit for limit in highs], ~right, codes, share, tail)
    return RiskBand(lows[low], highs[high], fails, passes)


def fewest_decided(share: float, confidence: float = 0.95) -> int:
    """Return how many independent labelled rows on one side, none of them wrong, are enough whatever the others are.

    >>> fewest_decided(0.02)  # 0.98³⁰⁶ < 0.025/12
    306
    """
    return ceil(log((1.0 - confidence) / 2.0 / len(DISTANCES)) / log1p(-share))


def _side(
    decided: Sequence[BoolArray], wrong: BoolArray, codes: Codes | None, share: float, tail: float
) -> tuple[int, Side]:
    """Return the number of the loosest limit that is shown, 0 without one, and the rows beyond it.

    decided: the rows beyond each limit, none beyond the first.
    """
    errors = [wrong[rows].astype(np.float64) for rows in decided]
    groups = [None if codes is None else codes[rows] for rows in decided]
    strictest = tail / len(DISTANCES)
    tested = [n for n, own in enumerate(groups) if _upper(np.zeros(errors[n].size), own, strictest) <= share]
    found, limit, passed_on = 0, 1.0, 0.0
    for number in tested:
        level = tail / len(tested) + passed_on
        high = _upper(errors[number], groups[number], level)
        passed_on = level if high <= share else 0.0
        found, limit = (number, high) if high <= share else (found, limit)
    counted = errors[found or (tested or [-1])[0]]
    return found, Side(counted.size, int(counted.sum()), limit)


def _upper(wrong: FloatArray, codes: Codes | None, tail: float) -> float:
    """Return the upper limit of the share of wrong rows; of clusters, by the effective number of rows."""
    n = wrong.size
    groups = n if codes is None else np.unique(codes).size
    if codes is None or groups == n:
        return 1.0 - exact_lower(n - float(wrong.sum()), n, tail) if n else 1.0
    if groups == 1:
        return 1.0
    n_eff, df = clustered_n(wrong, numbered(codes))
    return exact_interval(float(wrong.mean()), n_eff, df, 1.0 - 2.0 * tail)[1]
