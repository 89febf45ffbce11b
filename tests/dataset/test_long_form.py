"""The long form: one record for each answer, of the system that a column names."""

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from goldmeter.errors import ParamsError
from goldmeter.pipeline import validation
from goldmeter.pipeline.tables import about
from tasks.load import counts, expect, load
from tests.test_load import loaded, params, reasons, records, refusal

LONG = {"column": "model", "response": "a"}
TWO = {"m": {"response": "a"}, "n": {"response": "b"}}
PARIS = {"id": "1", "q": "Capital?", "ref": "Paris", "model": "x", "a": "Paris."}


def keys(rows: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(row["id"], row["candidate"]) for row in rows]


def test_a_row_for_each_record_in_input_order() -> None:
    values = [PARIS | {"id": i, "model": name} for i, name in [("1", "x"), ("2", "y"), ("2", "x"), ("1", "y")]]

    rows, rejected = loaded(values, candidates=LONG)

    assert keys(rows) == [("1", "x"), ("2", "y"), ("2", "x"), ("1", "y")]
    assert rejected == []


def test_the_table_names_the_candidates_with_what_is_noted_about_them() -> None:
    values = [PARIS | {"model": "y", "ok": None}, PARIS]
    (part,) = load(records(*values), params(candidates=LONG | {"label": "ok", "about": {"y": {"size": 7}}}))
    facts = about(part["load"].schema)

    assert facts["candidates"] == {"x": {}, "y": {"size": 7}}
    assert "label" in facts["columns"]


def test_only_some_candidates() -> None:
    values = [PARIS | {"model": name} for name in "xyz"] + [PARIS | {"model": None}]

    rows, rejected = loaded(values, candidates=LONG | {"only": ["z", "x"]})

    assert keys(rows) == [("1", "x"), ("1", "z")]
    assert rejected == []


def test_the_same_answer_twice_is_rejected() -> None:
    rows, [rejected] = loaded([PARIS, PARIS | {"model": "y"}, PARIS | {"a": "Rome"}], candidates=LONG)

    assert keys(rows) == [("1", "x"), ("1", "y")]
    assert (rejected["line"], rejected["id"], rejected["candidate"]) == (3, "1", "x")
    assert rejected["reason"] == "the id '1' of 'x' (dataset.id: id) is also in answers.jsonl, line 1"


@pytest.mark.parametrize("change", [{"q": "Another?"}, {"ref": "Rome"}])
def test_a_record_that_asks_something_else_than_the_first_of_its_id_is_rejected(change: dict[str, str]) -> None:
    values = [PARIS, PARIS | {"model": "y"} | change, PARIS | {"model": "y"}]

    rows, [rejected] = loaded(values, candidates=LONG)

    assert keys(rows) == [("1", "x"), ("1", "y")]
    assert rejected["reason"] == (
        "id: the first record of this id has another input or references: answers.jsonl, line 1"
    )


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        (None, "model: no candidate"),
        (" ", "model: no candidate"),
        (["x"], "model: a list where text is expected"),
        ("x" * 201, "model: 201 characters; 200 is the longest name"),
        ("\ud800", "model: character 1 is half of a surrogate pair"),
    ],
)
def test_a_record_without_a_usable_name_is_rejected(name: Any, reason: str) -> None:
    rows, [rejected] = loaded([PARIS, PARIS | {"model": name}], candidates=LONG)

    assert keys(rows) == [("1", "x")]
    assert (rejected["candidate"], rejected["reason"]) == (None, reason)


def test_without_ids_records_of_one_input_and_references_are_one_question() -> None:
    values = [PARIS, PARIS | {"model": "y"}, PARIS | {"ref": "Rome"}, PARIS | {"ref": "Rome", "model": "y"}, PARIS]

    rows, [rejected] = loaded(values, candidates=LONG, id=None)

    assert len({row["id"] for row in rows}) == 2
    assert [row["candidate"] for row in rows] == ["x", "y", "x", "y"]
    assert "the same input and references of 'x' as in answers.jsonl, line 1" in rejected["reason"]


MISSING = {"id": "1", "q": None, "ref": [], "model": "y", "a": None}


