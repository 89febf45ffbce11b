"""Sums of score columns: all that estimates need of any number of rows or clusters; those of several parts add up."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from goldmeter.estimates.column_facts import ColumnFacts
from goldmeter.estimates.columns import Candidate, ScoreColumn
from goldmeter.metrics.base import Floats
from goldmeter.statistics.clusters import ClusterTotals, GroupTotals
from goldmeter.statistics.corpus import EVERYTHING
from goldmeter.statistics.gaffke import Distribution
from goldmeter.statistics.moments import Moments
from goldmeter.statistics.weighted import WeightedSums

Integers = NDArray[np.int64]


class ClusterSums(NamedTuple):
    """The measured rows of each cluster.

    keys: of the clusters, ascending, shape (m,). sizes: rows, shape (m,). passed: rows that pass, shape (m,).
    totals: sums of the scores, shape (m,). stats: of the statistics, shape (m, k); k is 0 where the corpus score is a
    mean.
    """

    keys: Integers
    sizes: Integers
    passed: Integers
    totals: Floats
    stats: Floats

    def with_more(self, other: "ClusterSums", sign: int = 1) -> "ClusterSums":
        """The sums of the rows of both; sign: -1 takes those of `other` out instead."""
        keys, places = np.unique(np.concatenate([self.keys, other.keys]), return_inverse=True)
        ours, theirs = places[: len(self.keys)], places[len(self.keys) :]

        def joined(mine: NDArray[np.generic], more: NDArray[np.generic]) -> NDArray[np.generic]:
            added = np.zeros((len(keys), *mine.shape[1:]), mine.dtype)
            added[ours] = mine
            added[theirs] += sign * more
            return added

        summed: list[Any] = [keys, *(joined(*pair) for pair in zip(self[1:], other[1:], strict=True))]
        used = np.flatnonzero(summed[1]) if sign < 0 else slice(None)
        return ClusterSums(*(column[used] for column in summed))

    def of_scores(self, bounds: tuple[float, float] | None) -> ClusterTotals:
        """The totals of scores within `bounds`."""
        sizes, (low, high) = self.sizes.astype(np.float64), bounds or (-np.inf, np.inf)
        return ClusterTotals(sizes, np.clip(self.totals, low * sizes, high * sizes))

    def of_verdicts(self) -> ClusterTotals:
        """The totals of verdicts, 1 or 0."""
        return ClusterTotals(self.sizes.astype(np.float64), self.passed.astype(np.float64))

    def keyed(self, clusters: ClusterTotals) -> GroupTotals:
        """Totals of these clusters, with the keys by which those of several parts add up."""
        return GroupTotals(self.keys, clusters.size, clusters.total[:, None])


def cluster_sums(
    keys: Integers,
    values: Floats,
    passed: NDArray[np.bool_] | None,
    stats: Floats | None,
) -> ClusterSums:
    """Add up measured rows, n of them, by their cluster.

    Args:
        keys: The cluster of each row, shape (n,).
        values: Scores, shape (n,).
        passed: Which rows pass, shape (n,), or None.
        stats: Statistics, shape (n, k), or None where the corpus score is a mean.
    """
    distinct, codes = np.unique(keys, return_inverse=True)
    count, columns = len(distinct), [] if stats is None else [*stats.T]
    return ClusterSums(
        distinct,
        np.bincount(codes, minlength=count),
        np.zeros(count, np.int64) if passed is None else np.bincount(codes[passed], minlength=count),
        np.bincount(codes, values, count).astype(np.float64),
        np.column_stack([np.empty((count, 0)), *(np.bincount(codes, column, count) for column in columns)]),
    )


Codes = NDArray[np.intp]


class Counted(Protocol):
    """A score column, of rows or of their sums, as far as its rows are only counted."""

    @property
    def name(self) -> str: ...
    @property
    def facts(self) -> ColumnFacts: ...
    @property
    def n_rows(self) -> int: ...
    @property
    def n_measured(self) -> int: ...


class System(Protocol):
    """A candidate, of rows or of their sums, as far as its rows are only counted."""

    @property
    def name(self) -> str: ...
    @property
    def columns(self) -> Sequence[Counted]: ...
    @property
    def labels_random(self) -> bool: ...


Summand = TypeVar("Summand")
AnyColumn_co = TypeVar("AnyColumn_co", bound=Counted, covariant=True)


class OfColumns(Protocol[AnyColumn_co]):
    """What has score columns of one kind."""

    @property
    def columns(self) -> Sequence[AnyColumn_co]: ...


def column_of(candidate: OfColumns[AnyColumn_co], name: str) -> AnyColumn_co | None:
    """A candidate's column of this name; None if it has none."""
    return next((column for column in candidate.columns if column.name == name), None)


