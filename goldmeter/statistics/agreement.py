"""Agreement with human labels, on pass and fail or on grades; of several raters; and of a judge with itself."""

from math import atanh, nan, sqrt, tanh
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy

from goldmeter.statistics import arrays
from goldmeter.statistics.clusters import (
    Codes,
    Labels,
    cluster_codes,
    cluster_totals,
    clustered_n,
    clustered_n_of_totals,
    numbered,
)
from goldmeter.statistics.estimate import NO_ROWS, Estimate, Method, unknown, within
from goldmeter.statistics.mean import mean_interval
from goldmeter.statistics.wilson import effective_n, score_interval

KAPPA_BOUNDS: arrays.Bounds = (-1.0, 1.0)


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
    arrays.check_confidence(confidence)
    passes, good = arrays.binary_array(passed, "passed"), arrays.binary_array(labels, "labels")
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


def _kappa(passes: arrays.BoolArray, good: arrays.BoolArray, codes: Codes | None, confidence: float) -> Estimate:
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


def equality_n(equal: arrays.FloatArray, adds: arrays.FloatArray, codes: Codes | None) -> tuple[float, float | None]:
    """Return the effective rows of observed agreement when its variance stands for kappa's, and degrees of freedom."""
    if codes is not None:
        return clustered_n(equal, codes, adds)
    n, observed = equal.size, float(equal.mean())
    binomial = observed * (1.0 - observed)
    r = float(adds @ adds) / (n * binomial) if binomial > 0.0 else 1.0
    return effective_n(n, r, n * min(observed, 1.0 - observed)), None


def _auc(scores: arrays.FloatArray, labels: arrays.BoolArray, codes: Codes | None, confidence: float) -> Estimate:
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


def _pairs_n(
    adds: arrays.FloatArray, value: float, class_size: Codes, codes: Codes | None
) -> tuple[float, float | None]:
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


def _placements(scores: arrays.FloatArray, labels: arrays.BoolArray) -> arrays.FloatArray:
    """Return the share of rows of the other class that each row is ordered correctly against, shape (n,)."""
    good, bad = np.sort(scores[labels]), np.sort(scores[~labels])
    placed = np.empty(scores.size)
    placed[labels] = _share_below(bad, scores[labels])
    placed[~labels] = 1.0 - _share_below(good, scores[~labels])
    return placed


def _share_below(ascending: arrays.FloatArray, values: arrays.FloatArray) -> arrays.FloatArray:
    below = np.searchsorted(ascending, values, "left") + np.searchsorted(ascending, values, "right")
    share: arrays.FloatArray = below / (2.0 * ascending.size)
    return share


def _check_rows(passes: arrays.BoolArray, good: arrays.BoolArray, scores: arrays.FloatArray | None) -> None:
    shapes = {"passed": passes.shape, "labels": good.shape} | ({} if scores is None else {"scores": scores.shape})
    if passes.ndim != 1 or len(set(shapes.values())) > 1:
        result = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
        raise ValueError(f"shapes are {result}: expected one of each per row, shape (n,)")
    if scores is not None and np.isnan(scores).any():
        raise ValueError(f"scores[{int(np.argmax(np.isnan(scores)))}] is NaN: leave unmeasured rows out")


# With fewer rows Fisher's z has no variance.
_FEWEST = 4


