"""Paired rows in blocks: of two versions, consecutive parts with the same ids, then all others; of a run, its parts."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from itertools import combinations
from mmap import ACCESS_READ, ALLOCATIONGRANULARITY, MADV_DONTNEED, mmap
from operator import or_
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from goldmeter.comparison.measures import LABEL
from goldmeter.comparison.pairing import Blocks, MadeWhenAsked, Pairing, Positions, distinct, pair
from goldmeter.estimates.column_facts import CONFIRMED, QUESTION, SPLIT_IDS, STALE
from goldmeter.estimates.columns import (
    Candidate,
    Hashes,
    Mask,
    ScoreColumn,
    candidates,
    hashed,
    hashed_twice,
    lone_clusters,
    require_same_parts,
)
from goldmeter.metrics.base import Floats
from goldmeter.pipeline.tables import Parts

Block = TypeVar("Block")
# Arrays begin at multiples of so many bytes.
ALIGNED = 64
# Column of data/load: each answer.
ANSWER = "response"
# What is hashed for a row without an answer; no answer holds it.
NO_ANSWER = "\0"


class _Place(NamedTuple):
    """Where an array stands in the file."""

    offset: int
    dtype: np.dtype[Any]
    shape: tuple[int, ...]


class StoredBlocks(MadeWhenAsked[Block]):
    """Blocks of one type, whose arrays are in one file.

    A block is a dataclass or a named tuple of arrays, of lists and mappings of arrays, and of such values again; all
    else stays in memory. Arrays can't be written to. A pickled sequence maps the same file.

    Args:
        path: The file, which is created, with its folder.
        blocks: What is stored, one block after the other.
    """

    def __init__(self, path: Path, blocks: Iterable[Block]) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        starts, places = [], []
        with path.open("wb") as file:
            for block in blocks:
                starts.append(_pad(file, ALLOCATIONGRANULARITY))
                places.append(_stored(block, file))
            starts.append(_pad(file, ALLOCATIONGRANULARITY))
            file.write(b"\0")  # nothing maps an empty file
        self.__setstate__((path, starts, places))

    def __getstate__(self) -> tuple[Path, list[int], list[Any]]:
        return self._path, self._starts, self._places

    def __setstate__(self, state: tuple[Path, list[int], list[Any]]) -> None:
        self._path, self._starts, self._places = state
        with self._path.open("rb") as file:
            self._content = mmap(file.fileno(), 0, access=ACCESS_READ)
        self._blocks: list[Block] = [_each(places, self._array, _Place) for places in self._places]
        self._last = 0

    def __len__(self) -> int:
        return len(self._blocks)

    def at(self, number: int) -> Block:
        """The block, of which the file has the arrays."""
        start, end = self._starts[self._last : self._last + 2]
        if number != self._last and start < end:
            self._content.madvise(MADV_DONTNEED, start, end - start)  # read again from the file when they are used
        self._last = number
        return self._blocks[number]

    def _array(self, place: _Place) -> NDArray[Any]:
        return np.ndarray(place.shape, place.dtype, self._content, place.offset)


def _stored(block: Any, file: BinaryIO) -> Any:
    """Write the arrays of a block; the block with their places instead."""

    def written(array: Any) -> _Place:
        place = _Place(_pad(file, ALIGNED), array.dtype, array.shape)
        file.write(np.ascontiguousarray(array).data)
        return place

    return _each(block, written, np.ndarray)


def _pad(file: BinaryIO, multiple: int) -> int:
    """Write zeros up to a multiple of so many bytes; where the file ends then."""
    file.write(b"\0" * (-file.tell() % multiple))
    return file.tell()


def _each(value: Any, change: Callable[[Any], Any], kind: type) -> Any:
    """The value with each object of a kind in it changed."""
    if isinstance(value, kind):
        return change(value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(_each(each, change, kind) for each in value))
    if isinstance(value, list):
        return [_each(each, change, kind) for each in value]
    if isinstance(value, dict):
        return {name: _each(each, change, kind) for name, each in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        inside = {one.name: getattr(value, one.name) for one in fields(value)}
        changed = {
            name: _each(each, change, kind)
            for name, each in inside.items()
            if isinstance(each, (np.ndarray, tuple, list, dict)) or is_dataclass(each)
        }
        return replace(value, **changed) if changed else value
    return value


class LabelledAnswers(NamedTuple):
    """The labels of some rows; n rows.

    response: hash of the answer. label: NaN without one. confirmed: the label file states that the label is of this
    answer. Every array has shape (n,).
    """

    response: NDArray[np.uint64]
    label: Floats
    confirmed: Mask

    def rows(self, chosen: NDArray[np.intp]) -> "LabelledAnswers":
        """Some of the rows, by their numbers."""
        return LabelledAnswers(self.response[chosen], self.label[chosen], self.confirmed[chosen])


def of_load(load: Parts) -> LabelledAnswers:
    """The labels of data/load, rows in the table's order; a table from before `label_status` confirms none."""
    names = [name for name in ("label", "label_status", ANSWER) if name in load.schema.names]
    parts = [of_rows(part) for part in load.read(names)]
    return LabelledAnswers(*map(np.concatenate, zip(*parts, strict=True)))


