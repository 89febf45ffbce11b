"""One pass over all records: what is mapped of each batch goes to disk, what tells records apart stays in memory."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tasks.dataset.answers import Source, wanted_columns
from tasks.dataset.index import NONE, require_records
from tasks.dataset.labels import LabelFault
from tasks.dataset.mapping import Keys, Mapped, mapped
from tasks.dataset.paths import flat, steps_into
from tasks.dataset.record import BATCH_ROWS, Chunk, Record, batch_of
from tasks.dataset.sources import Records
from tasks.pipeline.progress import Progress
from tasks.pipeline.workers import Crew

Integers = NDArray[np.int64]


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


class Places:
    """The places of records, and the hashes of the ids and inputs that files are joined by."""

    def __init__(self) -> None:
        self._codes: dict[str, int] = {}
        self._files: list[Integers] = []
        self._lines: list[Integers] = []
        self._hashes: list[tuple[NDArray[Any], ...]] = []

    def add(self, files: Sequence[str], lines: Sequence[int], *hashes: NDArray[Any]) -> None:
        """Add consecutive records."""
        codes = [self._codes.setdefault(file, len(self._codes)) for file in files]
        self._files.append(np.array(codes, np.int32))
        self._lines.append(np.array(lines, np.int64))
        self._hashes.append(hashes)

    def hashes(self, number: int) -> NDArray[Any]:
        """Return the hashes of all, in the order in which `add` takes them."""
        return np.concatenate([some[number] for some in self._hashes])

    def place(self, position: int) -> tuple[str, int]:
        """Return the file and line of a record."""
        if len(self._files) > 1:
            self._files, self._lines = [np.concatenate(self._files)], [np.concatenate(self._lines)]
        return [*self._codes][self._files[0][position]], int(self._lines[0][position])


class Scan(NamedTuple):
    """All records, mapped.

    Attributes:
        questions: The selected records, batch by batch.
        answers: Their answers, batch by batch.
        rows: Of each batch, the record in it of each answer.
        starts: Position of the first record of each batch, and of one behind the last.
        keys: What tells the selected records apart.
        codes: Number of the candidate of each in `names`, NONE without one, shape (n,).
        names: The candidates of a long table in the order of their first records.
        beyond: Candidates behind the limit → number of their records.
        places: Of the selected records.
        all_places: Of all records, with the hashes of ids, inputs, and whether there is an input; if files are joined.
        selected: Number of each selected record among all, shape (n,).
        faults: Labels that can't be read, by batch.
        labels_there: Entries of the file of labels whose questions are there.
        labels_used: Those of them that are of an answer.
        contradicted: Position, and whether a joined file holds it, of each answer with contradicting labels.
    """

    questions: Stored
    answers: Stored
    rows: list[Integers]
    starts: list[int]
    keys: Keys
    codes: Integers
    names: list[str]
    beyond: Counter[str]
    places: Places
    all_places: Places
    selected: Integers
    faults: dict[int, Sequence[LabelFault]]
    labels_there: set[int]
    labels_used: set[int]
    contradicted: list[tuple[int, bool]]


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
    found = _Scanning(source, folder)
    for one in _mapped(records, source, crew, found):
        found.add(one)
        progress("records", found.read, None)
    _require_columns(records, source, found)
    require_records(found.starts[-1], source.dataset)
    return found.scan()


def chunks_of(records: Iterable[Record]) -> Iterator[Chunk]:
    """Yield what reads the records batch by batch."""
    if isinstance(records, Records):
        yield from records.chunks()
        return
    every = [*records]
    for first in range(0, len(every), BATCH_ROWS):
        yield partial(batch_of, every[first : first + BATCH_ROWS])


def _mapped(records: Iterable[Record], source: Source, crew: Crew, found: "_Scanning") -> Iterator[Mapped]:
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


def _require_columns(records: Iterable[Record], source: Source, found: "_Scanning") -> None:
    wanted = wanted_columns(source)
    is_cut = source.dataset.limit is not None and any(map(steps_into, wanted))
    if is_cut or found.exact & found.nested or not wanted.keys() <= found.exact | found.nested:
        flat(records, wanted)  # raises, unless what lacks is behind the limit


class _Scanning:
    """Collects what `Scan` holds, batch by batch."""

    def __init__(self, source: Source, folder: Path) -> None:
        self._source = source
        self._questions, self._answers = Stored(folder / "questions.arrow"), Stored(folder / "answers.arrow")
        self._rows: list[Integers] = []
        self.starts, self.read = [0], 0
        self._keys: list[Keys] = []
        self._codes: list[Integers] = []
        self._names: dict[str, int] = {}
        self._beyond: Counter[str] = Counter()
        self._places, self._all_places = Places(), Places()
        self._selected: list[Integers] = []
        self.exact: set[str] = set()
        self.nested: set[str] = set()
        self._faults: dict[int, Sequence[LabelFault]] = {}
        self._there: set[int] = set()
        self._used: set[int] = set()
        self._contradicted: list[tuple[int, bool]] = []

    def add(self, one: Mapped) -> None:
        """Add the next batch."""
        places, start = one.places, self.starts[-1]
        if one.faults:
            self._faults[len(self._rows)] = one.faults
        self._questions.add(one.questions)
        self._answers.add(one.answers)
        self._rows.append(one.rows)
        self._keys.append(one.keys)
        known = (name if name is None else self._names.setdefault(name, len(self._names)) for name in one.names)
        self._codes.append(np.array([NONE if code is None else code for code in known], np.int64))
        self._beyond.update(one.beyond)
        wanted = one.selected.tolist()
        self._places.add([places.files[row] for row in wanted], [places.lines[row] for row in wanted])
        if self._source.joined.any:
            self._all_places.add(places.files, places.lines, places.ids, places.inputs, places.has_input)
        self._selected.append(one.selected + self.read)
        self.exact |= one.presence.exact
        self.nested |= one.presence.nested
        self._there.update(one.uses.there.tolist())
        self._used.update(one.uses.used.tolist())
        for answer in np.flatnonzero(one.answers["is_contradicted"].to_numpy(zero_copy_only=False)).tolist():
            name = one.answers["candidate"][answer].as_py()
            self._contradicted.append((start + int(one.rows[answer]), name in self._source.joined.candidates))
        self.starts.append(start + len(wanted))
        self.read += len(places.lines)

    def scan(self) -> Scan:
        """Return all that was added."""
        columns = zip(*self._keys, strict=True)
        beyond = Counter({name: count for name, count in self._beyond.items() if name not in self._names})
        return Scan(
            self._questions,
            self._answers,
            self._rows,
            self.starts,
            Keys(*(np.concatenate(parts) for parts in columns)),
            np.concatenate(self._codes),
            [*self._names],
            beyond,
            self._places,
            self._all_places,
            np.concatenate(self._selected),
            self._faults,
            self._there,
            self._used,
            self._contradicted,
        )
