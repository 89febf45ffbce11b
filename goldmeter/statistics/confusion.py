"""Measures of classification with intervals: of one system, by class, and between two systems on the same rows.

An answer may name no class. Such an answer is wrong: it lowers recall, and for kappa and Matthews' coefficient it is a
class that no reference has. Averages over classes are over those that a reference has.
"""

from math import nan, sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from goldmeter.statistics.arrays import BoolArray, Bounds, FloatArray, IntArray, check_confidence
from goldmeter.statistics.clusters import (
    ClusterTotals,
    Codes,
    Labels,
    cluster_codes,
    cluster_totals,
    clustered_n_of_totals,
)
from goldmeter.statistics.estimate import NO_ROWS, Estimate, Method, unknown, within
from goldmeter.statistics.mean import interval_of_moments
from goldmeter.statistics.moments import Moments
from goldmeter.statistics.wilson import effective_n, score_interval

# Code of a prediction that is no class.
NO_CLASS = -1
UNIT: Bounds = (0.0, 1.0)
BOUNDS: dict[str, Bounds] = {
    "balanced_accuracy": UNIT,
    "macro_f1": UNIT,
    "weighted_f1": UNIT,
    "matthews": (-1.0, 1.0),
    "kappa": (-1.0, 1.0),
}
# Rows of another answer that a difference counts beyond those seen: two systems that agree on all rows may yet differ.
UNSEEN = 2.0
ONE_CLASS = Method("one class of references")


class ClassRates(NamedTuple):
    """Of one class: n references are of it, and n_named answers name it; the value of a rate of no rows is NaN."""

    n: int
    n_named: int
    recall: Estimate
    precision: Estimate
    f1: Estimate


class ClassMeasures(NamedTuple):
    """Measures of n rows.

    Attributes:
        counts: Rows by class of the reference and class named, the last column: no class; shape (k, k + 1).
        accuracy: Share of answers that name the class of the reference, in [0, 1].
        measures: `balanced_accuracy`, `macro_f1`, `weighted_f1` in [0, 1], `matthews`, `kappa` in [-1, 1].
        classes: The rates of each of the k classes.
    """

    counts: IntArray
    accuracy: Estimate
    measures: dict[str, Estimate]
    classes: tuple[ClassRates, ...]


def class_measures(
    true: npt.ArrayLike,
    named: npt.ArrayLike,
    k: int,
    clusters: Labels | None = None,
    confidence: float = 0.95,
) -> ClassMeasures:
    """Measure how well answers name the classes of their references.

    Weighted F1, kappa and Matthews' coefficient have score intervals of an effective number of rows, by the delta
    method. Balanced accuracy and macro F1 have the wider, at each end, of such an interval and of the class rates' own
    intervals combined (MOVER): a class with few rows may show no spread, and many classes with few errors add up.

    Args:
        true: Class of each reference, shape (n,), 0 to k - 1.
        named: Class that each answer names, shape (n,), or NO_CLASS.
        k: Number of classes.
        clusters: Shape (n,), one label per row; rows of one cluster depend on each other.
        confidence: In (0, 1), of each interval.

    Raises:
        ValueError: Another shape, a code that is no class, or a single cluster.

    Warns:
        FewClusters: There are fewer than 10 clusters.

    Source: Cohen 1960; Gorodkin 2004 for Matthews' coefficient of k classes; Zou & Donner 2008 for MOVER; Takahashi et
        al. 2022 for the delta method of F1.

    >>> found = class_measures([0, 0, 0, 1, 1, 2], [0, 0, 1, 1, 1, NO_CLASS], 3)
    >>> found.measures["macro_f1"].value  # (4/5 + 4/5 + 0)/3
    0.5333333333333333
    """
    rows = _rows(true, [named], k, clusters, confidence)
    codes = rows.named[0]
    counts = np.bincount(rows.true * (k + 1) + codes, minlength=k * (k + 1)).reshape(k, k + 1)
    hits = rows.true == codes
    accuracy = _rate(hits, np.ones(hits.size, np.bool_), rows)
    classes = tuple(_class_rates(one, codes, rows) for one in range(k))
    if not hits.size:
        return ClassMeasures(counts, accuracy, {name: unknown(b, 0, NO_ROWS) for name, b in BOUNDS.items()}, classes)
    return ClassMeasures(counts, accuracy, _System.of(codes, rows).estimates(classes, rows), classes)


