"""A pass threshold learnt from people's verdicts, with the accuracy it will have on fresh rows."""

from collections.abc import Callable, Iterator
from functools import partial
from math import inf, nan
from typing import NamedTuple
from zlib import crc32

import numpy as np
import numpy.typing as npt

from tasks.statistics.clusters import Labels, cluster_codes, clustered_n
from tasks.statistics.estimate import Estimate, FloatArray, check_confidence, unknown, within
from tasks.statistics.score import score_interval

DRAWS = 200
"""Bootstrap draws: what their seed adds to the accuracy is small beside what the sample of rows does."""

# The share of the rows that a bootstrap draw contains, 1 - 1/e (Efron 1983).
_DRAWN = 0.632

# Draws are made in blocks of about this many numbers, so that memory does not grow with n.
_BLOCK = 4_000_000

# Sums of 1/size over clusters are rounded.
_ROUNDING = 1e-9

Mask = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.intp]
Weights = npt.NDArray[np.int32]


class LearntThreshold(NamedTuple):
    """A row passes when its score >= `threshold`: inf when nothing is to pass, NaN without rows.

    `accuracy`: how often this threshold agrees with people on fresh rows, not on those it was learnt from.
    `max_false_pass`: the promise that was asked for, or None.
    """

    threshold: float
    accuracy: Estimate
    max_false_pass: float | None


class _Rows(NamedTuple):
    """Labelled rows by ascending score, in an order that does not depend on the input's.

    `scores`, `labels`, `codes` (of clusters): shape (n,). `places`: shape (p,), where a cut may fall: before row i,
    for i from 0 to n, but not between equal scores.
    """

    scores: FloatArray
    labels: Mask
    codes: Ints
    places: Ints


# The place to cut, of each draw: shape (draws,), by how often each row was drawn, shape (draws, n).
_Rule = Callable[[_Rows, Weights], Ints]


def threshold_from_labels(
    scores: npt.ArrayLike,
    labels: npt.ArrayLike,
    clusters: Labels | None = None,
    confidence: float = 0.95,
    max_false_pass: float | None = None,
) -> LearntThreshold:
    """Learn from which score on rows should pass, and estimate how often that will be right.

    `scores`: shape (n,), float64, finite, higher is better. `labels`: shape (n,), whether people let the row pass.
    `clusters`: shape (n,), one label per row; rows of one cluster depend on each other.
    `max_false_pass`: in (0, 1). Without it the threshold is right on most labelled rows; of several such, the highest.
    With it, the lowest that conformal risk control allows. Either lies midway between two labelled scores, except
    that when all labelled rows pass it is the lowest score.

    Promised with `max_false_pass`: a fresh row passes although people reject it with at most this probability, both
    out of all rows (not of those that pass) and on average over labelled sets (not for each). With clusters: a random
    row of a fresh cluster. The scores must not have been fitted to these labels; rows (clusters) be exchangeable.

    The accuracy is that of this very threshold on fresh rows: the .632+ bootstrap (whole clusters; seeded by the data)
    with the score interval on n rows (clusters: as in `mean_interval`). With one row it is unknown. Its `method` says
    when labels are all of one class, scores are constant, or nothing passes. The plain .632 bootstrap covers 91.7 %
    where it should 95 (50 rows, 70 % good, useless scores): there its draws learn worse thresholds than all rows do.

    Warns FewClusters below 10 clusters.
    Raises: ValueError for another shape, scores not finite, labels other than 0 and 1, a single cluster.
    Source: Efron & Tibshirani 1997; Wilson 1927; Angelopoulos et al. 2022 (conformal risk control).

    >>> scores, labels = [0.1, 0.2, 0.3, 0.4, 0.6, 0.7, 0.8, 0.9], [0, 0, 1, 0, 1, 1, 1, 1]
    >>> round(threshold_from_labels(scores, labels).threshold, 6)  # like 0.25, wrong on one row, but higher
    0.5
    >>> round(threshold_from_labels(scores, labels, max_false_pass=0.25).threshold, 6)  # (1 + 1)/(8 + 1) <= 0.25
    0.25
    """
    check_confidence(confidence)
    rows = _sorted_rows(scores, labels, clusters)
    n = rows.scores.size
    if n == 0:
        return LearntThreshold(nan, unknown((0.0, 1.0), 0, "no rows"), max_false_pass)
    rule = _most_accurate if max_false_pass is None else partial(_few_false_passes, alpha=_checked(max_false_pass))
    once = np.ones((1, n), np.int32)
    threshold = float(_thresholds(rows, once, rule(rows, once))[0])
    if n == 1:
        return LearntThreshold(threshold, unknown((0.0, 1.0), 1, "one row"), max_false_pass)
    correct = ((rows.scores >= threshold) == rows.labels).astype(np.float64)
    good, passed = float(rows.labels.mean()), float((rows.scores >= threshold).mean())
    by_chance = good * passed + (1.0 - good) * (1.0 - passed)
    p = _fresh_accuracy(float(correct.mean()), _left_out_accuracy(rows, rule), by_chance)
    n_eff, df = (float(n), None) if clusters is None else clustered_n(correct, rows.codes)
    limits = score_interval(p, min(n_eff, float(n)), df, confidence)
    return LearntThreshold(threshold, within(p, limits, (0.0, 1.0), n, _method(rows, threshold)), max_false_pass)


