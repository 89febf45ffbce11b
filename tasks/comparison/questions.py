"""Questions with several answers as blocks of a pairing, made from the blocks of their rows."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import overload

import numpy as np
from numpy.typing import NDArray

from tasks.comparison.compared_rows import Blocks
from tasks.comparison.pairing import Pairing, pair_questions
from tasks.scores.columns import Candidate
from tasks.scores.repeated_answers import by_question, question_groups


class Questions(Sequence[Pairing]):
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

    @overload
    def __getitem__(self, number: int) -> Pairing: ...
    @overload
    def __getitem__(self, number: slice) -> Sequence[Pairing]: ...
    def __getitem__(self, number: int | slice) -> Pairing | Sequence[Pairing]:
        if isinstance(number, slice):
            return [self[i] for i in range(*number.indices(len(self)))]
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