def class_differences(
    true: npt.ArrayLike,
    base: npt.ArrayLike,
    head: npt.ArrayLike,
    k: int,
    clusters: Labels | None = None,
    confidence: float = 0.95,
) -> dict[str, Estimate]:
    """Estimate the measures of `head` less those of `base` on the same rows; arguments as of `class_measures`.

    The limits combine those of both systems by the correlation of their measures (MOVER).

    Source: Zou & Donner 2008; Newcombe 1998 for paired proportions.

    >>> true = [0, 1] * 20
    >>> round(class_differences(true, [0] * 40, true, 2)["balanced_accuracy"].value, 2)
    0.5
    """
    rows = _rows(true, [base, head], k, clusters, confidence)
    if not rows.true.size:
        return {name: unknown((low - high, high - low), 0, NO_ROWS) for name, (low, high) in BOUNDS.items()}
    systems = [_System.of(named, rows) for named in rows.named]
    own = [one.estimates(tuple(_class_rates(label, one.named, rows) for label in range(k)), rows) for one in systems]
    return {name: _difference(name, systems, [one[name] for one in own], rows) for name in BOUNDS}


class _Rows(NamedTuple):
    """named: of each system, shape (n,); no class is k."""

    true: IntArray
    named: list[IntArray]
    k: int
    codes: Codes | None
    confidence: float

    def summed(self, columns: FloatArray) -> FloatArray:
        """Sum columns over clusters, shape (n, k) to (clusters, k)."""
        return columns if self.codes is None else np.column_stack([_sums(self.codes, one) for one in columns.T])

    def summed_by_cell(self, slopes: FloatArray, named: IntArray) -> FloatArray:
        """Return sums whose products are those of clusters or rows; slopes: by cell, shape (columns, k, k + 1)."""
        cells = self.true * (self.k + 1) + named
        columns = slopes.reshape(len(slopes), -1)
        if self.codes is None:
            return columns.T * np.sqrt(np.bincount(cells, minlength=columns.shape[1]))[:, None]
        return np.column_stack([_sums(self.codes, column[cells]) for column in columns])

    def limits(self, p: float, influence: FloatArray, hits: FloatArray) -> Bounds:
        """Return the limits of a proportion; influence: of each row on n times it, shape (n,)."""
        n, df = float(self.true.size), None
        if self.codes is None:
            binomial = p * (1.0 - p)
            r = float(influence @ influence) / (n * binomial) if binomial > 0.0 else 1.0
            n_eff = effective_n(n, r, n * min(p, 1.0 - p))
        else:
            size, total, adds = (_sums(self.codes, one) for one in (np.ones(hits.size), hits, influence))
            agreed = float(total.sum()) / n
            # The effective number of rows is then that of p, not of the observed agreement.
            binomial, of_hits = p * (1.0 - p), agreed * (1.0 - agreed)
            scale = sqrt(of_hits / binomial) if binomial > 0.0 and of_hits > 0.0 else 1.0
            n_eff, df = clustered_n_of_totals(ClusterTotals(size, total), scale * adds)
        # No measure is better known than a proportion of so many rows.
        return score_interval(p, min(n_eff, n), df, self.confidence)


def _sums(codes: Codes, values: FloatArray) -> FloatArray:
    return np.bincount(codes, values).astype(np.float64, copy=False)


