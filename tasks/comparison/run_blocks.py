"""The rows of one run in blocks of parts: every two of its candidates paired."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import overload

import pyarrow as pa

from tasks.comparison.compared_rows import Blocks
from tasks.comparison.pairing import Pairing, distinct, pair
from tasks.comparison.stored_blocks import StoredBlocks
from tasks.comparison.version_blocks import Side, block_ranges, candidates_of, is_divided, rows_before
from tasks.scores.columns import Candidate


class _PairBlocks(Sequence[Pairing]):
    """Two candidates of a run, paired block by block; base, head: their places among the candidates."""

    def __init__(self, blocks: Sequence[list[Candidate]], base: int, head: int) -> None:
        self._blocks, self._base, self._head = blocks, base, head

    def __len__(self) -> int:
        return len(self._blocks)

    @overload
    def __getitem__(self, number: int) -> Pairing: ...
    @overload
    def __getitem__(self, number: slice) -> Sequence[Pairing]: ...
    def __getitem__(self, number: int | slice) -> Pairing | Sequence[Pairing]:
        if isinstance(number, slice):
            return [self[i] for i in range(*number.indices(len(self)))]
        candidates = self._blocks[number]
        return pair(candidates[self._base], candidates[self._head])


def pairs_of_run(run: Side, folder: Path | None = None) -> list[Blocks]:
    """Pair the rows with equal ids of every two candidates, in the order of `combinations`.

    Consecutive parts are a block if the rows of an id, and the draws of a question, are in one part; else all are.

    Args:
        run: Its tables.
        folder: Where blocks are kept if there are several; it is created. None: in memory.
    """
    ranges = [*block_ranges(run.load.sizes)] if is_divided(run.load) else [range(len(run.load))]
    read = (_block(run, parts) for parts in ranges)
    blocks: Sequence[list[Candidate]] = [*read] if folder is None or len(ranges) == 1 else StoredBlocks(folder, read)
    return [_PairBlocks(blocks, base, head) for base, head in combinations(range(len(run.names)), 2)]


def _block(run: Side, parts: range) -> list[Candidate]:
    """The candidates of some parts, with the places of their rows in the whole table."""
    start = rows_before(run.load, parts.start)
    found = distinct([*candidates_of(run, parts).values()])
    pa.default_memory_pool().release_unused()  # what reading took, before the next block is read
    return [replace(one, positions=one.positions + start) for one in found]
