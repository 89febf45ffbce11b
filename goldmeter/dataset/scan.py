"""One pass over all records: what is mapped of each batch goes to disk, what tells records apart stays in memory."""

import heapq
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from goldmeter.dataset.answers import Source, wanted_columns
from goldmeter.dataset.corrections import Correction
from goldmeter.dataset.index import NONE, require_records
from goldmeter.dataset.joined import By
from goldmeter.dataset.labels import LabelFault
from goldmeter.dataset.mapping import Keys, Mapped, Place, mapped
from goldmeter.dataset.paths import require_columns, steps_into
from goldmeter.dataset.record import BATCH_ROWS, Chunk, Record, batch_of
from goldmeter.dataset.sources import Records
from goldmeter.dataset.thoughts import NO_THOUGHTS
from goldmeter.pipeline.progress import Progress
from goldmeter.pipeline.workers import Crew

Integers = NDArray[np.int64]
# Questions with corrections of other references that a message names.
NAMED = 5


class Stored:
    """Batches of a table in a file that is written once, then read; compressed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._writer: Any = None
        self._reader: Any = None

    def add(self, batch: pa.RecordBatch) -> None:
        """Write the next batch."""
        if self._writer is None:
            options = pa.ipc.IpcWriteOptions(compression="lz4")
            self._writer = pa.ipc.new_file(str(self._path), batch.schema, options=options)
        self._writer.write_batch(batch)

    def batch(self, number: int) -> pa.RecordBatch:
        """Read a batch; none is written after that."""
        if self._reader is None:
            self._writer.close()
            self._reader = pa.ipc.open_file(pa.memory_map(str(self._path)))
        return self._reader.get_batch(number)


class Arrays:
    """Arrays of consecutive rows by the number of their column; memory holds them once."""

    def __init__(self) -> None:
        self._parts: list[tuple[NDArray[Any], ...]] = []

    def add(self, *columns: NDArray[Any]) -> None:
        """Add the next rows."""
        self._parts.append(columns)

    def __getitem__(self, number: int) -> NDArray[Any]:
        """Return a column of all rows."""
        if len(self._parts) > 1:
            self._parts = [tuple([np.concatenate(parts) for parts in zip(*self._parts, strict=True)])]
        return self._parts[0][number]


class Places:
    """The places of all records, and where files are joined the hashes of their ids and inputs."""

    def __init__(self) -> None:
        self._codes: dict[str, int] = {}
        self._arrays = Arrays()

    def add(self, places: Place) -> None:
        """Add consecutive records."""
        codes = [self._codes.setdefault(file, len(self._codes)) for file in places.files]
        lines = np.array(places.lines, np.int64)
        self._arrays.add(np.array(codes, np.int32), lines, places.ids, places.inputs, places.has_input)

    def place(self, number: int) -> tuple[str, int]:
        """Return the file and line of a record."""
        return [*self._codes][self._arrays[0][number]], int(self._arrays[1][number])

    def keys(self, by: By) -> NDArray[np.uint64]:
        """Return the hashes of the ids or inputs, shape (n, 2)."""
        return self._arrays[2 if by == "id" else 3]

    @property
    def has_input(self) -> NDArray[np.bool_]:
        """Which records have an input, shape (n,)."""
        return self._arrays[4]


class Scan:
    """All records, mapped; batches are added in their order.

    Attributes:
        questions: The selected records, batch by batch.
        answers: Their answers, batch by batch.
        rows: Of each batch, the record in it of each answer.
        starts: Position of the first record of each batch, and of one behind the last.
        read: Number of all records.
        places: Of all records, selected or not.
        exact: Mapped columns that are in a record under their name.
        nested: Those that are in one as a path into nested values.
        faults: Labels that can't be read, by batch.
        labels_there: Entries of the file of labels whose questions are there.
        labels_used: Those of them that are of an answer.
        thoughts: Those in answers.
        applied, stale: Corrections that apply, and those that are of other references than a question has.
        contradicted: Position, and whether a joined file holds it, of each answer with contradicting labels.
    """

    def __init__(self, source: Source, folder: Path) -> None:
        self._joined = source.joined.candidates
        self.questions, self.answers = Stored(folder / "questions.arrow"), Stored(folder / "answers.arrow")
        self.rows: list[Integers] = []
        self.starts, self.read, self.places = [0], 0, Places()
        self.exact, self.nested = set[str](), set[str]()
        self.faults: dict[int, Sequence[LabelFault]] = {}
        self.labels_there, self.labels_used = set[int](), set[int]()
        self.contradicted: list[tuple[int, bool]] = []
        self.thoughts = NO_THOUGHTS
        self.applied, self.stale = set[Correction](), set[Correction]()
        self._arrays, self._names, self._beyond = Arrays(), dict[str, int](), Counter[str]()

    def add(self, one: Mapped) -> None:
        """Add the next batch."""
        start = self.starts[-1]
        if one.faults:
            self.faults[len(self.rows)] = one.faults
        self.questions.add(one.questions)
        self.answers.add(one.answers)
        self.rows.append(one.rows)
        codes = [NONE if name is None else self._names.setdefault(name, len(self._names)) for name in one.names]
        self._arrays.add(*one.keys, np.array(codes, np.int64), one.selected + self.read)
        self._beyond.update(one.beyond)
        self.places.add(one.places)
        self.exact |= one.presence.exact
        self.nested |= one.presence.nested
        self.labels_there.update(one.uses.there.tolist())
        self.labels_used.update(one.uses.used.tolist())
        self.thoughts += one.thoughts
        self.applied |= one.corrections[0]
        self.stale |= one.corrections[1]
        for answer in np.flatnonzero(one.answers["is_contradicted"].to_numpy(zero_copy_only=False)).tolist():
            name = one.answers["candidate"][answer].as_py()
            self.contradicted.append((start + int(one.rows[answer]), name in self._joined))
        self.starts.append(start + len(one.selected))
        self.read += len(one.places.lines)

    @property
    def keys(self) -> Keys:
        """What tells the selected records apart."""
        return Keys(*(self._arrays[number] for number in range(len(Keys._fields))))

    def stale_corrections(self, *, by_id: bool) -> dict[str, int | list[str]] | None:
        """The questions with corrections that apply to no record, as they are of other references; None without any."""
        found = {one.id if by_id else one.input or "" for one in self.stale - self.applied}
        return {"questions": len(found), "first": heapq.nsmallest(NAMED, found)} if found else None

    @property
    def codes(self) -> Integers:
        """Number of the candidate of each selected record in `names`, NONE without one, shape (n,)."""
        return self._arrays[-2]

    @property
    def selected(self) -> Integers:
        """Number of each selected record among all, shape (n,)."""
        return self._arrays[-1]

    @property
    def names(self) -> list[str]:
        """The candidates of a long table in the order of their first records."""
        return [*self._names]

    @property
    def beyond(self) -> dict[str, int]:
        """Candidates behind the limit → number of their records."""
        return {name: count for name, count in self._beyond.items() if name not in self._names}

    def place(self, position: int) -> tuple[str, int]:
        """Return the file and line of a selected record."""
        return self.places.place(self.selected[position])


def scan(records: Iterable[Record], source: Source, folder: Path, crew: Crew, progress: Progress) -> Scan:
    """Map all records in one pass.

    Args:
        records: The user's records.
        source: The mapping.
        folder: Where batches are stored.
        crew: Maps them.
        progress: Is told how many records are read.

    Raises:
        DataError: A record can't be read, or a mapped column is in none.
    """
    found = Scan(source, folder)
    for one in _mapped(records, source, crew, found):
        found.add(one)
        progress("records", found.read, None)
    _require_columns(records, source, found)
    require_records(found.starts[-1], source.dataset)
    return found


def chunks_of(records: Iterable[Record]) -> Iterator[Chunk]:
    """Yield what reads the records batch by batch."""
    if isinstance(records, Records):
        yield from records.chunks()
        return
    every = [*records]
    for first in range(0, len(every), BATCH_ROWS):
        yield partial(batch_of, every[first : first + BATCH_ROWS])


def _mapped(records: Iterable[Record], source: Source, crew: Crew, found: Scan) -> Iterator[Mapped]:
    """Yield the batches; behind the limit only as far as more has to be known."""
    dataset = source.dataset
    chunks = chunks_of(records)
    if dataset.limit is None:
        yield from _without_errors(crew.map(partial(mapped, source=source, most=None), chunks))
        return
    needs_all = source.joined.any or dataset.long is not None
    for chunk in chunks:
        left = dataset.limit - found.starts[-1]
        one = mapped(chunk, source, left)
        yield one
        if not needs_all and found.starts[-1] == dataset.limit:
            return
        if one.error is not None:
            raise one.error


def _without_errors(batches: Iterable[Mapped]) -> Iterator[Mapped]:
    for one in batches:
        yield one
        if one.error is not None:
            raise one.error


def _require_columns(records: Iterable[Record], source: Source, found: Scan) -> None:
    wanted = wanted_columns(source)
    is_cut = source.dataset.limit is not None and any(map(steps_into, wanted))
    if is_cut or found.exact & found.nested or not wanted.keys() <= found.exact | found.nested:
        require_columns(records, wanted)  # raises, unless what lacks is behind the limit
