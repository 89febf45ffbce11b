"""The records of a joined file, on disk: found by the hash of their key, in memory only while they are needed."""

import json
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import orjson
from numpy.typing import NDArray

from tasks.dataset.columns import hashes
from tasks.dataset.grouping import groups
from tasks.dataset.record import Value

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


class Block(NamedTuple):
    """Consecutive records of a joined file.

    Attributes:
        files: The file of each.
        lines: The line of each.
        keys: The key of each; null: it can't be joined.
        asked: The input that each names, as `text_forms.same_input`; null: it names none.
        values: The mapped values of each.
    """

    files: Sequence[str]
    lines: Sequence[int]
    keys: Sequence[str | None]
    asked: Sequence[str | None]
    values: Sequence[dict[str, Value]]


class Packed(NamedTuple):
    """A block as it is stored: the lengths of the values, these, and arrays of its length."""

    files: Sequence[str]
    lines: Sequence[int]
    lengths: Sequence[int]
    content: bytes
    keys: NDArray[np.uint64]
    asked: NDArray[np.uint64]
    is_keyed: Sequence[bool]
    is_asked: Sequence[bool]


def packed(block: Block) -> Packed:
    """Return a block as it is stored."""
    content = [_encoded([key, values]) for key, values in zip(block.keys, block.values, strict=True)]
    return Packed(
        block.files, block.lines, [*map(len, content)], b"".join(content), hashes(block.keys), hashes(block.asked),
        [key is not None for key in block.keys], [asked is not None for asked in block.asked],
    )  # fmt: skip


class Entries:
    """The stored records of a joined file.

    folder: As `write` filled it.

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
def opened(folder: str) -> Entries:
    """Open stored entries, once in a process."""
    return Entries(Path(folder))


def write(folder: Path, blocks: Iterable[Packed]) -> None:
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
