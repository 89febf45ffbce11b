"""One measure of two candidates over all blocks of their pairing: its rows, its sums, and sums of its products."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import isfinite
from typing import Any, NamedTuple

import numpy as np

from goldmeter.comparison.measures import LABEL, Measure, measures
from goldmeter.comparison.pairing import Blocks, Pairing, Positions
from goldmeter.estimates import estimates
from goldmeter.estimates.columns import Mask, lone_clusters
from goldmeter.estimates.estimates import UNBOUNDED
from goldmeter.estimates.sums import summed
from goldmeter.metrics.base import Floats
from goldmeter.statistics.clusters import GroupTotals
from goldmeter.statistics.corpus import Replicates
from goldmeter.statistics.correlation import ColumnProducts, column_products
from goldmeter.statistics.multiplicity import max_t_of_products, sidak
from goldmeter.statistics.paired import DifferenceSums, deleted
from goldmeter.statistics.weighted import WeightedSums


class ComparedRows(NamedTuple):
    """One measure of two candidates on the shared rows of one block; n of them are measured in both.

    base, head: the measure of each candidate, on all its rows. measured: which of the pairing's shared rows are the n.
    """

    pairing: Pairing
    base: Measure
    head: Measure
    measured: Mask

    @classmethod
    def of(cls, pairing: Pairing, name: str) -> "ComparedRows":
        """The measure of this name, which both candidates have, on the rows where it is measured in both."""
        base, head = measures(pairing.base)[name], measures(pairing.head)[name]
        missing = np.isnan(base.values[pairing.base_rows]) | np.isnan(head.values[pairing.head_rows])
        return cls(pairing, base, head, ~missing)

    @property
    def differences(self) -> Floats:
        """HEAD minus BASE, row by row, shape (n,)."""
        pairing = self.pairing
        base = self.base.values[pairing.base_rows[self.measured]]
        return np.asarray(self.head.values[pairing.head_rows[self.measured]] - base)

    @property
    def clusters(self) -> Positions | None:
        """The cluster of each of the n rows."""
        return None if self.pairing.groups is None else self.pairing.groups[self.measured]

    @property
    def weights(self) -> Floats | None:
        """How often each of the n rows counts; None without weights."""
        return None if self.pairing.weights is None else self.pairing.weights[self.measured]

    @property
    def stats(self) -> tuple[Floats, Floats]:
        """The statistics of both candidates on the n rows, shape (n, k); k is 0 but for corpus scores."""
        n, pairing = int(self.measured.sum()), self.pairing
        sides = (self.base, pairing.base_rows[self.measured]), (self.head, pairing.head_rows[self.measured])
        base, head = (
            np.empty((n, 0)) if one.kind != "corpus" or one.column.stats is None else one.column.stats[rows]
            for one, rows in sides
        )
        return base, head

    @property
    def not_asked(self) -> tuple[Mask, Mask]:
        """Which of the pairing's shared rows are unmeasured by design, in BASE and in HEAD."""
        sides = (self.base, self.pairing.base_rows), (self.head, self.pairing.head_rows)
        base, head = (measure.column.not_asked[rows] for measure, rows in sides)
        return base, head

    def filled(self, *, best: bool) -> "ComparedRows":
        """The rows with values in place of those that both versions were asked for and that failed.

        The values are the worst for HEAD, or the best; only for measures with bounds.
        """
        not_asked = self.not_asked[0] | self.not_asked[1]
        low, high = self.head.bounds or UNBOUNDED
        worst, good = (low, high) if self.head.higher_is_better else (high, low)
        values = (worst, good) if best else (good, worst)
        sides = zip((self.base, self.head), (self.pairing.base_rows, self.pairing.head_rows), values, strict=True)
        base, head = (
            measure.with_value(rows[np.isnan(measure.values[rows]) & ~not_asked], value)
            for measure, rows, value in sides
        )
        return self._replace(base=base, head=head, measured=~not_asked)

    def where(self, rows: Mask) -> "ComparedRows":
        """The same measure on some of the pairing's shared rows."""
        return self._replace(measured=self.measured & rows)

    def failed(self) -> tuple[Mask, Mask]:
        """Which of the pairing's shared rows were asked for and could not be measured, in BASE and in HEAD."""
        sides = (self.base, self.pairing.base_rows), (self.head, self.pairing.head_rows)
        base, head = (
            np.isnan(measure.values[rows]) & ~not_asked
            for (measure, rows), not_asked in zip(sides, self.not_asked, strict=True)
        )
        return base, head


