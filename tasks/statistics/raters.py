"""Agreement of people who rate the same rows: Krippendorff's alpha, and how often two of them say the same."""

import numpy as np
import numpy.typing as npt

from tasks.statistics.arrays import FloatArray, check_confidence
from tasks.statistics.clusters import Codes, Labels, cluster_totals, clustered_n_of_totals, numbered
from tasks.statistics.estimate import NO_ROWS, Estimate, Method, unknown, within
from tasks.statistics.wilson import effective_n, score_interval

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
    check_confidence(confidence)
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


def pair_agreement(counts: npt.ArrayLike) -> FloatArray:
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


def _checked(counts: npt.ArrayLike) -> FloatArray:
    table = np.asarray(counts, dtype=np.float64)
    if table.ndim != 2:  # noqa: PLR2004 (a table)
        raise ValueError(f"counts has shape {table.shape}: expected one row per rated row, shape (n, categories)")
    if not (np.isfinite(table) & (table >= 0.0)).all():
        raise ValueError("counts: expected how many raters put a row into a category, 0 or more")
    return table


def _influence(table: FloatArray, differ: FloatArray, possible: float) -> FloatArray:
    """Return the influence of each row on alpha = 1 - (total - 1)·differ/possible, by its derivatives; shape (n,)."""
    each, rated, all_differ = table.sum(axis=0), table.sum(axis=1), float(differ.sum())
    total = float(each.sum())
    through_chance = 2.0 * (total * rated - table @ each) * (total - 1.0) * all_differ / possible
    adds = (through_chance - (total - 1.0) * differ - all_differ * rated) / possible
    centred: FloatArray = adds - adds.mean()
    return centred


def _effective_n(
    agree: FloatArray, observed: float, influence: FloatArray, codes: Codes | None, events: float
) -> tuple[float, float | None]:
    """Return the effective rows of observed agreement when its variance stands for alpha's, and degrees of freedom."""
    if codes is not None:
        return clustered_n_of_totals(
            cluster_totals(agree, codes), np.bincount(codes, weights=influence).astype(np.float64)
        )
    n, binomial = agree.size, observed * (1.0 - observed)
    r = float(influence @ influence) / (n * binomial) if binomial > 0.0 else 1.0
    return effective_n(n, r, events), None


def _events(table: FloatArray) -> float:
    """Return the rows that tell agreement from chance: pairs that differ, or, if fewer, agree on a rarer category."""
    rated = table.sum(axis=1)
    agree = (table * (table - 1.0) / (rated * (rated - 1.0))[:, None]).sum(axis=0)
    return float(min(rated.size - agree.sum(), agree.sum() - agree.max()))
