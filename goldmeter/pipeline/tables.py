"""Tables in parts: a folder of Parquet files (part-00000.parquet, …) with one schema, or a manifest of such files."""

import json
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from goldmeter.errors import DataError
from goldmeter.pipeline.files import temporary_in
from goldmeter.pipeline.storage import Manifest, Storage, StoredPart, manifest_of

METADATA_KEY = b"goldmeter"
_PART = re.compile(r"part-.*\.parquet")


@dataclass(frozen=True)
class Parts:
    """A finished table on disk, or in storage, that is read part by part. Its folder is listed once.

    folder: Of its Parquet files, or of the manifest that names them.
    numbers: Of the parts to read; None: all.
    """

    folder: Path
    numbers: range | None = None

    def __reduce__(self) -> tuple[Any, ...]:  # the list of files may be longer than the part that a worker reads
        return Parts, (self.folder, self.numbers)

    def __len__(self) -> int:
        return len(self._files)

    def __iter__(self) -> Iterator[pa.Table]:
        return self.read()

    def read(self, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
        """Yield the parts in order, with all or only some columns."""
        for file in self._files:
            yield file.read(columns)

    def part(self, number: int, columns: Sequence[str] | None = None) -> pa.Table:
        """Read one part, with all or only some columns."""
        return self._files[number].read(columns)

    @property
    def rows(self) -> int:
        """Number of rows in all parts."""
        return sum(self.sizes)

    @cached_property
    def sizes(self) -> list[int]:
        """Number of rows in each part."""
        return [file.rows for file in self._files]

    def take(self, columns: Sequence[str], positions: Sequence[int]) -> dict[int, dict[str, Any]]:
        """Return position → row for the rows at `positions`; one part is in memory at a time."""
        picked = self.picked(columns, np.asarray(positions, dtype=np.int64))
        return {
            position: row
            for inside, rows in picked
            for position, row in zip(inside.tolist(), rows.to_pylist(), strict=True)
        }

    def picked(
        self, columns: Sequence[str], positions: NDArray[np.int64]
    ) -> Iterator[tuple[NDArray[np.int64], pa.Table]]:
        """Yield for each part those of `positions` that lie in it, ascending, and some columns of their rows."""
        wanted, start = np.sort(positions), 0
        for part in self.read([*columns]):
            inside = wanted[(wanted >= start) & (wanted < start + part.num_rows)]
            yield inside, part.take(pa.array(inside - start))
            start += part.num_rows

    def whole(self, columns: Sequence[str] | None = None) -> pa.Table:
        """Read all parts as one table; for narrow columns only, because it is all in memory."""
        files = self._files
        if all(file.storage is None for file in files):
            try:
                return pq.read_table([file.path for file in files], columns=columns, page_checksum_verification=True)
            except (pa.ArrowException, OSError):
                pass  # what follows names the part
        return pa.concat_tables(self.read(columns))

    @property
    def in_storage(self) -> bool:
        """Whether the parts lie in a storage."""
        return self._files[0].storage is not None

    def require_whole(self, number: int) -> None:
        """Check a part in storage by the manifest. Raises DataError when it is not as it was written."""
        file = self._files[number]
        if file.storage and file.stored:
            file.storage.require_whole(file.stored)
            with file.storage.reading(file.path):
                rows = pq.read_metadata(file.storage.locate(file.path), filesystem=file.storage.files).num_rows
            if rows != file.stored.rows:
                raise DataError(f"{self.folder}: its manifest is damaged: {file.path} has {rows:,} rows")

    @cached_property
    def schema(self) -> pa.Schema:
        """The schema of the first part, with its metadata."""
        return self._files[0].schema

    @property
    def about(self) -> dict[str, Any]:
        """The facts about the table that its stage stored in the schema."""
        return about(self.schema)

    def subset(self, numbers: range) -> "Parts":
        """Return some of the parts as a table."""
        every = self.numbers or range(len(self))
        chosen = Parts(self.folder, every[numbers.start : numbers.stop])
        vars(chosen)["_files"] = self._files[numbers.start : numbers.stop]
        return chosen

    @cached_property
    def _files(self) -> "list[_PartFile]":
        """The files of the parts, in order. Raises DataError when there are none."""
        files = _on_disk(self.folder) or _stored(self.folder)
        if not files:
            raise DataError(f"{self.folder}: no table there; `dvc repro` runs the stages in their order")
        return files if self.numbers is None else files[self.numbers.start : self.numbers.stop]


def describe(table: pa.Table, facts: dict[str, Any]) -> pa.Table:
    """Return the table with facts, stored as JSON in the metadata of its schema."""
    return table.replace_schema_metadata({METADATA_KEY: json.dumps(facts, sort_keys=True, ensure_ascii=False)})


def about(schema: pa.Schema) -> dict[str, Any]:
    """Return the facts that `describe` stored in a schema; empty if there are none."""
    return dict(json.loads((schema.metadata or {}).get(METADATA_KEY, b"{}")))


def write_part(table: pa.Table, folder: Path, number: int, storage: Storage | None = None) -> None:
    """Write one part, which is there at once and whole; the same table gives the same bytes.

    With a storage, the part goes there, and the manifest of this part to the folder.
    """
    name = f"part-{number:05d}"
    if storage:
        Manifest.of(storage.address, [_put(table, storage)]).write(folder / f"{name}.json")
        return
    path = folder / f"{name}.parquet"
    with temporary_in(folder.parent, f"{path.name}.") as temporary:  # what a killed process leaves is not in the table
        _write(table, temporary)
        temporary.replace(path)


class _PartFile(NamedTuple):
    """The file of one part. storage, stored: where it lies, and what the manifest says of it; None: it is on disk."""

    path: str
    storage: Storage | None = None
    stored: StoredPart | None = None

    def read(self, columns: Sequence[str] | None = None) -> pa.Table:
        """Read the part, with all or only some columns."""
        with self._naming():
            return pq.read_table(self._place, columns=columns, filesystem=self._system, page_checksum_verification=True)

    @property
    def rows(self) -> int:
        """Number of rows."""
        if self.stored is not None:
            return self.stored.rows
        with self._naming():
            return int(pq.read_metadata(self._place, filesystem=self._system).num_rows)

    @property
    def schema(self) -> pa.Schema:
        """The schema, with its metadata."""
        with self._naming():
            return pq.read_schema(self._place, filesystem=self._system)

    @property
    def _place(self) -> str:
        return self.storage.locate(self.path) if self.storage else self.path

    @property
    def _system(self) -> Any:
        return self.storage.files if self.storage else None

    def _naming(self) -> AbstractContextManager[None]:
        return self.storage.reading(self.path) if self.storage else _naming(Path(self.path))


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Raise DataError that names the part that can't be read."""
    try:
        yield
    except (pa.ArrowException, OSError) as error:
        problem = (str(error).splitlines() or [type(error).__name__])[0]
        raise DataError(
            f"{path}: can't be read as a table: {problem}\n"
            f"Remove {path.parent}; `dvc repro` brings it back, or makes it again."
        ) from None


def _on_disk(folder: Path) -> "list[_PartFile]":
    """The files of a table whose parts are in its folder."""
    if not folder.is_dir():
        return []
    with os.scandir(folder) as entries:
        found = [entry.path for entry in entries if _PART.fullmatch(entry.name) and entry.is_file()]
    return [_PartFile(path) for path in sorted(found)]


def _stored(folder: Path) -> list[_PartFile]:
    """The files of a table whose parts are in storage."""
    if (manifest := manifest_of(folder)) is None:
        return []
    storage = Storage(manifest.storage)
    return [_PartFile(part.path, storage, part) for part in manifest.parts]


def _put(table: pa.Table, storage: Storage) -> StoredPart:
    content = pa.BufferOutputStream()
    _write(table, content)
    return storage.put(content.getvalue().to_pybytes(), table.num_rows)


def _write(table: pa.Table, where: Any) -> None:
    pq.write_table(table, where, compression="zstd", write_page_checksum=True)
