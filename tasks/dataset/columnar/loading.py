"""The load stage in parts, for the files and mappings that columns cover; `tasks.dataset.table` takes all others."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from tasks.dataset.answers import Source, mapped_columns
from tasks.dataset.columnar import csv_lines, json_lines, parquet_rows
from tasks.dataset.columnar.piece import Piece
from tasks.dataset.columnar.repeats import Repeats, repeated, with_repeated_id
from tasks.dataset.columnar.rows import part_of, rows_of
from tasks.dataset.columnar.spans import Part, Scan, Span, parts_of_files, parts_of_selected
from tasks.dataset.columnar.values import selected
from tasks.dataset.description import description
from tasks.dataset.index import index_records, unrelated
from tasks.dataset.joined import JoinedFiles
from tasks.dataset.record import Record
from tasks.dataset.settings import Params
from tasks.dataset.sources import Records
from tasks.pipeline.division import Undivided
from tasks.text.kernels import Flags, Words

# Records that are read at once to count those that `exclude` leaves.
COUNTED = 50_000
# Records with the id of others that are indexed in one process.
MOST_REPEATED = 200_000


class Found(NamedTuple):
    """What is known of a part when it is computed.

    Attributes:
        ids: Hashes of the ids, shape (ids,), uint64.
        columns: Mapped columns that a record has.
        exact: Those of them that could be paths, but are columns.
        nested: Those of them that lead into nested values.
    """

    ids: Words
    columns: frozenset[str]
    exact: frozenset[str]
    nested: frozenset[str]


def plan(records: Records, params: Params) -> list[Part]:
    """Divide records that columns cover into parts of `load.part_rows` answers.

    Raises:
        Undivided: A file has no record, a part is too large, or a record can't be read.
    """
    dataset = params.dataset
    every = params.load.part_rows // len(dataset.named)
    if not dataset.exclude:
        return parts_of_files(records.files, _scan, every, dataset.limit)
    spans = [span for part in parts_of_files(records.files, _scan, COUNTED, None) for span in part.spans]
    return parts_of_selected(spans, (_selected(span, params) for span in spans), every, dataset.limit)


def compute(part: Part, params: Params) -> tuple[dict[str, pa.Table], Found]:
    """Return both tables of a part, and what `accept` has to know of it.

    Raises:
        Undivided: A record can't be read, or a label is none.
    """
    source, names, rows, repeats = _source(params), [*mapped_columns(params)], [], part.repeats
    exact, nested = set[str](), set[str]()
    for piece, wanted in _pieces(part, params):
        rows.append(rows_of(piece, source, names, wanted, repeats))
        exact |= piece.exact
        nested |= piece.nested
        repeats = repeats and replace(repeats, first=repeats.first + rows[-1].repeats)
    facts = description(params, unrelated(params.dataset), {}, {}, {})
    columns = frozenset(name for some in rows for name in some.columns)
    ids = np.concatenate([some.ids for some in rows])
    return part_of(rows, facts), Found(ids, columns, frozenset(exact), frozenset(nested))


def accept(parts: Sequence[Part], found: Sequence[Found], params: Params) -> dict[int, Part]:
    """Return the parts with records whose id others have, by number: they are computed again, with what they must know.

    Raises:
        Undivided: Too many ids repeat, a column is missing, a column has the name of a path, or there is no record.
    """
    if not found or set(mapped_columns(params)) - {name for part in found for name in part.columns}:
        raise Undivided
    if {name for part in found for name in part.exact} & {name for part in found for name in part.nested}:
        raise Undivided
    hashes = repeated(np.concatenate([part.ids for part in found]))
    source, again = _source(params), dict[int, int]()
    records: list[Record] = []
    for number, part in enumerate(parts) if len(hashes) else ():
        if np.isin(found[number].ids, hashes).any():
            again[number] = len(records)
            for piece, wanted in _pieces(part, params):
                records += with_repeated_id(piece, source, wanted, hashes).values()
        if len(records) > MOST_REPEATED:
            raise Undivided
    if not records:
        return {}
    index = index_records(records, source)
    return {number: replace(parts[number], repeats=Repeats(hashes, index, first)) for number, first in again.items()}


def _source(params: Params) -> Source:
    return Source(params, JoinedFiles({}, None, None))


def _pieces(part: Part, params: Params) -> Iterator[tuple[Piece, Flags]]:
    """Yield the records of the spans of a part, and which of them belong to it."""
    names, skip, take = [*mapped_columns(params)], part.skip, part.records
    for span in part.spans:
        piece = _piece(span, names)
        wanted = selected(piece, params.dataset)
        numbers = np.flatnonzero(wanted)
        wanted[numbers[:skip]] = False
        wanted[numbers[skip + take :]] = False
        used = max(min(len(numbers) - skip, take), 0)
        skip, take = max(skip - len(numbers), 0), take - used
        yield piece, wanted


def _piece(span: Span, names: Sequence[str]) -> Piece:
    return FORMATS[Path(span.file).suffix.lower()].read(span, names)


def _selected(span: Span, params: Params) -> int:
    return int(selected(_piece(span, [*params.dataset.exclude]), params.dataset).sum())


def _scan(file: Path, first: int, every: int) -> Iterator[Span]:
    return FORMATS[file.suffix.lower()].scan(file, first, every)


class Format(NamedTuple):
    """How files of a format are divided and read."""

    scan: Scan
    read: Callable[[Span, Sequence[str]], Piece]


CSV = Format(csv_lines.scan, csv_lines.CsvLines)
JSON = Format(json_lines.scan, json_lines.JsonLines)
PARQUET = Format(parquet_rows.scan, parquet_rows.ParquetRows)
FORMATS = {".jsonl": JSON, ".csv": CSV, ".tsv": CSV, ".parquet": PARQUET}