def quadratic_kappa(
    scores: npt.ArrayLike,
    labels: npt.ArrayLike,
    clusters: Labels | None = None,
    bounds: arrays.Bounds = (0.0, 1.0),
    confidence: float = 0.95,
) -> Estimate:
    """Estimate Cohen's kappa with quadratic weights: 1 is full agreement, 0 agreement by chance alone.

    It needs no categories, so that labels may be means of several raters; it equals Lin's concordance correlation. The
    interval is a score interval of the observed agreement, 1 less the mean squared difference on a scale from 0 to 1,
    on an effective number of rows. Agreement by chance is taken as measured; its uncertainty enters that number by the
    delta method.

    Args:
        scores: Shape (n,), float64, within `bounds`.
        labels: Shape (n,), on the same scale.
        clusters: Shape (n,), one label per row; rows of one cluster depend on each other.
        bounds: Lower and upper bound of both, finite.
        confidence: In (0, 1).

    Returns:
        The estimate; its value is NaN and its interval the bounds without rows, and if all numbers are equal.

    Raises:
        ValueError: Another shape, numbers outside the bounds, or a single cluster.

    Warns:
        FewClusters: There are fewer than 10 clusters.

    Source: Cohen 1968; Fleiss & Cohen 1973; Lin 1989.

    >>> round(quadratic_kappa([1, 2, 3, 4, 5], [1, 2, 3, 5, 4], bounds=(1, 5)).value, 4)  # 1 - (2/5)/(2 + 2)
    0.9
    """
    arrays.check_confidence(confidence)
    arrays.check_finite_bounds(bounds)
    x, y = (_unit(values, name, bounds) for values, name in ((scores, "scores"), (labels, "labels")))
    n, codes = _rows(x, y, clusters)
    if n == 0:
        return unknown(KAPPA_BOUNDS, 0, NO_ROWS)
    apart, chance_apart = (x - y) ** 2, float(x.var() + y.var() + (x.mean() - y.mean()) ** 2)
    if chance_apart == 0.0:
        return unknown(KAPPA_BOUNDS, n, Method("all numbers are equal"))
    share = float(apart.mean()) / chance_apart
    each, other = x - x.mean(), y - y.mean()
    by_chance = each**2 - x.var() + other**2 - y.var() + 2.0 * (x.mean() - y.mean()) * (each - other)
    adds = -(apart - apart.mean() - share * by_chance)
    n_eff, df = equality_n(1.0 - apart, adds, codes)
    limits = score_interval(1.0 - float(apart.mean()), n_eff, df, confidence)
    low, high = (1.0 - (1.0 - limit) / chance_apart for limit in limits)
    return within(1.0 - share, (low, high), KAPPA_BOUNDS, n, Method("score+delta"))


def spearman(
    scores: npt.ArrayLike, labels: npt.ArrayLike, clusters: Labels | None = None, confidence: float = 0.95
) -> Estimate:
    """Estimate Spearman's rank correlation; equal numbers share their mean rank.

    The interval is that of Fisher's z with the variance (1 + ρ²/2)/(n - 3). With clusters, that variance is multiplied
    by the ratio of the jackknife variances with and without clusters, if above 1, and a t quantile is used.

    Args:
        scores: Shape (n,), float64, finite.
        labels: Shape (n,), float64, finite; another scale is fine.
        clusters: Shape (n,), one label per row; rows of one cluster depend on each other.
        confidence: In (0, 1).

    Returns:
        The estimate; its value is NaN and its interval the bounds if scores or labels are all equal, and with fewer
        than 4 rows.

    Raises:
        ValueError: Another shape, numbers that are not finite, or a single cluster.

    Warns:
        FewClusters: There are fewer than 10 clusters.

    Source: Spearman 1904; Bonett & Wright 2000, "Sample size requirements for estimating Pearson, Kendall and Spearman
        correlations".

    >>> estimate = spearman([1, 2, 3, 4, 5, 6, 7], [2, 1, 4, 3, 7, 6, 5])  # 1 - 6·12/(7·48)
    >>> round(estimate.value, 4), round(estimate.low, 4), round(estimate.high, 4)
    (0.7857, -0.0609, 0.9748)
    """
    arrays.check_confidence(confidence)
    x, y = arrays.finite_array(scores, "scores", 1), arrays.finite_array(labels, "labels", 1)
    n, codes = _rows(x, y, clusters)
    if n < _FEWEST:
        return unknown(KAPPA_BOUNDS, n, Method("too few rows"))
    if x.min() == x.max() or y.min() == y.max():
        return unknown(KAPPA_BOUNDS, n, Method("one class of scores" if x.min() == x.max() else "one class of labels"))

    one, other = _standardised(scipy.stats.rankdata(x)), _standardised(scipy.stats.rankdata(y))
    value = min(max(float((one * other).mean()), -1.0), 1.0)
    influence = one * other - value * (one**2 + other**2) / 2.0
    # A correlation of 1 is taken as that of one exchange of neighbours, the smallest step from it.
    inside = min(abs(value), 1.0 - 12.0 / (n * (n**2 - 1.0)))
    variance, quantile = (1.0 + value**2 / 2.0) / (n - 3.0), float(scipy.special.ndtri((1.0 + confidence) / 2.0))
    if codes is not None:
        groups = int(codes.max()) + 1
        sums = np.bincount(codes, weights=influence)
        total = float(influence @ influence)
        variance *= max(float(sums @ sums) / total, 1.0) * groups / (groups - 1.0) if total > 0.0 else 1.0
        quantile = float(scipy.special.stdtrit(groups - 1.0, (1.0 + confidence) / 2.0))
    z, half = atanh(inside) * (1.0 if value >= 0.0 else -1.0), quantile * sqrt(variance)
    return within(value, (tanh(z - half), tanh(z + half)), KAPPA_BOUNDS, n, Method("fisher z (bonett & wright)"))


