"""Tables in parts: a folder of Parquet files (part-00000.parquet, …) with one schema."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from tasks.errors import DataError
from tasks.pipeline.files import temporary_in

METADATA_KEY = b"goldmeter"


@dataclass(frozen=True)
class Parts:
    """A table on disk that is read part by part."""

    folder: Path

    @property
    def paths(self) -> list[Path]:
        """The files of the parts, in order. Raises DataError when there are none."""
        paths = sorted(path for path in self.folder.glob("part-*.parquet") if path.is_file())
        if not paths:
            raise DataError(f"{self.folder}: no table there; `dvc repro` runs the stages in their order")
        return paths

    def __len__(self) -> int:
        return len(self.paths)

    def __iter__(self) -> Iterator[pa.Table]:
        return self.read()

    def read(self, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
        """Yield the parts in order, with all or only some columns."""
        for path in self.paths:
            yield _read(path, columns)

    def part(self, number: int, columns: Sequence[str] | None = None) -> pa.Table:
        """Read one part, with all or only some columns."""
        return _read(self.paths[number], columns)

    @property
    def rows(self) -> int:
        """Number of rows in all parts."""
        return sum(_opened(path).metadata.num_rows for path in self.paths)

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
        paths = self.paths
        try:
            return pq.read_table([*map(str, paths)], columns=columns, page_checksum_verification=True)
        except (pa.ArrowException, OSError):
            return pa.concat_tables(self.read(columns))  # its error names the part

    @property
    def schema(self) -> pa.Schema:
        """The schema of the first part, with its metadata."""
        return _opened(self.paths[0]).schema_arrow

    @property
    def about(self) -> dict[str, Any]:
        """The facts about the table that its stage stored in the schema."""
        return about(self.schema)


def describe(table: pa.Table, facts: dict[str, Any]) -> pa.Table:
    """Return the table with facts, stored as JSON in the metadata of its schema."""
    return table.replace_schema_metadata({METADATA_KEY: json.dumps(facts, sort_keys=True, ensure_ascii=False)})


def about(schema: pa.Schema) -> dict[str, Any]:
    """Return the facts that `describe` stored in a schema; empty if there are none."""
    return dict(json.loads((schema.metadata or {}).get(METADATA_KEY, b"{}")))


def write_part(table: pa.Table, folder: Path, number: int) -> Path:
    """Write one part, which is there at once and whole; the same table gives the same bytes."""
    path = folder / f"part-{number:05d}.parquet"
    with temporary_in(folder.parent, f"{path.name}.") as temporary:  # what a killed process leaves is not in the table
        pq.write_table(table, temporary, compression="zstd", write_page_checksum=True)
        temporary.replace(path)
    return path


def _read(path: Path, columns: Sequence[str] | None = None) -> pa.Table:
    with _naming(path):
        return pq.read_table(path, columns=columns, page_checksum_verification=True)


def _opened(path: Path) -> pq.ParquetFile:
    with _naming(path):
        return pq.ParquetFile(path)


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
