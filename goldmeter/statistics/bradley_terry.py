"""Candidates that were compared in pairs: win rates, Bradley-Terry strengths, and intervals of their ranks."""

from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from math import inf
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy

from goldmeter.statistics.arrays import FloatArray, check_confidence
from goldmeter.statistics.clusters import ClusterTotals, Codes, Labels, numbered
from goldmeter.statistics.estimate import Estimate, Method
from goldmeter.statistics.multiplicity import max_t_of_products, sidak
from goldmeter.statistics.paired import DifferenceSums, PairedDifference, difference_of_sums

Pairs = Sequence[tuple[int, int]]
METHOD = Method("bradley-terry+sandwich")
# Steps of Newton's method, the largest change of a strength in one, and the change at which it ends.
_STEPS, _LARGEST, _CLOSE = 200, 2.0, 1e-10


class PairSums(NamedTuple):
    """What strengths need of any number of questions; the sums of several parts add up.

    Attributes:
        points: Of the second candidate of each of p pairs: wins and half the ties, shape (p,).
        counts: Questions on which the pair was compared, shape (p,).
        products: Sums of products of the points and counts of a cluster, shape (2p, 2p), points first.
        clusters: Number of independent items: questions, or groups of them.
    """

    points: FloatArray
    counts: FloatArray
    products: FloatArray
    clusters: int

    @classmethod
    def of(cls, outcomes: npt.ArrayLike, clusters: Labels | None = None) -> "PairSums":
        """Add up questions.

        Args:
            outcomes: Shape (n, p), float64: 1 where the second candidate of the pair won, 0.5 for a tie, 0 where it
                lost, NaN where the pair was not compared.
            clusters: Shape (n,), the group of each question; None: each is on its own.

        Raises:
            ValueError: A wrong shape, or an outcome outside [0, 1].
        """
        points = np.asarray(outcomes, dtype=np.float64)
        if points.ndim != 2:  # noqa: PLR2004 (a table)
            raise ValueError(f"outcomes has shape {points.shape}: expected one column per pair, shape (n, p)")
        compared = ~np.isnan(points)
        won = np.where(compared, points, 0.0)
        if ((won < 0.0) | (won > 1.0)).any():
            raise ValueError("outcomes: expected numbers from 0 to 1, or NaN where a pair was not compared")
        items = np.hstack([won, compared.astype(np.float64)])
        return cls.of_items(items if clusters is None else _summed(items, numbered(clusters)))

    @classmethod
    def of_items(cls, items: FloatArray) -> "PairSums":
        """Add up independent items, shape (items, 2p): points, then counts, of each pair."""
        used = items[items[:, items.shape[1] // 2 :].any(axis=1)]
        points, counts = np.split(used.sum(axis=0), 2)
        return cls(points, counts, used.T @ used, len(used))

    def __add__(self, other: "PairSums") -> "PairSums":  # type: ignore[override]  # a sum
        """The sums of the questions of both, no cluster being in both."""
        return PairSums(
            self.points + other.points,
            self.counts + other.counts,
            self.products + other.products,
            self.clusters + other.clusters,
        )


class Strength(NamedTuple):
    """The strength of a candidate, and its rank; the intervals of all ranks hold together.

    Attributes:
        estimate: Log odds relative to the mean of all. A limit is infinite on the side where it was never beaten, or
            never won, not even by a tie; n is the number of its comparisons.
        rank: From 1, the strongest.
        best: The best rank that it may have.
        worst: The worst one.
    """

    estimate: Estimate
    rank: int
    best: int
    worst: int


def components(candidates: int, pairs: Pairs, counts: npt.ArrayLike) -> list[list[int]]:
    """Return the groups of candidates that comparisons connect; strengths need a single one.

    Args:
        candidates: Number of candidates k; they have the numbers 0 to k - 1.
        pairs: The two candidates of each pair.
        counts: Questions on which the pair was compared, shape (p,).

    >>> components(3, [(0, 1), (1, 2)], [5, 0])
    [[0, 1], [2]]
    """
    used = [pair for pair, count in zip(pairs, np.asarray(counts), strict=True) if count > 0]
    labels = _labels(candidates, [*used, *((second, first) for first, second in used)])
    groups: dict[int, list[int]] = {}
    for candidate, label in enumerate(labels.tolist()):
        groups.setdefault(label, []).append(candidate)
    return [*groups.values()]


def strengths(candidates: int, pairs: Pairs, sums: PairSums, confidence: float = 0.95) -> list[Strength]:
    """Estimate the strength and the rank of each candidate.

    The interval of a strength holds on its own; those of all ranks hold together: a candidate ranks below another one
    if max-T limits of all differences of strengths say so. Limits are those of Student's t with one degree of freedom
    less than there are questions or groups; of a single one they are infinite.

    Args:
        candidates: Number of candidates k >= 2.
        pairs: The two candidates of each pair, numbers from 0 to k - 1.
        sums: Of the same pairs.
        confidence: In (0, 1).

    Returns:
        One strength per candidate, in their order.

    Raises:
        ValueError: The comparisons do not connect all candidates.

    Source: Bradley & Terry 1952; White 1982 for the sandwich; Klein, Wright & Wieczorek 2020 and Mogstad, Romano,
    Shaikh & Wilhelm 2024 for ranks; Romano & Wolf 2005 for max-T.

    >>> found = strengths(2, [(0, 1)], PairSums.of([[1.0]] * 8 + [[0.0]] * 2))
    >>> [round(one.estimate.value, 4) for one in found]  # ± ln(9/3) / 2
    [-0.5493, 0.5493]
    """
    check_confidence(confidence)
    if len(components(candidates, pairs, sums.counts)) > 1:
        raise ValueError("comparisons do not connect all candidates: their strengths have no common scale")
    fitted = _fitted(candidates, pairs, _with_pseudo(pairs, sums))
    error = _errors(fitted.covariance, sums.clusters)
    values, unbeaten, unwon = fitted.values, *_extremes(candidates, pairs, sums)
    reach = _quantile(sums.clusters, confidence) * error
    lows = np.where(unwon, -inf, values - reach)
    highs = np.where(unbeaten, inf, values + reach)
    above = _above(fitted, sums.clusters, confidence)
    order = np.argsort(np.argsort(-values, kind="stable"), kind="stable")
    counts = [int(sums.counts[[one in pair for pair in pairs]].sum()) for one in range(candidates)]
    return [
        Strength(
            Estimate(float(values[one]), float(lows[one]), float(highs[one]), counts[one], METHOD),
            int(order[one]) + 1,
            int(above[:, one].sum()) + 1,
            candidates - int(above[one].sum()),
        )
        for one in range(candidates)
    ]


class _Fitted(NamedTuple):
    """Strengths, shape (k,), with mean 0, and their covariance, shape (k, k)."""

    values: FloatArray
    covariance: FloatArray


def _with_pseudo(pairs: Pairs, sums: PairSums) -> PairSums:
    """Add a question won and a question lost to each candidate, divided among its pairs.

    Of grouped questions, they are groups of the usual size.
    """
    p, used = sums.counts.size, sums.counts > 0
    pairs_of = Counter(one for pair, is_used in zip(pairs, used, strict=True) if is_used for one in pair)
    share = np.array([1.0 / min(pairs_of[one] or 1 for one in pair) for pair in pairs]) * used
    size = max(float(sums.counts.max(initial=0.0)) / max(sums.clusters, 1), 1.0)
    products, place = sums.products.copy(), np.arange(p)
    products[place, place] += share * size**2
    products[place + p, place + p] += 2.0 * share * size**2
    products[place, place + p] += share * size**2
    products[place + p, place] += share * size**2
    return PairSums(sums.points + share * size, sums.counts + 2.0 * share * size, products, sums.clusters)


def _fitted(candidates: int, pairs: Pairs, sums: PairSums) -> _Fitted:
    """Solve the likelihood equations by Newton's method; the sandwich follows from the last step."""
    design = _differences(candidates, pairs)
    values, centre = np.zeros(candidates), np.full((candidates, candidates), 1.0 / candidates)
    for _ in range(_STEPS):
        expected = scipy.special.expit(design @ values)
        information = design.T @ ((sums.counts * expected * (1.0 - expected))[:, None] * design)
        size = float(np.trace(information))  # makes the sum of strengths as well determined as their differences
        step = np.linalg.solve(information + size * centre, design.T @ (sums.points - sums.counts * expected))
        values = values + step * min(1.0, _LARGEST / max(float(np.abs(step).max()), _CLOSE))
        if float(np.abs(step).max()) < _CLOSE:
            break
    bread = np.linalg.inv(information + size * centre) - centre / size
    scores = np.hstack([design.T, -design.T * expected])
    return _Fitted(values - values.mean(), bread @ scores @ sums.products @ scores.T @ bread)


def _differences(candidates: int, pairs: Pairs) -> FloatArray:
    """The second candidate of each pair less the first, shape (p, k)."""
    design = np.zeros((len(pairs), candidates))
    for row, (first, second) in enumerate(pairs):
        design[row, first], design[row, second] = -1.0, 1.0
    return design


def _errors(covariance: FloatArray, clusters: int) -> FloatArray:
    correction = clusters / (clusters - 1.0) if clusters > 1 else 1.0
    return np.sqrt(np.maximum(np.diagonal(covariance), 0.0) * correction)


def _quantile(clusters: int, confidence: float) -> float:
    return float(scipy.special.stdtrit(clusters - 1.0, (1.0 + confidence) / 2.0)) if clusters > 1 else inf


def _above(fitted: _Fitted, clusters: int, confidence: float) -> npt.NDArray[np.bool_]:
    """Return whether candidate i is stronger than j by limits that hold for all pairs together; shape (k, k)."""
    k = fitted.values.size
    above = np.zeros((k, k), np.bool_)
    if clusters < 2:  # noqa: PLR2004 (no spread)
        return above
    every = [*combinations(range(k), 2)]
    design = _differences(k, every)
    covariance, differences = design @ fitted.covariance @ design.T, design @ fitted.values
    errors = _errors(covariance, clusters)

    def reach(critical: float) -> FloatArray:
        return _quantile(clusters, 2.0 * float(scipy.special.ndtr(critical)) - 1.0) * errors

    # The critical value lies between that of a single test and Šidák's: most often both decide the same.
    limits = reach(sidak(len(every), confidence))
    if ((np.abs(differences) > reach(sidak(1, confidence))) & (np.abs(differences) <= limits)).any():
        limits = reach(max_t_of_products(covariance, confidence))
    for (first, second), difference, limit in zip(every, differences, limits, strict=True):
        above[second, first], above[first, second] = difference > limit, -difference > limit
    return above


def _extremes(candidates: int, pairs: Pairs, sums: PairSums) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Return who was never beaten, nor tied, by a weaker group, and who never beat a stronger one; shape (k,) each.

    Candidates that beat each other, if only through others, are one group. The strengths of groups that only win, or
    only lose, have no upper or lower limit.
    """
    edges: list[tuple[int, int]] = []  # the winner first
    for (first, second), points, count in zip(pairs, sums.points, sums.counts, strict=True):
        edges += [(second, first)] if points > 0.0 else []
        edges += [(first, second)] if points < count else []
    labels = _labels(candidates, edges)
    unbeaten = np.ones(candidates, np.bool_)
    unwon = np.ones(candidates, np.bool_)
    for winner, loser in edges:
        if labels[winner] != labels[loser]:
            unbeaten[labels == labels[loser]] = False
            unwon[labels == labels[winner]] = False
    is_whole = len(set(labels.tolist())) == 1
    return unbeaten & (not is_whole), unwon & (not is_whole)


def _labels(candidates: int, edges: Pairs) -> Codes:
    """Return the component of each candidate, as the number of its first one, shape (k,).

    Candidates of a component can be reached from each other along the edges, which have a direction.
    """
    reached = np.eye(candidates, dtype=np.bool_)
    for start, end in edges:
        reached[start, end] = True
    for _ in range(candidates.bit_length()):
        reached = (reached.astype(np.intp) @ reached.astype(np.intp)) > 0
    return np.asarray(np.argmax(reached & reached.T, axis=1), np.intp)


def _summed(items: FloatArray, codes: Codes) -> FloatArray:
    sums = np.zeros((int(codes.max(initial=-1)) + 1, items.shape[1]))
    np.add.at(sums, codes, items)
    return sums


def win_rate(
    wins: int, ties: int, losses: int, clusters: ClusterTotals | None = None, confidence: float = 0.95
) -> PairedDifference:
    """Estimate a win rate, in [0, 1], by the paired difference of points: a win is +1, a tie 0, a loss -1.

    The p value is that of "both are preferred equally often": 0.5 lies outside [low, high] exactly when it is below
    1 - confidence. Without rows the value is NaN.

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

    Source: as of `goldmeter.statistics.paired.paired_difference`.

    >>> found = win_rate(1, 13, 7)
    >>> round(found.value, 4), round(found.low, 4), round(found.high, 4)  # (1 - 0.5084) / 2, (1 - 0.0134) / 2
    (0.3571, 0.2458, 0.4933)
    """
    if min(wins, ties, losses) < 0:
        raise ValueError(f"wins = {wins}, ties = {ties}, losses = {losses}: expected counts of 0 or more")
    points = np.repeat([1.0, 0.0, -1.0], [wins, ties, losses])
    found = difference_of_sums(DifferenceSums.of(points, 1.0), clusters, confidence=confidence)
    value, low, high = ((1.0 + each) / 2.0 for each in found[:3])
    return found._replace(value=value, low=low, high=high)
