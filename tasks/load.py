"""Loads the user's records by the mapping in params.yaml; what can't be used is kept beside, with the reason."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any, Literal, Self

import pyarrow as pa
from pydantic import Field, FiniteFloat, field_validator, model_validator

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
from tasks.dataset.sources import Record, Records, records
from tasks.errors import ParamsError
from tasks.pipeline.contract import Contract
from tasks.pipeline.settings import Section
from tasks.pipeline.tables import Parts, about, describe

WHOLE = True
Name = Annotated[str, Field(min_length=1)]
Positive = Annotated[int, Field(ge=1)]
SHOWN = 5
"""Rejected answers that a message lists."""
REJECTED = pa.schema(
    {
        "file": pa.string(),
        "line": pa.int64(),
        "id": pa.string(),
        "candidate": pa.string(),
        "reason": pa.string(),
    }
)


class Candidate(Section):
    """A system whose answers are scored: the column of its answers, that of people's verdicts, facts about it."""

    response: Name
    label: Name | None = None
    about: dict[str, Any] = Field(default_factory=dict)

    @field_validator("about", mode="before")
    @classmethod
    def _as_json(cls, facts: Any) -> Any:
        return json.loads(json.dumps(facts, default=str, allow_nan=False))  # YAML makes dates of dates


class Score(Section):
    """Numbers from elsewhere. In `column`, {candidate} stands for the candidate's name; bounds: null = unknown."""

    column: Name
    bounds: tuple[FiniteFloat, FiniteFloat] | None = None
    threshold: FiniteFloat | None = None
    higher_is_better: bool = True

    def of(self, candidate: str) -> str:
        """The column of this candidate's scores."""
        return self.column.replace("{candidate}", candidate)

    @model_validator(mode="after")
    def _check_threshold(self) -> Self:
        low, high = self.bounds or (float("-inf"), float("inf"))
        if low >= high:
            raise ValueError(f"bounds {low:g} to {high:g} hold nothing")
        if self.threshold is not None and not low <= self.threshold <= high:
            raise ValueError(f"threshold {self.threshold:g} is outside the bounds {low:g} to {high:g}")
        return self


class Dataset(Section):
    """Where the user's records are, and which of their columns are what."""

    path: Name
    pattern: Name | None
    limit: Positive | None
    exclude: dict[Name, str | bool | int | float | None]
    missing_response: Literal["unmeasured", "wrong"]
    id: Name | None
    input: Name | None
    references: Name | None
    reference_separator: Name | None
    candidates: Annotated[dict[Name, Candidate], Field(min_length=1)]
    labels: Literal["all", "random", "other"]
    group: Name | None
    slices: tuple[Name, ...]
    phrases: Name | None
    scores: dict[Annotated[str, Field(pattern=r"^[A-Za-z]\w*$")], Score]

    @field_validator("scores", mode="before")
    @classmethod
    def _name_is_column(cls, scores: Any) -> Any:
        if not isinstance(scores, dict):
            return scores
        return {name: {"column": score} if isinstance(score, str) else score for name, score in scores.items()}

    @field_validator("slices")
    @classmethod
    def _once_each(cls, slices: tuple[str, ...]) -> tuple[str, ...]:
        if len(set(slices)) < len(slices):
            raise ValueError("a column stands twice")
        return slices

    @model_validator(mode="after")
    def _id_from_something(self) -> Self:
        if self.id is None and self.input is None:
            raise ValueError("id: null takes the hash of the input, but input is null too; name a column in one")
        return self


class Load(Section):
    """How records become rows."""

    part_rows: Positive
    max_chars: Positive
    max_rejected: Annotated[float, Field(ge=0, le=1)]
    require_references: bool


class Params(Section):
    """The sections this stage sees."""

    dataset: Dataset
    load: Load

    def check(self) -> None:
        """Raise ParamsError when the two sections do not fit together."""
        if len(self.dataset.candidates) > self.load.part_rows:
            count = len(self.dataset.candidates)
            raise ParamsError(f"load.part_rows: {self.load.part_rows}, but one id alone has {count} candidates")
        if self.load.require_references and self.dataset.references is None:
            raise ParamsError("dataset.references: null, but load.require_references is true; name the column")


