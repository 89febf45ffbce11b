"""One measure of two candidates over all blocks of their pairing: its sums, and passes over its rows."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from tasks.comparison.compared_rows import ComparedRows
from tasks.comparison.measure_sums import MeasureSums, Side, slice_sums
from tasks.comparison.measures import LABEL, Measure
from tasks.comparison.pairing import Blocks
from tasks.metrics.base import Floats
from tasks.scores import estimates
from tasks.scores.columns import Mask
from tasks.scores.estimates import UNBOUNDED
from tasks.scores.sums import summed
from tasks.statistics.clusters import GroupTotals
from tasks.statistics.corpus import Replicates
from tasks.statistics.paired import deleted


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
    def is_designed(self) -> bool:
        """Whether these are human labels, of rows that a design chose in either version."""
        rows = self.blocks[0].rows
        return self.name == LABEL and (rows.base.labels_designed or rows.head.labels_designed)

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
        """Whether every row is the same in both, including those that could not be measured."""
        return not (self.sums.unequal or self.sums.differently_failed)

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
