"""Filters and the sample by hash."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from goldmeter.judging.sampling import Filter, sampled
from goldmeter.metrics.aliases import ALIASES

ROW = {"id": "q1", "input": None, "response": "12.5", "references": ["Paris", "Rome"], "phrases": [], "candidate": " "}


def holds(field: str, operator: Any, value: Any = None) -> bool:
    return Filter(field=field, operator=operator, value=value).holds(ROW)


@pytest.mark.parametrize(
    ("field", "operator", "value", "expected"),
    [
        ("id", "=", "q1", True),
        ("id", "!=", "q1", False),
        ("input", "=", "x", False),
        ("input", "!=", "x", True),
        ("input", "not_contains", "x", True),
        ("references", "=", "Rome", True),
        ("references", "!=", "Rome", False),
        ("references", "contains", "ari", True),
        ("references", "not_contains", "ari", False),
        ("response", ">", 12, True),
        ("response", ">=", "12.5", True),
        ("response", "<", 12.5, False),
        ("response", "<=", 12.5, True),
        ("id", ">", 0, False),
        ("input", "is_empty", None, True),
        ("candidate", "is_empty", None, True),
        ("phrases", "is_empty", None, True),
        ("id", "is_not_empty", None, True),
        ("output", "=", "12.5", True),
    ],
)
def test_an_operator_means(field: str, operator: str, value: Any, expected: bool) -> None:
    assert holds(field, operator, value) is expected


@pytest.mark.parametrize("alias", ALIASES)
def test_a_field_may_have_the_name_of_another_toolkit(alias: str) -> None:
    assert Filter(field=alias, operator="is_empty", value=None).field == ALIASES[alias]


@pytest.mark.parametrize(
    ("field", "operator", "value", "message"),
    [
        ("label", "=", "x", "unknown field 'label'; allowed: id, candidate"),
        ("id", "~", "x", "operator"),
        ("id", ">", "many", "compares numbers, and 'many' is not a number"),
        ("id", ">", "nan", "compares numbers"),
        ("id", "=", None, "needs a value"),
        ("id", "=", True, "text or a number"),
        ("id", "is_empty", "x", "value must be null"),
    ],
)
def test_a_wrong_filter_is_refused(field: str, operator: str, value: Any, message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        holds(field, operator, value)


@given(st.text(), st.integers(), st.floats(0, 1), st.floats(0, 1))
def test_a_larger_rate_contains_the_smaller(row: str, seed: int, one: float, two: float) -> None:
    small, large = sampled([row], seed, min(one, two))[0], sampled([row], seed, max(one, two))[0]

    assert large or not small
    assert sampled([row], seed, 1.0) == [True]
    assert sampled([row], seed, 0.0) == [False]


def test_the_sample_has_about_the_size_asked_for_and_depends_on_the_seed() -> None:
    ids = [f"q{n}" for n in range(10_000)]

    assert sum(sampled(ids, 1, 0.2)) == 1987
    assert sampled(ids, 1, 0.2) != sampled(ids, 2, 0.2)
