"""Pairs the rows of two candidates by id, and their questions where these have several answers."""

from abc import abstractmethod
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from goldmeter.estimates.columns import Candidate, Hashes, Mask, ScoreColumn
from goldmeter.estimates.human_labels import LABEL
from goldmeter.estimates.repeated_answers import by_question, question_groups
from goldmeter.metrics.base import Floats

Item = TypeVar("Item")
Positions = NDArray[np.intp]
# Multipliers of SplitMix64 (Steele, Lea and Flood 2014).
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


@dataclass(frozen=True)
class Pairing:
    """Which rows of `base` and `head` belong together.

    base_rows, head_rows: positions of the shared rows in the candidates' arrays, aligned, shape (n,).
    changed: positions in `head` of rows that are left out: their input or references differ, or the label of the same
    answer does.
    only_base, only_head: positions of the rows that the other candidate lacks.
    stale: positions in `head` of shared rows whose label, in either version, is of another answer; it is unmeasured.
    of_draws: the pairing of rows that a pairing of questions was made from; None for a pairing of rows.
    """

    base: Candidate
    head: Candidate
    base_rows: Positions
    head_rows: Positions
    changed: Positions
    only_base: Positions
    only_head: Positions
    stale: Positions = field(default_factory=lambda: np.empty(0, np.intp))
    of_draws: "Pairing | None" = None

    @property
    def rows(self) -> "Pairing":
        """The pairing of rows, of which every pair of candidates has one."""
        return self.of_draws or self

    @property
    def keys(self) -> Hashes:
        """The shared rows' keys, ascending, shape (n,)."""
        return self.head.keys[self.head_rows]

    @property
    def groups(self) -> Positions | None:
        """The shared rows' clusters as HEAD numbers them, else BASE, shape (n,); None if neither has groups."""
        if self.head.groups is not None:
            return self.head.groups[self.head_rows]
        return None if self.base.groups is None else self.base.groups[self.base_rows]

    @property
    def weights(self) -> Floats | None:
        """How often the shared rows count, as HEAD says, shape (n,); None without weights."""
        return None if self.head.weights is None else self.head.weights[self.head_rows]

    @property
    def reworded(self) -> Mask:
        """Which shared rows have another answer in HEAD, or one that is not known to be equal, shape (n,)."""
        if self.base.answers is None or self.head.answers is None:
            return np.ones(len(self.head_rows), np.bool_)
        return np.asarray(self.base.answers[self.base_rows] != self.head.answers[self.head_rows])

    def without(self, changed: Mask) -> "Pairing":
        """The pairing without the shared rows whose data changed; changed: shape (n,)."""
        base_rows, head_rows = self.base_rows[~changed], self.head_rows[~changed]
        return replace(self, base_rows=base_rows, head_rows=head_rows, changed=self.head_rows[changed])


# The paired rows of two candidates, some in each block. All rows of one id, and all of one question, are in one block;
# the blocks of all pairs of candidates that are compared together hold the same ids.
Blocks = Sequence[Pairing]


def distinct(candidates: Sequence[Candidate]) -> list[Candidate]:
    """The candidates with keys of which each is one id, and each of their questions one question, in all of them.

    Where two ids or two questions share a hash, their keys are made from both hashes of each, by the first of a series
    of functions that tells all of them apart.
    """
    rehashed, attempt = list(candidates), 0
    while _collide([(one.keys, one.checks) for one in rehashed]) or _collide(
        [(one.questions, one.question_checks) for one in rehashed if one.questions is not None]
    ):
        attempt += 1
        rehashed = [_rehashed(candidate, attempt) for candidate in candidates]
    return rehashed


def pair(base: Candidate, head: Candidate) -> Pairing:
    """Pair the rows with equal keys; `distinct` has made each key one id."""
    if np.array_equal(base.keys, head.keys):
        base_rows = head_rows = np.arange(len(base.keys))
    else:
        _, base_rows, head_rows = np.intersect1d(base.keys, head.keys, assume_unique=True, return_indices=True)
    only = _others(base, base_rows), _others(head, head_rows)
    return _with_missing(Pairing(base, head, base_rows, head_rows, head_rows[:0], *only))


def _with_missing(pairing: Pairing) -> Pairing:
    """The pairing in which what one version alone has failed to be measured in the other.

    That holds for labels, and for verdicts of a tool, of answers that differ: those that nobody judged may be the wrong
    ones. Labels of a random part of the rows are missing by design.
    """
    sides = [{column.name: column for column in side.columns} for side in (pairing.base, pairing.head)]
    random = pairing.base.labels_random and pairing.head.labels_random
    base, head = pairing.base, pairing.head
    for name in sides[0].keys() & sides[1].keys():
        older, newer = sides[0][name], sides[1][name]
        if not ((name == LABEL and not random) or newer.facts.by):
            continue
        lacking = np.isnan(older.values[pairing.base_rows]), np.isnan(newer.values[pairing.head_rows])
        one_sided = (lacking[0] != lacking[1]) & pairing.reworded
        if one_sided.any():
            base = _failed(base, name, pairing.base_rows[one_sided & lacking[0]])
            head = _failed(head, name, pairing.head_rows[one_sided & lacking[1]])
    return replace(pairing, base=base, head=head)