def _unit(values: npt.ArrayLike, name: str, bounds: arrays.Bounds) -> arrays.FloatArray:
    numbers = arrays.finite_array(values, name, 1)
    if numbers.size and not (bounds[0] <= numbers.min() and numbers.max() <= bounds[1]):
        raise ValueError(f"{name}: numbers outside of {bounds[0]:g} to {bounds[1]:g}")
    unit: arrays.FloatArray = (numbers - bounds[0]) / (bounds[1] - bounds[0])
    return unit


def _rows(x: arrays.FloatArray, y: arrays.FloatArray, clusters: Labels | None) -> tuple[int, Codes | None]:
    if x.shape != y.shape:
        raise ValueError(f"scores have the shape {x.shape}, labels {y.shape}: expected one of each per row")
    return x.size, None if clusters is None or x.size < 2 else cluster_codes(clusters, x.size)  # noqa: PLR2004


def _standardised(ranks: arrays.FloatArray) -> arrays.FloatArray:
    scaled: arrays.FloatArray = (ranks - ranks.mean()) / ranks.std()
    return scaled


ALPHA_BOUNDS = (-1.0, 1.0)


def krippendorff_alpha(counts: npt.ArrayLike, clusters: Labels | None = None, confidence: float = 0.95) -> Estimate:
    """Estimate Krippendorff's alpha of nominal ratings: 1 is full agreement, 0 agreement by chance alone.

    The interval is a score interval of the observed agreement on an effective number of rows. Agreement by chance is
    taken as measured; its uncertainty enters that number by the infinitesimal jackknife over rows (or clusters).

    Args:
        counts: Shape (n, categories): how many raters put each row into each category. Rows with less than two ratings
            say nothing of agreement and are left out.
        clusters: Shape (n,), one label per row; rows of one cluster depend on each other.
        confidence: In (0, 1).

    Returns:
        The estimate; its value is NaN and its interval the bounds without rows, and if all ratings are of one category.

    Raises:
        ValueError: Another shape, or counts that are negative or not finite.

    Source: Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability"; Efron 1982 for the jackknife.

    >>> ben, gerry = [0, 1, 0, 0, 0, 0, 0, 0, 1, 0], [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]
    >>> counts = [[2 - b - g, b + g] for b, g in zip(ben, gerry, strict=True)]
    >>> round(krippendorff_alpha(counts).value, 3)  # 1 - 19·4/(6·14): 4 pairs differ; 6 of 20 ratings are 1 (section A)
    0.095
    """
    arrays.check_confidence(confidence)
    table = _checked(counts)
    several = table.sum(axis=1) >= 2.0  # noqa: PLR2004 (a pair)
    table = table[several]
    rated, each = table.sum(axis=1), table.sum(axis=0)
    n, total = rated.size, float(each.sum())
    if n == 0:
        return unknown(ALPHA_BOUNDS, 0, NO_ROWS)
    possible = total**2 - float(each @ each)
    if possible == 0.0:
        return unknown(ALPHA_BOUNDS, n, Method("one category of ratings"))
    by_chance = possible / (total * (total - 1.0))
    agree = pair_agreement(table)
    observed = float(rated @ (1.0 - agree)) / total
    codes = None if clusters is None else numbered(np.asarray(clusters)[several])
    influence = n * by_chance * _influence(table, rated * (1.0 - agree), possible)
    if codes is not None and codes.max() == 0:
        return unknown(ALPHA_BOUNDS, n, Method("one cluster"), 1.0 - observed / by_chance)
    n_eff, df = _effective_n(agree, 1.0 - observed, influence, codes, _events(table))
    limits = score_interval(1.0 - observed, n_eff, df, confidence)
    low, high = (1.0 - (1.0 - limit) / by_chance for limit in limits)
    return within(1.0 - observed / by_chance, (low, high), ALPHA_BOUNDS, n, Method("score+jackknife"))