def _rows(true: npt.ArrayLike, named: list[npt.ArrayLike], k: int, clusters: Labels | None, confidence: float) -> _Rows:
    check_confidence(confidence)
    references = _class_codes(true, "true", 0, k)
    answers = [_class_codes(one, "named", NO_CLASS, k) for one in named]
    n = references.size
    if any(one.size != n for one in answers):
        raise ValueError(f"{n} references, but {[one.size for one in answers]} answers: expected one of each per row")
    codes = None if clusters is None or not n else cluster_codes(clusters, n)
    named_or_none = [np.where(one < 0, k, one) for one in answers]
    return _Rows(references, named_or_none, k, codes, confidence)


def _class_codes(values: npt.ArrayLike, name: str, lowest: int, k: int) -> IntArray:
    codes = np.asarray(values)
    if codes.ndim != 1 or (codes.size and codes.dtype.kind not in "iu"):
        raise ValueError(f"{name}: expected the number of a class per row, shape (n,)")
    if codes.size and not (lowest <= codes.min() and codes.max() < k):
        raise ValueError(f"{name}: classes outside of {lowest} to {k - 1}")
    return codes.astype(np.intp)


def _class_rates(label: int, named: IntArray, rows: _Rows) -> ClassRates:
    is_true, is_named = rows.true == label, named == label
    hits, either = is_true & is_named, is_true | is_named
    recall, precision = _rate(hits, is_true, rows), _rate(hits, is_named, rows)
    # F1 = 2J/(1 + J) grows with J, the share of hits among the rows of that reference or answer.
    common = _rate(hits, either, rows)
    value, low, high = (2.0 * limit / (1.0 + limit) for limit in common[:3])
    f1 = common._replace(value=value, low=low, high=high)
    return ClassRates(int(is_true.sum()), int(is_named.sum()), recall, precision, f1)


def _rate(hits: BoolArray, of: BoolArray, rows: _Rows) -> Estimate:
    """Estimate the share of hits among some rows."""
    right, n = hits[of].astype(np.float64), int(of.sum())
    codes = None if rows.codes is None else np.unique(rows.codes[of], return_inverse=True)[1]
    if codes is not None and n and codes.max() == 0:
        return unknown(UNIT, n, Method("one cluster"), float(right.mean()))
    totals = None if codes is None or not n else cluster_totals(right, codes)
    return interval_of_moments(Moments.of(right, UNIT), totals, UNIT, rows.confidence)


