"""Agreement of verdicts with human labels: accuracy, Cohen's kappa and the area under the ROC curve."""

from math import nan
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tasks.statistics.arrays import BoolArray, Bounds, FloatArray, binary_array, check_confidence
from tasks.statistics.clusters import Codes, Labels, cluster_codes, clustered_n
from tasks.statistics.estimate import NO_ROWS, Estimate, Method, unknown, within
from tasks.statistics.mean import mean_interval
from tasks.statistics.wilson import effective_n, score_interval

KAPPA_BOUNDS: Bounds = (-1.0, 1.0)


class Agreement(NamedTuple):
    """Agreement of pass or fail with the human labels of `n` rows.

    Attributes:
        accuracy: Share of equal verdicts, in [0, 1].
        kappa: Cohen's kappa, in [-1, 1]; 0 is agreement by chance.
        auc: Probability that a row labelled good scores higher than one labelled bad, in [0, 1]; None without scores.
        n: Number of rows.
        true_pass: Rows that pass and are labelled good.
        false_pass: Rows that pass but are labelled bad.
        false_fail: Rows that fail but are labelled good.
        true_fail: Rows that fail and are labelled bad.
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
    """Compare pass or fail, and the scores behind it, with human labels.

    All three intervals are score intervals on an effective sample size. For kappa, chance agreement is taken as
    measured and its uncertainty enters the sample size by the delta method. For the AUC, DeLong's variance (with
    clusters: Obuchowski's) is shrunk towards the largest possible one while few pairs are out of order. If all labels
    are equal, kappa and AUC are unknown, as `method` says.

    Args:
        passed: Verdicts, shape (n,), 0 or 1.
        labels: Human labels, shape (n,), 0 or 1.
        scores: Shape (n,), float64, higher is better; may be infinite.
        clusters: Shape (n,), one label per row; rows of one cluster depend on each other.
        confidence: In (0, 1).

    Raises:
        ValueError: Another shape, values other than 0 and 1, NaN in `scores`, or a single cluster.

    Warns:
        FewClusters: There are fewer than 10 clusters.

    Source: Cohen 1960; Fleiss, Cohen & Everitt 1969; DeLong, DeLong & Clarke-Pearson 1988; Obuchowski 1997.

    >>> result = agreement([1, 1, 1, 0, 0, 0, 1, 1], [1, 1, 1, 0, 0, 1, 0, 1], [8, 7, 6, 1, 2, 3, 5, 9])
    >>> # 6 of 8 rows; (6/8 - 17/32)/(1 - 17/32); 14 of 5·3 pairs
    >>> result.accuracy.value, round(result.kappa.value, 4), round(result.auc.value, 4)
    (0.75, 0.4667, 0.9333)
    """
    check_confidence(confidence)
    passes, good = binary_array(passed, "passed"), binary_array(labels, "labels")
    values = None if scores is None else np.asarray(scores, dtype=np.float64)
    _check_rows(passes, good, values)
    n = passes.size
    # `cluster_codes` refuses a single cluster, which a single row always is.
    codes = None if clusters is None or n < 2 else cluster_codes(clusters, n)  # noqa: PLR2004 (no spread)
    return Agreement(
        mean_interval(passes == good, codes, confidence=confidence),
        _kappa(passes, good, codes, confidence),
        None if values is None else _auc(values, good, codes, confidence),
        n,
        *(int(np.count_nonzero(kind)) for kind in (passes & good, passes & ~good, ~passes & good, ~passes & ~good)),
    )


def _kappa(passes: BoolArray, good: BoolArray, codes: Codes | None, confidence: float) -> Estimate:
    """Return Cohen's kappa, 1 - (1 - observed)/(1 - expected), with an interval from that of the observed agreement."""
    n = passes.size
    if n == 0:
        return unknown(KAPPA_BOUNDS, 0, NO_ROWS)
    equal = (passes == good).astype(np.float64)
    a, b, observed = float(passes.mean()), float(good.mean()), float(equal.mean())
    by_chance = a * b + (1.0 - a) * (1.0 - b)
    if b in {0.0, 1.0}:
        return unknown(KAPPA_BOUNDS, n, Method("one class of labels"), nan if by_chance == 1.0 else 0.0)
    disagreement = (1.0 - observed) / (1.0 - by_chance)
    # Each row changes kappa through the observed agreement and through the agreement expected by chance.
    chance = (2.0 * b - 1.0) * (passes - a) + (2.0 * a - 1.0) * (good - b)
    n_eff, df = equality_n(equal, equal - observed - disagreement * chance, codes)
    limits = score_interval(observed, n_eff, df, confidence)
    low, high = (1.0 - (1.0 - limit) / (1.0 - by_chance) for limit in limits)
    return within(1.0 - disagreement, (low, high), KAPPA_BOUNDS, n, Method("score+delta"))


def equality_n(equal: FloatArray, adds: FloatArray, codes: Codes | None) -> tuple[float, float | None]:
    """Return the effective rows of observed agreement when its variance stands for kappa's, and degrees of freedom."""
    if codes is not None:
        return clustered_n(equal, codes, adds)
    n, observed = equal.size, float(equal.mean())
    binomial = observed * (1.0 - observed)
    r = float(adds @ adds) / (n * binomial) if binomial > 0.0 else 1.0
    return effective_n(n, r, n * min(observed, 1.0 - observed)), None


def _auc(scores: FloatArray, labels: BoolArray, codes: Codes | None, confidence: float) -> Estimate:
    """Return the Mann-Whitney statistic; ties count half."""
    n, good = scores.size, int(np.count_nonzero(labels))
    bad = n - good
    if n == 0:
        return unknown((0.0, 1.0), 0, NO_ROWS)
    if min(good, bad) == 0:
        return unknown((0.0, 1.0), n, Method("one class of labels"))
    placements = _placements(scores, labels)
    value = float(placements[labels].mean())
    n_eff, df = _pairs_n(placements - value, value, np.where(labels, good, bad), codes)
    return within(value, score_interval(value, n_eff, df, confidence), (0.0, 1.0), n, Method("score+delong"))


def _pairs_n(adds: FloatArray, value: float, class_size: Codes, codes: Codes | None) -> tuple[float, float | None]:
    """Return the effective number of independent pairs (one row of each class), and degrees of freedom.

    Without clusters it is never below the size of the smaller class (Birnbaum & Klose 1957).
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


def _placements(scores: FloatArray, labels: BoolArray) -> FloatArray:
    """Return the share of rows of the other class that each row is ordered correctly against, shape (n,)."""
    good, bad = np.sort(scores[labels]), np.sort(scores[~labels])
    placed = np.empty(scores.size)
    placed[labels] = _share_below(bad, scores[labels])
    placed[~labels] = 1.0 - _share_below(good, scores[~labels])
    return placed


def _share_below(ascending: FloatArray, values: FloatArray) -> FloatArray:
    below = np.searchsorted(ascending, values, "left") + np.searchsorted(ascending, values, "right")
    share: FloatArray = below / (2.0 * ascending.size)
    return share


def _check_rows(passes: BoolArray, good: BoolArray, scores: FloatArray | None) -> None:
    shapes = {"passed": passes.shape, "labels": good.shape} | ({} if scores is None else {"scores": scores.shape})
    if passes.ndim != 1 or len(set(shapes.values())) > 1:
        result = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
        raise ValueError(f"shapes are {result}: expected one of each per row, shape (n,)")
    if scores is not None and np.isnan(scores).any():
        raise ValueError(f"scores[{int(np.argmax(np.isnan(scores)))}] is NaN: leave unmeasured rows out")
