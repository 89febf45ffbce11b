"""Expectations of the user's own about the rows of data/load: `dataset.expect` of params.yaml."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from goldmeter.errors import ParamsError, did_you_mean
from goldmeter.pipeline.validation import load_gx

# Expectations that compare a row with the other rows of its part, and those of types, which are fixed.
NOT_OF_ROWS = frozenset({
    "ExpectColumnValueZScoresToBeLessThan", "ExpectColumnValuesToBeOfType", "ExpectColumnValuesToBeInTypeList",
})  # fmt: skip
UNIQUE = frozenset({"ExpectColumnValuesToBeUnique", "ExpectCompoundColumnsToBeUnique"})
# Arguments that would let a part pass by its share of rows, or leave rows out, and those that the runner sets.
NOT_ALLOWED = frozenset({
    "mostly", "row_condition", "condition_parser", "id", "meta", "rendered_content", "result_format", "batch_id",
    "catch_exceptions", "windows", "description",
})  # fmt: skip


class OwnExpectations(NamedTuple):
    """Expectations of Great Expectations. rows: about each row. keys: of uniqueness over all rows."""

    rows: list[Any]
    keys: list[Any]


def own_expectations(given: Sequence[Mapping[str, Mapping[str, Any]]]) -> OwnExpectations:
    """Return the expectations of `dataset.expect`: each by its name, with its arguments.

    Raises:
        ParamsError: There is no such expectation about rows, or an argument is unknown or wrong.
    """
    found = OwnExpectations([], [])
    if not given:
        return found  # importing Great Expectations takes seconds
    kinds = _kinds()
    for number, each in enumerate(given):
        where = f"dataset.expect.{number}"
        if len(each) != 1:
            raise ParamsError(f"{where}: expected one expectation with its arguments, found {len(each)}")
        [(name, arguments)] = each.items()
        if name not in kinds:
            raise ParamsError(
                f"{where}: {name}: no expectation of Great Expectations about rows{did_you_mean(name, kinds)}"
            )
        kind = kinds[name]
        (found.keys if kind.__name__ in UNIQUE else found.rows).append(_made(kind, arguments, f"{where}.{name}"))
    return found


def _kinds() -> dict[str, Any]:
    """Name → class of each expectation that every row meets, or does not."""
    load_gx()
    from great_expectations import expectations as gxe
    from great_expectations.expectations import expectation

    of_rows = (
        expectation.ColumnMapExpectation,
        expectation.ColumnPairMapExpectation,
        expectation.MulticolumnMapExpectation,
    )
    every: list[Any] = [kind for kind in vars(gxe).values() if isinstance(kind, type) and issubclass(kind, of_rows)]
    return {kind.expectation_type: kind for kind in every if kind.__name__ not in NOT_OF_ROWS}


def _made(kind: Any, arguments: Mapping[str, Any], where: str) -> Any:
    allowed = sorted(set(kind.__fields__) - NOT_ALLOWED)
    for name in arguments:
        if name not in allowed:
            suggestion = did_you_mean(name, allowed) or ";"
            raise ParamsError(f"{where}: {name}: can't be used here{suggestion} allowed: {', '.join(allowed)}")
    try:
        return kind(**arguments)
    except ValueError as error:  # of pydantic 1, which has a list of errors
        [first, *_] = error.errors() if hasattr(error, "errors") else [{"loc": (), "msg": str(error)}]
        place = ".".join(str(step) for step in first["loc"] if step != "__root__")
        raise ParamsError(f"{where}: {place + ': ' if place else ''}{first['msg']}") from None