class Side(NamedTuple):
    """The rows of one version.

    measured: measured rows, shared or not. total, stats: sums of their values, and of their statistics.
    shared_total, shared_stats: the same of the shared rows that are measured in both versions.
    failed: shared rows that were asked for and could not be measured. lacking: those of them that both were asked for.
    outside: shared rows measured in both that lie outside of the judge's domain.
    weighted_total: as shared_total, of weight · value; 0 without weights.
    """

    measured: int
    total: float
    stats: tuple[float, ...]
    shared_total: float
    shared_stats: tuple[float, ...]
    failed: int
    lacking: int
    outside: int
    weighted_total: float = 0.0

    def __add__(self, other: object) -> "Side":
        """The sums of the rows of both."""
        return Side(*map(_added, self, other)) if isinstance(other, Side) else NotImplemented


class MeasureSums(NamedTuple):
    """The sums over some rows of two candidates.

    differences: of the shared rows that are measured in both. groups: the same by cluster, or None.
    failed, differently_failed: shared rows that failed in any version, and in just one of them.
    not_asked: shared rows that are unmeasured by design in any version. lacking: those that both were asked for, and
    that are not measured in both.
    unequal: rows measured in both whose values, or statistics, differ. reworded: shared rows whose answers are not
    known to be equal. both: rows that pass in both versions.
    weighted: of differences as shares of the width, where HEAD has weights; else None.
    """

    base: Side
    head: Side
    differences: DifferenceSums
    groups: GroupTotals | None
    failed: int
    differently_failed: int
    not_asked: int
    lacking: int
    unequal: int
    reworded: int
    both: int
    weighted: WeightedSums | None = None

    def __add__(self, other: object) -> "MeasureSums":
        """The sums of the rows of both."""
        return MeasureSums(*map(_added, self, other)) if isinstance(other, MeasureSums) else NotImplemented

    @classmethod
    def of(cls, rows: ComparedRows) -> "MeasureSums":
        """Add up the rows of one block."""
        pairing, measured, kind = rows.pairing, rows.measured, rows.head.kind
        places = pairing.base_rows, pairing.head_rows
        values = [one.values[some] for one, some in zip((rows.base, rows.head), places, strict=True)]
        not_asked = rows.not_asked
        missing = [np.isnan(some) for some in values]
        failed = [some & ~other for some, other in zip(missing, not_asked, strict=True)]
        not_asked_either = not_asked[0] | not_asked[1]
        lacking = ~not_asked_either & (missing[0] | missing[1])
        shared = [some[measured] for some in values]
        differences, stats, weights = shared[1] - shared[0], rows.stats, rows.weights
        base, head = (
            Side(
                *_all(one),
                shared_total=float(shared[i].sum()),
                shared_stats=column_totals(stats[i]),
                failed=_count(failed[i]),
                lacking=_count(lacking & missing[i]),
                outside=0 if of.outside is None else _count(of.outside[places[i][measured]]),
                weighted_total=0.0 if weights is None else float((weights * shared[i]).sum()),
            )
            for i, (one, of) in enumerate(((rows.base, pairing.base), (rows.head, pairing.head)))
        )
        width = _width(rows.head)
        groups = None if pairing.groups is None else pairing.groups[measured]
        return cls(
            base,
            head,
            DifferenceSums.of(differences, width),
            None if groups is None else GroupTotals.of(groups, differences[:, None]),
            failed=_count(failed[0] | failed[1]),
            differently_failed=_count(failed[0] != failed[1]),
            not_asked=_count(not_asked_either),
            lacking=_count(lacking),
            unequal=_count((stats[0] != stats[1]).any(axis=1) if kind == "corpus" else differences != 0.0),
            reworded=_count(pairing.rows.reworded),
            both=_count((shared[0] > 0) & (shared[1] > 0)) if kind == "rate" else 0,
            weighted=None
            if weights is None
            else WeightedSums.of(differences / width if isfinite(width) else differences, weights, groups),
        )


def slice_sums(rows: ComparedRows) -> Iterator[tuple[str, str, MeasureSums]]:
    """Yield slice column, value, and the sums of the rows measured in both that have the value in HEAD."""
    width, differences, stats, clusters = _width(rows.head), rows.differences, rows.stats, rows.clusters
    for name, slices in rows.pairing.head.slices.items():
        codes = slices.codes[rows.pairing.head_rows[rows.measured]]
        for code in np.unique(codes):
            inside = codes == code
            some = differences[inside]
            base, head = (NO_ROWS._replace(shared_stats=column_totals(each[inside])) for each in stats)
            groups = None if clusters is None else GroupTotals.of(clusters[inside], some[:, None])
            sums = NOTHING._replace(base=base, head=head, differences=DifferenceSums.of(some, width), groups=groups)
            yield name, slices.values[code], sums


