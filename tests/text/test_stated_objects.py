"""Objects that models write: strict JSON, Python's way, prose around, and what is none."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.text.stated_objects import Stated, stated_objects, unquoted

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-99, 99) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text(max_size=4), VALUES, min_size=1, max_size=4)


@pytest.mark.parametrize(
    ("text", "objects"),
    [
        ('{"a": 1}', [{"a": 1}]),
        ('\ufeff {"a": 1}\n', [{"a": 1}]),
        ('Here:\n```json\n{"a": "it\'s"}\n```\nIt isn\'t "more".', [{"a": "it's"}]),
        ("{'a': True, 'b': None, 'c': 'it\\'s \"x\"'}", [{"a": True, "b": None, "c": 'it\'s "x"'}]),
        ('[{"a": 1}, {"b": {"c": 2}}]', [{"a": 1}, {"b": {"c": 2}}]),
        ('{"a": "line\nend"}', [{"a": "line\nend"}]),
        ('{"a": "{\\"b\\": 1}"}', [{"a": '{"b": 1}'}]),
        (r"\frac{1}{2} {} {\text{x}}", [{}]),
        ("none", []),
    ],
)
def test_objects_are_found(text: str, objects: list[dict[str, Any]]) -> None:
    assert stated_objects(text).objects == objects


@pytest.mark.parametrize("text", ['{"a": 1, "a": 2}', "{'a': 1, 'a': 2}", '{"a": NaN}', "{a: 1}", "{'a': b}"])
def test_what_only_looks_like_an_object_is_broken(text: str) -> None:
    assert stated_objects(text) == Stated([], [text])


def test_an_object_without_an_end_is_cut_and_those_in_it_are_found() -> None:
    assert stated_objects('{"a": {"b": 1}, ') == Stated([{"b": 1}], ['{"a": {"b": 1},'], is_cut=True)


@given(OBJECTS, st.sampled_from(["", "So: ", "```json\n"]), st.sampled_from(["", "\n```", " It isn't."]))
def test_an_object_is_read_as_json_and_as_python_print_it(value: dict[str, Any], before: str, after: str) -> None:
    found = stated_objects(f"{before}{json.dumps(value)}{after}")

    assert found.objects == [value]
    assert found.is_whole == (before == after == "")
    printed = stated_objects(f"{before}{json.dumps(value, ensure_ascii=False)}{after}")
    assert printed.objects == [value]


@given(
    st.dictionaries(
        st.from_regex(r"[a-z]{1,4}", fullmatch=True), st.booleans() | st.text("ab '\"\n", max_size=6), min_size=1
    )
)
def test_python_s_print_of_an_object_is_read(value: dict[str, Any]) -> None:
    assert stated_objects(str(value)).objects == [value]


@given(st.text(alphabet="{}[]\"'\\:, ab1\n", max_size=60))
def test_any_text_is_read_without_an_error(text: str) -> None:
    found = stated_objects(text)

    assert all(isinstance(one, dict) for one in found.objects)
    assert isinstance(unquoted(text), str)


@pytest.mark.parametrize("piece", ['{"', "{'", '{"a":', "{", "'", '{"a":1}', "{a"])
def test_hostile_repetition_is_read(piece: str) -> None:
    assert isinstance(stated_objects(piece * 5_000), Stated)


def test_a_text_in_a_json_string_is_unquoted() -> None:
    assert unquoted(json.dumps('{"a": 1}')) == '{"a": 1}'
    assert unquoted('"a" and "b"') == '"a" and "b"'
