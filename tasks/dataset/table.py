"""The table of data/load, and beside it the answers that can't be used: one row per (id, candidate) in each."""

from collections.abc import Iterable, Iterator
from typing import Any, Self

import pyarrow as pa

from tasks.dataset.mapping import (
    Numbering,
    Unusable,
    chosen,
    hash_id,
    numbering,
    own_id,
    require_columns,
    row,
    shared_by_candidates,
)
from tasks.dataset.settings import Params, ScoreMapping
from tasks.dataset.sources import Record
from tasks.pipeline.tables import describe

REJECTED = pa.schema(
    {
        "file": pa.string(),
        "line": pa.int64(),
        "id": pa.string(),
        "candidate": pa.string(),
        "reason": pa.string(),
    }
)


def tables(records: Iterable[Record], params: Params) -> Iterator[dict[str, pa.Table]]:
    """The parts of both tables, by name (`load`, `load_rejected`), rows in input order.

    records: iterated three times (columns, ids, rows), so that no more than a part and a hash per record is in
    memory. A record that can't be used is rejected for every candidate: records x candidates = rows + rejected.
    Raises DataError for a mapped column that is nowhere, equal ids, labels that are none, and when nothing is left.
    """
    params.check()
    records = list(records) if isinstance(records, Iterator) else records
    require_columns(records, params.dataset)
    part = TablePart(params, numbering(records, params))
    for record in chosen(records, params.dataset):
        if part.full:
            yield part.tables()
            part = part.next()
        part.add(record)
    yield part.tables()


def schema(params: Params) -> pa.Schema:
    """The columns of data/load; `slices` and `score_<name>` depend on what is mapped."""
    slices = pa.struct([(name, pa.string()) for name in params.dataset.slices])
    texts = pa.list_(pa.string())
    return pa.schema(
        {
            **dict.fromkeys(["id", "candidate", "input", "response"], pa.string()),
            "references": texts,
            "label": pa.bool_(),
            "group": pa.string(),
            **({"slices": slices} if params.dataset.slices else {}),
            "phrases": texts,
            **{f"score_{name}": pa.float64() for name in params.dataset.scores},
            "content": pa.string(),
        }
    )


class TablePart:
    """The rows of one part, while it grows."""

    def __init__(self, params: Params, numbers: Numbering) -> None:
        self.params, self.numbers = params, numbers
        self.rows: list[dict[str, Any]] = []
        self.rejected: list[dict[str, Any]] = []
        self.read = 0

    def next(self) -> Self:
        """The part after this one."""
        return type(self)(self.params, self.numbers)

    @property
    def full(self) -> bool:
        """Whether the candidates of one more record would be too many."""
        return self.read + len(self.params.dataset.candidates) > self.params.load.part_rows

    def add(self, record: Record) -> None:
        """Add a row or a rejected row for each candidate."""
        self.read += len(self.params.dataset.candidates)
        row_id = None
        try:
            if self.params.dataset.id:
                row_id = own_id(record, self.params)
            shared = shared_by_candidates(record, self.params)
            row_id = row_id or hash_id(shared, self.numbers)
        except Unusable as reason:
            for name in self.params.dataset.candidates:
                self._reject(record, row_id, name, reason)
            return
        for name in self.params.dataset.candidates:
            try:
                self.rows.append(row(record, row_id, shared, name, self.params))
            except Unusable as reason:
                self._reject(record, row_id, name, reason)

    def _reject(self, record: Record, row_id: str | None, candidate: str, reason: Unusable) -> None:
        self.rejected.append(
            {
                "file": record.file,
                "line": record.line,
                "id": row_id,
                "candidate": candidate,
                "reason": str(reason),
            }
        )

    def tables(self) -> dict[str, pa.Table]:
        """The part's tables."""
        table = pa.Table.from_pylist(self.rows, schema(self.params))
        facts = {**_facts(self.params), "rows_read": self.read}
        return {
            "load": describe(table, facts),
            "load_rejected": pa.Table.from_pylist(self.rejected, REJECTED),
        }


def _facts(params: Params) -> dict[str, Any]:
    """What later stages must know of data/load."""
    dataset = params.dataset
    columns = {"label": LABEL} if any(candidate.label for candidate in dataset.candidates.values()) else {}
    return {
        "candidates": {name: candidate.about for name, candidate in dataset.candidates.items()},
        "columns": columns | {f"score_{name}": _score_facts(name, score) for name, score in dataset.scores.items()},
        "labels": dataset.labels,
        "max_rejected": params.load.max_rejected,
        "missing_response": dataset.missing_response,
    }


def _score_facts(name: str, score: ScoreMapping) -> dict[str, Any]:
    bounds = "none" if score.bounds is None else "..".join(map(_exactly, score.bounds))
    signature = f"score|name:{name}|bounds:{bounds}|better:{'higher' if score.higher_is_better else 'lower'}|v:2"
    gate = {}
    if score.threshold is not None:
        rule = f"thr:{'>=' if score.higher_is_better else '<='}{_exactly(score.threshold)}"
        gate = {"threshold": score.threshold, "rate_signature": f"{signature}|{rule}"}
    return {
        "metric": name,
        "family": "dataset",
        "options": {"column": score.column},
        "signature": signature,
        "bounds": score.bounds,
        "higher_is_better": score.higher_is_better,
        "corpus_is_mean": True,
        **gate,
    }


def _exactly(number: float) -> str:
    """A number with all its digits.

    >>> _exactly(1.0), _exactly(0.5)
    ('1', '0.5')
    """
    return repr(float(number)).removesuffix(".0")


LABEL: dict[str, Any] = {
    "metric": "label",
    "family": "dataset",
    "options": {},
    "signature": "label|v:1",
    "rate_signature": "label|v:1|pass:1",
    "bounds": (0.0, 1.0),
    "threshold": None,
    "higher_is_better": True,
    "corpus_is_mean": True,
}
"""People's verdict, as a binary column."""
