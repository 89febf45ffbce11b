"""Difference of human labels on a part of the rows, with what the other measures, above all the judge, say of all."""

from collections.abc import Sequence
from functools import reduce
from typing import NamedTuple

import numpy as np

from goldmeter.comparison.compared import Compared, ComparedRows
from goldmeter.comparison.measures import LABEL
from goldmeter.comparison.pairing import Positions
from goldmeter.estimates import estimates, human_labels
from goldmeter.estimates.columns import Candidate, Hashes, Mask
from goldmeter.metrics.base import Floats
from goldmeter.statistics import DesignedDifference, DesignedLabels, Method, designed_difference

# Of more labels chosen at random the difference is that of the rows that have both, as they say enough by themselves;
# of the other rows so many are used, which leaves 1 % of their variance at ten times as many as labelled ones.
MOST_LABELLED, MOST_OTHERS = 50_000, 500_000


def by_some_labels(one: Compared, confidence: float) -> DesignedDifference | None:
    """The difference over all shared rows by human labels of a part of them, chosen at random or by a design.

    Each version's labels count for the rows that they stand for, and the version's other measures help them.

    Returns:
        None for other measures, labels on every row, labels that were not chosen so, and too few or too many of them.
    """
    if not (one.is_designed or _is_random_part(one)):
        return None
    rows = reduce(_joined, map(_rows, one.rows())).sorted(None)
    older, newer = (_labels(side, rows) for side in rows.sides)
    is_one = any(estimates.is_one_cluster(_of_labelled(rows.groups, of)) for of in (older, newer))
    groups = None if is_one else rows.groups
    found = estimates.with_warnings(lambda: designed_difference(older, newer, groups, confidence))
    if is_one:
        return found._replace(low=-1.0, high=1.0, method=Method(estimates.ONE_CLUSTER), p_value=1.0, variance=1.0)
    return found if one.is_designed else found._replace(method=Method("ppi", found.method.notes))


def _is_random_part(one: Compared) -> bool:
    if not one.has_sampled_labels or not human_labels.FEWEST <= one.n <= MOST_LABELLED:
        return False
    return one.n < sum(len(pairing.head_rows) for pairing in one.blocks)


class _Side(NamedTuple):
    """Of each shared row of a version: its label, NaN without, the other scores, and the label's probability."""

    labels: Floats
    scores: Floats
    probability: Floats

    @classmethod
    def of(cls, version: Candidate, labels: Floats, own: Positions) -> "_Side":
        """The rows of a version; labels: of all its rows. own: its shared rows."""
        scores = [column.values[own] for column in version.columns if column.name != LABEL]
        scores += [] if version.probabilities is None else [*version.probabilities[own].T]
        chances = np.full(len(own), np.nan) if version.label_probability is None else version.label_probability[own]
        return cls(labels[own], np.column_stack([np.empty((len(own), 0)), *scores]), chances)


class _Rows(NamedTuple):
    """Shared rows of both versions: their keys and clusters; n: how many there are, with those that are left out."""

    keys: Hashes
    groups: Positions | None
    sides: Sequence[_Side]
    n: int

    @property
    def labelled(self) -> Mask:
        """Which rows have a label of either version, shape (rows,)."""
        base, head = self.sides
        return np.asarray(~(np.isnan(base.labels) & np.isnan(head.labels)))

    def sorted(self, most: int | None) -> "_Rows":
        """The rows in the order of their keys; most: how many of those without a label, all if None."""
        order = np.argsort(self.keys, kind="stable")
        if most is not None:
            unlabelled = ~self.labelled[order]
            order = order[~unlabelled | (np.cumsum(unlabelled) <= most)]
        sides = [_Side(*(array[order] for array in side)) for side in self.sides]
        return _Rows(self.keys[order], None if self.groups is None else self.groups[order], sides, self.n)


def _rows(rows: ComparedRows) -> _Rows:
    pairing = rows.pairing
    versions = (pairing.base, rows.base, pairing.base_rows), (pairing.head, rows.head, pairing.head_rows)
    sides = [_Side.of(version, measure.values, own) for version, measure, own in versions]
    found = _Rows(pairing.keys, pairing.groups, sides, len(pairing.keys))
    return found if _are_designed(found) else found.sorted(MOST_OTHERS)


def _joined(mine: _Rows, more: _Rows) -> _Rows:
    """Join the rows of blocks: all labelled ones, and of the others of a random part those with the smallest keys.

    Keys are hashes, so those others are a random part.
    """
    sides = [_Side(*map(np.concatenate, zip(*both, strict=True))) for both in zip(mine.sides, more.sides, strict=True)]
    groups = [some for some in (mine.groups, more.groups) if some is not None]
    both = _Rows(
        np.concatenate([mine.keys, more.keys]), np.concatenate(groups) if groups else None, sides, mine.n + more.n
    )
    return both if _are_designed(both) else both.sorted(MOST_OTHERS)


def _are_designed(rows: _Rows) -> bool:
    return any(bool((~np.isnan(side.probability)).any()) for side in rows.sides)


def _labels(side: _Side, rows: _Rows) -> DesignedLabels:
    """The labels of a version with what its other measures expect; without a design all chances are equal."""
    complete = human_labels.filled([*side.scores.T], len(side.labels))
    equal = np.count_nonzero(~np.isnan(side.labels)) / rows.n
    chances = np.where(np.isnan(side.probability), equal, side.probability)
    return DesignedLabels(side.labels, human_labels.expected_labels(side.labels, complete, rows.groups), chances)


def _of_labelled(groups: Positions | None, side: DesignedLabels) -> Positions | None:
    return None if groups is None else groups[~np.isnan(side.y)]