def pair_agreement(counts: npt.ArrayLike) -> arrays.FloatArray:
    """Return the share of pairs of raters who say the same of a row, shape (n,); NaN with less than two ratings.

    Its mean is how often two raters of a row, chosen at random, say the same.

    Args:
        counts: Shape (n, categories), as of `krippendorff_alpha`.

    >>> pair_agreement([[2, 0], [1, 1], [1, 2], [1, 0]]).tolist()  # of 1 to 2: one of three pairs
    [1.0, 0.0, 0.3333333333333333, nan]
    """
    table = _checked(counts)
    rated = table.sum(axis=1)
    pairs = rated * (rated - 1.0)
    return np.where(pairs > 0.0, (table * (table - 1.0)).sum(axis=1) / np.where(pairs > 0.0, pairs, 1.0), np.nan)


def _checked(counts: npt.ArrayLike) -> arrays.FloatArray:
    table = np.asarray(counts, dtype=np.float64)
    if table.ndim != 2:  # noqa: PLR2004 (a table)
        raise ValueError(f"counts has shape {table.shape}: expected one row per rated row, shape (n, categories)")
    if not (np.isfinite(table) & (table >= 0.0)).all():
        raise ValueError("counts: expected how many raters put a row into a category, 0 or more")
    return table


def _influence(table: arrays.FloatArray, differ: arrays.FloatArray, possible: float) -> arrays.FloatArray:
    """Return the influence of each row on alpha = 1 - (total - 1)·differ/possible, by its derivatives; shape (n,)."""
    each, rated, all_differ = table.sum(axis=0), table.sum(axis=1), float(differ.sum())
    total = float(each.sum())
    through_chance = 2.0 * (total * rated - table @ each) * (total - 1.0) * all_differ / possible
    adds = (through_chance - (total - 1.0) * differ - all_differ * rated) / possible
    centred: arrays.FloatArray = adds - adds.mean()
    return centred


def _effective_n(
    agree: arrays.FloatArray, observed: float, influence: arrays.FloatArray, codes: Codes | None, events: float
) -> tuple[float, float | None]:
    """Return the effective rows of observed agreement when its variance stands for alpha's, and degrees of freedom."""
    if codes is not None:
        return clustered_n_of_totals(
            cluster_totals(agree, codes), np.bincount(codes, weights=influence).astype(np.float64)
        )
    n, binomial = agree.size, observed * (1.0 - observed)
    r = float(influence @ influence) / (n * binomial) if binomial > 0.0 else 1.0
    return effective_n(n, r, events), None


def _events(table: arrays.FloatArray) -> float:
    """Return the rows that tell agreement from chance: pairs that differ, or, if fewer, agree on a rarer category."""
    rated = table.sum(axis=1)
    agree = (table * (table - 1.0) / (rated * (rated - 1.0))[:, None]).sum(axis=0)
    return float(min(rated.size - agree.sum(), agree.sum() - agree.max()))


# Verdicts that make a pair.
_PAIR = 2


class SelfAgreement(NamedTuple):
    """Repeated verdicts of n rows.

    Attributes:
        equal: Chance that two verdicts on a row are equal: the mean over rows of the share of equal pairs.
        distance: Mean absolute difference of two verdicts on a row, in the units of the verdicts; None without bounds.
        n: Number of rows with two verdicts or more.
        pairs: Number of pairs of verdicts on a row.
        variance: Of a verdict around the mean of its row, in squared units.
        total: Variance of single verdicts over all rows, the former included; NaN for a single row.
    """

    equal: Estimate
    distance: Estimate | None
    n: int
    pairs: int
    variance: float
    total: float