class _System(NamedTuple):
    """A system's measures, and what each row adds to them.

    values: measure → its value. scales: of kappa and Matthews' coefficient, by how much the observed agreement changes
    with it. influence: measure → what each row adds to n times it, shape (n,). by_class: mean over classes → what a row
    of each cell of the table adds to n times the rate of each class that a reference has, shape (classes, k, k + 1).
    unseen: measure → variance by rows that differ in ways not seen.
    """

    named: IntArray
    present: IntArray
    values: dict[str, float]
    scales: dict[str, float]
    influence: dict[str, FloatArray]
    by_class: dict[str, FloatArray]
    unseen: dict[str, float]

    @classmethod
    def of(cls, named: IntArray, rows: _Rows) -> "_System":
        """The measures of a system; there is at least one row."""
        k, n = rows.k, rows.true.size
        cells = rows.true * (k + 1) + named
        table = np.bincount(cells, minlength=k * (k + 1)).reshape(k, k + 1) / n
        found = _Table.of(table)
        values, gradients = found.measures()
        influence, unseen = {}, {}
        for name, gradient in gradients.items():
            centred = gradient - float((table * gradient).sum())
            influence[name] = centred.ravel()[cells]
            off = (gradient.sum(axis=1) - np.diagonal(gradient)) / k
            unseen[name] = UNSEEN * float(found.true @ (np.diagonal(gradient) - off) ** 2) / n**2
        return cls(named, found.present, values, found.scales(), influence, found.by_class(), unseen)

    def estimates(self, classes: tuple[ClassRates, ...], rows: _Rows) -> dict[str, Estimate]:
        """The measures with their intervals."""
        n, hits = rows.true.size, (rows.true == self.named).astype(np.float64)
        if len(self.present) < _PAIR:
            return {name: unknown(BOUNDS[name], n, ONE_CLASS, self.values[name]) for name in BOUNDS}
        agreed = float(hits.mean())
        found = {}
        for name, bounds in BOUNDS.items():
            value, scale = self.values[name], self.scales.get(name)
            if scale == 0.0:  # all answers name one class
                found[name] = unknown(bounds, n, Method("one class of answers"), value)
                continue
            p = min(max(value, 0.0), 1.0) if scale is None else agreed
            limits = rows.limits(p, self.influence[name] * (scale or 1.0), hits)
            if scale is not None:
                limits = value + (limits[0] - agreed) / scale, value + (limits[1] - agreed) / scale
            method = "score+delta"
            if name in _OF_CLASSES:
                limits, method = (
                    self._hull(name, limits, [classes[label] for label in self.present], rows),
                    "classes+delta",
                )
            found[name] = within(value, limits, bounds, n, Method(method))
        return found

    def _hull(self, name: str, limits: Bounds, classes: list[ClassRates], rows: _Rows) -> Bounds:
        """Widen the limits of a mean over classes to those that the intervals of the classes give together."""
        own = [getattr(one, _OF_CLASSES[name]) for one in classes]
        value, below, above = (np.array(column) for column in zip(*(one[:3] for one in own), strict=True))
        correlation = _correlation(rows.summed_by_cell(self.by_class[name], self.named))
        down, up = ((apart @ correlation @ apart) for apart in (value - below, above - value))
        low, high = (
            self.values[name] - sqrt(max(down, 0.0)) / len(own),
            self.values[name] + sqrt(max(up, 0.0)) / len(own),
        )
        # F1 is concave in what is counted: its mean over samples lies below the F1 of all rows.
        bias = _f1_bias(own) if name == "macro_f1" else 0.0
        return min(limits[0], low), max(limits[1], high) - bias


_PAIR = 2
_OF_CLASSES = {"balanced_accuracy": "recall", "macro_f1": "f1"}


def _f1_bias(own: list[Estimate]) -> float:
    """Return the bias of the mean of F1 = 2J/(1 + J) over classes, by the variance of J, to second order."""
    j, n = np.array([(one.value / (2.0 - one.value), one.n) for one in own]).T
    smoothed = (j * n + 0.5) / (n + 1.0)
    return float((-2.0 * smoothed * (1.0 - smoothed) / (n * (1.0 + smoothed) ** 3)).mean())


def _correlation(sums: FloatArray) -> FloatArray:
    """Return the correlations of columns with mean 0, shape (k, k); a column of zeros has none with others."""
    products = sums.T @ sums
    error = np.sqrt(np.diagonal(products))
    varies = error > 0.0
    scale = np.where(varies, error, 1.0)
    correlations: FloatArray = np.where(varies[:, None] & varies, products / scale / scale[:, None], 0.0)
    np.fill_diagonal(correlations, 1.0)
    return correlations


def _difference(name: str, systems: list[_System], own: list[Estimate], rows: _Rows) -> Estimate:
    base, head = own
    value, n = head.value - base.value, rows.true.size
    lowest, highest = BOUNDS[name]
    width = highest - lowest
    if any(one.method.kind in _UNKNOWN for one in own):
        return unknown((-width, width), n, next(one.method for one in own if one.method.kind in _UNKNOWN), value)
    changes = rows.summed(np.column_stack([one.influence[name] for one in systems]))
    squares = changes.T @ changes / n**2
    of_difference = squares[0, 0] + squares[1, 1] - 2.0 * squares[0, 1] + max(one.unseen[name] for one in systems)
    both = sqrt(squares[0, 0] * squares[1, 1])
    correlation = (squares[0, 0] + squares[1, 1] - of_difference) / (2.0 * both) if both > 0.0 else 0.0
    correlation = min(max(correlation, -1.0), 1.0)
    down = _apart(head.value - head.low, base.high - base.value, correlation)
    up = _apart(head.high - head.value, base.value - base.low, correlation)
    return within(value, (value - down, value + up), (-width, width), n, Method("mover"))


