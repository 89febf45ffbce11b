"""How far pass or fail agrees with people's verdicts: accuracy, Cohen's kappa and the area under the ROC curve."""

from math import nan
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tasks.statistics.clusters import Labels, cluster_codes, clustered_n
from tasks.statistics.estimate import Bounds, Estimate, FloatArray, check_confidence, unknown, within
from tasks.statistics.mean import mean_interval
from tasks.statistics.score import effective_n, score_interval

KAPPA_BOUNDS: Bounds = (-1.0, 1.0)

Mask = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.intp]


class Agreement(NamedTuple):
    """Agreement with people on `n` rows, and how many rows were of each kind.

    `accuracy`: in [0, 1], the share of equal verdicts. `kappa`: in [-1, 1], 0 for what chance alone would give.
    `auc`: in [0, 1], how often a row that people let pass scores higher than one they reject; None without scores.
    `true_pass` and `true_fail`: both say so. `false_pass`: people reject the row. `false_fail`: people let it pass.
    """

    accuracy: Estimate
    kappa: Estimate
    auc: Estimate | None
    n: int
    true_pass: int
    false_pass: int
    false_fail: int
    true_fail: int


def agreement(
    passed: npt.ArrayLike,
    labels: npt.ArrayLike,
    scores: npt.ArrayLike | None = None,
    clusters: Labels | None = None,
    confidence: float = 0.95,
) -> Agreement:
    """Compare pass or fail, and the scores behind it, with people's verdicts.

    `passed`, `labels`: shape (n,), 0 or 1. `scores`: shape (n,), float64, higher is better; may be infinite.
    `clusters`: shape (n,), one label per row; rows of one cluster depend on each other.

    All three intervals are score intervals on an effective sample size. That of kappa takes chance agreement as
    measured, and its uncertainty into the sample size by the delta method; that of the AUC has DeLong's variance
    (clusters: Obuchowski's), drawn towards the largest possible while few pairs are out of order.
    Kappa and AUC are unknown, as `method` says, where people's verdicts are all the same.

    Warns FewClusters below 10 clusters.
    Raises: ValueError for another shape, verdicts other than 0 and 1, NaN in `scores`, a single cluster.
    Source: Cohen 1960; Fleiss, Cohen & Everitt 1969; DeLong, DeLong & Clarke-Pearson 1988; Obuchowski 1997.

    >>> found = agreement([1, 1, 1, 0, 0, 0, 1, 1], [1, 1, 1, 0, 0, 1, 0, 1], [8, 7, 6, 1, 2, 3, 5, 9])
    >>> # 6 of 8 rows; (6/8 - 17/32)/(1 - 17/32); 14 of 5·3 pairs
    >>> found.accuracy.value, round(found.kappa.value, 4), round(found.auc.value, 4)
    (0.75, 0.4667, 0.9333)
    """
    check_confidence(confidence)
    ours, theirs = _verdicts("passed", passed), _verdicts("labels", labels)
    values = None if scores is None else np.asarray(scores, dtype=np.float64)
    _check_rows(ours, theirs, values)
    n = ours.size
    # Rows that are all in one cluster are refused, but not a row alone.
    codes = None if clusters is None or n < 2 else cluster_codes(clusters, n)  # noqa: PLR2004 (no spread)
    return Agreement(
        mean_interval(ours == theirs, codes, confidence=confidence),
        _kappa(ours, theirs, codes, confidence),
        None if values is None else _auc(values, theirs, codes, confidence),
        n,
        *(int(np.count_nonzero(kind)) for kind in (ours & theirs, ours & ~theirs, ~ours & theirs, ~ours & ~theirs)),
    )


def _kappa(ours: Mask, theirs: Mask, codes: Ints | None, confidence: float) -> Estimate:
    """Return Cohen's kappa, 1 - (1 - observed)/(1 - expected), by an interval of what is observed."""
    n = ours.size
    if n == 0:
        return unknown(KAPPA_BOUNDS, 0, "no rows")
    equal = (ours == theirs).astype(np.float64)
    a, b, observed = float(ours.mean()), float(theirs.mean()), float(equal.mean())
    by_chance = a * b + (1.0 - a) * (1.0 - b)
    if b in {0.0, 1.0}:
        return unknown(KAPPA_BOUNDS, n, "one class of labels", nan if by_chance == 1.0 else 0.0)
    disagreement = (1.0 - observed) / (1.0 - by_chance)
    # Every row moves kappa by its equality and by what it does to chance agreement.
    chance = (2.0 * b - 1.0) * (ours - a) + (2.0 * a - 1.0) * (theirs - b)
    n_eff, df = _equality_n(equal, equal - observed - disagreement * chance, codes)
    limits = score_interval(observed, n_eff, df, confidence)
    low, high = (1.0 - (1.0 - limit) / (1.0 - by_chance) for limit in limits)
    return within(1.0 - disagreement, (low, high), KAPPA_BOUNDS, n, "score+delta")


