"""Votes of several jurors on the same rows: intervals over rows and jurors."""

from dataclasses import replace
from math import hypot, sqrt

import numpy as np
import numpy.typing as npt
import scipy

from goldmeter.statistics.arrays import Bounds, FloatArray, check_confidence
from goldmeter.statistics.clusters import Labels, numbered
from goldmeter.statistics.estimate import Estimate, within
from goldmeter.statistics.majority import ROUNDING, side_of


def majority_contributions(votes: npt.ArrayLike) -> FloatArray:
    """Return what each vote adds to the verdict of its row against the vote of another juror, shape (n, k).

    A vote counts where it decides: by how much the verdict differs between its being 1 and 0, times the vote less the
    mean of all votes that decide. A missing vote adds nothing.

    Args:
        votes: As of `majority`.
    """
    table = np.asarray(votes, dtype=np.float64)
    known = ~np.isnan(table)
    total, cast = known.sum(axis=1).astype(np.float64)[:, None], np.where(known, table, 0.0)
    others = cast.sum(axis=1)[:, None] - cast
    decides = np.where(known, side_of(others + known, total) - side_of(others, total), 0.0)
    usual = float((decides * cast).sum()) / max(float(decides.sum()), ROUNDING)
    return np.asarray(decides * np.where(known, table - usual, 0.0))


def mean_contributions(votes: npt.ArrayLike) -> FloatArray:
    """Return what each vote adds to the mean of its row's votes, shape (n, k); a missing vote adds nothing."""
    table = np.asarray(votes, dtype=np.float64)
    known = ~np.isnan(table)
    cast = np.maximum(known.sum(axis=1), 1)[:, None]
    usual = float(np.nansum(table / cast)) / max(float((known / cast).sum()), ROUNDING)
    return np.asarray(np.where(known, table - usual, 0.0) / cast)


def passing_contributions(votes: npt.ArrayLike, limit: float, sign: float = 1.0) -> FloatArray:
    """Return what each vote adds to whether the mean of its row's votes passes: by leaving it out, shape (n, k).

    Args:
        votes: Shape (n, k), NaN for a missing vote.
        limit: A mean passes from here on.
        sign: -1 where lower means pass, else 1.
    """
    table = sign * np.asarray(votes, dtype=np.float64)
    known = ~np.isnan(table)
    cast, total = known.sum(axis=1)[:, None], np.where(known, table, 0.0).sum(axis=1)[:, None]
    passes = total / np.maximum(cast, 1) >= sign * limit - ROUNDING
    without = (total - np.where(known, table, 0.0)) / np.maximum(cast - 1, 1) >= sign * limit - ROUNDING
    jurors = max(int(known.any(axis=0).sum()), 1)
    return np.where(known & (cast > 1), passes.astype(np.float64) - without, 0.0) * (jurors - 1) / jurors


def juror_variance(contributions: FloatArray, clusters: Labels | None = None) -> float:
    """Return the variance of a mean over rows that comes from which jurors were drawn, 0 or more.

    With contributions c of juror j, the mean over rows of what its votes add, it is k/(k - 1)·Σ (c_j - mean)² less
    the share of it that is due to the rows, which the interval over rows has already: the residual of rows and
    jurors in the two-way analysis of variance. Of two jurors nothing is taken off. For means of votes it is the
    component of jurors in a model of random rows and random jurors; for majorities its first-order (Hájek)
    approximation.

    Args:
        contributions: Of each vote, shape (n, k), of 2 jurors or more.
        clusters: Shape (n,), one label per row; rows of one cluster depend on each other.

    Source: Searle, Casella & McCulloch 1992, section 4.2; Efron & Stein 1981; Cameron, Gelbach & Miller 2011.

    >>> votes = [[1, 1, 0], [1, 0, 0], [1, 1, 0], [1, 1, 1]]  # means 1, .75, .25; their variance .1458 / 3
    >>> round(juror_variance(mean_contributions(votes)), 4)  # less .1389 / 12
    0.037
    """
    n, k = contributions.shape
    of_jurors, of_rows = contributions.mean(axis=0), contributions.mean(axis=1)
    between = float(k / (k - 1.0) * ((of_jurors - of_jurors.mean()) ** 2).sum())
    rest = contributions - of_rows[:, None] - of_jurors + of_jurors.mean()
    codes = np.arange(n) if clusters is None else numbered(clusters)
    groups = int(codes.max()) + 1
    if groups == 1 or k == 2:  # noqa: PLR2004 (two are compared by a single number, which such a share could hide)
        return between
    sums = np.column_stack([np.bincount(codes, weights=column) for column in rest.T])
    by_chance = float(k / (k - 1.0) * groups / (groups - 1.0) / n**2 * (sums**2).sum())
    return max(between - by_chance, 0.0)


def with_jurors(
    estimate: Estimate,
    contributions: FloatArray,
    clusters: Labels | None = None,
    bounds: Bounds = (0.0, 1.0),
    confidence: float = 0.95,
) -> Estimate:
    """Widen an interval over rows to one over rows and jurors.

    Each side is the root of the sum of squares of its distance over rows and of that of k jurors, Student's t with
    k - 1 degrees of freedom times their standard error. The jurors count as a random sample of such jurors.

    Args:
        estimate: The mean over rows and its interval over rows.
        contributions: Of each vote, shape (n, k), of jurors who voted; of one alone nothing is added.
        clusters: Shape (n,), one label per row; rows of one cluster depend on each other.
        bounds: Lower and upper bound of the scores, finite.
        confidence: In (0, 1).

    Source: Graybill & Wang 1980; Zou & Donner 2008 (squared distances of several sources are added).

    >>> from goldmeter.statistics.estimate import Method
    >>> estimate, votes = Estimate(0.6, 0.5, 0.7, 50, Method("rows")), [[1, 1, 0], [1, 0, 0]] * 25
    >>> [round(limit, 3) for limit in with_jurors(estimate, mean_contributions(votes))[1:3]]
    [0.0, 1.0]
    """
    check_confidence(confidence)
    n, k = contributions.shape
    if n == 0 or k < 2:  # noqa: PLR2004 (no spread)
        return estimate
    spread = float(scipy.special.stdtrit(k - 1.0, (1.0 + confidence) / 2.0)) * sqrt(
        juror_variance(contributions, clusters)
    )
    limits = (
        estimate.value - hypot(estimate.value - estimate.low, spread),
        estimate.value + hypot(estimate.high - estimate.value, spread),
    )
    method = estimate.method
    return within(estimate.value, limits, bounds, estimate.n, replace(method, kind=f"{method.kind}+jurors"))
