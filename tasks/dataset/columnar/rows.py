"""Rows of data/load from columns: the rules of `tasks.dataset.mapping`; odd records take the way of `LoadPart`."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tasks.dataset import mapping
from tasks.dataset.answers import Source
from tasks.dataset.columnar import values
from tasks.dataset.columnar.piece import Lists, Piece, strings
from tasks.dataset.columnar.repeats import Repeats, id_column, id_hashes, with_repeated_id
from tasks.dataset.index import RecordIndex, unrelated
from tasks.dataset.kernels.canonical_json import canonical
from tasks.dataset.kernels.lists import blank
from tasks.dataset.kernels.sha256 import sha256_hex
from tasks.dataset.labels import UnknownLabelError
from tasks.dataset.settings import CandidateMapping
from tasks.dataset.table import RATINGS, REJECTED, LoadPart, schema
from tasks.pipeline.division import Undivided
from tasks.pipeline.tables import describe
from tasks.scores.column_facts import WEIGHT
from tasks.text.kernels import Bytes, Flags, Integers, Words
from tasks.text.utf8 import utf8

TEXTS = pa.list_(pa.string())
# Position of a record that no other one has to do with.
UNKNOWN = -1


class Rows(NamedTuple):
    """What became of consecutive records.

    Attributes:
        load: Rows of data/load.
        rejected: Rows of data/load_rejected.
        read: Number of answers.
        ids: Hashes of the ids that can be used, or of the inputs that ids are made of, shape (ids,), uint64.
        columns: Mapped columns that a record has.
        repeats: Number of records whose id others have.
    """

    load: pa.Table
    rejected: list[dict[str, Any]]
    read: int
    ids: Words
    columns: frozenset[str]
    repeats: int = 0


def part_of(rows: Sequence[Rows], facts: Mapping[str, Any]) -> dict[str, pa.Table]:
    """Return both tables of a part."""
    load = pa.concat_tables([some.load for some in rows]).combine_chunks()
    rejected = [row for some in rows for row in some.rejected]
    description = {**facts, "rows_read": sum(some.read for some in rows)}
    return {"load": describe(load, description), "load_rejected": pa.Table.from_pylist(rejected, REJECTED)}


def rows_of(piece: Piece, source: Source, names: Sequence[str], wanted: Flags, repeats: Repeats | None = None) -> Rows:
    """Turn records into rows.

    Args:
        piece: The records.
        source: Settings.
        names: The mapped columns.
        wanted: Records that are turned into rows, shape (n,).
        repeats: What is known of those whose id others have; none: no two records have the same.

    Raises:
        Undivided: A record can't be read, or a label is none.
    """
    again = with_repeated_id(piece, source, wanted, repeats.hashes) if repeats else {}
    columns = _Columns(piece, source)
    columns.is_odd[[*again]] = True
    table = columns.table(wanted)
    here = frozenset(name for name in names if piece.has(name))
    answers, is_odd = len(source.dataset.named), columns.is_odd & wanted
    read = int(wanted.sum()) * answers
    if not is_odd.any():
        return Rows(table, [], read, columns.ids, here)
    positions = {row: number for number, row in enumerate(again, repeats.first if repeats else 0)}
    odd = _Odd(
        piece, source, np.flatnonzero(is_odd), positions, repeats.index if repeats else unrelated(source.dataset)
    )
    keys = np.repeat(np.flatnonzero(wanted & ~is_odd), answers)
    merged = pa.concat_tables([table, pa.Table.from_pylist(odd.rows, table.schema)])
    order = np.argsort(np.concatenate([keys, odd.keys]), kind="stable")
    return Rows(
        merged.take(pa.array(order)),
        odd.rejected,
        read,
        np.concatenate([columns.ids, odd.ids]),
        here | {name for name in names if name in odd.columns},
        len(again),
    )


class _Odd:
    """The rows of records that are mapped one by one.

    Attributes:
        rows: Of data/load.
        keys: Number of each row's record in the piece, shape (rows,).
        rejected: Rows of data/load_rejected.
        ids: Hashes of the ids that can be used.
        columns: Columns that a record has.
    """

    def __init__(
        self, piece: Piece, source: Source, records: Integers, positions: Mapping[int, int], index: RecordIndex
    ) -> None:
        part = LoadPart(source, index, {})
        ids: list[str] = []
        keys: list[int] = []
        self.columns: set[str] = set()
        for number in records.tolist():
            record = piece.record(number)
            self.columns.update(record.values)
            try:
                part.add(record, positions.get(number, UNKNOWN), source.answers(record))
            except UnknownLabelError:
                raise Undivided from None
            keys += [number] * (len(part.rows) - len(keys))
            if mapping.question_key(record, source) is not None:
                ids.append(str(record.values[id_column(source)]))
        self.rows, self.rejected, self.keys = part.rows, part.rejected, np.array(keys, np.int64)
        self.ids = id_hashes(ids)


class _Columns:
    """The columns of the rows of records that are not odd.

    Attributes:
        is_odd: Records that are, known when the table is made; shape (n,).
        ids: Hashes of the ids of the others, known then.
    """

    ids: Words

    def __init__(self, piece: Piece, source: Source) -> None:
        self.piece, self.source, self.dataset = piece, source, source.dataset
        self.is_odd = piece.is_odd.copy()
        self.max_chars = source.params.load.max_chars
        self.answers = len(self.dataset.named)

    def table(self, wanted: Flags) -> pa.Table:
        """Return the rows of data/load, an answer of each candidate for each wanted record that is not odd."""
        dataset = self.dataset
        ids = self._text(id_column(self.source))
        self.is_odd |= np.array(ids.is_null()) | blank(*utf8(ids))
        inputs = self._optional(dataset.input)
        references = self._references()
        shared: dict[str, Any] = {"group": self._optional(dataset.group)}
        if dataset.weight:
            shared[WEIGHT], is_odd = values.weights(self.piece.texts(dataset.weight))
            self.is_odd |= is_odd
        if dataset.slices:
            slices = [self._text(name) for name in dataset.slices]
            shared["slices"] = pa.StructArray.from_arrays(slices, fields=[*_field("slices", self.source).type])
        lists = {name: self._listed(getattr(dataset, name)) for name in LISTS if getattr(dataset, name)}
        answers = [self._answers(name, candidate) for name, candidate in dataset.named.items()]
        plain = np.flatnonzero(wanted & ~self.is_odd)
        self.ids = id_hashes(_taken(ids, plain))
        found = {name: _taken(column, plain) for name, column in shared.items()}
        inputs, references = _taken(inputs, plain), _lists_taken(references, plain)
        found |= {
            "id": _taken(ids, plain) if dataset.id else _hash(_taken(ids, plain)),
            "input": inputs,
            "references": _list_array(references),
            "content": _content(inputs, references),
            "phrases": pa.nulls(len(plain), TEXTS),
        }
        found |= {name: _list_array(_lists_taken(one, plain), nulls=name != "phrases") for name, one in lists.items()}
        return self._of_answers(found, [{k: _taken(v, plain) for k, v in one.items()} for one in answers])

    def _of_answers(self, shared: dict[str, pa.Array], answers: Sequence[Mapping[str, pa.Array]]) -> pa.Table:
        """Put the answers to a question one behind another."""
        wanted = schema(self.source.params)
        if self.answers == 1:
            return pa.table({name: (shared | {**answers[0]})[name] for name in wanted.names}, wanted)
        n = len(shared["id"])
        again = pa.array(np.repeat(np.arange(n), self.answers))
        columns = {name: column.take(again) for name, column in shared.items()}
        turns = pa.array(np.arange(n * self.answers).reshape(self.answers, n).T.ravel())
        columns |= {name: pa.concat_arrays([one[name] for one in answers]).take(turns) for name in answers[0]}
        return pa.table({name: columns[name] for name in wanted.names}, wanted)

    def _text(self, name: str) -> pa.StringArray:
        """Return a column of texts; rows whose text may be too long are odd, as bytes are at least characters."""
        found = self.piece.texts(name)
        self.is_odd |= found.is_odd
        self.is_odd |= np.diff(utf8(found.values)[1]) > self.max_chars
        return found.values

    def _optional(self, name: str | None) -> pa.StringArray:
        return self._text(name) if name else pa.nulls(len(self.is_odd), pa.string())

    def _listed(self, name: str, separator: str = "") -> Lists:
        found = self.piece.lists(name).divided(separator, self.max_chars)
        self.is_odd |= found.is_odd
        return found

    def _references(self) -> Lists:
        given, separator = self.dataset.references, self.dataset.reference_separator or ""
        columns = [self._listed(name, separator) for name in given.columns] if given else []
        found = _joined(columns, len(self.is_odd))
        if self.source.params.load.require_references:
            self.is_odd |= found.counts == 0
        return found

    def _answers(self, name: str, candidate: CandidateMapping) -> dict[str, pa.Array]:
        """Return the columns of one candidate's answers."""
        response = self._text(candidate.response)
        rows = len(response)
        columns: dict[str, pa.Array] = {
            "label": pa.nulls(rows, pa.bool_()),
            "label_status": pa.nulls(rows, pa.string()),
            "ratings": pa.nulls(rows, RATINGS),
        }
        if candidate.label is not None:
            found = values.labels(self.piece, candidate.label, candidate.labelled, response)
            self.is_odd |= found.is_odd
            columns = {"label": found.values, "label_status": found.status, "ratings": found.ratings}
        for key, score in self.dataset.scores.items():
            texts = [self.piece.texts(column) for column in score.columns_of(name)]
            columns[f"score_{key}"], is_odd = values.scores(texts, score)
            self.is_odd |= is_odd
        for kind in self.dataset.resources:
            columns[kind] = pa.nulls(rows, pa.float64())
            if own := candidate.resources.get(kind):
                columns[kind], is_odd = values.amounts([self.piece.texts(column) for column in own])
                self.is_odd |= is_odd
        if self.dataset.missing_response == "wrong":
            response = pc.fill_null(response, "")
        return columns | {"candidate": pa.repeat(pa.scalar(name), rows), "response": response}