# The sums of no rows.
NO_ROWS = Side(0, 0, (), 0, (), 0, 0, 0)
NOTHING = MeasureSums(NO_ROWS, NO_ROWS, DifferenceSums(), None, 0, 0, 0, 0, 0, 0, 0)


def column_totals(columns: Floats) -> tuple[float, ...]:
    """The sum of each column, shape (n, k)."""
    return tuple(columns.sum(axis=0).tolist())


def _width(measure: Measure) -> float:
    return float(np.inf) if measure.bounds is None else measure.scale


def _all(measure: Measure) -> tuple[int, float, tuple[float, ...]]:
    """How many rows of a candidate are measured, and the totals of their values and of their statistics."""
    measured = ~np.isnan(measure.values)
    stats = measure.column.stats if measure.kind == "corpus" else None
    return (
        _count(measured),
        float(measure.values[measured].sum()),
        () if stats is None else column_totals(stats[measured]),
    )


def _count(rows: Any) -> int:
    return int(np.count_nonzero(rows))


def _added(mine: Any, more: Any) -> Any:
    """The sum of two fields: numbers, sums, tuples of numbers, or None where there is none."""
    if mine is None or more is None:
        return None
    if type(mine) is tuple:
        return tuple(a + b for a, b in zip(mine, more, strict=True))
    return mine + more


class Slice(NamedTuple):
    """One value of a slice column."""

    column: str
    value: str


@dataclass(frozen=True, eq=False)
class Compared:
    """One measure of two candidates on the shared rows of all blocks.

    blocks: the pairing of the candidates. name: of the measure, which both have. part: the slice of HEAD whose rows are
    compared; None: all rows. known: the sums, if they have been computed.
    """

    blocks: Blocks
    name: str
    part: Slice | None = None
    known: MeasureSums | None = None

    def rows(self) -> Iterator[ComparedRows]:
        """Yield the rows of each block."""
        for pairing in self.blocks:
            rows = ComparedRows.of(pairing, self.name)
            yield rows if self.part is None else rows.where(_inside(rows, self.part))

    def slices(self) -> list["Compared"]:
        """The measure on the rows of each value of each slice column of HEAD that has measured rows, in order."""
        found: dict[Slice, MeasureSums] = {}
        for rows in self.rows():
            for column, value, sums in slice_sums(rows):
                part = Slice(column, value)
                found[part] = found[part] + sums if part in found else sums
        columns = [*self.blocks[0].head.slices]
        order = sorted(found, key=lambda part: (columns.index(part.column), part.value))
        return [replace(self, part=part, known=found[part]) for part in order]

    @cached_property
    def base(self) -> Measure:
        """The measure of BASE, without rows."""
        return next(self.rows()).base.without_rows

    @cached_property
    def head(self) -> Measure:
        """The measure of HEAD, without rows."""
        return next(self.rows()).head.without_rows

    @cached_property
    def sums(self) -> MeasureSums:
        """The sums over all blocks."""
        return self.known or summed(map(MeasureSums.of, self.rows()))

    def bounded(self, *, best: bool) -> "Compared | None":
        """The measure with all rows that both versions were asked for: those that failed have the best or worst value.

        None for measures without bounds, corpus scores, and labels of a part of the rows.
        """
        if self.head.kind == "corpus" or self.head.bounds is None or self.has_sampled_labels:
            return None
        if not self.sums.lacking:
            return self
        return replace(self, known=summed(MeasureSums.of(rows.filled(best=best)) for rows in self.rows()))

    @property
    def n(self) -> int:
        """Number of shared rows that are measured in both."""
        return self.sums.differences.n

    @property
    def by_question(self) -> bool:
        """Whether questions with several answers are compared, and not rows."""
        return self.blocks[0].of_draws is not None

    @property
    def bounds(self) -> tuple[float, float]:
        """Smallest and largest possible value; infinite where they are unknown."""
        return self.head.bounds or UNBOUNDED

    @property
    def is_stopped(self) -> bool:
        """Whether verdicts said how many rows were measured, in either version: fixed intervals do not hold."""
        return self.base.column.facts.stopped or self.head.column.facts.stopped

    @property
    def is_designed(self) -> bool:
        """Whether these are human labels, of rows that a design chose in either version."""
        rows = self.blocks[0].rows
        return self.name == LABEL and (rows.base.labels_designed or rows.head.labels_designed)

    @property
    def has_sampled_labels(self) -> bool:
        """Whether these are human labels of a part of the rows, chosen at random or by a design in both versions."""
        rows = self.blocks[0].rows
        return self.is_designed or (self.name == LABEL and rows.base.labels_random and rows.head.labels_random)

    @property
    def is_one_cluster(self) -> bool:
        """Whether all measured rows are in one cluster, which says nothing of the spread."""
        return self.sums.groups is not None and len(self.sums.groups.keys) == 1

    @property
    def value(self) -> float:
        """HEAD minus BASE over the n rows."""
        if self.head.kind != "corpus":
            return self.sums.differences.moments.mean
        return self.shared_value(self.sums.head) - self.shared_value(self.sums.base)

    def shared_value(self, side: Side) -> float:
        """The measure of one version over the n rows."""
        return self._score(side.shared_stats) if self.head.kind == "corpus" else side.shared_total / self.n

    def whole_value(self, side: Side) -> float:
        """The measure of one version over all its measured rows."""
        return self._score(side.stats) if self.head.kind == "corpus" else side.total / side.measured

    @property
    def unchanged(self) -> bool:
        """Whether all answers are equal byte by byte, and so are their values, where they could be measured."""
        return not (self.sums.reworded or self.sums.unequal or self.sums.differently_failed)

    @cached_property
    def row_jackknife(self) -> Replicates:
        """The sums of the differences of a corpus score without each row, by a second pass over the rows."""
        return summed(Replicates.of(self.without_each(*rows.stats)) for rows in self.rows())

    @cached_property
    def clusters(self) -> GroupTotals | None:
        """The sums of the statistics of BASE and HEAD by cluster, and of the differences without each row."""
        if self.sums.groups is None:
            return None
        return summed(map(self._by_cluster, self.rows()))

    @property
    def jackknife(self) -> Replicates:
        """The sums of the differences of a corpus score without each row, or without each cluster."""
        if self.clusters is None:
            return self.row_jackknife
        k = len(self.sums.base.shared_stats)
        stats = self.clusters.totals[:, 1:]
        return Replicates.of(self.without_each(stats[:, :k], stats[:, k:]))

    def without_each(self, base: Floats, head: Floats) -> Floats:
        """The difference of all rows without each of these, by their statistics of shape (n, k); shape (n,)."""
        older, newer = (np.array(side.shared_stats) for side in (self.sums.base, self.sums.head))
        return deleted(base, head, older, newer, estimates.corpus_score(self.head.column))

    def _by_cluster(self, rows: ComparedRows) -> GroupTotals:
        stats, clusters = rows.stats, rows.clusters
        groups = np.zeros(0, np.intp) if clusters is None else clusters
        return GroupTotals.of(groups, np.column_stack([self.without_each(*stats), *stats]))

    def _score(self, stats: tuple[float, ...]) -> float:
        return float(estimates.corpus_score(self.head.column)(np.array(stats)))