def of_rows(rows: pa.Table) -> LabelledAnswers:
    """The labels of some rows of data/load, as of `of_load`."""
    label = rows["label"].cast("float64").to_numpy(zero_copy_only=False)
    confirmed = np.zeros(len(label), np.bool_)
    if "label_status" in rows.column_names:
        confirmed |= rows["label_status"].to_numpy(zero_copy_only=False) == CONFIRMED
    return LabelledAnswers(hashed(rows[ANSWER].fill_null(NO_ANSWER)), label, confirmed)


def left_in_place(
    earlier: LabelledAnswers, later: LabelledAnswers, candidate: NDArray[np.uint64] | None = None
) -> Mask:
    """Return the rows whose answer changed while its label was left as it was; shape (n,).

    A label that did not change may still be new: most answers keep their verdict. So the labels of all changed answers
    of a candidate are looked at together: if not one of them differs, they were left in place; if one does, people
    labelled the new answers. Labels that the label file confirms are never left in place.

    Args:
        earlier: The rows as they were labelled.
        later: The same rows, in the same order.
        candidate: Hash of each row's candidate, shape (n,); None: all rows are of one.
    """
    both = _both_labelled(earlier, later)
    differs = both & (earlier.label != later.label)
    labelled_anew = differs.any() if candidate is None else np.isin(candidate, candidate[differs])
    return np.asarray(both & ~labelled_anew, np.bool_)


def relabelled(earlier: LabelledAnswers, later: LabelledAnswers) -> bool:
    """Whether any changed answer has another label, so that people labelled the new answers."""
    return bool((_both_labelled(earlier, later) & (earlier.label != later.label)).any())


def _both_labelled(earlier: LabelledAnswers, later: LabelledAnswers) -> Mask:
    """Which answers changed and are labelled in both, the later label being confirmed by no label file."""
    labelled = ~np.isnan(earlier.label) & ~np.isnan(later.label) & ~later.confirmed
    return np.asarray((earlier.response != later.response) & labelled)


# Least rows of a block, but for the last: smaller ones take longer to store and map than to compare.
BLOCK_ROWS = 250_000
NOTHING: Positions = np.empty(0, np.intp)


class Side(NamedTuple):
    """What is read of a version.

    load, tables: data/load and the tables with scores. thresholds: column → fitted threshold. stale: which rows of
    data/load have the label of another answer, by earlier runs, shape (rows,); None: nothing is known of earlier runs.
    names: the candidates, in order. is_grouped: whether any row has a group. weight_exponent: of the power of two that
    is larger than all weights; 0 without weights. selected: candidates whose labels are no random part of the rows.
    """

    load: Parts
    tables: Sequence[Parts]
    thresholds: Mapping[str, float]
    stale: Mask | None
    names: Sequence[str]
    is_grouped: bool
    weight_exponent: int = 0
    selected: frozenset[str] = frozenset()


class _Rows(NamedTuple):
    """The rows of some parts of a version: candidates by name, and of each row, in the tables' order, what it asks.

    content: hash of the question, shape (n,). stale: labels that the label file or earlier runs call stale, shape (n,).
    """

    candidates: Mapping[str, Candidate]
    content: Hashes
    answers: LabelledAnswers
    stale: Mask
    start: int


class _Paired(NamedTuple):
    """The shared rows of one block before labels are looked at, and their labels in both versions; n shared rows."""

    pairing: Pairing
    older: LabelledAnswers
    newer: LabelledAnswers
    stale_base: Mask
    stale_head: Mask

    @property
    def is_relabelled(self) -> bool:
        """Whether any changed answer has another label."""
        return relabelled(self.older, self.newer)

    def finished(self, *, is_relabelled: bool) -> Pairing:
        """The pairing in which labels of other answers are unmeasured: they failed, and are not those nobody asked for.

        Without that, a label that stayed with a changed answer would count as "no difference" and let a release pass.
        The same holds for changed answers without a label whose earlier ones have one: the rows left have unchanged
        answers. is_relabelled: of all blocks.
        """
        older, newer, pairing = self.older, self.newer, self.pairing
        in_place = left_in_place(older, newer) if not is_relabelled else np.zeros(len(older.label), np.bool_)
        stale_head = self.stale_head | in_place
        lost = (older.response != newer.response) & ~np.isnan(older.label) & np.isnan(newer.label)
        return replace(
            pairing,
            base=_unlabelled(pairing.base, pairing.base_rows[self.stale_base]),
            head=_unlabelled(pairing.head, pairing.head_rows[stale_head | lost]),
            stale=pairing.head_rows[self.stale_base | stale_head],
        )


