"""Tables in parts: a folder of parquet files, part-00000.parquet, …, with one schema."""

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

METADATA_KEY = b"goldmeter"


@dataclass(frozen=True)
class Parts:
    """A table on disk, read part by part."""

    folder: Path

    @property
    def paths(self) -> list[Path]:
        """The parts' files, in order; raises DataError when there are none."""
        found = sorted(path for path in self.folder.glob("part-*.parquet") if path.is_file())
        if not found:
            raise DataError(f"{self.folder}: no table there; `dvc repro` runs the stages in their order")
        return found

    def __len__(self) -> int:
        return len(self.paths)

    def __iter__(self) -> Iterator[pa.Table]:
        return self.read()

    def read(self, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
        """Each part, or only some columns of it."""
        for path in self.paths:
            yield _read(path, columns)

    def part(self, number: int) -> pa.Table:
        """One part."""
        return _read(self.paths[number])

    @property
    def rows(self) -> int:
        """Rows in all parts."""
        return sum(_opened(path).metadata.num_rows for path in self.paths)

    def take(self, columns: Sequence[str], positions: Sequence[int]) -> dict[int, dict[str, Any]]:
        """Some columns of the rows at `positions`; one part in memory at a time."""
        picked = self.picked(columns, np.asarray(positions, dtype=np.int64))
        return {
            number: row for here, rows in picked for number, row in zip(here.tolist(), rows.to_pylist(), strict=True)
        }

    def picked(
        self, columns: Sequence[str], positions: NDArray[np.int64]
    ) -> Iterator[tuple[NDArray[np.int64], pa.Table]]:
        """Of each part some columns of the rows at `positions`, and which of these they are, in ascending order."""
        wanted, start = np.sort(positions), 0
        for part in self.read([*columns]):
            here = wanted[(wanted >= start) & (wanted < start + part.num_rows)]
            yield here, part.take(pa.array(here - start))
            start += part.num_rows

    def whole(self, columns: Sequence[str] | None = None) -> pa.Table:
        """All parts as one table; for narrow columns only."""
        paths = self.paths
        try:
            return pq.read_table([*map(str, paths)], columns=columns, page_checksum_verification=True)
        except (pa.ArrowException, OSError):
            return pa.concat_tables(self.read(columns))  # says which part it is

    @property
    def schema(self) -> pa.Schema:
        """The schema of the first part, with its metadata."""
        return _opened(self.paths[0]).schema_arrow

    @property
    def about(self) -> dict[str, Any]:
        """What the stage said of the table: `about` of its schema."""
        return about(self.schema)


def describe(table: pa.Table, facts: dict[str, Any]) -> pa.Table:
    """The table with facts (JSON) about it in its schema's metadata."""
    return table.replace_schema_metadata({METADATA_KEY: json.dumps(facts, sort_keys=True, ensure_ascii=False)})


def about(schema: pa.Schema) -> dict[str, Any]:
    """The facts that `describe` put into a schema; empty when there are none."""
    return dict(json.loads((schema.metadata or {}).get(METADATA_KEY, b"{}")))


def write_part(table: pa.Table, folder: Path, number: int) -> Path:
    """Write one part; the same table gives the same bytes."""
    path = folder / f"part-{number:05d}.parquet"
    pq.write_table(table, path, compression="zstd", write_page_checksum=True)
    return path


def _read(path: Path, columns: Sequence[str] | None = None) -> pa.Table:
    with _naming(path):
        return pq.read_table(path, columns=columns, page_checksum_verification=True)


def _opened(path: Path) -> pq.ParquetFile:
    with _naming(path):
        return pq.ParquetFile(path)


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Name the part that can't be read, and the way to make it again."""
    try:
        yield
    except (pa.ArrowException, OSError) as error:
        problem = (str(error).splitlines() or [type(error).__name__])[0]
        raise DataError(
            f"{path}: can't be read as a table: {problem}\n"
            f"Remove {path.parent}; `dvc repro` brings it back, or makes it again."
        ) from None