def source(params: Params) -> Records:
    """The records of the user's files."""
    return records(params.dataset.path, params.dataset.pattern)


def load(records: Iterable[Record], params: Params) -> Iterator[dict[str, pa.Table]]:
    """One row per (id, candidate), and in load_rejected one per (id, candidate) that can't be used; in input order.

    records: iterated three times (columns, ids, rows), so that no more than a part and a hash per record is in
    memory. A record that can't be used is rejected for every candidate: records x candidates = rows + rejected.
    Raises DataError for a mapped column that is nowhere, equal ids, labels that are none, and when nothing is left.
    """
    params.check()
    records = list(records) if isinstance(records, Iterator) else records
    require_columns(records, params.dataset)
    part = _Part(params, numbering(records, params))
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


def expect(params: Params) -> Contract:
    """Complete rows with known candidates, texts within their length, scores within bounds; nothing lost."""
    from great_expectations import expectations as gxe

    scores = [(f"score_{name}", s.bounds) for name, s in params.dataset.scores.items() if s.bounds]
    return Contract(
        rows=[
            *(gxe.ExpectColumnValuesToNotBeNull(column=c) for c in ["id", "candidate", "references", "content"]),
            gxe.ExpectColumnValuesToBeInSet(column="candidate", value_set=list(params.dataset.candidates)),
            *(
                gxe.ExpectColumnValueLengthsToBeBetween(column=column, min_value=low, max_value=params.load.max_chars)
                for column, low in [("id", 1), ("input", 0), ("response", 0)]
            ),
            gxe.ExpectColumnValuesToMatchRegex(column="content", regex="^[0-9a-f]{64}$"),
            *(gxe.ExpectColumnValuesToBeBetween(column=c, min_value=low, max_value=high) for c, (low, high) in scores),
        ],
        keys=[gxe.ExpectCompoundColumnsToBeUnique(column_list=["id", "candidate"])],
        counts=[
            gxe.ExpectColumnValuesToBeBetween(column="rows", min_value=1),
            gxe.ExpectColumnPairValuesToBeEqual(column_A="rows_read", column_B="rows_loaded_or_rejected"),
            gxe.ExpectColumnPairValuesAToBeGreaterThanB(
                column_A="rejected_allowed", column_B="rows_load_rejected", or_equal=True
            ),
        ],
    )


def counts(load: pa.Table, load_rejected: pa.Table) -> dict[str, float]:
    """Of one part: (id, candidate) rows read, found again in the two tables, and how many may be rejected."""
    facts = about(load.schema)
    return {
        "rows_read": facts["rows_read"],
        "rows_loaded_or_rejected": load.num_rows + load_rejected.num_rows,
        # Parts are added up in floating point: 100 rows at 0.01 must allow 1 however they are divided.
        "rejected_allowed": facts["rows_read"] * facts["max_rejected"] * (1 + 1e-9),
    }


def advice(written: Mapping[str, Parts], params: Params) -> list[str]:
    """What to tell who finds the contract broken: the first answers that can't be used, and why."""
    rejected = written["load_rejected"].whole()
    if not rejected.num_rows:
        return []
    share = f"{rejected.num_rows:,} of {rejected.num_rows + written['load'].rows:,}"
    limit = f"load.max_rejected is {params.load.max_rejected:g} (1 keeps the rest, and lists all in data/load_rejected)"
    return [
        f"{share} answers can't be used, and {limit}; the first:",
        *(
            f"  {row['file']}, line {row['line']}, {row['candidate']}: {row['reason']}"
            for row in rejected.slice(0, SHOWN).to_pylist()
        ),
    ]


class _Part:
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


def _score_facts(name: str, score: Score) -> dict[str, Any]:
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