def _failed(candidate: Candidate, name: str, rows: Positions) -> Candidate:
    """The candidate whose column of this name was asked for in these rows."""

    def asked(column: ScoreColumn) -> ScoreColumn:
        if column.name != name:
            return column
        not_asked = column.not_asked.copy()
        not_asked[rows] = False
        return replace(column, not_asked=not_asked)

    return replace(candidate, columns=[*map(asked, candidate.columns)])


def _others(candidate: Candidate, rows: Positions) -> Positions:
    """The other rows of a candidate, ascending."""
    is_other = np.ones(len(candidate.keys), np.bool_)
    is_other[rows] = False
    return np.flatnonzero(is_other)


def _rehashed(candidate: Candidate, attempt: int) -> Candidate:
    """The candidate with the keys of an attempt, its rows in their order."""
    keys = _mixed(candidate.keys, candidate.checks, attempt)
    questions = None if candidate.questions is None else _mixed(candidate.questions, candidate.question_checks, attempt)
    return replace(candidate, keys=keys, questions=questions).rows(np.argsort(keys, kind="stable"))


def _mixed(first: Hashes, second: Hashes | None, attempt: int) -> Hashes:
    """One hash made from two; another one for each attempt."""
    mixed = first if second is None else first ^ (second + np.uint64(attempt)) * _FIRST
    mixed = (mixed ^ (mixed >> np.uint64(30))) * _FIRST
    mixed = (mixed ^ (mixed >> np.uint64(27))) * _SECOND
    return mixed ^ (mixed >> np.uint64(31))


def _collide(hashes: Sequence[tuple[Hashes, Hashes | None]]) -> bool:
    """Whether two elements of any of these arrays have equal first and different second hashes."""
    checked = [(first, second) for first, second in hashes if second is not None]
    if not checked:
        return False
    others = [each for each in checked[1:] if not all(map(np.array_equal, each, checked[0]))]
    first, second = (np.concatenate(arrays) for arrays in zip(checked[0], *others, strict=True))
    order = np.argsort(first, kind="stable")
    first, second = first[order], second[order]
    return bool(((first[1:] == first[:-1]) & (second[1:] != second[:-1])).any())


def pair_questions(rows: Pairing, base: Candidate | None, head: Candidate | None) -> Pairing | None:
    """Pair the questions of two candidates, with all draws that each of them has.

    Questions without a shared row are left out, for nobody compared what they ask, and so are those with a changed row.

    Args:
        rows: The paired rows.
        base: `rows.base` by question; None without draws.
        head: `rows.head` by question; None without draws.

    Returns:
        None unless both candidates have draws.
    """
    if base is None or head is None or rows.head.questions is None:
        return None
    paired = pair(base, head)
    shared, changed = (np.isin(paired.keys, rows.head.questions[some]) for some in (rows.head_rows, rows.changed))
    return replace(paired.without(~shared | changed), of_draws=rows)


class MadeWhenAsked(Sequence[Item]):
    """A sequence whose items are made when they are asked for."""

    @overload
    def __getitem__(self, number: int) -> Item: ...
    @overload
    def __getitem__(self, number: slice) -> Sequence[Item]: ...
    def __getitem__(self, number: int | slice) -> Item | Sequence[Item]:
        if isinstance(number, slice):
            return [self.at(i) for i in range(*number.indices(len(self)))]
        return self.at(range(len(self))[number])

    @abstractmethod
    def at(self, number: int) -> Item:
        """The item of a number from 0."""


class Questions(MadeWhenAsked[Pairing]):
    """The questions of two candidates with all their answers, paired block by block when they are asked for.

    rows: the blocks of rows. asked: columns and k of pass@k and pass^k.
    """

    def __init__(self, rows: Blocks, asked: Collection[tuple[str, int]]) -> None:
        self.rows = rows
        self._ks, self._columns = sorted({k for _, k in asked}), {column for column, _ in asked}
        sides = zip(*((one.base, one.head) for one in rows), strict=True)
        self._are_clustered = [_share_groups(map(question_groups, side)) for side in sides]
        self._last: tuple[int, Pairing] | None = None

    @classmethod
    def of(cls, rows: Blocks, asked: Collection[tuple[str, int]]) -> "Questions | None":
        """The questions, for these columns and k; None unless both candidates have several answers."""
        has_draws = rows[0].base.questions is not None and rows[0].head.questions is not None
        return cls(rows, asked) if asked and has_draws else None

    def __len__(self) -> int:
        return len(self.rows)

    def at(self, number: int) -> Pairing:
        """The questions of a block of rows."""
        if self._last is None or self._last[0] != number:
            rows = self.rows[number]
            base, head = (
                self._by_question(side, are_clustered=are_clustered)
                for side, are_clustered in zip((rows.base, rows.head), self._are_clustered, strict=True)
            )
            paired = pair_questions(rows, base, head)
            if paired is None:
                raise IndexError(number)
            self._last = number, paired
        return self._last[1]

    def _by_question(self, side: Candidate, *, are_clustered: bool) -> Candidate | None:
        found = by_question(side, self._ks, self._columns)
        return None if found is None else replace(found, groups=question_groups(side) if are_clustered else None)


def _share_groups(blocks: Iterable[NDArray[np.intp] | None]) -> bool:
    """Whether any two questions are in one cluster; 8 bytes a question."""
    groups = [some for some in blocks if some is not None]
    every = np.concatenate(groups) if groups else np.empty(0, np.intp)
    return len(np.unique(every)) < len(every)
