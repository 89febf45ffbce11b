"""Loads the user's records by the mapping in params.yaml; unusable records go to a second table, with the reason."""

import logging
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pyarrow as pa

from goldmeter.dataset.answers import mapped_columns, opened
from goldmeter.dataset.joined import ANSWERS
from goldmeter.dataset.own_expectations import own_expectations
from goldmeter.dataset.paths import quoted
from goldmeter.dataset.settings import Dataset, Params
from goldmeter.dataset.sources import Record, Records
from goldmeter.dataset.table import tables
from goldmeter.errors import DataError
from goldmeter.pipeline.stage import Contract, Stage, StageInputs
from goldmeter.pipeline.tables import Parts, about

log = logging.getLogger(__name__)

# Rejected answers, or candidates, that a message lists.
LISTED = 5
# Bytes of a data set: a smaller one is loaded before worker processes have started.
SMALLEST = 1 << 22


def source(params: Params) -> Records:
    """Open the user's files as records.

    Raises:
        DataError: A file can't be opened, or lacks a mapped column that another one has; or nobody has been asked yet.
    """
    found = _opened(params)
    if params.dataset.asked and not ANSWERS.exists():
        raise DataError(f"{ANSWERS}: not there; `dvc repro answer` asks the candidates with a model")
    _warn(found.notes)
    return found


def _opened(params: Params) -> Records:
    found = opened(params)
    found.require_in_all_files(mapped_columns(params))
    return found


def _warn(notes: Iterable[str]) -> None:
    for note in notes:
        log.warning(note)


def load(records: Iterable[Record], params: Params, **options: Any) -> Iterator[dict[str, pa.Table]]:
    """Yield one row per (id, candidate), in input order; those that can't be used are in load_rejected.

    The arguments and errors are those of `goldmeter.dataset.table.tables`.
    """
    for number, part in enumerate(tables(records, params, **options)):
        _warn(() if number else _notes(about(part["load"].schema), params.dataset.limit))
        yield part


def _notes(facts: Mapping[str, Any], limit: int | None) -> Iterator[str]:
    """Yield what is easily overlooked in data that can be used."""
    if beyond := facts["beyond_limit"]:
        names = ", ".join(f"{quoted(name)} ({count:,})" for name, count in [*beyond.items()][:LISTED])
        more = f" and {len(beyond) - LISTED:,} more" if len(beyond) > LISTED else ""
        yield (
            f"dataset.limit: {limit:,}: candidates left out, with all their records after the first {limit:,}: "
            f"{names}{more}; sort the records by question, or name candidates in dataset.candidates.only"
        )
    for path, count in facts["left_out"].items():
        yield (f"{path}: {count:,} records left out: their question, or the answer that they label, is not in the data")
    for path, count in facts["label_conflicts"].items():
        yield f"{path}: {count:,} answers have as many right as wrong labels; they count as not labelled"
    if corrections := facts.get("stale_corrections"):
        first, more = ", ".join(map(quoted, corrections["first"])), corrections["questions"] - len(corrections["first"])
        yield (
            f"dataset.corrections: corrections that do not apply, because references have changed since: {first}"
            f"{f' and {more:,} more' if more else ''}; mark these again (flows.label), or delete the lines"
        )
    for name, count in facts["unanswered"].items():
        yield (
            f"{name}: no record for {count:,} questions that others answered; its rates are over the questions it has"
        )


def expect(params: Params) -> Contract:
    """Expect complete rows of the configured candidates, texts and scores within bounds, and no record lost."""
    from great_expectations import expectations as gxe

    own = own_expectations(params.dataset.expect)
    scores = [(f"score_{name}", s.bounds) for name, s in params.dataset.scores.items() if s.bounds]
    return Contract(
        rows=[
            *(gxe.ExpectColumnValuesToNotBeNull(column=c) for c in ["id", "candidate", "references", "content"]),
            *(gxe.ExpectColumnValuesToBeInSet(column="candidate", value_set=names) for names in _names(params)),
            *(
                gxe.ExpectColumnValueLengthsToBeBetween(column=column, min_value=low, max_value=params.load.max_chars)
                for column, low in [("id", 1), ("input", 0), ("response", 0)]
            ),
            gxe.ExpectColumnValuesToMatchRegex(column="content", regex="^[0-9a-f]{64}$"),
            *(gxe.ExpectColumnValuesToBeBetween(column=c, min_value=low, max_value=high) for c, (low, high) in scores),
            *(gxe.ExpectColumnValuesToBeBetween(column=name, min_value=0.0) for name in params.dataset.resources),
            *own.rows,
        ],
        keys=[gxe.ExpectCompoundColumnsToBeUnique(column_list=["id", "candidate"]), *own.keys],
        counts=[
            gxe.ExpectColumnValuesToBeBetween(column="rows", min_value=1),
            gxe.ExpectColumnPairValuesToBeEqual(column_A="rows_read", column_B="rows_loaded_or_rejected"),
            gxe.ExpectColumnPairValuesAToBeGreaterThanB(
                column_A="rejected_allowed", column_B="rows_load_rejected", or_equal=True
            ),
        ],
    )


def _require_expectations(dataset: Dataset) -> None:
    own_expectations(dataset.expect)


def _names(params: Params) -> list[list[str]]:
    """The names that candidates may have, if params.yaml lists them; in the long form they are in the records."""
    dataset = params.dataset
    names = list(dataset.long.only if dataset.long else dataset.named)
    return [names] if names else []


def counts(tables: Mapping[str, pa.Table]) -> dict[str, float]:
    """Count the (id, candidate) rows of one part: read, written to either table, and how many may be rejected.

    Rows that were not needed (`judge.stop`) count as written: they could be used.
    """
    facts = about(tables["load"].schema)
    written = tables["load"].num_rows + tables["load_rejected"].num_rows + facts.get("rows_not_needed", 0)
    return {
        "rows_read": facts["rows_read"],
        "rows_loaded_or_rejected": written,
        # Parts are added up in floating point: 100 rows at 0.01 must allow 1 however they are divided.
        "rejected_allowed": facts["rows_read"] * facts["max_rejected"] * (1 + 1e-9),
    }


def advice(written: Mapping[str, Parts], params: Params) -> list[str]:
    """List the first answers that can't be used, and why."""
    rejected = written["load_rejected"].rows
    if not rejected:
        return []
    first = written["load_rejected"].take(["file", "line", "candidate", "reason"], range(min(rejected, LISTED)))
    share = f"{rejected:,} of {rejected + written['load'].rows:,}"
    limit = f"load.max_rejected is {params.load.max_rejected:g} (1 keeps the rest, and lists all in data/load_rejected)"
    return [
        f"{share} answers can't be used, and {limit}; the first:",
        *(f"  {row['file']}, line {row['line']}, {row['candidate'] or '–'}: {row['reason']}" for row in first.values()),
    ]


def _load(params: Params, inputs: StageInputs) -> Iterator[dict[str, pa.Table]]:
    return load(source(params), params, crew=inputs.crew, scratch=inputs.scratch, progress=inputs.progress)


def _is_large(params: Params) -> bool:
    """Whether there are so many bytes that worker processes pay."""
    return params.dataset.limit is None and sum(file.stat().st_size for file in _opened(params).files) >= SMALLEST


STAGE = Stage(
    params=Params,
    whole=_load,
    is_divided=_is_large,
    expect=expect,
    counts=counts,
    advice=advice,
    check=lambda sections: _require_expectations(sections["dataset"]),
)
