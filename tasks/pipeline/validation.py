"""Checks tables against their contracts with Great Expectations, part by part, and adds the results up."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain
from math import isnan
from typing import Any, Self

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import BaseModel, ConfigDict

from tasks.errors import ContractError
from tasks.pipeline import files
from tasks.pipeline.contract import Contract
from tasks.pipeline.lean_imports import import_when_touched, without

KEYS = ("id", "candidate", "metric", "slice", "slice_value")
"""Columns that name a row, in any table."""
SHOWN = 5
BRIEFLY = {"result_format": "BASIC", "partial_unexpected_count": 0}
IN_FULL = {"result_format": "COMPLETE", "return_unexpected_index_query": False}


class Check(BaseModel):
    """One expectation's result over all rows it saw."""

    model_config = ConfigDict(frozen=True)

    expectation: str
    columns: str
    """The columns and what was expected of them."""
    checked: int
    failed: int
    first: tuple[str, ...] = ()
    """The first offending rows."""
    advice: str = ""
    """What a user can do: the expectation's notes."""

    def plus(self, other: Self) -> Self:
        """The result over the rows of both."""
        return self.model_copy(
            update={
                "checked": self.checked + other.checked,
                "failed": self.failed + other.failed,
                "first": (*self.first, *other.first)[:SHOWN],
            }
        )

    def __str__(self) -> str:
        rows = f", first: {', '.join(self.first)}" if self.first else ""
        advice = f"\n    {self.advice}" if self.advice else ""
        return f"{self.expectation}({self.columns}): {self.failed:,} of {self.checked:,} rows{rows}{advice}"


def check(frame: pd.DataFrame, expectations: Sequence[Any]) -> list[Check]:
    """Run expectations over a frame; one result each. Rows are looked for only when one failed."""
    if not expectations:
        return []
    outcomes = _validate(frame, expectations, BRIEFLY)
    if not all(outcome["success"] for outcome in outcomes):
        keys = [key for key in KEYS if key in frame.columns]
        outcomes = _validate(frame, expectations, IN_FULL | {"unexpected_index_column_names": keys})
    return [_check(outcome, len(frame)) for outcome in outcomes]


def frame_of(table: pa.Table, expectations: Sequence[Any]) -> pd.DataFrame:
    """What expectations ask of a table, and its keys; texts as categories, lists as their lengths.

    Great Expectations hashes and copies all that it is given, several times.
    """
    asked = {name for expectation in expectations for name in _columns(expectation.configuration.kwargs)}
    columns = {name: _compact(table[name]) for name in table.column_names if name in asked or name in KEYS}
    frame: pd.DataFrame = pa.table(columns).to_pandas()
    return frame


def add_up(results: Iterable[list[Check]]) -> list[Check]:
    """The results of all parts, expectation by expectation."""
    totals: dict[tuple[str, str], Check] = {}
    for each in chain.from_iterable(results):  # in any order: of a part, an expectation that raised stands first
        key = (each.expectation, each.columns)
        totals[key] = totals[key].plus(each) if key in totals else each
    return [*totals.values()]


def check_totals(contract: Contract, keys: pd.DataFrame, counts: dict[str, float]) -> list[Check]:
    """Run the table-wise expectations: on the keys of all parts, and on the row of counts."""
    return [*check(keys, contract.keys), *check(pd.DataFrame([counts]), contract.counts)]


def require(stage: str, checks: Sequence[Check], counts: dict[str, float]) -> None:
    """Raise ContractError when a check failed, with the expectation, the columns, the count and the first rows."""
    broken = [each for each in checks if each.failed]
    if not broken:
        return
    numbers = ", ".join(f"{name} {value:,.6g}" for name, value in counts.items())
    lines = [f"{stage}: the table breaks its contract and was not written", *(f"  {each}" for each in broken)]
    raise ContractError("\n".join([*lines, f"  counts: {numbers}", f"  all checks: reports/validation/{stage}.json"]))


