import json
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.text.json_values import parsed

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**30), 10**30) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a": 1.50}', {"a": Fraction("1.5")}),
        (" [true, null] \n", [True, None]),
        ("1e3", 1000),
        ('Here:\n```json\n{"a": "x  y"}\n```\nDone.', {"a": "x  y"}),
        ("```\n[1]\n```", [1]),
        ("```JSON [2] ```", [2]),
        ("```json\n[1]\n``` or ```json\n[2]\n```", [2]),
        ("```json\n[1]\n``` or ```\n[2", [1]),
        ('{"a": "```"}', {"a": "```"}),
        ("```json\n[1]\n``` then ```\n[2]\n``` as ```py\nprint(2)\n```", [2]),
        ('```json\n{"a": "Use ```py x```", "b": 1}\n```', {"a": "Use ```py x```", "b": 1}),
        ('```json\n{"a": "```b``` 5 ```c```"}\n```', {"a": "```b``` 5 ```c```"}),
        ('Here: ```json {"a": "```"}``` it is', {"a": "```"}),
        ('```json\n{"a": 1}', {"a": 1}),
        ("Done:\n  ```json\n[1]\n  ```\nand\n```json\n[2]\n", [2]),
        ("A fence is ```, so:\n```json\n[1]\n```", [1]),
        ("```json [1]```\n```json [2]```", [2]),
        ("\ufeff [1]", [1]),
        ("\ufeff```json\n\ufeff[1]\n```", [1]),
    ],
)  # fmt: skip
def test_json_and_json_in_a_fenced_block(text, expected):
    assert parsed(text) == (expected, None)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("Paris", "no JSON: Expecting value"),
        ("", "no JSON: Expecting value"),
        ("Here: {}", "no JSON: Expecting value"),
        ('{"a": 1} {"a": 2}', "no JSON: Extra data"),
        ("```json\n[1", "no JSON: Expecting value"),
        ("```json\n{'a': 1}\n``` ```json\n[NaN]\n```", "no JSON: NaN is no JSON number"),
        ('{"a": 1, "b": {"a": 1, "a": 2}}', "no JSON: the key 'a' appears twice in one object"),
        ("[NaN]", "no JSON: NaN is no JSON number"),
        ("-Infinity", "no JSON: -Infinity is no JSON number"),
        ("1" * 5000, "no JSON: a number is too large"),
        ("1e999999", "no JSON: a number is too large"),
        ("1e" + "9" * 30, "no JSON: a number is too large"),
        ("[" * 90_000, "no JSON: nested deeper than 100"),
        ("[" * 101 + "]" * 101, "no JSON: nested deeper than 100"),
        ('{"a":' * 20_000, "no JSON: nested deeper than 100"),
    ],
)
def test_what_is_no_json_says_why(text, problem):
    value, said = parsed(text)

    assert value is None
    assert said.startswith(problem)


def test_many_repeated_keys_are_refused_in_time():
    text = "{" + ", ".join(f'"{i}": 0' for i in range(10_000)) + ', "9999": 0}'

    assert parsed(text).problem == "no JSON: the key '9999' appears twice in one object"


@given(VALUES)
def test_what_python_writes_is_read(value):
    assert parsed(json.dumps(value)) == (value, None)
    assert parsed(f"It is\n```json\n{json.dumps(value)}\n```") == (value, None)


@given(st.text() | st.text(alphabet='[]{}":,0123456789eE.-`\n jsontrue'))
def test_any_text_is_parsed_or_has_a_problem(text):
    value, problem = parsed(text)

    assert value is None or problem is None
