"""Rows of several systems, paired by id as the comparison pairs them, while a judge asks about them block by block."""

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from goldmeter.estimates.columns import Hashes, hashed
from goldmeter.judging.followed_difference import RateDifference
from goldmeter.judging.statuses import Mask
from goldmeter.metrics.base import Floats

Places = NDArray[np.intp]


class _Rows(NamedTuple):
    """The rows of a system; of the arrays of shape (n,), `answers` and `scores` are filled in.

    keys: hashes of the ids, ascending. groups: their places. can_count: which can have a verdict. answers: hashes.
    scores: NaN before a verdict.
    """

    keys: Hashes
    groups: Places
    can_count: Mask
    answers: Hashes
    scores: Floats

    @classmethod
    def of(cls, keys: Hashes, groups: Places, can_count: Mask) -> "_Rows":
        order = np.argsort(keys)
        return cls(keys[order], groups[order], can_count[order], np.zeros_like(keys), np.full(len(keys), np.nan))


class PairedRows:
    """The rows of all systems.

    Args:
        parts: Of the rows of each part, the hashes of their ids, the places of their systems and groups, and which can
            have a verdict; each of shape (n,).
    """

    def __init__(self, parts: Iterable[tuple[Hashes, Places, Places, Mask]]) -> None:
        found = defaultdict[int, list[tuple[Hashes, Places, Mask]]](list)
        for keys, systems, groups, can_count in parts:
            for system in np.unique(systems).tolist():
                own = systems == system
                found[system].append((keys[own], groups[own], can_count[own]))
        self._rows = {system: _Rows.of(*map(np.concatenate, zip(*some, strict=True))) for system, some in found.items()}

    def add(self, part: pa.Table, systems: Places, scores: Floats) -> None:
        """Take in what is known of some rows; scores: NaN without a verdict, shape (n,)."""
        keys, answers = hashed(part["id"]), hashed(part["response"].fill_null(""))
        for system in np.unique(systems).tolist():
            rows, own = self._rows[system], systems == system
            places = np.searchsorted(rows.keys, keys[own])
            rows.answers[places], rows.scores[places] = answers[own], scores[own]

    def difference(self, pair: tuple[int, int], is_asked: Mask, confidence: float, *, by_judge: bool) -> RateDifference:
        """The second system's rate less the first one's, on the rows of both.

        Args:
            pair: The places of the systems.
            is_asked: Which groups were asked about, shape (groups,).
            confidence, by_judge: As of `RateDifference`.
        """
        base, head = (self._rows[system] for system in pair)
        _, mine, theirs = np.intersect1d(base.keys, head.keys, assume_unique=True, return_indices=True)
        groups, differences = head.groups[theirs], head.scores[theirs] - base.scores[mine]
        has_both, rewords = ~np.isnan(differences), base.answers[mine] != head.answers[theirs]
        is_left = ~(is_asked[groups] & is_asked[base.groups[mine]]) & base.can_count[mine] & head.can_count[theirs]

        def by_group(rows: Mask, weights: Floats | None = None) -> Floats:
            return np.bincount(groups[rows], weights, len(is_asked)).astype(np.float64)

        sizes, changes = by_group(has_both), by_group(has_both, differences[has_both])
        return RateDifference(
            np.clip(changes, -sizes, sizes),
            sizes,
            float(np.count_nonzero(differences[has_both])),
            float(np.count_nonzero(rewords[has_both])),
            by_group(is_left),
            max(float(np.bincount(groups).max(initial=1)), 1.0),
            by_judge,
            confidence,
        )