def to_json(checks: Sequence[Check], counts: dict[str, float], made: Mapping[str, Any]) -> str:
    """The validation report of a stage; the same tables give the same bytes. made: as tasks.pipeline.lineage has it."""
    known = {name: None if isnan(value) else value for name, value in counts.items()}
    body = {"success": not any(each.failed for each in checks), "counts": known, "made": made}
    return files.to_json(body | {"checks": [each.model_dump() for each in checks]})


def load_gx() -> Any:
    """Great Expectations, imported without what no contract of ours uses: that is half of its time.

    scipy.stats (its tests of distributions) and altair (its charts) are imported when something of them is touched;
    SQLAlchemy, which it takes if it is there, is not there meanwhile.
    """
    for name in ("scipy.stats", "altair"):
        import_when_touched(name)
    with without("sqlalchemy"):
        import great_expectations
    return great_expectations


def _validate(frame: pd.DataFrame, expectations: Sequence[Any], result_format: dict[str, Any]) -> list[dict[str, Any]]:
    suite = load_gx().ExpectationSuite("contract", expectations=[*expectations])
    batch = _whole_frame().get_batch({"dataframe": frame})
    return [each.to_json_dict() for each in batch.validate(suite, result_format=result_format).results]


@cache
def _whole_frame() -> Any:
    """The batch definition "this frame, all of it", in a context that leaves nothing behind."""
    context = load_gx().get_context(mode="ephemeral")
    context.variables.progress_bars = {"globally": False}
    part = context.data_sources.add_pandas("table").add_dataframe_asset("part")
    return part.add_batch_definition_whole_dataframe("all")


def _columns(kwargs: Any, name: str = "") -> Iterator[str]:
    """The columns that an expectation, or the condition on its rows, names."""
    if isinstance(kwargs, dict):
        for inner, value in kwargs.items():
            yield from _columns(value, name if inner == "name" else inner)
    elif isinstance(kwargs, list):
        for value in kwargs:
            yield from _columns(value, name)
    elif name.startswith("column"):
        yield kwargs


def _compact(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if pa.types.is_string(column.type):
        return column.dictionary_encode()
    return pc.list_value_length(column) if pa.types.is_list(column.type) else column


def _check(outcome: dict[str, Any], rows: int) -> Check:
    config, result = outcome["expectation_config"], outcome["result"]
    raised = _raised(outcome.get("exception_info") or {})
    failed = int(result.get("unexpected_count") or 0)
    offenders = result.get("unexpected_index_list") or []
    return Check(
        expectation=config["type"],
        columns=_described(config["kwargs"]),
        checked=int(result.get("element_count", rows)),
        failed=max(failed, 0 if outcome["success"] else 1),
        first=tuple(map(_row, offenders[:SHOWN])) or ((str(raised),) if raised else ()),
        advice=config.get("notes") or "",
    )


def _raised(info: dict[str, Any]) -> str | None:
    """The message of an expectation that could not run; it stands at the top or one level down."""
    below = [each.get("exception_message") for each in info.values() if isinstance(each, dict)]
    return next((message for message in [info.get("exception_message"), *below] if message), None)


def _described(kwargs: dict[str, Any]) -> str:
    hidden = {"batch_id", "row_condition", "condition_parser"}
    shown = [_text(value) for name, value in kwargs.items() if name.startswith("column")]
    rest = {name: value for name, value in kwargs.items() if not name.startswith("column") and name not in hidden}
    shown += [f"{name} {_text(value)}" for name, value in rest.items()]
    condition = kwargs.get("row_condition")
    return ", ".join(shown) + (f" where {_condition(condition)}" if condition else "")


def _condition(condition: dict[str, Any]) -> str:
    column = condition.get("column", {}).get("name", "")
    if condition.get("type") == "nullity":
        return f"{column} is {'' if condition.get('is_null') else 'not '}null"
    if "operator" in condition:
        return f"{column} {condition['operator']} {_text(condition.get('parameter'))}"
    return json.dumps(condition, sort_keys=True)


def _text(value: Any) -> str:
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)


def _row(offender: Any) -> str:
    if not isinstance(offender, dict):
        return f"row {offender}"
    return "/".join(str(offender[key]) for key in KEYS if offender.get(key) is not None) or str(offender)