@pytest.mark.parametrize("values", [[MISSING, PARIS], [PARIS, MISSING]], ids=["before", "after"])
def test_a_missing_answer_has_the_question_of_its_id_in_another_record(values: Any) -> None:
    rows, rejected = loaded(values, candidates=LONG)

    assert rejected == []
    assert {(row["input"], *row["references"]) for row in rows} == {("Capital?", "Paris")}
    assert {row["candidate"]: row["response"] for row in rows} == {"x": "Paris.", "y": None}
    assert len({row["content"] for row in rows}) == 1


def test_a_missing_answer_to_a_question_that_is_nowhere_is_unmeasured() -> None:
    rows, rejected = loaded([MISSING, PARIS | {"id": "2"}], candidates=LONG)

    assert [(row["id"], row["input"], row["references"], row["response"]) for row in rows] == [
        ("1", None, [], None), ("2", "Capital?", ["Paris"], "Paris.")
    ]  # fmt: skip
    assert rejected == []


def test_an_answer_without_references_is_no_missing_one() -> None:
    assert reasons([MISSING | {"a": "x"}, PARIS | {"id": "2"}], candidates=LONG) == [
        "ref: no reference that is not blank"
    ]


def test_questions_that_a_candidate_has_no_record_for_are_counted_and_told(caplog: pytest.LogCaptureFixture) -> None:
    values = [PARIS, PARIS | {"id": "2"}, PARIS | {"id": "2", "a": "Lyon"}, PARIS | {"model": "y"}]

    (part,) = load(records(*values), params(candidates=LONG))

    assert about(part["load"].schema)["unanswered"] == {"y": 1}
    assert caplog.messages == [
        "y: no record for 1 questions that others answered; its rates are over the questions it has"
    ]


def test_candidates_whose_records_all_come_after_the_limit_are_told(caplog: pytest.LogCaptureFixture) -> None:
    values = [PARIS | {"id": str(i), "model": name} for name in "xyz" for i in range(3)]

    (part,) = load(records(*values), params(candidates=LONG | {"only": ["z", "x"]}, limit=2))

    assert [*about(part["load"].schema)["candidates"]] == ["x"]
    assert about(part["load"].schema)["beyond_limit"] == {"z": 3}
    assert (
        "dataset.limit: 2: candidates left out, with all their records after the first 2: 'z' (3); sort" in caplog.text
    )


def test_a_limit_that_leaves_every_candidate_a_record_needs_no_word(caplog: pytest.LogCaptureFixture) -> None:
    [*load(records(*[PARIS | {"model": name} for name in "xyxy"]), params(candidates=LONG, limit=2))]

    assert caplog.text == ""


def test_a_score_of_each_candidate_is_in_some_record() -> None:
    values = [PARIS | {"s_x": "1", "o": {"x": "2"}}]

    assert "no record has a column 'z_x'" in refusal(values, candidates=LONG, scores={"m": "z_{candidate}"})
    assert loaded(values, candidates=LONG, scores={"m": "s_{candidate}"})[0][0]["score_m"] == 1
    assert loaded(values, candidates=LONG, scores={"m": "o.{candidate}"})[0][0]["score_m"] == 2


def test_without_ids_the_order_of_references_does_not_tell_questions_apart() -> None:
    values = [PARIS | {"ref": ["2", "two"]}, PARIS | {"ref": ["two", "2"], "model": "y"}]

    rows, _ = loaded(values, candidates=LONG, id=None)

    assert len({row["id"] for row in rows}) == 1


def test_names_that_no_record_has_are_an_error() -> None:
    assert refusal([PARIS], candidates=LONG | {"only": ["X"]}) == "dataset: there is no record"
    assert refusal([PARIS], candidates=LONG | {"only": ["x", "xx"]}) == (
        "dataset.candidates.only: no record has 'xx' in model; did you mean 'x'?\nits values: 'x'"
    )
    assert "dataset.candidates.about: no record has 'z' in model" in refusal(
        [PARIS], candidates=LONG | {"about": {"z": {}}}
    )
    assert refusal([PARIS | {"model": None}], candidates=LONG) == (
        "dataset.candidates.column: no record has a name in model"
    )


def test_a_column_of_texts_names_no_systems() -> None:
    values = [PARIS | {"id": str(i), "model": f"text {i}"} for i in range(1_002)]

    assert refusal(values, candidates=LONG).startswith(
        "dataset.candidates.column: model has more than 1,000 different values, such as 'text 0'"
    )