class WeightedColumn(NamedTuple):
    """Weighted sums of a score column's measured rows.

    scores: in [0, 1] where the scores have bounds. passes: of verdicts, 1 or 0; None for a column without a pass rate.
    outside: the weight of rows outside of the judge's domain.
    """

    scores: WeightedSums
    passes: WeightedSums | None
    outside: float

    @classmethod
    def of(cls, column: ScoreColumn, candidate: Candidate) -> "WeightedColumn | None":
        """Add up the rows of a candidate; None without weights."""
        if candidate.weights is None:
            return None
        measured = ~np.isnan(column.values)
        values, weights = column.values[measured], candidate.weights[measured]
        groups = None if candidate.groups is None else candidate.groups[measured]
        if bounds := column.facts.bounds:
            values = np.clip((values - bounds[0]) / (bounds[1] - bounds[0]), 0.0, 1.0)
        passed = None if column.passed is None else column.passed[measured].astype(np.float64)
        outside = np.zeros(0) if candidate.outside is None else weights[candidate.outside[measured]]
        return cls(
            WeightedSums.of(values, weights, groups),
            None if passed is None else WeightedSums.of(passed, weights, groups),
            float(outside.sum()),
        )

    def times(self, factor: float) -> "WeightedColumn":
        """The sums with all weights multiplied by a factor above 0."""
        return WeightedColumn(
            self.scores.times(factor), self.passes and self.passes.times(factor), self.outside * factor
        )

    def __add__(self, other: "WeightedColumn") -> "WeightedColumn":  # type: ignore[override]  # a sum
        """The sums of the rows of both."""
        passes = None if self.passes is None or other.passes is None else self.passes + other.passes
        return WeightedColumn(self.scores + other.scores, passes, self.outside + other.outside)


@dataclass(frozen=True, slots=True)
class ColumnSums:
    """Sums over some rows of one score column of one candidate.

    n_rows: rows. not_asked: rows that are unmeasured by design. outside: measured rows outside of the judge's domain.
    moments: of the measured rows' scores. passed: measured rows that pass; None for a column without a pass rate.
    stats: sums of the statistics of measured rows; None where the corpus score is a mean.
    clusters: None for independent rows. spread: how often each score occurs, if coverage is to be guaranteed.
    weighted: over all rows, where weights are mapped; else None.
    """

    name: str
    facts: ColumnFacts
    n_rows: int
    not_asked: int
    outside: int
    moments: Moments
    passed: int | None
    stats: tuple[float, ...] | None
    clusters: ClusterSums | None
    spread: Distribution | None
    weighted: WeightedColumn | None = None

    @property
    def n_measured(self) -> int:
        return self.moments.n

    @property
    def verdicts(self) -> Moments:
        """The moments of the measured rows' verdicts, 1 or 0."""
        return Moments.of_passes(self.n_measured, self.passed or 0)

    def __add__(self, other: "ColumnSums") -> "ColumnSums":
        """The sums of the rows of both."""
        return self._combined(other, 1)

    def __sub__(self, other: "ColumnSums") -> "ColumnSums":
        """The sums of the rows without those of `other`, which are among them; without `spread`."""
        return self._combined(other, -1)

    def _combined(self, other: "ColumnSums", sign: int) -> "ColumnSums":
        return replace(
            self,
            n_rows=self.n_rows + sign * other.n_rows,
            not_asked=self.not_asked + sign * other.not_asked,
            outside=self.outside + sign * other.outside,
            moments=self.moments + other.moments if sign > 0 else self.moments - other.moments,
            passed=None if self.passed is None or other.passed is None else self.passed + sign * other.passed,
            stats=None if self.stats is None or other.stats is None else _added(self.stats, other.stats, sign),
            clusters=None if not (self.clusters and other.clusters) else self.clusters.with_more(other.clusters, sign),
            spread=None if not (self.spread and other.spread) or sign < 0 else self.spread + other.spread,
            weighted=None if not (self.weighted and other.weighted) or sign < 0 else self.weighted + other.weighted,
        )


# Slice column → value → the sums of the columns.
SliceSums = Mapping[str, Mapping[str, Sequence[ColumnSums]]]


@dataclass(frozen=True)
class CandidateSums:
    """The sums of all score columns of one candidate: over all its rows, and over those of each slice.

    labels_designed: whether a design chose the labelled rows.
    judged: rows with a verdict; None if no table says which lie in the judge's domain. outside: why judged rows lie
    outside of it → how many. by_offline: rows that the offline judge of a cascade decided.
    """

    name: str
    columns: Sequence[ColumnSums]
    slices: SliceSums = field(default_factory=dict)
    labels_random: bool = False
    labels_designed: bool = False
    judged: int | None = None
    outside: Counter[str] = field(default_factory=Counter)
    by_offline: int = 0

    @property
    def share_outside(self) -> float:
        """The share of judged rows that lie outside of the judge's domain."""
        return self.outside.total() / self.judged if self.judged else 0.0

    @property
    def share_by_offline(self) -> float:
        """The share of judged rows that the offline judge of a cascade decided."""
        return self.by_offline / self.judged if self.judged else 0.0

    def __add__(self, other: "CandidateSums") -> "CandidateSums":
        """The sums of the rows of both."""
        names = dict.fromkeys([*self.slices, *other.slices])
        return replace(
            self,
            columns=_columns_added(self.columns, other.columns),
            slices={name: _slices_added(self.slices.get(name, {}), other.slices.get(name, {})) for name in names},
            judged=None if self.judged is None or other.judged is None else self.judged + other.judged,
            outside=self.outside + other.outside,
            by_offline=self.by_offline + other.by_offline,
        )


