"""The tables data/load and data/load_rejected: one row per (id, candidate) in each."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa

from tasks.dataset.answers import Source, wanted_columns
from tasks.dataset.description import description
from tasks.dataset.finish import Finished, Finisher
from tasks.dataset.index import RecordIndex, index_of
from tasks.dataset.joined import Lost, read_joined
from tasks.dataset.labels import UnknownLabelError
from tasks.dataset.mapping import CRITERIA, RATINGS, TEXTS
from tasks.dataset.paths import flat
from tasks.dataset.record import Record, Value
from tasks.dataset.remainder import remainder_of
from tasks.dataset.scan import Scan, scan
from tasks.dataset.settings import Dataset, Params
from tasks.pipeline.progress import Progress, quiet
from tasks.pipeline.tables import describe
from tasks.pipeline.workers import Crew
from tasks.scores.column_facts import PROBABILITY, WEIGHT

REJECTED = pa.schema(
    {"file": pa.string(), "line": pa.int64(), "id": pa.string(), "candidate": pa.string(), "reason": pa.string()}
)


def tables(
    records: Iterable[Record],
    params: Params,
    *,
    crew: Crew | None = None,
    scratch: Path | None = None,
    progress: Progress = quiet,
) -> Iterator[dict[str, pa.Table]]:
    """Yield the parts of both tables, rows in input order.

    A record that can't be used, or whose id an earlier record has, is rejected for every candidate. Entries of joined
    files that become no row are rejected behind the last row. So answers read = rows + rejected rows, where a record of
    the wide form holds an answer of each candidate, and a record of the long form one.

    Args:
        records: The user's records. They are read once, in batches; what is mapped of them goes to disk, and memory
            holds hashes of each record and of each entry of a joined file. An iterator is first read into a list.
        params: The sections `dataset` and `load`.
        crew: The processes that map batches; none: this one.
        scratch: A folder for what goes to disk; none: a temporary one.
        progress: Is told how many records are read, and then how many are rows.

    Yields:
        The two tables of a part, as `load` and `load_rejected`.

    Raises:
        DataError: A mapped column is in no record, a label can't be read, or no record is selected.
    """
    params.check()
    records = list(records) if isinstance(records, Iterator) else records
    with nullcontext(str(scratch)) if scratch else TemporaryDirectory() as folder:
        crew = crew or Crew()
        source = Source(params, read_joined(params, Path(folder), crew))
        try:
            found = scan(records, source, Path(folder), crew, progress)
            yield from _parts(records, source, found, progress)
        except UnknownLabelError as error:
            raise error.with_words(_labelled(records, source)) from None


def _parts(records: Iterable[Record], source: Source, found: Scan, progress: Progress) -> Iterator[dict[str, pa.Table]]:
    index = index_of(found.keys, found.codes, found.names, found.beyond, source)
    if columns := _scores_of_candidates(index, source.dataset):
        flat(records, columns)
    lost = remainder_of(source, found, index)
    failed = {name: one.problems for name, one in source.joined.candidates.items() if one.problems}
    facts = description(source.params, index, lost.left_out, lost.label_conflicts, failed)
    part = _Part(source.params, facts)
    finisher, total = Finisher(source, found, index, schema(source.params)), found.starts[-1]
    for number in range(len(found.rows)):
        done: Finished | None = finisher.finished(number)
        while done is not None:
            done = part.add(done)
            if done is not None:
                yield part.tables()
                part = _Part(source.params, facts)
        progress("records", found.starts[number + 1], total)
    for name, one in lost.rejected:
        if part.is_full:
            yield part.tables()
            part = _Part(source.params, facts)
        part.add_lost(name, one)
    yield part.tables()


def _scores_of_candidates(index: RecordIndex, dataset: Dataset) -> dict[str, str]:
    """Return the columns of scores whose names are known only with the candidates of a long table."""
    scores = [*dataset.scores.items()] if dataset.long else []
    return {
        column: f"dataset.scores.{key}"
        for key, score in scores
        for name in index.names
        for column in score.columns_of(name)
        if score.is_by_candidate
    }


def schema(params: Params) -> pa.Schema:
    """Return the schema of data/load; `ratings`, `slices` and all from `contexts` on depend on what is mapped."""
    slices = pa.struct([(name, pa.string()) for name in params.dataset.slices])
    return pa.schema(
        {
            **dict.fromkeys(["id", "candidate", "input", "response"], pa.string()),
            "references": TEXTS,
            "label": pa.bool_(),
            "label_status": pa.string(),
            **({PROBABILITY: pa.float64()} if params.dataset.labels == "designed" else {}),
            **({"ratings": RATINGS} if params.dataset.has_raters else {}),
            "group": pa.string(),
            **({WEIGHT: pa.float64()} if params.dataset.weight else {}),
            **({"slices": slices} if params.dataset.slices else {}),
            "phrases": TEXTS,
            **{name: TEXTS for name in ("contexts", "relevant") if getattr(params.dataset, name)},
            **({"criteria": CRITERIA} if params.dataset.criteria else {}),
            **{f"score_{name}": pa.float64() for name in params.dataset.scores},
            **{f"score_{name}_details": pa.string() for name in params.dataset.optional_scores},
            **dict.fromkeys(params.dataset.resources, pa.float64()),
            "content": pa.string(),
            **({"question": pa.string(), "draw": pa.int64()} if params.dataset.has_draws else {}),
        }
    )


class _Part:
    """Collects the rows of one part of data/load and data/load_rejected."""

    def __init__(self, params: Params, facts: Mapping[str, Any]) -> None:
        self._params, self._facts = params, facts
        self._rows: list[pa.Table] = []
        self._rejected: list[Mapping[str, Any]] = []
        self._read = 0

    @property
    def is_full(self) -> bool:
        """Whether one more answer would exceed `load.part_rows`."""
        return self._read >= self._params.load.part_rows

    def add(self, done: Finished) -> Finished | None:
        """Add records as far as there is room, one at least to an empty part; return the others; None without any."""
        ends = np.cumsum(done.read)
        most = int(np.searchsorted(ends, self._params.load.part_rows - self._read, "right"))
        if not most and not self._read:
            most = 1
        here, others = done.divided(most)
        self._rows.append(here.load)
        self._rejected += here.rejected
        self._read += int(here.read.sum())
        return others

    def add_lost(self, name: str | None, lost: Lost) -> None:
        """Add a rejected row for an entry of a joined file that became no row; name: of the candidate, if known."""
        self._read += 1
        file, line = lost.entry.file, lost.entry.line
        self._rejected.append({"file": file, "line": line, "id": lost.key, "candidate": name, "reason": lost.reason})

    def tables(self) -> dict[str, pa.Table]:
        """Return both tables of the part."""
        rows = pa.concat_tables([schema(self._params).empty_table(), *self._rows]).combine_chunks()
        return {
            "load": describe(rows, {**self._facts, "rows_read": self._read}),
            "load_rejected": pa.Table.from_pylist(self._rejected, REJECTED),
        }


def _labelled(records: Iterable[Record], source: Source) -> Iterator[Mapping[str, Value]]:
    """Yield the values of all records that may hold labels."""
    for _, one in source.joined.all:
        yield from (entry.values for entry in one.entries)
    yield from (record.values for record in flat(records, {}, wanted_columns(source)))