def paired_blocks(
    base: Side, head: Side, names: Sequence[tuple[str, str]], folder: Path | None, finish: Callable[[Pairing], Pairing]
) -> list[Blocks]:
    """Pair the rows with equal ids of each pair of candidates.

    Args:
        base: The older version.
        head: The newer version.
        names: Pairs of candidates.
        folder: Where blocks are kept, if there are several; it is created. None: all rows are one block.
        finish: What is done to each pairing in the end.
    """
    blocks = [*_ranges(base.load, head.load)] if folder else [(range(len(base.load)), range(len(head.load)))]
    read = (_paired(base, head, one, names) for one in blocks)
    first: Sequence[list[_Paired]] = StoredBlocks(folder / "read", read) if folder and len(blocks) > 1 else [*read]
    any_relabelled = [False] * len(names)
    for block in first:
        any_relabelled = [*map(or_, any_relabelled, (one.is_relabelled for one in block))]

    def of_pair(number: int) -> Iterator[Pairing]:
        for block in first:
            yield finish(block[number].finished(is_relabelled=any_relabelled[number]))

    if not folder or len(blocks) == 1:
        return [[*of_pair(number)] for number in range(len(names))]
    return [StoredBlocks(folder / f"pair-{number}", of_pair(number)) for number in range(len(names))]


def _ranges(base: Parts, head: Parts) -> Iterator[tuple[range, range]]:
    """Yield which parts of both versions make a block: some of the first ones, with the same ids, then all others."""
    same, parts = 0, (len(base), len(head))
    divided = is_divided(base) and is_divided(head)
    while divided and same < min(parts) and _same_ids(base, head, same):
        same += 1
    yield from ((block, block) for block in block_ranges(head.sizes[:same]))
    if same < max(parts):
        yield range(same, parts[0]), range(same, parts[1])


def block_ranges(sizes: Sequence[int]) -> Iterator[range]:
    """Group consecutive parts into blocks of at least BLOCK_ROWS rows; the last may be smaller. sizes: rows a part."""
    start = rows = 0
    for number, size in enumerate(sizes, 1):
        rows += size
        if rows >= BLOCK_ROWS or number == len(sizes):
            yield range(start, number)
            start, rows = number, 0


def is_divided(load: Parts) -> bool:
    """Whether all rows of an id, and all draws of a question, are in one part."""
    return not load.about.get(SPLIT_IDS, True) and QUESTION not in load.schema.names


def _same_ids(base: Parts, head: Parts, number: int) -> bool:
    """Whether a part of both versions has the same set of ids."""
    one, other = (table.part(number, ["id"])["id"] for table in (base, head))
    if one.equals(other):
        return True
    return all(
        np.array_equal(np.unique(mine), np.unique(theirs))
        for mine, theirs in zip(hashed_twice(one), hashed_twice(other), strict=True)
    )


def _paired(base: Side, head: Side, parts: tuple[range, range], names: Sequence[tuple[str, str]]) -> list[_Paired]:
    """The shared rows of each pair of candidates in some parts."""
    older, newer = _rows(base, parts[0]), _rows(head, parts[1])
    keyed = distinct([*older.candidates.values(), *newer.candidates.values()])
    sides = (
        dict(zip(rows.candidates, some, strict=True))
        for rows, some in ((older, keyed[: len(older.candidates)]), (newer, keyed[len(older.candidates) :]))
    )
    by_name, by_new_name = sides
    return [_one_pair(pair(by_name[name], by_new_name[renamed]), older, newer) for name, renamed in names]


def _one_pair(pairing: Pairing, older: _Rows, newer: _Rows) -> _Paired:
    pairing = pairing.without(_changed(pairing, older, newer))
    old, new = pairing.base.positions[pairing.base_rows], pairing.head.positions[pairing.head_rows]
    base, head = (
        replace(side, positions=side.positions + rows.start)
        for side, rows in ((pairing.base, older), (pairing.head, newer))
    )
    return _Paired(
        replace(pairing, base=base, head=head),
        older.answers.rows(old),
        newer.answers.rows(new),
        older.stale[old],
        newer.stale[new],
    )


