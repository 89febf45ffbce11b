"""A list of records one or two levels down in a JSON object."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from goldmeter.dataset.sources import records
from goldmeter.errors import DataError

TMP = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(value, name="a.json", indent=None):
        (tmp_path / name).write_text(value if isinstance(value, str) else json.dumps(value, indent=indent))
        return name

    return write


def read(path):
    return [record.values for record in records(path)]


@pytest.mark.parametrize(
    "value",
    [
        {"data": [{"q": "x"}]},
        {"version": "1", "results": {"n": 1, "results": [{"q": "x"}], "names": ["a"]}},
        {"empty": [], "mixed": [{}, 1], "details": [{"q": "x"}], "deep": {"deeper": {"list": [{"q": "y"}]}}},
    ],
)
def test_the_only_list_of_objects_is_read(write, value):
    assert read(write(value)) == [{"q": "x"}]


def test_lines_are_those_of_the_file(write):
    path = write({"n": {"m": 1}, "data": [{"q": "x"}, {"q": "y"}]}, indent=1)

    assert [record.line for record in records(path)] == [6, 9]


def test_several_lists_are_named(write):
    path = write({"a": [{"x": 1}], "b": {"c": [{"y": 1}]}})

    with pytest.raises(DataError) as caught:
        read(path)
    said, code = str(caught.value).split("\n  ")
    assert said == (
        "a.json: an object, expected a list of objects; there are several, a, b.c; the first as a file, in Python:"
    )
    exec(code)  # noqa: S102 (the line that was printed)
    assert read("a-records.json") == [{"x": "1"}]


@pytest.mark.parametrize("value", [{"a": [1]}, {"a": {"b": {"c": [{}]}}}, {}])
def test_an_object_without_a_list_is_refused(write, value):
    with pytest.raises(DataError, match=r"^a\.json: an object, expected a list of objects$"):
        read(write(value))


texts = st.text(max_size=5)
leaves = st.none() | st.integers() | texts


@TMP
@given(
    before=st.dictionaries(texts, leaves),
    key=texts,
    inner=texts,
    objects=st.lists(st.dictionaries(texts, leaves), min_size=1),
)
def test_any_list_in_an_object_is_read_as_it_is_alone(tmp_path, before, key, inner, objects):
    (tmp_path / "alone.json").write_text(json.dumps(objects))
    (tmp_path / "inside.json").write_text(json.dumps(before | {key: {inner: objects}}))

    assert read(tmp_path / "inside.json") == read(tmp_path / "alone.json")


def test_a_table_of_columns_and_rows_is_read(write):
    path = write({"columns": ["q", "n"], "data": [["x", 1.50], ["y", None]]}, indent=1)

    assert [(record.line, record.values) for record in records(path)] == [
        (7, {"q": "x", "n": "1.5"}), (11, {"q": "y", "n": None})
    ]  # fmt: skip


@pytest.mark.parametrize("row", [["x"], ["x", 1, 2], "xy", 3])
def test_a_row_that_does_not_fit_its_columns_is_refused(write, row):
    with pytest.raises(DataError, match="line 1"):
        read(write({"columns": ["q", "n"], "data": [row]}))


def test_a_column_that_stands_twice_is_refused(write):
    with pytest.raises(DataError, match="'q' appears twice"):
        read(write({"columns": ["q", "q"], "data": [["x", 1]]}))