def self_agreement(
    verdicts: npt.ArrayLike,
    rows: npt.ArrayLike,
    clusters: Labels | None = None,
    bounds: tuple[float, float] | None = (0.0, 1.0),
    confidence: float = 0.95,
) -> SelfAgreement:
    """Estimate how far repeated verdicts on the same rows agree.

    Each row counts once, however many verdicts it has. Rows with a single verdict are left out.

    Args:
        verdicts: Shape (m,), float64.
        rows: Number of each verdict's row, shape (m,), ascending.
        clusters: Cluster of each row, one label for each of the distinct `rows`; rows of one cluster depend on each
            other.
        bounds: Smallest and largest verdict; None for names, of which only equality counts.
        confidence: In (0, 1).

    Raises:
        ValueError: Another shape, rows that do not ascend, verdicts outside of the bounds, or a single cluster.

    Source: the variance is the mean square within rows of a one-way analysis of variance (Shrout & Fleiss 1979); that
    of single verdicts adds the variance between rows, as in ICC(1).

    >>> found = self_agreement([1, 1, 0, 1, 0, 0, 1], [0, 0, 1, 1, 2, 2, 3])  # 2 of 3 pairs; (0 + 1/2 + 0)/3
    >>> round(found.equal.value, 4), found.n, found.pairs, round(found.variance, 4)
    (0.6667, 3, 3, 0.1667)
    """
    arrays.check_confidence(confidence)
    values, numbers = np.asarray(verdicts, np.float64), np.asarray(rows, np.intp)
    if values.ndim != 1 or values.shape != numbers.shape or (np.diff(numbers) < 0).any():
        raise ValueError("expected verdicts and the numbers of their rows in ascending order, both of shape (m,)")
    codes, counts = np.unique(numbers, return_inverse=True, return_counts=True)[1:]
    several = counts >= _PAIR
    inside = several[codes]
    values, codes = values[inside], (np.cumsum(several) - 1)[codes[inside]]
    labels = None if clusters is None else np.asarray(clusters)[several]
    drawn = counts[several].astype(np.float64)
    pairs = drawn * (drawn - 1.0) / 2.0
    equal = mean_interval(_equal_pairs(values, codes, drawn.size) / pairs, labels, confidence=confidence)
    distance = None
    if bounds is not None:
        arrays.check_finite_bounds(bounds)
        apart, width = _distances(values, codes, drawn) / pairs, bounds[1] - bounds[0]
        distance = mean_interval(apart, labels, (0.0, width), confidence)
    return SelfAgreement(equal, distance, drawn.size, int(pairs.sum()), *_variances(values, codes, drawn))


def _equal_pairs(values: arrays.FloatArray, codes: npt.NDArray[np.intp], n: int) -> arrays.FloatArray:
    """Return the number of equal pairs of each row, shape (n,)."""
    kinds = np.unique(values, return_inverse=True)[1]
    cells, counts = np.unique(codes * (kinds.max(initial=0) + 1) + kinds, return_counts=True)
    owners = cells // (kinds.max(initial=0) + 1)
    return np.bincount(owners, weights=counts * (counts - 1) / 2.0, minlength=n).astype(np.float64)


def _distances(values: arrays.FloatArray, codes: npt.NDArray[np.intp], drawn: arrays.FloatArray) -> arrays.FloatArray:
    """Return the sum of the absolute differences of all pairs of each row, shape (n,)."""
    order = np.lexsort((values, codes))
    starts = np.concatenate([[0], np.cumsum(drawn)[:-1]]).astype(np.intp)
    rank = np.arange(values.size) - starts[codes]
    weights = (2.0 * rank - drawn[codes] + 1.0) * values[order]
    return np.maximum(np.bincount(codes, weights=weights, minlength=drawn.size), 0.0)


def _variances(values: arrays.FloatArray, codes: npt.NDArray[np.intp], drawn: arrays.FloatArray) -> tuple[float, float]:
    """Return the variance within rows, and that of single verdicts over all rows."""
    n, m = drawn.size, float(drawn.sum())
    if n == 0:
        return float("nan"), float("nan")
    means = np.bincount(codes, weights=values, minlength=n) / drawn
    within = float(((values - means[codes]) ** 2).sum()) / (m - n)
    if n == 1:
        return within, float("nan")
    between = float((drawn * (means - values.mean()) ** 2).sum()) / (n - 1.0)
    size = (m - float((drawn**2).sum()) / m) / (n - 1.0)
    return within, within + max((between - within) / size, 0.0)