LISTS = ("phrases", "contexts", "relevant")


def _field(name: str, source: Source) -> pa.Field:
    return schema(source.params).field(name)


def _taken(column: pa.Array, rows: Integers) -> pa.Array:
    return column if len(rows) == len(column) else column.take(pa.array(rows))


def _lists_taken(lists: Lists, rows: Integers) -> Lists:
    if len(rows) == len(lists.counts):
        return lists
    is_kept = np.zeros(len(lists.counts), np.bool_)
    is_kept[rows] = True
    items = lists.items.filter(pa.array(np.repeat(is_kept, lists.counts)))
    return Lists(items, lists.counts[rows], lists.is_null[rows], lists.is_text[rows], lists.is_odd[rows])


def _joined(columns: Sequence[Lists], rows: int) -> Lists:
    """Return the lists of several columns as one."""
    if len(columns) == 1:
        return columns[0]
    none = np.zeros(rows, np.bool_)
    if not columns:
        return Lists(pa.array([], pa.string()), np.zeros(rows, np.int64), none, none, none)
    of_rows = np.concatenate([np.repeat(np.arange(rows), column.counts) for column in columns])
    order = pa.array(np.argsort(of_rows, kind="stable"))
    items = pa.concat_arrays([column.items for column in columns]).take(order)
    counts = np.sum([column.counts for column in columns], axis=0)
    return Lists(items, counts, none, none, none)


def _list_array(lists: Lists, *, nulls: bool = False) -> pa.ListArray:
    offsets = np.concatenate([[0], np.cumsum(lists.counts)])
    if offsets[-1] > np.iinfo(np.int32).max:
        raise Undivided
    mask = pa.array(lists.is_null) if nulls else None
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), lists.items, mask=mask)


def _content(inputs: pa.StringArray, references: Lists) -> pa.StringArray:
    """Return the hash of what was asked, as `mapping.candidate_row` does."""
    is_null = np.array(inputs.is_null())
    return _hex(*canonical(*utf8(inputs), is_null, *utf8(references.items), references.counts))


def _hash(texts: pa.StringArray) -> pa.StringArray:
    return _hex(*utf8(texts))


def _hex(data: Bytes, offsets: Integers) -> pa.StringArray:
    return strings(sha256_hex(data, offsets), np.arange(len(offsets), dtype=np.int64) * 64)
