"""Thresholds fitted to human labels: of passing, with its accuracy on new rows; and of a judge that is seldom wrong."""

from collections.abc import Iterator, Sequence
from math import ceil, inf, log, log1p, nan
from typing import NamedTuple
from zlib import crc32

import numpy as np
import numpy.typing as npt

from goldmeter.statistics import arrays
from goldmeter.statistics.clusters import Codes, Labels, cluster_codes, clustered_n, numbered
from goldmeter.statistics.estimate import NO_ROWS, Estimate, Method, unknown, within
from goldmeter.statistics.wilson import exact_interval, exact_lower, score_interval

# Bootstrap draws. The variation that the seed adds is small beside that of the sample.
DRAWS = 200

# Expected share of the rows in a bootstrap draw, 1 - 1/e (Efron 1983).
_DRAWN = 0.632

# Draws are made in blocks of about this many numbers, so that memory does not grow with n.
_BLOCK = 1_000_000

Weights = npt.NDArray[np.int32]


class FittedThreshold(NamedTuple):
    """A fitted threshold: a row passes when its score >= `threshold`.

    Attributes:
        threshold: Infinite if nothing passes, NaN without rows.
        accuracy: Agreement of this threshold with human labels on new rows, not on those it was fitted to.
    """

    threshold: float
    accuracy: Estimate


class _Rows(NamedTuple):
    """Labelled rows by ascending score, in an order that does not depend on that of the input.

    Attributes:
        scores: Shape (n,).
        labels: Shape (n,).
        codes: Cluster of each row, shape (n,).
        places: Possible cuts, shape (p,): before row i, for i from 0 to n, but not between equal scores.
    """

    scores: arrays.FloatArray
    labels: arrays.BoolArray
    codes: arrays.IntArray
    places: arrays.IntArray


def threshold_from_labels(
    scores: npt.ArrayLike,
    labels: npt.ArrayLike,
    clusters: Labels | None = None,
    confidence: float = 0.95,
) -> FittedThreshold:
    """Fit the score from which rows pass to human labels, and estimate its accuracy on new rows.

    The threshold agrees with most labels; of several such, the highest is taken. It lies midway between two labelled
    scores, or at the lowest score if all labelled rows pass.

    The accuracy is the .632+ bootstrap estimate (of whole clusters; seeded by the data) with the score interval on n
    rows (with clusters as in `mean_interval`). It is unknown for one row. Its `method` says when all labels are equal,
    scores are constant, or nothing passes. The plain .632 bootstrap covers 91.7 % instead of 95 % in a case with 50
    rows, 70 % good and useless scores, because its draws fit worse thresholds than all rows do.

    Args:
        scores: Shape (n,), float64, finite, higher is better.
        labels: Shape (n,), 1 where the human label is good, else 0.
        clusters: Shape (n,), one label per row; rows of one cluster depend on each other.
        confidence: In (0, 1).

    Raises:
        ValueError: Another shape, scores that are not finite, labels other than 0 and 1, or a single cluster.

    Warns:
        FewClusters: There are fewer than 10 clusters.

    Source: Efron & Tibshirani 1997; Wilson 1927.

    >>> scores, labels = [0.1, 0.2, 0.3, 0.4, 0.6, 0.7, 0.8, 0.9], [0, 0, 1, 0, 1, 1, 1, 1]
    >>> round(threshold_from_labels(scores, labels).threshold, 6)  # as 0.25, wrong on one row, but higher
    0.5
    """
    arrays.check_confidence(confidence)
    rows = _sorted_rows(scores, labels, clusters)
    n = rows.scores.size
    if n == 0:
        return FittedThreshold(nan, unknown((0.0, 1.0), 0, NO_ROWS))
    once = np.ones((1, n), np.int32)
    threshold = float(_thresholds(rows, once)[0])
    if n == 1:
        return FittedThreshold(threshold, unknown((0.0, 1.0), 1, Method("one row")))
    correct = ((rows.scores >= threshold) == rows.labels).astype(np.float64)
    good, passed = float(rows.labels.mean()), float((rows.scores >= threshold).mean())
    by_chance = good * passed + (1.0 - good) * (1.0 - passed)
    p = _fresh_accuracy(float(correct.mean()), _left_out_accuracy(rows), by_chance)
    n_eff, df = (float(n), None) if clusters is None else clustered_n(correct, rows.codes)
    limits = score_interval(p, min(n_eff, float(n)), df, confidence)
    return FittedThreshold(threshold, within(p, limits, (0.0, 1.0), n, _method(rows, threshold)))


def _fresh_accuracy(seen: float, left_out: float, by_chance: float) -> float:
    """Return the .632+ estimate: closer to `left_out` than to `seen`, the more of the gain over chance is lost there.

    >>> round(_fresh_accuracy(0.9, 0.9, 0.5), 4), round(_fresh_accuracy(0.9, 0.5, 0.5), 4)
    (0.9, 0.5)
    >>> round(_fresh_accuracy(0.9, 0.7, 0.5), 4)  # half is lost: 0.632/(1 - 0.368/2) of the way
    0.7451
    """
    left_out = max(left_out, min(seen, by_chance))
    lost = (seen - left_out) / (seen - by_chance) if left_out < seen else 0.0
    weight = _DRAWN / (1.0 - (1.0 - _DRAWN) * lost)
    return (1.0 - weight) * seen + weight * left_out


def _method(rows: _Rows, threshold: float) -> Method:
    notes = {
        "one class of labels": bool(rows.labels.all() or not rows.labels.any()),
        "constant scores": rows.places.size == 2,  # noqa: PLR2004 (before the first row and after the last)
        "nothing passes": threshold == inf,
    }
    return Method(".632+ bootstrap+wilson", tuple(note for note, holds in notes.items() if holds))


