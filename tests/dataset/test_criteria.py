"""Criteria of a rubric: texts, or texts with points, from lists or JSON in a text."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.dataset.criteria import criteria
from goldmeter.dataset.record import as_text
from goldmeter.dataset.texts import UnusableValueError
from tests.dataset.mappings import params_for, parts_of, write_records
from tests.hostile_texts import TEXTS

POINTS = st.floats(0.001, 1e9) | st.integers(1, 9)
CRITERIA = st.lists(
    st.tuples(st.text(st.characters(codec="utf-8"), min_size=1).filter(str.strip), POINTS | POINTS.map(lambda p: -p)),
    min_size=1, max_size=6, unique_by=lambda one: one[0],
).filter(lambda found: any(points > 0 for _, points in found))  # fmt: skip


@given(CRITERIA)
def test_objects_and_json_in_a_text_are_the_same(found: list[tuple[str, float]]) -> None:
    given = [{"text": text, "points": points} for text, points in found]
    expected = [{"text": text, "points": float(points)} for text, points in found]

    assert criteria(as_text(given), "c", 10**6) == expected
    assert criteria(json.dumps(given), "c", 10**6) == expected
    assert criteria(json.dumps(given, ensure_ascii=False, indent=1), "c", 10**6) == expected


@given(CRITERIA)
def test_texts_count_one_point_each(found: list[tuple[str, float]]) -> None:
    texts = [text for text, _ in found]

    assert criteria([*texts], "c", 10**6) == [{"text": text, "points": 1.0} for text in texts]
    assert criteria(json.dumps(texts), "c", 10**6) == criteria([*texts], "c", 10**6)


@given(st.recursive(st.none() | st.text(max_size=9), lambda inner: st.lists(inner, max_size=4) | st.dictionaries(
    st.sampled_from(["text", "criterion", "points", "tags", "x"]), inner, max_size=3), max_leaves=9))  # fmt: skip
def test_any_other_value_is_refused_with_its_column(value: Any) -> None:
    try:
        found = criteria(value, "rubric", 20)
    except UnusableValueError as error:
        assert str(error).startswith("rubric")  # noqa: PT017 (both outcomes are tested)
    else:
        assert found is None or (found and all(one["text"].strip() and one["points"] for one in found))


@pytest.mark.parametrize("value", [None, "", " \n", [], "[]"])
def test_no_criteria(value: Any) -> None:
    assert criteria(value, "c", 100) is None


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (["a", "b", "a"], "c: criteria 1 and 3 are the same"),
        ([{"text": "a", "points": "-1"}], "c: no criterion has positive points"),
        ([{"text": "a", "points": "0"}], "c, criterion 1: points must be a number other than 0"),
        ([{"text": "a", "points": "1e10"}], "c, criterion 1: points must"),
        ([{"text": "a", "points": "nan"}], "c, criterion 1: points must"),
        (["a", {"text": "b", "points": "two"}], "c, criterion 2: points must"),
        ([{"text": "a", "points": ["1"]}], "c, criterion 1: points must"),
        ([{"text": "a", "point": "1"}], "c, criterion 1: unknown key 'point'"),
        ([{"text": "a", "criterion": "a"}], "c, criterion 1: one text is needed"),
        ([{"points": "1"}], "c, criterion 1: one text is needed"),
        (["a", " "], "c, criterion 2: no text"),
        (["a", None], "c, criterion 2: no text"),
        ([["a"]], "c, criterion 1: a list where text is expected"),
        ({"text": "a"}, "c: an object where a list"),
        ('[{"text": "a"', "c: begins as JSON, but is none"),
        ("[" * 100_000, "c: begins as JSON, but is none"),
        (["x" * 101], "c, criterion 1: 101 characters; load.max_chars is 100"),
        ([str(n) for n in range(1001)], "c: 1,001 criteria; 1,000 are the most"),
        (["\ud83d"], "c, criterion 1: character 1 is half of a surrogate pair"),
    ],
)
def test_what_can_t_be_graded_is_refused(value: Any, message: str) -> None:
    with pytest.raises(UnusableValueError) as error:
        criteria(value, "c", 100)

    assert str(error.value).startswith(message)


def test_healthbench_s_names_are_understood() -> None:
    given = [{"criterion": "Names it", "points": "5", "tags": ["level:example"]}]

    assert criteria(given, "rubrics", 100) == [{"text": "Names it", "points": 5.0}]


@pytest.mark.parametrize("text", [*TEXTS, "x" * 10_000, "a\nb", "{{ 7 * 7 }}", "{% for", "criterion 1 is met: true"])
def test_hostile_texts_stay_as_they_are(text: str) -> None:
    if text.strip()[:1] not in {"[", "{", ""}:
        assert criteria(text, "c", 10**7) == [{"text": text, "points": 1.0}]
    if text.strip():
        assert criteria([text], "c", 10**7) == [{"text": text, "points": 1.0}]


GIVEN: list[Any] = [["a", {"text": "b", "points": -2.5}], None, [], [{"text": "é\n", "points": 3}]]
LOADED: list[Any] = [
    [{"text": "a", "points": 1.0}, {"text": "b", "points": -2.5}], None, None, [{"text": "é\n", "points": 3.0}],
]  # fmt: skip


@pytest.mark.parametrize("suffix", [".jsonl", ".csv", ".parquet"])
def test_every_format_gives_the_same_criteria(suffix: str, tmp_path: Path) -> None:
    [tables] = loaded(tmp_path / f"d{suffix}", [{"c": c} for c in (LOADED if suffix == ".parquet" else GIVEN)])

    assert tables["load"]["criteria"].to_pylist() == LOADED
    assert tables["load_rejected"].num_rows == 0


def loaded(path: Path, rows: list[dict[str, Any]], **mapping: Any) -> list[dict[str, pa.Table]]:
    records = [{"id": str(number), "q": "?", "a": "x", "ref": "r"} | one for number, one in enumerate(rows)]
    return parts_of(params_for(write_records(path, records), **{"criteria": "c"} | mapping))


def test_unusable_criteria_reject_the_record_with_the_reason(tmp_path: Path) -> None:
    [tables] = loaded(tmp_path / "d.jsonl", [{"c": ["a"]}, {"c": ["a", "a"]}])

    assert tables["load"]["id"].to_pylist() == ["0"]
    assert tables["load_rejected"]["reason"].to_pylist() == ["c: criteria 1 and 2 are the same"]


def test_other_criteria_or_points_are_another_content(tmp_path: Path) -> None:
    def contents(given: Any, **mapping: Any) -> str:
        [tables] = loaded(tmp_path / "d.jsonl", [{"c": given}], **mapping)
        [content] = tables["load"]["content"].to_pylist()
        return str(content)

    without = contents(["a"], criteria=None)
    found = {contents(given) for given in (["a"], ["b"], [{"text": "a", "points": 2}])}

    assert contents(None) == without
    assert len({*found, without}) == 4


def test_records_of_one_question_must_have_the_same_criteria(tmp_path: Path) -> None:
    rows = [{"id": "0", "m": m, "c": [c]} for m, c in [("one", "a"), ("two", "b")]]

    [tables] = loaded(tmp_path / "d.jsonl", rows, candidates={"column": "m", "response": "a"})

    [reason] = tables["load_rejected"]["reason"].to_pylist()
    assert reason.startswith("id: the first record of this id has another input, references or criteria: ")