def _fresh_accuracy(seen: float, left_out: float, by_chance: float) -> float:
    """Return the .632+ estimate: nearer to `left_out` than `seen`, the more of what beats chance is lost there.

    >>> round(_fresh_accuracy(0.9, 0.9, 0.5), 4), round(_fresh_accuracy(0.9, 0.5, 0.5), 4)
    (0.9, 0.5)
    >>> round(_fresh_accuracy(0.9, 0.7, 0.5), 4)  # half is lost: 0.632/(1 - 0.368/2) of the way
    0.7451
    """
    left_out = max(left_out, min(seen, by_chance))
    lost = (seen - left_out) / (seen - by_chance) if left_out < seen else 0.0
    weight = _DRAWN / (1.0 - (1.0 - _DRAWN) * lost)
    return (1.0 - weight) * seen + weight * left_out


def _method(rows: _Rows, threshold: float) -> str:
    notes = {
        "one class of labels": bool(rows.labels.all() or not rows.labels.any()),
        "constant scores": rows.places.size == 2,  # noqa: PLR2004 (before the first row and after the last)
        "nothing passes": threshold == inf,
    }
    return "; ".join([".632+ bootstrap+wilson", *(note for note, holds in notes.items() if holds)])


def _most_accurate(rows: _Rows, weights: Weights) -> Ints:
    """Cut at the highest of the places where fewest rows are wrong."""
    lost = np.zeros((weights.shape[0], weights.shape[1] + 1), np.int32)
    np.cumsum(weights * np.where(rows.labels, 1, -1).astype(np.int32), axis=1, out=lost[:, 1:])
    if rows.places.size < lost.shape[1]:
        lost = lost[:, rows.places]
    found: Ints = rows.places.size - 1 - np.argmin(lost[:, ::-1], axis=1)
    return rows.places[found]


def _few_false_passes(rows: _Rows, weights: Weights, *, alpha: float) -> Ints:
    """Cut at the lowest place where (sum over clusters of their share of false passes + 1)/(clusters + 1) <= alpha."""
    share = np.where(rows.labels, 0.0, 1.0 / np.bincount(rows.codes)[rows.codes])
    below = np.zeros((weights.shape[0], weights.shape[1] + 1))
    np.cumsum(weights * share, axis=1, out=below[:, 1:])
    passing = below[:, -1:] - below[:, rows.places]
    allowed = alpha * (rows.codes.max() + 2) - 1.0 + _ROUNDING
    found: Ints = np.minimum(np.count_nonzero(passing > allowed, axis=1), rows.places.size - 1)
    return rows.places[found]


def _thresholds(rows: _Rows, weights: Weights, cuts: Ints) -> FloatArray:
    """Return the middle between the drawn scores on either side of each cut, shape (draws,)."""
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


