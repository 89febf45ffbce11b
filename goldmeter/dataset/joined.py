"""Files that are joined to the questions: a candidate's answers, references, human labels; their records, on disk."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import orjson
from numpy.typing import NDArray

from goldmeter.dataset.columns import Columns, Presence, groups, hashes
from goldmeter.dataset.corrections import Corrections, read_corrections
from goldmeter.dataset.paths import outermost, require_columns
from goldmeter.dataset.record import Chunk, Value, as_text
from goldmeter.dataset.settings import CandidateMapping, Dataset, Params
from goldmeter.dataset.sources import Records, records
from goldmeter.dataset.texts import same_input
from goldmeter.errors import DataError, ParamsError
from goldmeter.pipeline.dvc_yaml import LABELS
from goldmeter.pipeline.tables import Parts
from goldmeter.pipeline.workers import Crew

By = Literal["id", "input"]
# The table of the stage answer, those of its columns that say something of an answer, and rows read at once.
ANSWERS, BATCH_ROWS = Path("data/answer"), 1_000
ANSWER_VALUES = ("response", "latency", "input_tokens", "output_tokens", "cost")


class Lost(NamedTuple):
    """An entry that becomes no row, and why."""

    entry: "Entry"
    key: str | None
    reason: str


@dataclass(frozen=True)
class Joined:
    """The entries of a file by the key of their question.

    place: the option of params.yaml. columns: those that the file has. folder: where its entries are stored. is_asked:
    the answers are those that the stage answer asked for. problems: why asked answers are missing → how many.
    thoughts: asked answers whose thought was taken off.
    """

    place: str
    path: str
    by: By
    columns: frozenset[str]
    folder: str
    is_asked: bool = False
    problems: Mapping[str, int] = field(default_factory=dict)
    thoughts: int = 0

    @property
    def entries(self) -> "Entries":
        """The entries of all questions."""
        return opened_entries(self.folder)

    @property
    def has_questions(self) -> bool:
        """Whether entries that are joined by id name their question too."""
        return bool(self.entries.is_asked.any())

    def lost(self, number: int, reason: str) -> Lost:
        """Return an entry that becomes no row."""
        entry = self.entries[number]
        return Lost(entry, entry.key if self.by == "id" else None, reason)


@dataclass(frozen=True)
class JoinedFiles:
    """All joined files of a mapping."""

    candidates: Mapping[str, Joined] = field(default_factory=dict)
    references: Joined | None = None
    labels: Joined | None = None
    corrections: Corrections = field(default_factory=dict)

    @property
    def all(self) -> list[tuple[str | None, Joined]]:
        """Each file of the user, with the candidate whose answers it has."""
        others = [(None, one) for one in (self.references, self.labels) if one]
        return [*((name, one) for name, one in self.candidates.items() if not one.is_asked), *others]

    @property
    def any(self) -> bool:
        """Whether there is one."""
        return bool(self.candidates or self.references or self.labels)


def questions(params: Params) -> Records:
    """Open the files of the questions.

    Raises:
        DataError: As `sources.records`, or a file is joined and matches dataset.pattern too.
    """
    dataset = params.dataset
    found = records(dataset.path, dataset.pattern, dataset.format)
    joined = {_checked_path(path, place, dataset).resolve() for path, place in _paths(dataset)}
    if both := [path for path in found.files if path.resolve() in joined]:
        raise DataError(
            f"dataset.pattern: {dataset.pattern!r} matches {both[0].as_posix()}, which is joined to the questions; "
            "choose a pattern that matches the files of the questions only"
        )
    return found


def read_joined(params: Params, folder: Path, crew: Crew, answers: Path = ANSWERS) -> JoinedFiles:
    """Read the joined files of a mapping.

    Args:
        params: The mapping.
        folder: Where the entries are stored; it must outlive what is returned.
        crew: Reads them.
        answers: The table of the stage answer.

    Raises:
        DataError: A file can't be read, or lacks a column.
        ParamsError: A file is outside of the folder dataset.path.
    """
    dataset = params.dataset
    reader = _Reader(dataset, folder, crew)
    candidates = {name: _of_candidate(name, one, reader) for name, one in dataset.named.items() if one.path}
    candidates |= asked_answers([*dataset.asked], "id" if dataset.id else "input", folder, answers)
    return JoinedFiles(candidates, _of_references(reader), _of_labels(reader), _of_corrections(dataset))


def asked_answers(names: Sequence[str], by: By, folder: Path, answers: Path) -> dict[str, Joined]:
    """Read the answers of candidates that the stage answer asked; none where it has not run yet.

    Args:
        names: Of the candidates.
        by: What the questions of the data have: ids, or only inputs.
        folder: Where they are stored.
        answers: The table of the stage answer.
    """
    problems: dict[str, Counter[str]] = {name: Counter() for name in names}
    thoughts = Counter[str]()
    for number, name in enumerate(names):
        write_entries(folder / f"asked-{number}", _asked_blocks(name, by, answers, problems[name], thoughts))
    return {
        name: Joined(
            f"dataset.candidates.{name}",
            ANSWERS.as_posix(),
            by,
            frozenset(ANSWER_VALUES),
            str(folder / f"asked-{number}"),
            is_asked=True,
            problems=dict(sorted(problems[name].items())),
            thoughts=thoughts[name],
        )
        for number, name in enumerate(names)
    }


def _asked_blocks(
    wanted: str, by: By, answers: Path, problems: Counter[str], thoughts: Counter[str]
) -> Iterator["Packed"]:
    columns = [by, "candidate", "problem", "had_thought", *ANSWER_VALUES]
    parts = Parts(answers).read(columns) if answers.exists() else ()
    first = 1
    for batch in (batch for part in parts for batch in part.to_batches(BATCH_ROWS)):
        rows = [(line, row) for line, row in enumerate(batch.to_pylist(), first) if row["candidate"] == wanted]
        first += batch.num_rows
        problems.update(row["problem"] for _, row in rows if row["response"] is None)
        thoughts[wanted] += sum(bool(row["had_thought"]) for _, row in rows)
        keys = [row[by] if by == "id" else same_input(row[by]) for _, row in rows]
        values = [{column: as_text(row[column]) for column in ANSWER_VALUES} for _, row in rows]
        none = [None] * len(rows)
        yield packed([ANSWERS.as_posix()] * len(rows), [line for line, _ in rows], keys, none, values)


class _Reader(NamedTuple):
    """Reads joined files.

    Attributes:
        dataset: The mapping.
        folder: Where entries are stored.
        crew: Reads them.
    """

    dataset: Dataset
    folder: Path
    crew: Crew

    def read(
        self, path: str, place: str, by: By, column: str, wanted: Mapping[str, str], optional: Iterable[str]
    ) -> Joined:
        """Read a file: column: that of the keys; wanted: those that it must have; optional: those that it may have."""
        dataset = self.dataset
        if getattr(dataset, by) is None:
            raise ParamsError(f"{place}.{by}: joins by the {by}, but dataset.{by} names no column of the questions")
        whole = records(_checked_path(path, f"{place}.path", dataset))
        named = [*dict.fromkeys([*wanted, *optional])]
        asked = dataset.input if by == "id" and dataset.input not in {*named, column} else None
        more = [asked] if asked else []
        needed = replace(whole, columns=outermost([*named, column, *more]))
        function = partial(_read_chunk, by=by, column=column, named=(*named,), asked=asked)
        present: set[str] = set()
        ambiguous: set[str] = set()
        folder = self.folder / f"joined-{len([*self.folder.iterdir()])}"

        def blocks() -> Iterator[Packed]:
            exact, nested = set[str](), set[str]()
            for block, presence, error in self.crew.map(function, needed.chunks()):
                yield block
                if error is not None:
                    raise error
                exact.update(presence.exact)
                nested.update(presence.nested)
            present.update(exact | nested)
            ambiguous.update(exact & nested)

        write_entries(folder, blocks())
        must = {**wanted, column: f"{place}.{by}"}
        if ambiguous or not present.issuperset(must):
            require_columns(needed, must, [*optional, *more])
        return Joined(place, path, by, frozenset(present.intersection(named)), str(folder))


def _read_chunk(
    chunk: Chunk, *, by: By, column: str, named: tuple[str, ...], asked: str | None
) -> tuple["Packed", Presence, DataError | None]:
    batch = chunk()
    columns = Columns(batch.rows)
    presence = columns.presence({*named, column, *([asked] if asked else [])})
    here = [name for name in named if name in presence.exact | presence.nested]
    none = [None] * len(columns)
    entries = packed(
        batch.files,
        batch.lines,
        joined_keys(columns[column], by),
        joined_keys(columns[asked], "input") if asked else none,
        [dict(zip(here, values, strict=True)) for values in zip(*(columns[name] for name in here), strict=True)]
        or [{} for _ in none],
    )
    return entries, presence, batch.error


def joined_keys(values: Iterable[Value], by: By) -> list[str | None]:
    """Return what records are joined by, null without it: ids, or inputs without double white space."""
    texts = [value if isinstance(value, str) and value.strip() else None for value in values]
    return texts if by == "id" else [None if text is None else same_input(text) for text in texts]


def _of_candidate(name: str, candidate: CandidateMapping, reader: _Reader) -> Joined:
    dataset, place = reader.dataset, f"dataset.candidates.{name}"
    by: By = candidate.on or ("input" if candidate.input or not (candidate.id or dataset.id) else "id")
    column = (candidate.id or dataset.id) if by == "id" else (candidate.input or dataset.input)
    if column is None:
        raise ParamsError(f"{place}.on: {by}, but dataset.{by} names no column")
    labels = candidate.label.mapped if candidate.label else ()
    scores = [column for score in dataset.scores.values() for column in score.columns_of(name)]
    taken = [column for columns in candidate.resources.values() for column in columns]
    optional = [*labels, *([candidate.labelled] if candidate.labelled else []), *scores, *taken]
    wanted = {candidate.response: f"{place}.response"}
    if isinstance(dataset.draw, str):
        wanted[dataset.draw] = "dataset.draw"
    return reader.read(str(candidate.path), place, by, column, wanted, optional)


def _of_references(reader: _Reader) -> Joined | None:
    given = reader.dataset.references
    if given is None or given.path is None or given.column is None:
        return None
    wanted = {given.column: "dataset.references.column"}
    return reader.read(given.path, "dataset.references", *_by(given.id, given.input), wanted, ())


def _of_labels(reader: _Reader) -> Joined | None:
    given = reader.dataset.label_file
    if given is None:
        return None
    wanted = dict.fromkeys(given.label.mapped, "dataset.label_file.label")
    wanted |= {column: "dataset.label_file" for column in (given.candidate, given.response) if column}
    return reader.read(given.path, "dataset.label_file", *_by(given.id, given.input), wanted, ())


def _of_corrections(dataset: Dataset) -> Corrections:
    if dataset.corrections is None:
        return {}
    path = _checked_path(dataset.corrections, "dataset.corrections", dataset)
    return read_corrections(path, by_id=dataset.id is not None)


def _by(id_: str | None, input_: str | None) -> tuple[By, str]:
    return ("id", id_) if id_ else ("input", str(input_))


def _paths(dataset: Dataset) -> Iterator[tuple[str, str]]:
    for name, candidate in dataset.named.items():
        if candidate.path:
            yield candidate.path, f"dataset.candidates.{name}.path"
    if dataset.references and dataset.references.path:
        yield dataset.references.path, "dataset.references.path"
    if dataset.label_file:
        yield dataset.label_file.path, "dataset.label_file.path"


def _checked_path(path: str, place: str, dataset: Dataset) -> Path:
    """Return the path of a joined file; it must be in a folder that DVC watches: dataset.path, or LABELS."""
    folder = Path(dataset.path)
    if place in {"dataset.label_file.path", "dataset.corrections"} and Path(path).is_relative_to(LABELS):
        return Path(path)
    if folder.is_dir():
        for file in (Path(path), folder / path):
            if file.exists() and file.resolve().is_relative_to(folder.resolve()):
                return file
        if not Path(path).exists():
            records(folder / path if Path(path).parts[:1] != folder.parts[:1] else path)  # raises, with similar names
    common = folder if folder.is_dir() else folder.parent
    raise ParamsError(
        f"{place}: {path} is not in the folder dataset.path, so changes of it would not be noticed; keep all files in "
        f"one folder, and set dataset.path: {common.as_posix()} and dataset.pattern: the name of the questions' file"
    )


NAMES, VALUES = "files.json", "values.json"
ARRAYS = ("ends", "lines", "files", "keys", "asked", "is_asked", "order")
Integers = NDArray[np.int64]


class Entry(NamedTuple):
    """A record of a joined file: its place, its values, its key, and its number in the file."""

    file: str
    line: int
    values: dict[str, Value]
    key: str | None = None
    number: int = -1


class Packed(NamedTuple):
    """Consecutive records of a joined file as they are stored; arrays of their length.

    Attributes:
        files: The file of each.
        lines: The line of each.
        lengths: Bytes of the key and the mapped values of each.
        content: These bytes.
        keys: Hashes of the keys.
        asked: Hashes of the inputs that they name.
        is_keyed: Which have a key.
        is_asked: Which name an input.
    """

    files: Sequence[str]
    lines: Sequence[int]
    lengths: Sequence[int]
    content: bytes
    keys: NDArray[np.uint64]
    asked: NDArray[np.uint64]
    is_keyed: Sequence[bool]
    is_asked: Sequence[bool]


def packed(
    files: Sequence[str],
    lines: Sequence[int],
    keys: Sequence[str | None],
    asked: Sequence[str | None],
    values: Sequence[dict[str, Value]],
) -> Packed:
    """Return records as they are stored.

    Args:
        files: The file of each.
        lines: The line of each.
        keys: The key of each; null: it can't be joined.
        asked: The input that each names, as `texts.same_input`; null: it names none.
        values: The mapped values of each.
    """
    content = [_encoded(pair) for pair in zip(keys, values, strict=True)]
    are_there = [[key is not None for key in keys], [one is not None for one in asked]]
    return Packed(files, lines, [*map(len, content)], b"".join(content), hashes(keys), hashes(asked), *are_there)


class Entries:
    """The stored records of a joined file.

    folder: As `write_entries` filled it.

    Attributes:
        keys: Hashes of the keys, shape (n, 2), uint64.
        asked: Hashes of the inputs that they name, shape (n, 2), uint64.
        is_asked: Which name one, shape (n,), bool.
        order: Those with a key, sorted by its hash, then as in the file.
    """

    def __init__(self, folder: Path) -> None:
        self._names: list[str] = json.loads((folder / NAMES).read_text(encoding="utf-8"))
        mode: Literal["r"] | None = "r" if (folder / VALUES).stat().st_size else None
        arrays = {name: np.load(folder / f"{name}.npy", mmap_mode=mode) for name in ARRAYS}
        self._ends, self._lines, self._files = arrays["ends"], arrays["lines"], arrays["files"]
        self.keys, self.asked, self.is_asked, self.order = (arrays[name] for name in ARRAYS[3:])
        self._sorted = self.keys[self.order]
        with (folder / VALUES).open("rb") as file:
            self._values: Any = mmap(file.fileno(), 0, access=ACCESS_READ) if len(self) else b""

    def __len__(self) -> int:
        return len(self._ends)

    def __getitem__(self, number: int) -> Entry:
        return self.take(np.array([number]))[0]

    def __iter__(self) -> Iterator[Entry]:
        return map(self.__getitem__, range(len(self)))

    def take(self, numbers: Integers) -> list[Entry]:
        """Return entries by their numbers."""
        ends, begins = self._ends[numbers], np.where(numbers > 0, self._ends[numbers - 1], 0)
        files, lines = self._files[numbers], self._lines[numbers]
        entries = []
        for begin, end, file, line, number in zip(
            begins.tolist(), ends.tolist(), files.tolist(), lines.tolist(), numbers.tolist(), strict=True
        ):
            key, values = _decoded(self._values[begin:end])
            entries.append(Entry(self._names[file], line, values, key, number))
        return entries

    @property
    def keyless(self) -> list[int]:
        """The numbers of entries without a key."""
        return sorted({*range(len(self))}.difference(self.order.tolist()))

    def find(self, keys: NDArray[np.uint64]) -> tuple[Integers, Integers]:
        """Return the rows of keys that entries have, ascending, each with the number of one of these, in their order.

        keys: Shape (n, 2), uint64.
        """
        first = np.searchsorted(self._sorted[:, 0], keys[:, 0], "left")
        counts = np.searchsorted(self._sorted[:, 0], keys[:, 0], "right") - first
        rows = np.repeat(np.arange(len(keys)), counts)
        places = np.arange(len(rows)) + np.repeat(first - np.cumsum(counts) + counts, counts)
        is_same = self._sorted[places, 1] == keys[rows, 1]
        return rows[is_same], np.asarray(self.order)[places[is_same]]

    def has(self, keys: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Return which keys an entry has, shape (n,)."""
        found = np.zeros(len(keys), np.bool_)
        found[self.find(keys)[0]] = True
        return found

    def asks(self, numbers: Integers, inputs: NDArray[np.uint64], has_input: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return which entries do not name another input than these, shape (n,); without one on a side, none does."""
        is_same = (self.asked[numbers] == inputs).all(axis=1)
        return np.asarray(~self.is_asked[numbers] | ~has_input | is_same)


@cache
def opened_entries(folder: str) -> Entries:
    """Open stored entries, once in a process."""
    return Entries(Path(folder))


def write_entries(folder: Path, blocks: Iterable[Packed]) -> None:
    """Store entries."""
    folder.mkdir(parents=True)
    names: dict[str, int] = {}
    columns: dict[str, list[Any]] = {name: [] for name in (*ARRAYS[:-1], "is_keyed")}
    with (folder / VALUES).open("wb") as file:
        for block in blocks:
            file.write(block.content)
            columns["files"].append(np.array([names.setdefault(name, len(names)) for name in block.files], np.int32))
            columns["ends"].append(np.array(block.lengths, np.int64))
            columns["lines"].append(np.array(block.lines, np.int64))
            for name in ("keys", "asked", "is_keyed", "is_asked"):
                columns[name].append(np.asarray(getattr(block, name)))
    arrays = {name: np.concatenate(parts) if parts else np.zeros(0, np.int64) for name, parts in columns.items()}
    for name in ("keys", "asked"):
        arrays[name] = arrays[name].astype(np.uint64).reshape(-1, 2)
    arrays |= {name: arrays[name].astype(np.bool_) for name in ("is_keyed", "is_asked")}
    arrays["ends"] = np.cumsum(arrays["ends"])
    keyed = np.flatnonzero(arrays.pop("is_keyed"))
    arrays["order"] = keyed[groups(arrays["keys"][keyed]).order]
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)
    (folder / NAMES).write_text(json.dumps([*names]), encoding="utf-8")


def _encoded(value: Any) -> bytes:
    try:
        return orjson.dumps(value)
    except TypeError:  # half of a surrogate pair
        return json.dumps(value).encode()


def _decoded(content: bytes) -> Any:
    try:
        return orjson.loads(content)
    except ValueError:
        return json.loads(content)
