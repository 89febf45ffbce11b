"""Paths into nested records: what they name, what they find, and the messages about those that lead nowhere."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.dataset.columns import Columns
from goldmeter.dataset.paths import Where, lookup, parse, require_columns, written
from goldmeter.dataset.sources import Record
from goldmeter.errors import DataError


def records(*values: dict[str, Any]) -> list[Record]:
    return [Record("x.jsonl", line, each) for line, each in enumerate(values, 1)]


def columns(name: str, *values: dict[str, Any]) -> list[Any]:
    require_columns(records(*values), {name: "dataset.input"})
    return Columns(values)[name]


def refusal(name: str, *values: dict[str, Any]) -> str:
    with pytest.raises(DataError) as caught:
        require_columns(records(*values), {name: "dataset.input"})
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("question", ("question",)),
        ("doc.question", ("doc", "question")),
        ("choices[0].message.content", ("choices", 0, "message", "content")),
        ("resps.0", ("resps", "0")),
        ("messages[-1].content", ("messages", -1, "content")),
        ("['a.b'].c", ("a.b", "c")),
        ("doc['a.b']", ("doc", "a.b")),
        ('doc["it\'s"]', ("doc", "it's")),
        (r"['it\'s \\ x']", (r"it's \ x",)),
        ("a b.ü 😀", ("a b", "ü 😀")),
    ],
)
def test_steps_of_a_path(text: str, steps: tuple[str | int, ...]) -> None:
    assert parse(text) == steps


@pytest.mark.parametrize("text", ["", ".", "a.", ".a.", "a..b", "a[", "a]", "a[x]", "[0]", "a['b", "a[0]b]", "a[1e9]"])
def test_a_text_that_is_no_path(text: str) -> None:
    assert parse(text) is None


NESTED = {"doc": {"q": "Who?", "n": {"7": "seven"}}, "resps": ["a", ["b", "c"]], "a.b": "dotted", "none": None}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("doc.q", "Who?"),
        ("doc.n.7", "seven"),
        ("resps.0", "a"),
        ("resps[1].1", "c"),
        ("resps[-1][0]", "b"),
        ("['a.b']", "dotted"),
        ("a.b", "dotted"),
        ("doc.n", {"7": "seven"}),
        ("none", None),
    ],
)
def test_what_a_path_finds(path: str, value: Any) -> None:
    assert columns(path, NESTED) == [value]


@pytest.mark.parametrize("path", ["doc.q.x", "doc.zero", "resps.9", "resps[-3]", "doc[0]", "none.x", "resps.x"])
def test_a_path_that_leads_nowhere_in_a_record_is_null_there(path: str) -> None:
    steps = parse(path)

    assert steps is not None
    assert lookup(NESTED, steps) is None


def test_a_missing_path_is_null() -> None:
    assert columns("doc.q", {"doc": {"q": "x"}}, {"doc": None}, {"doc": []}, {}) == ["x", None, None, None]


def test_a_path_in_no_record_is_an_error_with_the_nearest_one() -> None:
    values = {"doc": {"question": "?", "gold": ["a"]}, "id": "1"}

    assert refusal("doc.qestion", values).splitlines() == [
        "dataset.input: no record has a column 'doc.qestion'; did you mean 'doc.question'?",
        "existing columns: 'doc', 'id'",
    ]
    assert refusal("doc.zzzzzz", values).splitlines()[0] == (
        "dataset.input: no record has a column 'doc.zzzzzz'; 'doc' has 'doc.question', 'doc.gold', 'doc.gold[0]'"
    )


def test_a_column_and_a_path_of_one_name_are_an_error_that_says_how_to_quote() -> None:
    expected = (
        "dataset.input: 'a.b' is a column in the data and also leads into nested values; write ['a.b'] for the column"
    )

    assert refusal("a.b", {"a.b": "1"}, {"a": {"b": "2"}}) == expected
    assert refusal("a.b", {"a": {"b": "2"}}, {"a.b": "1"}) == expected
    assert columns("['a.b']", {"a.b": "1", "a": {"b": "2"}}) == ["1"]


def test_names_with_odd_signs_are_columns_as_they_are() -> None:
    for name in ["a[", "x.y", "[0]", "", "a..b", "\ud800.x", "['q']"]:
        assert columns(name, {name: "v"}) == ["v"]


def test_hostile_nesting_is_no_problem() -> None:
    deep: Any = "x"
    for _ in range(5_000):
        deep = {"a": deep}
    wide = {"k": {f"n{i}": ["v"] * 50 for i in range(50_000)}}

    assert "no record has a column 'a.b'" in refusal("a.b", deep, wide)
    assert parse("a" + "[0]" * 10_000) == ("a", *[0] * 10_000)
    assert parse("['" + "\\" * 9_999) is None


names = st.text("ab.[]'\"\\0 é=", min_size=1, max_size=4)
steps = names | st.integers(0, 2) | st.builds(Where, st.sampled_from(["a", "b_1", "a-b", "é"]), names)
trees = st.recursive(
    st.none() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "b", "0", "a.b"]), inner, max_size=3)
    ),
    max_leaves=12,
)


@given(st.lists(steps, min_size=1, max_size=5).filter(lambda path: isinstance(path[0], str)))
def test_written_steps_are_read_again(path: list[str | int]) -> None:
    assert parse(written(path)) == tuple(path)


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ([{"model": "b", "text": "no"}, {"model": "a", "text": "yes"}, {"model": "a", "text": "later"}], "yes"),
        ([{"model": "b"}, "a", None, {"text": "x"}], None),
        ({"model": "a", "text": "an object"}, None),
        ("a", None),
        ([], None),
    ],
)
def test_an_item_of_a_list_is_found_by_its_member(value: Any, found: str | None) -> None:
    assert columns("out[model='a'].text", {"out": value}, {"out": [{"model": "a", "text": "t"}]})[0] == found


def test_the_member_may_be_a_number() -> None:
    assert columns("out[n='3'].t", {"out": [{"n": 3, "t": "x"}]}) == ["x"]


def oracle(value: Any, path: list[str | int]) -> Any:
    for step in path:
        try:
            value = value[int(step)] if isinstance(value, list) else value[step] if isinstance(step, str) else None
        except (KeyError, IndexError, TypeError, ValueError):
            return None
    return value


@given(
    st.dictionaries(st.sampled_from(["a", "b", "0"]), trees, max_size=3),
    st.lists(st.sampled_from(["a", "b", "0", "1", "a.b", 0, 1]), min_size=1, max_size=5).filter(
        lambda path: isinstance(path[0], str)
    ),
)
def test_a_lookup_finds_what_plain_indexing_finds(values: dict[str, Any], path: list[str | int]) -> None:
    assert lookup(values, tuple(path)) == oracle(values, path)
