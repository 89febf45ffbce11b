"""Human labels: words, numbers, several raters; values that no rule reads are errors that show the words."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.dataset.labels import Rater, UnknownLabelError, majority
from goldmeter.dataset.settings import LabelMapping
from goldmeter.errors import ParamsError
from goldmeter.estimates.column_facts import stated
from goldmeter.pipeline.tables import about
from tests.test_load import PARIS, column, load, loaded, params, records, refusal

WORDS = {"column": "ok", "right": ["CORRECT", "A", 5, True], "wrong": ["INCORRECT", "B"], "unsure": ["nan", "?"]}


def label(value: Any, **mapping: Any) -> bool | None:
    return Rater(LabelMapping(**{"column": "ok", **mapping}), "label").read((value,), "x.csv", 1)[1]


@pytest.mark.parametrize(("value", "expected"), [("Yes", True), ("no", False), ("true", True), ("0", False)])
def test_words_that_yaml_reads_as_true_and_false(value: str, expected: bool) -> None:
    assert label(value, right=[True], wrong=[False]) is expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("correct", True),
        (" Correct ", True),
        ("a", True),
        ("5", True),
        ("5.0", True),
        ("true", True),
        ("INCORRECT", False),
        ("b", False),
        ("NaN", None),
        ("?", None),
        ("", None),
        (None, None),
    ],
)
def test_words(value: str | None, expected: bool | None) -> None:
    assert label(value, **WORDS) is expected
    assert label(value, **WORDS, invert=True) is (None if expected is None else not expected)


@pytest.mark.parametrize(
    ("limits", "right", "wrong"),
    [
        ({"at_least": 4}, ["4", "4.0", "5", "1e9"], ["3.99", "-5", "0"]),
        ({"at_most": 2}, ["2", "-1"], ["2.01", "5"]),
        ({"at_least": 2, "at_most": 3}, ["2", "2.5", "3"], ["1", "4"]),
    ],
)
def test_numbers(limits: dict[str, float], right: list[str], wrong: list[str]) -> None:
    assert [label(value, **limits) for value in right] == [True] * len(right)
    assert [label(value, **limits) for value in wrong] == [False] * len(wrong)


@pytest.mark.parametrize("value", ["high", "nan", "inf", "1_0", ["4"], {"a": "4"}])
def test_what_is_no_number_is_no_label(value: Any) -> None:
    with pytest.raises(UnknownLabelError, match="allowed: numbers, or nothing"):
        label(value, at_least=4)


def test_a_column_of_hallucinations_is_inverted() -> None:
    assert [label(value, invert=True) for value in ["true", "no", None]] == [False, True, None]


@pytest.mark.parametrize(
    ("raters", "expected"),
    [
        (["yes", "yes", "no"], True),
        (["no", "no", "yes"], False),
        (["yes", "no", None], None),
        (["yes", "", None], True),
        ([None, None, None], None),
    ],
)
def test_the_majority_of_raters_decides_and_a_tie_is_no_label(raters: list[str | None], expected: bool | None) -> None:
    mapping = LabelMapping(columns=("a", "b", "c"))

    assert Rater(mapping, "label").read(tuple(raters), "x", 1)[1] is expected


def test_the_ratings_of_several_raters_are_kept_in_the_order_of_their_columns() -> None:
    mapping = {"response": "a", "label": {"columns": ["r1", "r2", "r3"]}, "labelled": "text"}
    answers = [
        {"r1": "yes", "r2": "no", "r3": None, "text": "Paris"},
        {"r1": "no", "r2": "no", "r3": "1", "text": "Paris"},
        {"r1": None, "r2": " ", "r3": None, "text": "Paris"},
        {"r1": "yes", "r2": "no", "r3": None, "text": "Rome"},
    ]
    values = [PARIS | {"id": str(number), "a": "Paris"} | answer for number, answer in enumerate(answers)]
    candidates = {"m": mapping, "n": {"response": "a"}}

    assert column("label", values, candidates=candidates)[::2] == [None, False, None, None]
    assert column("label_status", values, candidates=candidates)[::2] == [None, "confirmed", None, None]
    assert column("ratings", values, candidates=candidates) == [
        *([True, False, None], None, [False, False, True], None),
        *(None, None, None, None),  # no ratings; of another answer
    ]


def test_without_several_raters_there_is_no_column_of_ratings() -> None:
    for label in ("ok", {"columns": ["ok"]}):
        rows, _ = loaded([PARIS | {"ok": "yes"}], candidates={"m": {"response": "a", "label": label}})
        assert rows[0]["label"] is True
        assert "ratings" not in rows[0]


@given(st.lists(st.sampled_from([True, False, None])))
def test_a_majority_is_more_than_the_others(verdicts: list[bool | None]) -> None:
    right, wrong = sum(v is True for v in verdicts), sum(v is False for v in verdicts)

    assert majority(verdicts) is (None if right == wrong else right > wrong)


def test_an_unknown_word_lists_the_words_and_how_to_map_them() -> None:
    values = [PARIS | {"id": str(i), "ok": word} for i, word in enumerate(["CORRECT", "true", "nan", "Nan ", None])]

    message = refusal(values, candidates={"m": {"response": "a", "label": "ok"}})

    assert message.splitlines()[1:] == [
        "its values: 'CORRECT', 'true', 'nan'",
        "to map them: label: {column: ok, right: [...], wrong: [...], unsure: [...]}, or at_least: 4 for numbers",
    ]


def test_many_words_are_cut() -> None:
    values = [PARIS | {"id": str(i), "ok": "w" * i} for i in range(1, 200)]

    message = refusal(values, candidates={"m": {"response": "a", "label": {"column": "ok", "right": ["y"]}}})

    assert "allowed: right: y\n" in message
    assert len(message) < 1_500


def test_labels_with_a_mapping_are_loaded() -> None:
    mapped = {"m": {"response": "a", "label": WORDS}}
    values = [PARIS | {"id": str(i), "ok": word} for i, word in enumerate(["A", "b", "?"])]

    assert column("label", values, candidates=mapped) == [True, False, None]


def test_verdicts_of_a_tool_are_a_score_and_no_labels() -> None:
    mapped = {
        "m": {"response": "a", "label": {"column": "status", "right": ["pass"], "wrong": ["fail"], "by": "my grader"}},
        "n": {"response": "b", "label": "human"},
    }
    values = [
        PARIS | {"id": str(i), "status": s, "b": "Lyon", "human": "no"} for i, s in enumerate(["pass", "fail", ""])
    ]
    options = {"candidates": mapped}

    assert column("score_my_grader", values, **options) == [1.0, None, 0.0, None, None, None]
    assert column("label", values, **options) == [None, False] * 3
    facts = stated(about(next(iter(load(records(*values), params(**options))))["load"].schema))
    assert (facts["score_my_grader"].by, facts["score_my_grader"].rule) == ("my_grader", "at 1")
    dataset = params(**options).dataset
    assert ([*dataset.machine_verdicts], [*dataset.label_mappings]) == (["my_grader"], ["dataset.candidates.n.label"])
    assert "not a label" in refusal([PARIS | {"status": "perhaps", "b": "", "human": "no"}], **options)


def test_a_verdict_of_a_tool_on_another_answer_does_not_count() -> None:
    mapped = {"m": {"response": "a", "labelled": "seen", "label": {"column": "ok", "by": "tool"}}}
    values = [PARIS | {"id": str(i), "ok": "yes", "seen": text} for i, text in enumerate(["Paris.", "Lyon."])]

    assert column("score_tool", values, candidates=mapped) == [1.0, None]


def test_verdicts_of_a_tool_in_a_file_of_labels_or_named_as_a_score_are_refused() -> None:
    of_tool = {"column": "ok", "by": "tool"}

    with pytest.raises(ValueError, match="a file of labels is people's"):
        params(label_file={"path": "x", "id": "id", "label": of_tool})
    with pytest.raises(ParamsError, match="of another tool, or that are read by another rule"):
        params(
            candidates={
                "m": {"response": "a", "label": of_tool},
                "n": {"response": "b", "label": of_tool | {"invert": True}},
            }
        ).check()
    with pytest.raises(ParamsError, match=r"gives the score tool, which dataset\.scores has too"):
        params(candidates={"m": {"response": "a", "label": of_tool}}, scores={"tool": "x"}).check()


def test_labels_in_a_nested_column() -> None:
    mapped = {"m": {"response": "a", "label": "meta.grade"}}

    assert column("label", [PARIS | {"meta": {"grade": "yes"}}], candidates=mapped) == [True]


@pytest.mark.parametrize(
    ("mapping", "problem"),
    [
        ({}, "name either column, or the columns"),
        ({"column": "a", "columns": ["b"]}, "name either column, or the columns"),
        ({"columns": ["b", "b"]}, "appears twice"),
        ({"column": "a", "right": ["x"], "at_least": 1}, "use one of the two"),
        ({"column": "a", "at_least": 3, "at_most": 1}, "contain no number"),
        ({"column": "a", "right": ["X"], "wrong": ["x"]}, "'x' stands in two"),
        ({"columns": ["a", "b"], "by": "tool"}, "by: verdicts of a tool or a model are in one column"),
    ],
)
def test_a_mapping_that_makes_no_sense(mapping: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        LabelMapping(**mapping)
