"""Validation of tables: checks each part against its contract with Great Expectations, and adds the results up."""

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from itertools import chain
from math import isnan
from threading import RLock
from types import ModuleType
from typing import Any, Self

import pandas as pd
import pyarrow as pa
from pydantic import BaseModel, ConfigDict

from goldmeter.errors import ContractError
from goldmeter.pipeline.frames import ORIGINAL, columns_named, frame_of, narrow
from goldmeter.pipeline.keys import KEYS, Hashes, hashes_of, key_differences, with_hashes
from goldmeter.pipeline.tables import Parts

# Offending rows that a message lists.
LISTED = 5
BRIEFLY = {"result_format": "BASIC", "partial_unexpected_count": 0}
IN_FULL = {"result_format": "COMPLETE", "return_unexpected_index_query": False}


class Check(BaseModel):
    """The result of one expectation.

    Attributes:
        expectation: Its type, such as expect_column_values_to_not_be_null.
        columns: The columns, and what was expected of them.
        checked: Number of rows.
        failed: Number of offending rows; 1 if the expectation is not about rows, or raised.
        first: The first offending rows.
        advice: What a user can do: the expectation's notes.
    """

    model_config = ConfigDict(frozen=True)

    expectation: str
    columns: str
    checked: int
    failed: int
    first: tuple[str, ...] = ()
    advice: str = ""

    def plus(self, other: Self) -> Self:
        """Add the result over other rows."""
        return self.model_copy(
            update={
                "checked": self.checked + other.checked,
                "failed": self.failed + other.failed,
                "first": (*self.first, *other.first)[:LISTED],
            }
        )

    def __str__(self) -> str:
        rows = f", first: {', '.join(self.first)}" if self.first else ""
        advice = f"\n    {self.advice}" if self.advice else ""
        return f"{self.expectation}({self.columns}): {self.failed:,} of {self.checked:,} rows{rows}{advice}"


def check_rows(table: pa.Table, expectations: Sequence[Any]) -> list[Check]:
    """Check the rows of a table: first without its texts, and all of it only if an expectation fails then."""
    if not expectations:
        return []
    narrowed = narrow(table, expectations)
    outcomes = validate(narrowed.frame, narrowed.expectations, BRIEFLY)
    if not all(outcome["success"] for outcome in outcomes):
        return check(frame_of(table, expectations), expectations)
    return [_check(outcome | _configured(outcome, expectations), table.num_rows) for outcome in outcomes]


def check(frame: pd.DataFrame, expectations: Sequence[Any]) -> list[Check]:
    """Check a frame: one result per expectation. Offending rows are searched only if one failed: that is slow."""
    if not expectations:
        return []
    outcomes = validate(frame, expectations, BRIEFLY)
    if not all(outcome["success"] for outcome in outcomes):
        keys = [key for key in KEYS if key in frame.columns]
        outcomes = validate(frame, expectations, IN_FULL | {"unexpected_index_column_names": keys})
    return [_check(outcome, len(frame)) for outcome in outcomes]


def key_hashes(table: pa.Table, expectations: Sequence[Any]) -> list[Hashes]:
    """Hash the keys of a part for each expectation of uniqueness, over the columns that it names."""
    return [hashes_of(table, columns_named(expectation)) for expectation in expectations]


def check_unique(parts: Parts, rows: int, expectations: Sequence[Any], repeated: Sequence[Hashes]) -> list[Check]:
    """Check that keys are unique over all parts, by the rows whose hash is not.

    Args:
        parts: The table.
        rows: Number of its rows.
        expectations: Of uniqueness, of columns or of several together.
        repeated: For each of them the hashes that occur more than once.
    """
    checks = []
    for expectation, hashes in zip(expectations, repeated, strict=True):
        suspects, positions = with_hashes(parts, columns_named(expectation), hashes)
        frame = frame_of(suspects, [expectation]).set_index(positions)
        checks += [result.model_copy(update={"checked": rows}) for result in check(frame, [expectation])]
    return checks


def check_same_keys(part: pa.Table, source: Parts, number: int) -> Check:
    """Check that a part has the keys of the part it was made from, in the same order.

    Args:
        part: The part that was written.
        source: The table that it was made from.
        number: Of the part, in both tables.
    """
    columns = [name for name in source.schema.names if name in KEYS]
    there = source.part(number, columns) if number < len(source) else part.schema.empty_table()
    found = key_differences(part, there, columns)
    table = source.folder.name
    place = f"part-{number:05d}, row {found.first}: {found.here or 'none'}, in data/{table}: {found.there or 'none'}"
    return Check(
        expectation="expect_keys_to_equal_those_of_input",
        columns=f"{' '.join(columns)}, table {table}",
        checked=part.num_rows,
        failed=found.rows,
        first=(place,) if found.rows else (),
    )