def _left_out_accuracy(rows: _Rows, rule: _Rule) -> float:
    """Return how often thresholds learnt from bootstrap draws are right on the rows that their draw left out."""
    right = tried = 0
    for weights in _draws(rows):
        thresholds = _thresholds(rows, weights, rule(rows, weights))
        first = np.searchsorted(rows.scores, thresholds)
        left_out = weights == 0
        passed = np.arange(rows.scores.size) >= first[:, None]
        right += int(np.count_nonzero((passed == rows.labels) & left_out))
        tried += int(np.count_nonzero(left_out))
    return right / tried


def _draws(rows: _Rows) -> Iterator[Weights]:
    """Yield how often each row is drawn when clusters are, with replacement; in blocks of shape (draws, n)."""
    n, count = rows.codes.size, int(rows.codes.max()) + 1
    rng = np.random.default_rng(crc32(rows.labels.tobytes(), crc32(rows.scores.tobytes())))
    block = max(1, _BLOCK // n)
    for first in range(0, DRAWS, block):
        draws = min(block, DRAWS - first)
        drawn = rng.integers(0, count, (draws, count)) + count * np.arange(draws)[:, None]
        weights = np.bincount(drawn.ravel(), minlength=draws * count).astype(np.int32).reshape(draws, count)
        yield weights if count == n else weights[:, rows.codes]


def _sorted_rows(scores: npt.ArrayLike, labels: npt.ArrayLike, clusters: Labels | None) -> _Rows:
    values = np.asarray(scores, dtype=np.float64) + 0.0  # -0.0 becomes 0.0: equal scores have equal bytes
    verdicts = np.asarray(labels)
    _check_rows(values, verdicts)
    n = values.size
    passes = verdicts.astype(np.bool_)
    order = np.lexsort((passes, values))
    values, passes = values[order], passes[order]
    higher = values[1:] > values[:-1]
    places = np.concatenate([[0], 1 + np.flatnonzero(higher), [n]])
    if clusters is None or n < 2:  # noqa: PLR2004 (a single row is a single cluster)
        return _Rows(values, passes, np.arange(n), places)
    kinds = np.concatenate([[0], np.cumsum(higher | (passes[1:] > passes[:-1]))])
    codes = _numbered_by_content(cluster_codes(clusters, n)[order], kinds)
    return _Rows(values, passes, codes[np.lexsort((codes, kinds))], places)


def _numbered_by_content(codes: Ints, kinds: Ints) -> Ints:
    """Number clusters by the kinds of rows they hold, so that neither labels nor the order of rows matter.

    `kinds`: shape (n,), ascending from 0, equal for equal rows. Clusters of equal content stand for one another.
    """
    marks = np.random.default_rng(0).random(int(kinds[-1]) + 1)
    content = np.bincount(codes, weights=marks[kinds])
    rank = np.empty(content.size, np.intp)
    rank[np.argsort(content, kind="stable")] = np.arange(content.size)
    return rank[codes]


def _checked(max_false_pass: float) -> float:
    if not 0.0 < max_false_pass < 1.0:
        message = f"max_false_pass = {max_false_pass}: expected a probability between 0 and 1, such as 0.05"
        raise ValueError(message)
    return max_false_pass


def _check_rows(scores: FloatArray, labels: npt.NDArray[np.generic]) -> None:
    if scores.ndim != 1 or labels.shape != scores.shape:
        message = f"scores has shape {scores.shape}, labels {labels.shape}: expected one of each per row, shape (n,)"
        raise ValueError(message)
    if not np.isfinite(scores).all():
        row = int(np.argmin(np.isfinite(scores)))
        message = f"scores[{row}] = {scores[row]} is not finite: leave unmeasured rows out"
        raise ValueError(message)
    verdict = (labels == 0) | (labels == 1)
    if not verdict.all():
        row = int(np.argmin(verdict))
        message = f"labels[{row}] = {labels[row]}: expected 1 (people let it pass) or 0, unlabelled rows left out"
        raise ValueError(message)
