"""Frames for Great Expectations: the columns that a contract names, as narrow as its expectations allow."""

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from goldmeter.pipeline.keys import KEYS

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
