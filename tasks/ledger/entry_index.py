"""Indexes of files of entries: where the entry of each key is, its checksum, and what is missing in it.

An index is a cache: one that is missing or damaged is made again from the files, and gives the same answers.
"""

import hashlib
import json
import mmap
from array import array
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tasks.errors import LedgerError
from tasks.ledger.entries import RANK, Entry, Usage, checksum, flags_of, parse, short_key
from tasks.ledger.short_keys import Mask, ShortKeys
from tasks.pipeline.hashing import sha256

Rows: TypeAlias = NDArray[np.int64]
FORMAT = 1
# The largest items first, so that each column is aligned.
COLUMNS = {"key": "S16", "checksum": "S16", "offset": "<u8", "length": "<u4", "file": "<u4", "flags": "u1"}
HEADER = 64
HASH = 32
BLOCK = 1 << 20


class IndexedFile(NamedTuple):
    """A file of entries. sha256: of its content, hex. size: bytes."""

    sha256: str
    size: int


@dataclass(frozen=True)
class EntryIndex:
    """The entries of some files, ordered by key, and those of one key by preference.

    files: the files, which column `file` numbers. columns: name → array of shape (n,), see COLUMNS. usage: what the
    entries took, None for an index of several files.
    """

    files: tuple[IndexedFile, ...]
    columns: Mapping[str, NDArray[Any]]
    usage: Usage | None = None
    mapped: mmap.mmap | None = None

    @classmethod
    def of_file(cls, path: Path) -> Self:
        """Index one file of lines.

        Raises:
            LedgerError: A line is not an entry.
        """
        keys, checksums, flags = bytearray(), bytearray(), bytearray()
        offsets, lengths = array("Q"), array("L")

        def entries(file: BinaryIO) -> Iterator[Entry]:
            offset = 0
            for number, line in enumerate(file, 1):
                try:
                    entry = parse(line)
                    flags.append(flags_of(entry))
                    yield entry
                except (ValueError, TypeError, KeyError) as error:
                    raise LedgerError(
                        f"{path}, line {number}: not an entry of the ledger ({error!r}).\n"
                        "Remove it, then `dvc checkout` brings it back; without it, they are read from the store."
                    ) from error
                keys.extend(short_key(entry["key"]))
                checksums.extend(checksum(line))
                offsets.append(offset)
                lengths.append(len(line))
                offset += len(line)

        with path.open("rb") as file:
            usage = Usage.of(entries(file))
        arrays = {
            "key": np.frombuffer(keys, "S16"),
            "checksum": np.frombuffer(checksums, "S16"),
            "offset": np.array(offsets, np.uint64),
            "length": np.array(lengths, np.uint32),
            "file": np.zeros(len(flags), np.uint32),
            "flags": np.frombuffer(flags, np.uint8),
        }
        return cls((IndexedFile(sha256(path).hex(), sum(lengths)),), _ordered(arrays), usage)

    @classmethod
    def load(cls, path: Path) -> Self | None:
        """Map an index into memory; None when it is missing or damaged."""
        with suppress(OSError, ValueError, TypeError, KeyError):
            with path.open("rb") as file:
                mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
                if _digest(file, len(mapped) - HASH) != mapped[len(mapped) - HASH :]:
                    return None
            start = HEADER + int(mapped[:HEADER])
            header = json.loads(mapped[HEADER:start])
            if header["format"] != FORMAT:
                return None
            columns = {}
            for name, dtype in COLUMNS.items():
                columns[name] = np.frombuffer(mapped, dtype, header["entries"], start)
                start += columns[name].nbytes
            usage = header["usage"]
            return cls(
                tuple(IndexedFile(str(name), int(size)) for name, size in header["files"]),
                columns,
                Usage(**usage | {"served": frozenset(usage["served"])}) if usage else None,
                mapped,
            )
        return None

    @classmethod
    def merged(cls, indexes: Sequence[Self]) -> Self:
        """Combine indexes; an entry that several files hold stands once."""
        first = np.cumsum([0, *(len(index.files) for index in indexes)])
        columns = {
            name: np.concatenate([np.empty(0, dtype), *(index.columns[name] for index in indexes)])
            for name, dtype in COLUMNS.items()
        }
        numbers = np.repeat(first[:-1], [len(index) for index in indexes]).astype(np.uint32)
        columns["file"] = columns["file"] + numbers
        return cls(tuple(file for index in indexes for file in index.files), _ordered(columns))

    def save(self, path: Path) -> None:
        """Write the index; the same entries give the same bytes."""
        usage = asdict(self.usage) | {"served": sorted(self.usage.served)} if self.usage else None
        facts = {"format": FORMAT, "entries": len(self), "files": self.files, "usage": usage}
        header = json.dumps(facts, sort_keys=True).encode("ascii")
        header += b" " * (-len(header) % HEADER)
        with path.open("wb") as file:
            file.write(b"%-63d\n" % len(header) + header)
            for name, dtype in COLUMNS.items():
                file.write(np.ascontiguousarray(self.columns[name], dtype).data)
        digest = sha256(path)
        with path.open("ab") as file:
            file.write(digest)

    def __len__(self) -> int:
        return len(self.columns["flags"])

    @property
    def keys(self) -> ShortKeys:
        """The key of each row, ascending; several rows may have one key."""
        return self.columns["key"]

    def find(self, keys: ShortKeys) -> Rows:
        """Return the preferred row of each key, -1 for a key that is not there; shape (m,)."""
        if not len(self):
            return np.full(len(keys), -1)
        rows = np.minimum(np.searchsorted(self.keys, keys), len(self) - 1)
        return np.where(self.keys[rows] == keys, rows, -1)

    def holds(self, keys: ShortKeys, checksums: NDArray[np.bytes_]) -> Mask:
        """Return whether an entry with this key and checksum is there, preferred or not; shape (m,)."""
        rows = self.find(keys)
        is_there = np.zeros(len(keys), np.bool_)
        while len(open_rows := np.flatnonzero(rows >= 0)):
            here = rows[open_rows]
            is_there[open_rows] = self.columns["checksum"][here] == checksums[open_rows]
            following = np.minimum(here + 1, len(self) - 1)
            goes_on = (following > here) & (self.keys[following] == keys[open_rows]) & ~is_there[open_rows]
            rows[open_rows] = np.where(goes_on, following, -1)
        return is_there

    def release(self) -> None:
        """Let the system take back the memory of the mapped file; it is read again where it is needed."""
        if self.mapped is not None and hasattr(mmap, "MADV_DONTNEED"):
            self.mapped.madvise(mmap.MADV_DONTNEED)


def _ordered(columns: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    order = np.argsort(columns["key"], kind="stable")
    columns = {name: column[order] for name, column in columns.items()}
    keys = columns["key"]
    again = np.flatnonzero(keys[1:] == keys[:-1])
    if not len(again):
        return columns
    rivals = np.union1d(again, again + 1)
    there = {name: column[rivals] for name, column in columns.items()}
    order = np.lexsort((there["checksum"], there["flags"] & RANK, there["key"]))
    for name, column in columns.items():
        column[rivals] = there[name][order]
    is_copy = np.zeros(len(keys), np.bool_)
    is_copy[1:] = (columns["key"][1:] == columns["key"][:-1]) & (columns["checksum"][1:] == columns["checksum"][:-1])
    return {name: column[~is_copy] for name, column in columns.items()}


def _digest(file: BinaryIO, size: int) -> bytes:
    """Return the SHA-256 of the first bytes of a file, read by blocks: mapped pages would count as memory."""
    digest = hashlib.sha256()
    while size > 0 and (content := file.read(min(BLOCK, size))):
        digest.update(content)
        size -= len(content)
    return digest.digest()
