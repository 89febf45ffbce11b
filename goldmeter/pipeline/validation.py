"""Validation of tables: checks each part against its contract with Great Expectations, and adds the results up."""

import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from itertools import chain
from math import isnan
from threading import RLock
from types import ModuleType
from typing import Any, NamedTuple, Self

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import BaseModel, ConfigDict

from goldmeter.errors import ContractError
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


# Regular expressions that Python and Arrow (RE2) read alike: ranges of ASCII letters and digits, and how many of each.
# Python's `$` also matches before a final line end: such a text fails here, but not when whole texts are checked.
SIMPLE_REGEX = re.compile(r"\^(?:\[(?:[0-9A-Za-z](?:-[0-9A-Za-z])?)+\](?:\{[0-9]+\})?)+\$", re.ASCII)
# Expectations that only ask whether a value is null.
NULLNESS = ("expect_column_values_to_not_be_null", "expect_column_values_to_be_null")
LENGTHS, REGEX = "expect_column_value_lengths_to_be_between", "expect_column_values_to_match_regex"
MATCHES = 1.0
# Metadata of an expectation about a narrow frame: the number of the one that it stands for.
ORIGINAL = "goldmeter_original"


def frame_of(table: pa.Table, expectations: Sequence[Any]) -> pd.DataFrame:
    """Return the key columns, and those that the expectations name, as a frame for `check`.

    Texts become categories, and lists their lengths, since Great Expectations hashes and copies its input several
    times.
    """
    named = {name for expectation in expectations for name in columns_named(expectation)}
    columns = {name: _compact(table[name]) for name in table.column_names if name in named or name in KEYS}
    frame: pd.DataFrame = pa.table(columns).to_pandas()
    return frame


def columns_named(expectation: Any) -> list[str]:
    """Return the columns that an expectation names, those of its row condition included."""
    return list(dict.fromkeys(_columns(expectation.configuration.kwargs)))


class Narrow(NamedTuple):
    """A frame without texts, and the expectations about it, one for each of those about the table and in their order.

    Texts of which the expectations only ask the length are replaced by it, and those of which they only ask whether
    they are null, or match a simple regular expression, by the answer. If all expectations hold of this frame, those
    about the table hold.
    """

    frame: pd.DataFrame
    expectations: list[Any]


def narrow(table: pa.Table, expectations: Sequence[Any]) -> Narrow:
    """Return the frame to check first: without the texts of the table as far as possible."""
    uses: dict[str, set[tuple[str, Any]]] = {}
    for expectation in expectations:
        for name, use in _uses(expectation):
            uses.setdefault(name, set()).add(use)
    columns = {name: _narrowed(table[name], uses[name]) for name in table.column_names if name in uses}
    replaced = {name for name, column in columns.items() if column is not None}
    given = {name: _wide(_compact(table[name])) if one is None else one for name, one in columns.items()}
    frame = pa.table(given).to_pandas()
    return Narrow(frame, [_replaced(one, number, replaced) for number, one in enumerate(expectations)])


def _uses(expectation: Any) -> Iterator[tuple[str, tuple[str, Any]]]:
    """Yield each column that an expectation names, and what it asks of it: null, length, regex (and which), or all."""
    kwargs = dict(expectation.configuration.kwargs)
    condition = kwargs.pop("row_condition", None)
    kind, column = expectation.expectation_type, kwargs.get("column")
    asked: tuple[str, Any] = ("all", None)
    if kind in NULLNESS:
        asked = ("null", None)
    elif kind == LENGTHS:
        asked = ("length", None)
    elif kind == REGEX and SIMPLE_REGEX.fullmatch(kwargs["regex"]):
        asked = ("regex", kwargs["regex"])
    yield from ((name, asked if name == column else ("all", None)) for name in _columns(kwargs))
    if isinstance(condition, dict) and condition.get("type") == "nullity":
        yield from ((name, ("null", None)) for name in _columns(condition))
    elif condition is not None:
        yield from ((name, ("all", None)) for name in _columns(condition))


def _narrowed(column: pa.ChunkedArray, uses: set[tuple[str, Any]]) -> pa.ChunkedArray | None:
    """What stands for a column of texts; None: the column itself is needed."""
    more = uses - {("null", None)}
    if not pa.types.is_string(column.type) or len(more) > 1 or ("all", None) in more:
        return None
    for kind, asked in more:
        if kind == "length":
            return _wide(pc.utf8_length(column))
        return pc.match_substring_regex(column, asked).cast(pa.float64())
    return pc.if_else(column.is_valid(), pa.scalar(MATCHES), pa.scalar(None, pa.float64()))


def _replaced(expectation: Any, number: int, replaced: set[str]) -> Any:
    """The expectation about the column that stands for a text."""
    from great_expectations import expectations as gxe

    kwargs = {**expectation.configuration.kwargs, "meta": {ORIGINAL: number}}
    if kwargs.get("column") not in replaced or expectation.expectation_type in NULLNESS:
        return expectation
    if expectation.row_condition is not None:
        kwargs["row_condition"] = expectation.row_condition
    if expectation.expectation_type == LENGTHS:
        return gxe.ExpectColumnValuesToBeBetween(**kwargs)
    del kwargs["regex"]
    return gxe.ExpectColumnValuesToBeInSet(**kwargs, value_set=[MATCHES])


def _columns(kwargs: Any, name: str = "") -> Iterator[str]:
    """The columns named by an expectation or by its row condition; name: the keyword that holds `kwargs`."""
    if isinstance(kwargs, dict):
        for inner, value in kwargs.items():
            yield from _columns(value, name if inner == "name" else inner)
    elif isinstance(kwargs, list):
        for value in kwargs:
            yield from _columns(value, name)
    elif name.startswith("column"):
        yield kwargs


def _wide(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Integers of 64 bits: Great Expectations 1.24 compares other ones value by value, in Python."""
    return column.cast(pa.int64()) if pa.types.is_integer(column.type) else column


def _compact(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if pa.types.is_string(column.type):
        return column.dictionary_encode()
    return pc.list_value_length(column) if pa.types.is_list(column.type) else column