def _inside(rows: ComparedRows, part: Slice) -> Mask:
    slices = rows.pairing.head.slices[part.column]
    if part.value not in slices.values:
        return np.zeros(len(rows.measured), np.bool_)
    return np.asarray(slices.codes[rows.pairing.head_rows] == slices.values.index(part.value))


# With more differences their correlations cost more than they gain: Šidák's value, which assumes none, is used.
MOST_JOINT = 200
# Two measures whose correlation over the rows is rounded to 1.00 are one measure.
SAME = 0.995


def critical_value(measures: Sequence[Compared], confidence: float, *, joint: bool = True) -> float:
    """The number of standard errors that the largest of all differences stays within.

    Rows of one id are one item, whatever pair of candidates they are of; so are all rows of one cluster.
    joint: whether the differences are those of the rows as they are; else Šidák's value is used. Where a judge could
    stop early, it is Bonferroni's: confidence sequences have no joint distribution that is known.
    """
    if not measures:
        return float("nan")
    if any(one.is_stopped for one in measures):
        return sidak(1, 1.0 - (1.0 - confidence) / len(measures))
    if not joint or len(measures) > MOST_JOINT or any(one.is_designed for one in measures):
        return sidak(len(measures), confidence)
    if len(measures) == 1:
        return sidak(1, confidence)
    grouped = any(one.sums.groups is not None for one in measures)
    products = _by_cluster(measures) if grouped else None
    return max_t_of_products(_by_row(measures) if products is None else products, confidence)


