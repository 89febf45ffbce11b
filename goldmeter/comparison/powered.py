"""Prediction-powered difference of human labels: labels on a random part of the rows, other scores on all of them."""

from collections.abc import Sequence
from functools import reduce
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from goldmeter.comparison.compared import Compared, ComparedRows
from goldmeter.comparison.measures import LABEL
from goldmeter.comparison.pairing import Pairing, Positions
from goldmeter.estimates import estimates, human_labels
from goldmeter.estimates.columns import Hashes
from goldmeter.metrics.base import Floats

if TYPE_CHECKING:  # importing scipy takes half a second
    from goldmeter.statistics import DesignedLabels, PairedDifference

# Of more labelled rows a prediction-powered difference is not computed, as they say enough by themselves; of the other
# rows so many are used, which leaves 1 % of their variance at ten times as many as labelled ones.
MOST_LABELLED, MOST_OTHERS = 50_000, 500_000


def powered(one: Compared, confidence: float) -> "PairedDifference | None":
    """The difference of human labels on a random part of the rows, with what the other measures say of all rows.

    Returns:
        None for other measures, labels that were not chosen at random, too few or more than 50,000 of them, and labels
        on every row.
    """
    from goldmeter.statistics import PairedDifference, cross_fitted, ppi_difference

    if one.name != LABEL or one.n < human_labels.FEWEST or one.is_one_cluster:
        return None
    pairing = one.blocks[0]
    if one.is_designed or one.n > MOST_LABELLED or not (pairing.base.labels_random and pairing.head.labels_random):
        return None
    labelled, rest = reduce(_joined, map(_powering, one.rows()))
    if not len(rest.keys):
        return None
    scores = human_labels.filled([*np.vstack([labelled.scores, rest.scores]).T], len(labelled.keys) + len(rest.keys))
    if not scores.shape[1]:
        return None
    d, width = labelled.differences, one.head.scale
    inside, outside = cross_fitted(d, scores[: len(d)], scores[len(d) :], labelled.clusters, bounds=(-width, width))
    return estimates.with_warnings(
        lambda: PairedDifference(
            *ppi_difference(d, inside, outside, labelled.clusters, rest.clusters, one.bounds, confidence)[:6]
        )
    )


class _Weighted(NamedTuple):
    """The difference of labels that a design chose, and the values of both versions."""

    difference: "PairedDifference"
    base: float
    head: float


def designed(one: Compared, confidence: float) -> _Weighted | None:
    """The difference of human labels on rows that a design chose, over all shared rows.

    Each version's labels count for the rows that they stand for, and the version's other measures help them.

    Returns:
        None for other measures, and labels that no design chose.
    """
    from goldmeter.statistics import Method, PairedDifference, designed_difference

    if not one.is_designed:
        return None
    parts = [_sides(rows) for rows in one.rows()]
    keys = np.concatenate([part.keys for part in parts])
    order = np.argsort(keys, kind="stable")
    known = [part.groups for part in parts if part.groups is not None]
    groups = np.concatenate(known)[order] if known else None
    older, newer = (_labels([part.sides[i] for part in parts], order, groups) for i in (0, 1))
    is_one = any(estimates.is_one_cluster(None if groups is None else groups[~np.isnan(of.y)]) for of in (older, newer))
    found = estimates.with_warnings(lambda: designed_difference(older, newer, None if is_one else groups, confidence))
    difference = PairedDifference(*found[:6])
    if is_one:
        difference = difference._replace(low=-1.0, high=1.0, method=Method(estimates.ONE_CLUSTER), p_value=1.0)
    return _Weighted(difference, found.base, found.head)


class _Sides(NamedTuple):
    """The shared rows of a block: keys, clusters, and of each version labels, other scores and probabilities."""

    keys: Hashes
    groups: Positions | None
    sides: list[tuple[Floats, Floats, Floats]]


def _sides(rows: ComparedRows) -> _Sides:
    pairing = rows.pairing
    of_versions = (pairing.base, rows.base, pairing.base_rows), (pairing.head, rows.head, pairing.head_rows)
    sides = [
        (
            measure.values[own],
            np.column_stack([np.empty((len(own), 0)), *(c.values[own] for c in version.columns if c.name != LABEL)]),
            np.ones(len(own)) if version.label_probability is None else version.label_probability[own],
        )
        for version, measure, own in of_versions
    ]
    return _Sides(pairing.keys, pairing.groups, sides)


def _labels(
    parts: Sequence[tuple[Floats, Floats, Floats]], order: Positions, groups: Positions | None
) -> "DesignedLabels":
    """The labels of one version with what its other measures expect; parts: labels, scores, probabilities of blocks."""
    from goldmeter.statistics import DesignedLabels

    y, scores, probability = (np.concatenate(arrays)[order] for arrays in zip(*parts, strict=True))
    complete = human_labels.filled([*scores.T], len(y))
    return DesignedLabels(y, human_labels.expected_labels(y, complete, groups), probability)


class _Powering(NamedTuple):
    """Rows for a prediction-powered difference: their keys, differences of labels (NaN without) and of all scores."""

    keys: Hashes
    differences: Floats
    scores: Floats
    clusters: Positions | None

    def first(self, limit: int | None) -> "_Powering":
        """The rows in the order of their keys, at most so many."""
        return self.rows(np.argsort(self.keys, kind="stable")[:limit])

    def rows(self, chosen: Positions) -> "_Powering":
        """Some rows, by their numbers."""
        clusters = None if self.clusters is None else self.clusters[chosen]
        return _Powering(self.keys[chosen], self.differences[chosen], self.scores[chosen], clusters)

    def with_more(self, other: "_Powering") -> "_Powering":
        """The rows of both."""
        keys, differences, scores = (np.concatenate(pair) for pair in zip(self[:3], other[:3], strict=True))
        clusters = [some for some in (self.clusters, other.clusters) if some is not None]
        return _Powering(keys, differences, scores, np.concatenate(clusters) if clusters else None)


def _powering(rows: ComparedRows) -> tuple[_Powering, _Powering]:
    """The labelled rows of a block and the others."""
    pairing, scores = rows.pairing, score_differences(rows.pairing)
    differences = np.full(len(rows.measured), np.nan)
    differences[rows.measured] = rows.differences
    every = _Powering(pairing.keys, differences, scores, pairing.groups)
    return every.rows(np.flatnonzero(rows.measured)), every.rows(np.flatnonzero(~rows.measured)).first(MOST_OTHERS)


def _joined(mine: tuple[_Powering, _Powering], more: tuple[_Powering, _Powering]) -> tuple[_Powering, _Powering]:
    """Join the rows of blocks: all labelled rows, and the others with the smallest keys, up to MOST_OTHERS.

    Keys are hashes, so those others are a random part.
    """
    return mine[0].with_more(more[0]).first(None), mine[1].with_more(more[1]).first(MOST_OTHERS)


def score_differences(pairing: Pairing) -> Floats:
    """HEAD minus BASE of every measure but the labels, NaN where one lacks it; shape (rows, k)."""
    base = {column.name: column.values[pairing.base_rows] for column in pairing.base.columns if column.name != LABEL}
    changes = [
        column.values[pairing.head_rows] - base[column.name] for column in pairing.head.columns if column.name in base
    ]
    return np.column_stack(changes) if changes else np.empty((len(pairing.head_rows), 0))