def _changed(pairing: Pairing, base: _Rows, head: _Rows) -> Mask:
    """Which paired rows ask something else, or have the same answer with another label; a first label is no change."""
    old = pairing.base.positions[pairing.base_rows]
    new = pairing.head.positions[pairing.head_rows]
    older, newer = base.answers, head.answers
    same_answer = older.response[old] == newer.response[new]
    other_label = same_answer & (np.abs(older.label[old] - newer.label[new]) > 0)  # NaN: not labelled
    return np.asarray((base.content[old] != head.content[new]) | other_label)


def candidates_of(side: Side, parts: range) -> dict[str, Candidate]:
    """The candidates of a version by name, with their rows in some parts; without any row, candidates without rows."""
    for table in side.tables:
        require_same_parts(side.load, table)
    sizes = side.load.sizes
    has_rows = any(sizes[number] for number in parts)
    filled = next(number for number, size in enumerate(sizes) if size)
    read = parts if has_rows else range(filled, filled + 1)
    load, *tables = (table.subset(read) for table in (side.load, *side.tables))
    found = {one.name: one for one in candidates(load, tables, side.thresholds)}
    other = next(iter(found.values()))
    every = {name: found.get(name) or replace(other.rows(NOTHING), name=name) for name in side.names}
    clusters = _clusters(load.whole(["id", "group"])) if side.is_grouped else None
    every = {
        name: replace(one, groups=None if clusters is None else clusters[one.positions]).with_weights_of(
            side.weight_exponent
        )
        for name, one in every.items()
    }
    every |= {name: replace(every[name], labels_random=False) for name in side.selected & every.keys()}
    return every if has_rows else {name: one.rows(NOTHING) for name, one in every.items()}


def rows_before(table: Parts, number: int) -> int:
    """The number of rows in the parts before one."""
    return sum(table.sizes[:number])


def _rows(side: Side, parts: range) -> _Rows:
    """Read some parts, one after the other; without any, candidates without rows."""
    start, load = rows_before(side.load, parts.start), side.load.subset(parts or range(1))
    names = ["id", "content", "label", "label_status", ANSWER]
    texts = load.whole([name for name in names if name in load.schema.names])
    if not parts:
        texts = texts.slice(0, 0)
    stale = np.zeros(len(texts), np.bool_)
    if "label_status" in texts.column_names:
        stale |= texts["label_status"].to_numpy(zero_copy_only=False) == STALE
    if side.stale is not None:
        stale |= side.stale[start : start + len(texts)]
    answers = of_rows(texts)
    candidates = {name: with_answers(one, answers.response) for name, one in candidates_of(side, parts).items()}
    return _Rows(candidates, hashed(texts["content"]), answers, stale, start)


def _with_answers_of(load: Parts, candidates: Iterable[Candidate]) -> Iterator[Candidate]:
    """The candidates with the hashes of their answers, if the table holds answers."""
    if ANSWER not in load.schema.names:
        return iter(candidates)
    answers = np.concatenate([hashed(part[ANSWER].fill_null(NO_ANSWER)) for part in load.read([ANSWER])])
    return (with_answers(one, answers) for one in candidates)


def with_answers(candidate: Candidate, answers: Hashes) -> Candidate:
    """The candidate with the hash of each of its answers; answers: those of all rows of its table, shape (rows,)."""
    return replace(candidate, answers=answers[candidate.positions])


def _clusters(rows: pa.Table) -> Positions:
    """The key of each row's cluster, the same in all parts: a hash of its name; a row without one is its own."""
    groups = rows["group"]
    alone = groups.is_null().to_numpy(zero_copy_only=False)
    named = hashed(groups.fill_null("")).view(np.intp)
    return np.where(alone, lone_clusters(hashed(rows["id"])), named)


def _unlabelled(candidate: Candidate, rows: NDArray[np.intp]) -> Candidate:
    """The candidate whose labels of some rows failed to be measured."""
    if not len(rows):
        return candidate

    def without(column: ScoreColumn) -> ScoreColumn:
        if column.name != LABEL:
            return column
        values, not_asked = column.values.copy(), column.not_asked.copy()
        values[rows], not_asked[rows] = np.nan, False
        return replace(column, values=values, not_asked=not_asked, passed=column.facts.passes(values))

    return replace(candidate, columns=[*map(without, candidate.columns)])


class _PairBlocks(MadeWhenAsked[Pairing]):
    """Two candidates of a run, paired block by block; base, head: their places among the candidates."""

    def __init__(self, blocks: Sequence[list[Candidate]], base: int, head: int) -> None:
        self._blocks, self._base, self._head = blocks, base, head

    def __len__(self) -> int:
        return len(self._blocks)

    def at(self, number: int) -> Pairing:
        """The pairing of a block."""
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
    found = distinct([*_with_answers_of(run.load.subset(parts), candidates_of(run, parts).values())])
    pa.default_memory_pool().release_unused()  # what reading took, before the next block is read
    return [replace(one, positions=one.positions + start) for one in found]