def duplicates(measures: Sequence[Compared]) -> list[list[str]]:
    """Groups of measures of two candidates that say the same of every answer of either."""
    if len(measures) < 2:  # noqa: PLR2004 (nothing to compare)
        return []
    sums = summed(_scores(measures, pairing) for pairing in measures[0].blocks)
    varies, correlations = np.diagonal(sums.varies), sums.correlations
    groups: list[list[int]] = []
    for i in range(len(measures)):
        if varies[i]:
            group = next((group for group in groups if correlations[group[0], i] >= SAME), None)
            if group is None:
                groups.append([i])
            else:
                group.append(i)
    return [[measures[i].name for i in group] for group in groups if len(group) > 1]


def _scores(measures: Sequence[Compared], pairing: Pairing) -> ColumnProducts:
    """The sums over the shared rows of one block, those of both candidates."""
    rows = [ComparedRows.of(pairing, one.name) for one in measures]
    base = np.column_stack([each.base.values[pairing.base_rows] for each in rows])
    head = np.column_stack([each.head.values[pairing.head_rows] for each in rows])
    return ColumnProducts.of(np.vstack([base, head]))


def _by_row(measures: Sequence[Compared]) -> Floats:
    """The sums of products of the influences of rows on the differences, each as a share of the largest one."""
    k = len(measures)
    # What is near the mean of each difference's influences, so that their products lose no digits.
    centres = np.nan_to_num([-one.value if one.head.kind == "corpus" else one.value for one in measures])
    scales = np.array([_largest(one) for one in measures])
    sums = np.zeros((2 * k, 2 * k))
    for columns, _ in _joined(measures):
        columns[:, :k] = columns[:, k:] * (columns[:, :k] - centres) / scales
        sums += column_products(columns, columns)
    rows = np.maximum(np.diagonal(sums[k:, k:]), 1.0)
    means = np.diagonal(sums[:k, k:]) / rows
    totals, counts = sums[:k, k:], sums[k:, k:]
    moved = totals * means
    centred = sums[:k, :k] - moved - moved.T + np.outer(means, means) * counts
    np.fill_diagonal(centred, np.maximum(np.diagonal(centred), 0.0))
    return np.asarray(centred / np.outer(rows, rows))


def _by_cluster(measures: Sequence[Compared]) -> Floats | None:
    """The same of clusters; None if there is a single one."""
    k = len(measures)
    found: GroupTotals | None = None
    for columns, clusters in _joined(measures):
        more = GroupTotals.of(clusters, columns)
        found = more if found is None else found + more
    if found is None or len(found.keys) == 1:
        return None
    totals, sizes = found.totals[:, :k], found.totals[:, k:]
    rows = np.maximum(sizes.sum(axis=0), 1.0)
    influence = (totals - totals.sum(axis=0) / rows * sizes) / rows / np.array([_largest(one) for one in measures])
    return np.asarray(influence.T @ influence)


def _joined(measures: Sequence[Compared]) -> Iterator[tuple[Floats, Positions]]:
    """Yield the differences of each block, one row per id of any pair of candidates, and the cluster of each row.

    Shape (n, 2 k): the differences, 0 where unmeasured, and which rows are measured, as 1 and 0.
    """
    k = len(measures)
    for number in range(len(measures[0].blocks)):
        every = [ComparedRows.of(one.blocks[number], one.name) for one in measures]
        keys = every[0].pairing.keys
        if not all(np.array_equal(keys, rows.pairing.keys) for rows in every):
            keys = np.unique(np.concatenate([rows.pairing.keys for rows in every]))
        columns, clusters = np.zeros((len(keys), 2 * k)), lone_clusters(keys)
        for i, (one, rows) in enumerate(zip(measures, every, strict=True)):
            places = (
                np.searchsorted(keys, rows.pairing.keys) if len(rows.measured) < len(keys) else np.arange(len(keys))
            )
            influence = _influence(one, rows)
            columns[places[rows.measured], i] = influence
            columns[places[rows.measured], k + i] = 1.0
            if rows.pairing.groups is not None:
                clusters[places] = rows.pairing.groups
        yield columns, clusters


def _influence(one: Compared, rows: ComparedRows) -> Floats:
    """What each measured row adds to the difference, up to a constant; 0 where a corpus score has no jackknife."""
    if one.head.kind != "corpus":
        return rows.differences
    if one.n < 2 or one.row_jackknife.undefined:  # noqa: PLR2004 (no row can be left out)
        return np.zeros(int(rows.measured.sum()))
    return -one.without_each(*rows.stats)


def _largest(one: Compared) -> float:
    """The scale of a difference's influences: units of two measures may be 10¹² apart."""
    return one.head.scale if one.head.kind == "corpus" else one.sums.differences.largest or 1.0