def test_the_contract_takes_the_names_of_the_records_and_refuses_others_of_a_list() -> None:
    wanted = params(candidates=LONG | {"only": ["x"]})
    (part,) = load(records(PARIS, PARIS | {"id": "2"}), wanted)
    frame = part["load"].to_pandas()

    assert [one for one in validation.check(frame, expect(wanted).rows) if one.failed] == []
    [broken] = [one for one in validation.check(frame.assign(candidate="z"), expect(wanted).rows) if one.failed]
    assert broken.columns.split(",")[0] == "candidate"
    any_name = expect(params(candidates=LONG))
    assert [one for one in validation.check(frame.assign(candidate="z"), any_name.rows) if one.failed] == []


def test_scores_and_labels_of_the_record() -> None:
    values = [PARIS | {"ok": "no", "s": "1"}, PARIS | {"model": "y", "ok": None, "s": "0.5"}]
    mapped = LONG | {"label": "ok"}

    rows, _ = loaded(values, candidates=mapped, scores={"s": "s"})

    assert [(row["label"], row["score_s"]) for row in rows] == [(False, 1.0), (None, 0.5)]


def test_a_misspelt_option_is_named() -> None:
    from goldmeter.dataset.settings import Dataset
    from goldmeter.pipeline.params import section
    from tests.test_load import MAPPING

    with pytest.raises(ParamsError, match=r"^dataset\.candidates\.lable: unknown option; did you mean label"):
        section(Dataset, {"dataset": MAPPING | {"candidates": LONG | {"lable": "x"}}}, "dataset")


# properties

cell = st.none() | st.sampled_from(["a", "b", "", " ", ["l"], "\ud800", "x" * 60])
name = st.sampled_from(["x", "y", "z", "x", "y", "z", None, " ", ["x"]])


@given(
    st.lists(st.fixed_dictionaries({"id": st.sampled_from("123"), "model": name, "q": cell, "ref": cell, "a": cell})),
    st.integers(1, 9),
)
@example([{"id": "1", "model": name, "q": q, "ref": None, "a": None} for name, q in (("x", None), ("y", ""))], 1)
def test_every_record_is_in_exactly_one_table(values: list[dict[str, Any]], part_rows: int) -> None:
    whole = [PARIS | {"id": "0"}, *values]
    parts = list(load(records(*whole), params(candidates=LONG, limits={"part_rows": part_rows})))

    rows = [row for part in parts for row in part["load"].to_pylist()]
    rejected = [row for part in parts for row in part["load_rejected"].to_pylist()]
    assert len(rows) + len(rejected) == len(whole) == sum(counts(part)["rows_read"] for part in parts)
    assert len(set(keys(rows))) == len(rows)
    assert all(part["load"].num_rows + part["load_rejected"].num_rows <= part_rows for part in parts)
    asked = {row["id"]: set() for row in rows}
    for row in rows:
        if row["input"] or row["references"] or row["response"] is not None:  # others only lack an answer
            asked[row["id"]].add(row["content"])
    assert all(len(contents) <= 1 for contents in asked.values())


@given(st.lists(st.tuples(st.text("ab", min_size=1, max_size=2), cell, cell), min_size=1, max_size=8), st.randoms())
def test_the_long_form_gives_the_table_of_the_wide_form(answers: list[Any], random: Any) -> None:
    wide = [{"id": str(i), "q": q, "ref": "r", "a": a, "b": b} for i, (q, a, b) in enumerate(answers)]
    long = [
        {"id": each["id"], "q": each["q"], "ref": "r", "model": name, "a": each[column]}
        for each in wide
        for name, column in (("m", "a"), ("n", "b"))
    ]
    random.shuffle(long)

    by_wide, by_long = loaded(wide, candidates=TWO), loaded(long, candidates=LONG)

    def by_key(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return sorted(rows, key=lambda row: (row["id"], row["candidate"]))

    assert by_key(by_long[0]) == by_key(by_wide[0])
    assert keys(by_key(by_long[1])) == keys(by_key(by_wide[1]))


def test_the_limit_counts_records() -> None:
    values = [PARIS | {"id": str(i)} for i in range(5)]

    assert len(loaded(values, candidates=LONG, limit=2)[0]) == 2
    assert reasons(values, candidates=LONG) == []