def _equality_n(equal: FloatArray, adds: FloatArray, codes: Ints | None) -> tuple[float, float | None]:
    """Return the rows that observed agreement is worth when it stands for all of kappa, and degrees of freedom."""
    if codes is not None:
        return clustered_n(equal, codes, adds)
    n, observed = equal.size, float(equal.mean())
    binomial = observed * (1.0 - observed)
    r = float(adds @ adds) / (n * binomial) if binomial > 0.0 else 1.0
    return effective_n(n, r, n * min(observed, 1.0 - observed)), None


def _auc(scores: FloatArray, labels: Mask, codes: Ints | None, confidence: float) -> Estimate:
    """Return the Mann-Whitney statistic, ties counting half."""
    n, good = scores.size, int(np.count_nonzero(labels))
    bad = n - good
    if n == 0:
        return unknown((0.0, 1.0), 0, "no rows")
    if min(good, bad) == 0:
        return unknown((0.0, 1.0), n, "one class of labels")
    ahead = _placements(scores, labels)
    value = float(ahead[labels].mean())
    n_eff, df = _pairs_n(ahead - value, value, np.where(labels, good, bad), codes)
    return within(value, score_interval(value, n_eff, df, confidence), (0.0, 1.0), n, "score+delong")


def _pairs_n(adds: FloatArray, value: float, class_size: Ints, codes: Ints | None) -> tuple[float, float | None]:
    """Return how many pairs of rows of either class, no two with a row in common, would say as much.

    Without clusters that is never below the size of the smaller class (Birnbaum & Klose 1957).
    """
    fewer, df, r_max = float(class_size.min()), None, 1.0
    if codes is None:
        variance = float((adds**2 / class_size / np.maximum(class_size - 1, 1)).sum())
    else:
        size = np.bincount(codes)
        df, r_max = size.size - 1.0, float((size**2).sum()) / codes.size
        variance = float((np.bincount(codes, weights=adds / class_size) ** 2).sum()) * size.size / df
    binomial = value * (1.0 - value)
    r = min(variance * fewer / binomial, r_max) if binomial > 0.0 and fewer > 1.0 else r_max
    return effective_n(fewer, r, fewer * min(value, 1.0 - value), r_max=r_max), df


def _placements(scores: FloatArray, labels: Mask) -> FloatArray:
    """Return for each row the share of the rows of the other class that it is on the right side of, shape (n,)."""
    good, bad = np.sort(scores[labels]), np.sort(scores[~labels])
    placed = np.empty(scores.size)
    placed[labels] = _share_below(bad, scores[labels])
    placed[~labels] = 1.0 - _share_below(good, scores[~labels])
    return placed


def _share_below(ascending: FloatArray, values: FloatArray) -> FloatArray:
    below = np.searchsorted(ascending, values, "left") + np.searchsorted(ascending, values, "right")
    share: FloatArray = below / (2.0 * ascending.size)
    return share


def _verdicts(name: str, values: npt.ArrayLike) -> Mask:
    verdicts = np.asarray(values)
    known = (verdicts == 0) | (verdicts == 1)
    if not np.all(known):
        row = int(np.argmin(known))
        message = f"{name}[{row}] = {verdicts.ravel()[row]}: expected 1 (pass) or 0, rows without a verdict left out"
        raise ValueError(message)
    return verdicts.astype(np.bool_)


def _check_rows(ours: Mask, theirs: Mask, scores: FloatArray | None) -> None:
    shapes = {"passed": ours.shape, "labels": theirs.shape} | ({} if scores is None else {"scores": scores.shape})
    if ours.ndim != 1 or len(set(shapes.values())) > 1:
        found = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
        message = f"shapes are {found}: expected one of each per row, shape (n,)"
        raise ValueError(message)
    if scores is not None and np.isnan(scores).any():
        message = f"scores[{int(np.argmax(np.isnan(scores)))}] is NaN: leave unmeasured rows out"
        raise ValueError(message)