def _most_accurate(rows: _Rows, weights: Weights) -> arrays.IntArray:
    """Cut at the highest place with the fewest wrong rows."""
    lost = np.zeros((weights.shape[0], weights.shape[1] + 1), np.int32)
    np.cumsum(weights * np.where(rows.labels, 1, -1).astype(np.int32), axis=1, out=lost[:, 1:])
    if rows.places.size < lost.shape[1]:
        lost = lost[:, rows.places]
    index: arrays.IntArray = rows.places.size - 1 - np.argmin(lost[:, ::-1], axis=1)
    return rows.places[index]


def _thresholds(rows: _Rows, weights: Weights) -> arrays.FloatArray:
    """Return the midpoint between the drawn scores on both sides of the best cut of each draw, shape (draws,).

    weights: how often each row was drawn, shape (draws, n).
    """
    cuts = _most_accurate(rows, weights)
    draws, n = weights.shape
    start = np.arange(draws) * n
    drawn = np.flatnonzero(weights)
    after = np.searchsorted(drawn, start + cuts)
    above = drawn[np.minimum(after, drawn.size - 1)] - start
    below = drawn[np.maximum(after - 1, 0)] - start
    high = rows.scores[np.clip(above, 0, n - 1)]
    low = np.where(below >= 0, rows.scores[np.clip(below, 0, n - 1)], high)
    middle = low / 2.0 + high / 2.0
    # Between neighbouring floats there is no middle.
    middle = np.where((middle > low) & (middle <= high), middle, high)
    return np.where((after == drawn.size) | (above >= n), inf, middle)


def _left_out_accuracy(rows: _Rows) -> float:
    """Return the accuracy of thresholds fitted to bootstrap draws, on the rows that their draw left out."""
    right = tried = 0
    for weights in _draws(rows):
        thresholds = _thresholds(rows, weights)
        first = np.searchsorted(rows.scores, thresholds)
        left_out = weights == 0
        passed = np.arange(rows.scores.size) >= first[:, None]
        right += int(np.count_nonzero((passed == rows.labels) & left_out))
        tried += int(np.count_nonzero(left_out))
    return right / tried


def _draws(rows: _Rows) -> Iterator[Weights]:
    """Yield how often each row is drawn, in blocks of shape (draws, n); clusters are drawn with replacement."""
    n, count = rows.codes.size, int(rows.codes.max()) + 1
    rng = np.random.default_rng(crc32(rows.labels.tobytes(), crc32(rows.scores.tobytes())))
    block = max(1, _BLOCK // n)
    for first in range(0, DRAWS, block):
        draws = min(block, DRAWS - first)
        drawn = rng.integers(0, count, (draws, count)) + count * np.arange(draws)[:, None]
        weights = np.bincount(drawn.ravel(), minlength=draws * count).astype(np.int32).reshape(draws, count)
        yield weights if count == n else weights[:, rows.codes]


def _sorted_rows(scores: npt.ArrayLike, labels: npt.ArrayLike, clusters: Labels | None) -> _Rows:
    values = arrays.finite_array(scores, "scores", 1) + 0.0  # -0.0 becomes 0.0: equal scores have equal bytes
    passes = arrays.binary_array(labels, "labels")
    n = values.size
    if passes.shape != values.shape:
        message = f"scores has shape {values.shape}, labels {passes.shape}: expected one of each per row, shape (n,)"
        raise ValueError(message)
    order = np.lexsort((passes, values))
    values, passes = values[order], passes[order]
    higher = values[1:] > values[:-1]
    places = np.concatenate([[0], 1 + np.flatnonzero(higher), [n]])
    if clusters is None or n < 2:  # noqa: PLR2004 (a single row is a single cluster)
        return _Rows(values, passes, np.arange(n), places)
    kinds = np.concatenate([[0], np.cumsum(higher | (passes[1:] > passes[:-1]))])
    codes = _numbered_by_content(cluster_codes(clusters, n)[order], kinds)
    return _Rows(values, passes, codes[np.lexsort((codes, kinds))], places)


def _numbered_by_content(codes: arrays.IntArray, kinds: arrays.IntArray) -> arrays.IntArray:
    """Number clusters by the kinds of their rows, so that neither labels nor the order of rows matter.

    Clusters with equal content are interchangeable.

    Args:
        codes: Cluster of each row, shape (n,).
        kinds: Shape (n,), ascending from 0, equal for equal rows.
    """
    marks = np.random.default_rng(0).random(int(kinds[-1]) + 1)
    content = np.bincount(codes, weights=marks[kinds])
    rank = np.empty(content.size, np.intp)
    rank[np.argsort(content, kind="stable")] = np.arange(content.size)
    return rank[codes]


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
    probabilities, right = arrays.finite_array(p, "p", 1), arrays.binary_array(labels, "labels").astype(np.bool_)
    arrays.check_scores(probabilities, (0.0, 1.0), "p")
    arrays.check_confidence(confidence)
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
    decided: Sequence[arrays.BoolArray], wrong: arrays.BoolArray, codes: Codes | None, share: float, tail: float
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


def _upper(wrong: arrays.FloatArray, codes: Codes | None, tail: float) -> float:
    """Return the upper limit of the share of wrong rows; of clusters, by the effective number of rows."""
    n = wrong.size
    groups = n if codes is None else np.unique(codes).size
    if codes is None or groups == n:
        return 1.0 - exact_lower(n - float(wrong.sum()), n, tail) if n else 1.0
    if groups == 1:
        return 1.0
    n_eff, df = clustered_n(wrong, numbered(codes))
    return exact_interval(float(wrong.mean()), n_eff, df, 1.0 - 2.0 * tail)[1]