def validate(frame: pd.DataFrame, expectations: Sequence[Any], result_format: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the results of Great Expectations about a frame, as plain values."""
    suite = load_gx().ExpectationSuite("contract", expectations=[*expectations])
    batch = _whole_frame().get_batch({"dataframe": frame})
    return [result.to_json_dict() for result in batch.validate(suite, result_format=result_format).results]


def add_up(results: Iterable[list[Check]]) -> list[Check]:
    """Add up the results of all parts, expectation by expectation."""
    totals: dict[tuple[str, str], Check] = {}
    for result in chain.from_iterable(results):  # the order differs: an expectation that raised comes first in its part
        key = (result.expectation, result.columns)
        totals[key] = totals[key].plus(result) if key in totals else result
    return [*totals.values()]


def check_counts(expectations: Sequence[Any], counts: Mapping[str, float]) -> list[Check]:
    """Check the row of counts."""
    return check(pd.DataFrame([counts]), expectations)


def require(
    stage: str, checks: Sequence[Check], counts: dict[str, float], advice: Callable[[], Sequence[str]] = tuple
) -> None:
    """Raise ContractError if a check failed, with the expectation, the columns, the count and the first rows.

    advice: Lines that say why and what to do, made if a check failed; they come first.
    """
    failed = [f"  {result}" for result in checks if result.failed]
    if not failed:
        return
    title = f"{stage}: the table breaks its contract and was not written"
    numbers = ", ".join(f"{name} {value:,.6g}" for name, value in counts.items())
    lines = [title, *advice(), *failed, f"  counts: {numbers}", f"  all checks: reports/validation/{stage}.json"]
    raise ContractError("\n".join(lines))


def report(checks: Sequence[Check], counts: dict[str, float], lineage: Mapping[str, Any]) -> dict[str, Any]:
    """Return the validation report of a stage as JSON values; the same tables and lineage give the same report."""
    known = {name: None if isnan(value) else value for name, value in counts.items()}
    body = {"success": not any(result.failed for result in checks), "counts": known, "made": lineage}
    return body | {"checks": [result.model_dump(mode="json") for result in checks]}


def load_gx() -> Any:
    """Import Great Expectations, without scipy.stats and altair until one of its expectations uses them."""
    with _left_out("boto3", "botocore", "sqlalchemy"), _deferred("scipy.stats"), _deferred("altair"):
        import great_expectations
        import great_expectations.expectations
    from tqdm import tqdm  # type: ignore[import-untyped]

    # Its own is shared with other processes: a worker that is killed leaves it, and Python warns of that at the end.
    tqdm.set_lock(RLock())
    return great_expectations


@contextmanager
def _left_out(*names: str) -> Iterator[None]:
    """Let importers find modules missing that are not imported yet.

    Great Expectations 1.24 does without these, which it needs for tables in databases and in the cloud. They take
    0.9 s of the 2.4 s that its import takes, in every stage.
    """
    absent = [name for name in names if name not in sys.modules]
    sys.modules |= dict.fromkeys(absent)  # type: ignore[arg-type]
    try:
        yield
    finally:
        for name in absent:
            del sys.modules[name]


@contextmanager
def _deferred(name: str) -> Iterator[None]:
    """Give importers of the module `name` a stand-in, which imports the module when an attribute of it is used.

    Great Expectations 1.24 imports scipy.stats for expectations about distributions, and altair for their charts, which
    no contract has. That takes 1.1 s more.
    """
    if name in sys.modules:
        yield
        return
    stand_in = ModuleType(name)
    vars(stand_in)["__getattr__"] = lambda attribute: getattr(import_module(name), attribute)
    sys.modules[name] = stand_in
    try:
        yield
    finally:
        del sys.modules[name]


@cache
def _whole_frame() -> Any:
    """The batch definition of a whole frame, in a context that writes no file."""
    context = load_gx().get_context(mode="ephemeral")
    context.variables.progress_bars = {"globally": False}
    part = context.data_sources.add_pandas("table").add_dataframe_asset("part")
    return part.add_batch_definition_whole_dataframe("all")


def _configured(outcome: dict[str, Any], expectations: Sequence[Any]) -> dict[str, Any]:
    """The configuration of the expectation about the table, for the outcome of the one about its narrow frame."""
    number = outcome["expectation_config"]["meta"].get(ORIGINAL)
    return {} if number is None else {"expectation_config": expectations[number].configuration.to_json_dict()}


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
        first=tuple(map(_row, offenders[:LISTED])) or ((str(raised),) if raised else ()),
        advice=config.get("notes") or "",
    )


def _raised(info: dict[str, Any]) -> str | None:
    """The message of an expectation that could not run; Great Expectations puts it at the top or one level down."""
    below = [value.get("exception_message") for value in info.values() if isinstance(value, dict)]
    return next((message for message in [info.get("exception_message"), *below] if message), None)


def _described(kwargs: dict[str, Any]) -> str:
    hidden = {"batch_id", "row_condition", "condition_parser"}
    words = [_text(value) for name, value in kwargs.items() if name.startswith("column")]
    rest = {name: value for name, value in kwargs.items() if not name.startswith("column") and name not in hidden}
    words += [f"{name} {_text(value)}" for name, value in rest.items()]
    condition = kwargs.get("row_condition")
    return ", ".join(words) + (f" where {_condition(condition)}" if condition else "")


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
