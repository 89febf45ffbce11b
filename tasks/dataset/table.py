"""The tables data/load and data/load_rejected: one row per (id, candidate) in each."""

from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa

from tasks.dataset import mapping
from tasks.dataset.settings import Params, ScoreMapping
from tasks.dataset.sources import Record
from tasks.pipeline.tables import describe
from tasks.scores.column_facts import ColumnFacts, statement

REJECTED = pa.schema(
    {"file": pa.string(), "line": pa.int64(), "id": pa.string(), "candidate": pa.string(), "reason": pa.string()}
)
# The human labels, described as a binary score column.
LABEL = ColumnFacts(
    metric="label", family="dataset", signature="label|v:1", bounds=(0.0, 1.0), rate_signature="label|v:1|pass:1"
)


def tables(records: Iterable[Record], params: Params) -> Iterator[dict[str, pa.Table]]:
    """Yield the parts of both tables, rows in input order.

    A record that can't be used, or whose id an earlier record has, is rejected for every candidate, so records x
    candidates = rows + rejected rows.

    Args:
        records: The user's records. They are iterated three times (columns, ids, rows; once more if ids repeat), so
            that memory holds no more than one part and a hash per record; an iterator is first read into a list.
        params: The sections `dataset` and `load`.

    Yields:
        The two tables of a part, as `load` and `load_rejected`.

    Raises:
        DataError: A mapped column is in no record, a label can't be read, or no record is selected.
    """
    params.check()
    records = list(records) if isinstance(records, Iterator) else records
    mapping.require_columns(records, params.dataset)
    index = mapping.index_records(records, params)
    part = LoadPart(params, index)
    for position, record in enumerate(mapping.selected(records, params.dataset)):
        if part.is_full:
            yield part.tables()
            part = LoadPart(params, index)
        part.add(record, position)
    yield part.tables()


def schema(params: Params) -> pa.Schema:
    """Return the schema of data/load; `slices` and `score_<name>` depend on what is mapped."""
    slices = pa.struct([(name, pa.string()) for name in params.dataset.slices])
    texts = pa.list_(pa.string())
    return pa.schema(
        {
            **dict.fromkeys(["id", "candidate", "input", "response"], pa.string()),
            "references": texts,
            "label": pa.bool_(),
            "label_status": pa.string(),
            "group": pa.string(),
            **({"slices": slices} if params.dataset.slices else {}),
            "phrases": texts,
            **{f"score_{name}": pa.float64() for name in params.dataset.scores},
            "content": pa.string(),
        }
    )


class LoadPart:
    """Collects the rows of one part of data/load and data/load_rejected."""

    def __init__(self, params: Params, index: mapping.RecordIndex) -> None:
        self.params, self.index = params, index
        self.rows: list[dict[str, Any]] = []
        self.rejected: list[dict[str, Any]] = []
        self.read = 0

    @property
    def is_full(self) -> bool:
        """Whether one more record would exceed `load.part_rows`; rows of one record stay in one part."""
        return self.read + len(self.params.dataset.named) > self.params.load.part_rows

    def add(self, record: Record, position: int) -> None:
        """Add a row or a rejected row for each candidate; position: the record's, among those selected."""
        candidates = self.params.dataset.named
        self.read += len(candidates)
        row_id = None
        try:
            if self.params.dataset.id:
                row_id = mapping.id_from_column(record, self.params)
            shared = mapping.shared_values(record, self.params)
            row_id = row_id or mapping.id_from_input(shared, self.index)
            mapping.require_new_id(record, self.index.repeated.get(position), self.params.dataset)
        except mapping.UnusableValueError as reason:
            self.rejected += [_rejected_row(record, row_id, name, reason) for name in candidates]
            return
        for name in candidates:
            try:
                self.rows.append(mapping.candidate_row(record, row_id, shared, name, self.params))
            except mapping.UnusableValueError as reason:
                self.rejected.append(_rejected_row(record, row_id, name, reason))

    def tables(self) -> dict[str, pa.Table]:
        """Return both tables of the part."""
        description = {**_description(self.params), "rows_read": self.read}
        return {
            "load": describe(pa.Table.from_pylist(self.rows, schema(self.params)), description),
            "load_rejected": pa.Table.from_pylist(self.rejected, REJECTED),
        }


def _rejected_row(record: Record, row_id: str | None, candidate: str, reason: Exception) -> dict[str, Any]:
    return {"file": record.file, "line": record.line, "id": row_id, "candidate": candidate, "reason": str(reason)}


def _description(params: Params) -> dict[str, Any]:
    """Describe data/load for later stages."""
    dataset = params.dataset
    labels = {"label": LABEL} if dataset.has_labels else {}
    scores = {f"score_{name}": _score_description(name, score) for name, score in dataset.scores.items()}
    return {
        "candidates": {name: candidate.about for name, candidate in dataset.named.items()},
        **statement(labels | scores),
        "labels": dataset.labels,
        "max_rejected": params.load.max_rejected,
        "missing_response": dataset.missing_response,
    }


def _score_description(name: str, score: ScoreMapping) -> ColumnFacts:
    bounds = "none" if score.bounds is None else "..".join(map(_exact, score.bounds))
    signature = f"score|name:{name}|bounds:{bounds}|better:{'higher' if score.higher_is_better else 'lower'}|v:2"
    rate_signature = None
    if score.threshold is not None:
        rate_signature = f"{signature}|thr:{'>=' if score.higher_is_better else '<='}{_exact(score.threshold)}"
    return ColumnFacts(
        metric=name,
        family="dataset",
        signature=signature,
        bounds=score.bounds,
        higher_is_better=score.higher_is_better,
        options={"column": score.column},
        threshold=score.threshold,
        rate_signature=rate_signature,
    )


def _exact(number: float) -> str:
    """Format a number with all its digits.

    >>> _exact(1.0), _exact(0.5)
    ('1', '0.5')
    """
    return repr(float(number)).removesuffix(".0")