_UNKNOWN = frozenset({"one class of references", "one class of answers", "no rows"})


def _apart(mine: float, theirs: float, correlation: float) -> float:
    return sqrt(max(mine**2 + theirs**2 - 2.0 * correlation * mine * theirs, 0.0))


class _Table(NamedTuple):
    """Shares of rows by class of the reference and class named, and sums of them.

    present: the classes that a reference has. true, named: shape (k,); hits: shape (k,).
    """

    shares: FloatArray
    present: IntArray
    true: FloatArray
    named: FloatArray
    hits: FloatArray

    @classmethod
    def of(cls, shares: FloatArray) -> "_Table":
        """The sums of shares, shape (k, k + 1)."""
        true, k = shares.sum(axis=1), len(shares)
        return cls(shares, np.flatnonzero(true), true, shares.sum(axis=0), np.diagonal(shares[:, :k]))

    @property
    def agreed(self) -> float:
        return float(self.hits.sum())

    @property
    def by_chance(self) -> float:
        return float(self.true @ self.named[:-1])

    @property
    def spread(self) -> tuple[float, float]:
        """How likely two references, and two answers, are of different classes."""
        return 1.0 - float(self.true @ self.true), 1.0 - float(self.named @ self.named)

    def scales(self) -> dict[str, float]:
        """Measure → the observed agreement is this times it, plus what chance adds."""
        of_true, of_named = self.spread
        return {"kappa": max(1.0 - self.by_chance, 0.0), "matthews": sqrt(max(of_true * of_named, 0.0))}

    def by_class(self) -> dict[str, FloatArray]:
        """The derivatives of each present class's recall and F1 by the shares, shape (classes, k, k + 1)."""
        k, own = len(self.true), self.present
        recall, f1 = np.zeros((2, own.size, k, k + 1))
        true, both, hits = self.true[own], (self.true + self.named[:-1])[own], self.hits[own]
        places = np.arange(own.size)
        recall[places, own] -= (hits / true**2)[:, None]
        recall[places, own, own] += 1.0 / true
        f1[places, own] -= (2.0 * hits / both**2)[:, None]
        f1[places, :, own] -= (2.0 * hits / both**2)[:, None]
        f1[places, own, own] += 2.0 / both
        return {"balanced_accuracy": recall, "macro_f1": f1}

    def measures(self) -> tuple[dict[str, float], dict[str, FloatArray]]:
        """The measures, and their derivatives by the shares, shape (k, k + 1)."""
        own, true, k = self.present, self.true[self.present], len(self.true)
        recall, f1 = self.hits[own] / true, 2.0 * self.hits[own] / (self.true + self.named[:-1])[own]
        slopes = self.by_class()
        weighted = np.tensordot(true, slopes["macro_f1"], 1)
        weighted[own] += f1[:, None]
        values = {"balanced_accuracy": recall.mean(), "macro_f1": f1.mean(), "weighted_f1": true @ f1}
        gradients = {name: found.mean(axis=0) for name, found in slopes.items()} | {"weighted_f1": weighted}
        chance = np.append(self.true, 0.0) + np.zeros((k, 1))
        chance += self.named[:-1, None]
        agree = np.eye(k, k + 1)
        above, scales = self.agreed - self.by_chance, self.scales()
        of_true, of_named = self.spread
        for name, scale in scales.items():
            values[name] = above / scale if scale else (0.0 if name == "matthews" else nan)
            gradients[name] = (agree - chance) / scale if scale else np.zeros((k, k + 1))
        if scales["kappa"]:
            gradients["kappa"] += values["kappa"] / scales["kappa"] * chance
        if scales["matthews"]:
            gradients["matthews"] += values["matthews"] * (self.named / of_named + (self.true / of_true)[:, None])
        return {name: float(value) for name, value in values.items()}, gradients