def summed(parts: Iterable[Summand]) -> Summand:
    """Add up parts, at least one, in their order and in pairs of like size: what grows with the rows is copied seldom.

    >>> summed(["a", "b", "c", "d", "e"])
    'abcde'
    """
    pending: list[tuple[int, Summand]] = []
    for part in parts:
        size, total = 1, part
        while pending and pending[-1][0] == size:
            size, total = 2 * size, add(pending.pop()[1], total)
        pending.append((size, total))
    return reduce(lambda total, more: add(more, total), [total for _, total in reversed(pending)])


def candidate_sums(candidate: Candidate, *, guarantee: bool = False) -> CandidateSums:
    """Add up the rows of a candidate; guarantee: whether estimates need to know how often each score occurs."""
    everything = np.zeros(len(candidate.keys), np.intp)
    kinds: dict[str | None, tuple[list[str], Codes]] = {None: ([""], everything)}
    kinds |= {name: (coded.values, coded.codes) for name, coded in candidate.slices.items()}
    found: dict[str | None, dict[str, list[ColumnSums]]] = {}
    for name, (values, codes) in kinds.items():
        present = [code for code, rows in enumerate(np.bincount(codes, minlength=len(values))) if rows or name is None]
        place = np.full(len(values), -1)
        place[present] = np.arange(len(present))
        by_column = [
            by_code(one, place[codes], len(present), candidate, guarantee=guarantee) for one in candidate.columns
        ]
        found[name] = {values[code]: [of[i] for of in by_column] for i, code in enumerate(present)}
    [columns] = found.pop(None).values()
    pairs = zip(columns, candidate.columns, strict=True)
    columns = [replace(sums, weighted=WeightedColumn.of(one, candidate)) for sums, one in pairs]
    slices = {name: values for name, values in found.items() if name is not None}
    return CandidateSums(candidate.name, columns, slices, candidate.labels_random, candidate.labels_designed)


def added(parts: Iterable[Mapping[str, CandidateSums]]) -> dict[str, CandidateSums]:
    """Candidate → its sums over all parts; the candidates, and the values of a slice column, in order."""
    total: dict[str, CandidateSums] = {}
    for part in parts:
        for name, sums in part.items():
            total[name] = total[name] + sums if name in total else sums
    return {
        name: replace(total[name], slices={key: dict(sorted(of.items())) for key, of in total[name].slices.items()})
        for name in sorted(total)
    }


def by_code(
    column: ScoreColumn, codes: Codes, count: int, candidate: Candidate, *, guarantee: bool
) -> list[ColumnSums]:
    """The sums of a column over the rows of each code from 0 to count - 1."""
    measured = ~np.isnan(column.values)
    values, own = column.values[measured], codes[measured]
    bounds = column.facts.bounds
    rows, asked = np.bincount(codes, minlength=count), np.bincount(codes[~column.not_asked], minlength=count)
    passed = None if column.passed is None else column.passed[measured]
    passes = None if passed is None else np.bincount(own[passed], minlength=count)
    outside = None if candidate.outside is None else np.bincount(codes[measured & candidate.outside], minlength=count)
    stats = None if column.stats is None else column.stats[measured]
    groups = None if candidate.groups is None else candidate.groups[measured]
    moments = Moments.by_code(values, own, count, bounds or EVERYTHING)
    totals = None if stats is None else np.column_stack([np.bincount(own, s, count) for s in stats.T]).tolist()
    found = []
    for code in range(count):
        some = own == code if groups is not None or (guarantee and bounds) else None
        found.append(
            ColumnSums(
                column.name,
                column.facts,
                int(rows[code]),
                int(rows[code] - asked[code]),
                0 if outside is None else int(outside[code]),
                moments[code],
                None if passes is None else int(passes[code]),
                None if totals is None else tuple(totals[code]),
                None
                if groups is None
                else cluster_sums(
                    groups[some],
                    values[some],
                    None if passed is None else passed[some],
                    None if stats is None else stats[some],
                ),
                Distribution.of(values[some], bounds) if guarantee and bounds else None,
            )
        )
    return found


def _added(mine: Sequence[float], theirs: Sequence[float], sign: int) -> tuple[float, ...]:
    return tuple(a + sign * b for a, b in zip(mine, theirs, strict=True))


def _columns_added(mine: Sequence[ColumnSums], theirs: Sequence[ColumnSums]) -> list[ColumnSums]:
    return [a + b for a, b in zip(mine, theirs, strict=True)]


def _slices_added(
    mine: Mapping[str, Sequence[ColumnSums]], theirs: Mapping[str, Sequence[ColumnSums]]
) -> dict[str, Sequence[ColumnSums]]:
    both = dict(mine)
    for value, columns in theirs.items():
        both[value] = _columns_added(both[value], columns) if value in both else columns
    return both
