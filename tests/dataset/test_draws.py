"""Repeated answers to a question: ids, groups and numbers of draws."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.dataset.table import schema
from goldmeter.errors import ParamsError
from tasks.load import counts, load
from tests.test_load import loaded, params, reasons, records

LONG = {"column": "model", "response": "a"}
PARIS = {"id": "1", "q": "Capital?", "ref": "Paris", "model": "x", "a": "Paris.", "n": "1"}


def drawn(rows: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    return [tuple(row[name] for name in ("id", "candidate", "question", "draw", "group", "response")) for row in rows]


def test_repeated_ids_are_numbered_in_order() -> None:
    rows, rejected = loaded([PARIS, PARIS | {"id": "2"}, PARIS | {"a": "Rome"}], draw=True)

    assert drawn(rows) == [
        ("1#1", "m", "1", 1, "1", "Paris."), ("2#1", "m", "2", 1, "2", "Paris."), ("1#2", "m", "1", 2, "1", "Rome")
    ]  # fmt: skip
    assert rejected == []


def test_in_the_long_form_each_candidate_is_numbered_by_itself() -> None:
    values = [PARIS, PARIS | {"model": "y"}, PARIS, PARIS | {"model": "y"}, PARIS]

    rows, _ = loaded(values, draw=True, candidates=LONG)

    assert [(row["id"], row["candidate"]) for row in rows] == [
        ("1#1", "x"), ("1#1", "y"), ("1#2", "x"), ("1#2", "y"), ("1#3", "x")
    ]  # fmt: skip


@pytest.mark.parametrize(("numbers", "draws"), [("12", [1, 2]), ("10", [2, 1]), (["3", "7.0"], [3, 7])])
def test_a_column_numbers_the_draws_from_0_or_1(numbers: Any, draws: list[int]) -> None:
    rows, _ = loaded([PARIS | {"n": number} for number in numbers], draw="n")

    assert [row["draw"] for row in rows] == draws
    assert [row["id"] for row in rows] == [f"1#{draw}" for draw in draws]


@pytest.mark.parametrize("number", [None, "x", "-1", "1.5", ["1"], "9" * 40])
def test_a_draw_without_a_number_is_rejected(number: Any) -> None:
    rows, [rejected] = loaded([PARIS, PARIS | {"n": number}], draw="n")

    assert len(rows) == 1
    assert rejected["reason"].startswith("n: ")
    assert rejected["reason"].endswith(" is no whole number")


def test_a_draw_that_is_there_twice_is_rejected() -> None:
    assert reasons([PARIS, PARIS | {"n": "2"}, PARIS | {"a": "x"}], draw="n") == [
        "the id '1' (dataset.id: id) is also in answers.jsonl, line 1"
    ]


def test_a_draw_of_another_question_is_rejected() -> None:
    assert reasons([PARIS, PARIS | {"q": "Another?"}], draw=True) == [
        "id: the first record of this id has another input or references: answers.jsonl, line 1"
    ]


def test_a_group_of_the_data_stays() -> None:
    rows, _ = loaded([PARIS | {"who": "g"}, PARIS | {"who": None, "id": "2"}], draw=True, group="who")

    assert [row["group"] for row in rows] == ["g", "2"]


def test_the_draws_of_a_question_are_in_one_group() -> None:
    values = [PARIS | {"who": "g"}, PARIS | {"who": "h"}]

    assert reasons(values, draw=True, group="who") == [
        "id: the first record of this id has another input, references or group: answers.jsonl, line 1"
    ]
    assert reasons([each | {"model": each["who"]} for each in values], group="who", candidates=LONG) == []


def test_without_ids_the_question_is_the_hash_of_the_input() -> None:
    rows, rejected = loaded([PARIS, PARIS], draw=True, id=None)

    assert [row["id"] for row in rows] == [f"{rows[0]['question']}#{n}" for n in (1, 2)]
    assert len(rows[0]["question"]) == 64
    assert rejected == []


def test_a_list_is_repeated_answers() -> None:
    values = [PARIS | {"a": ["x", None, "y"]}, PARIS | {"id": "2", "a": []}, PARIS | {"id": "3", "a": "z"}]

    rows, rejected = loaded(values, lists="draws")

    assert [(row["id"], row["response"]) for row in rows] == [
        ("1#1", "x"), ("1#2", None), ("1#3", "y"), ("2#1", None), ("3#1", "z")
    ]  # fmt: skip
    assert rejected == []


SCORED = {"candidates": {"m": {"response": "a", "label": "ok"}}, "scores": {"s": "s"}, "lists": "draws"}


def test_labels_and_scores_of_a_list_are_taken_item_by_item() -> None:
    values = [
        PARIS | {"a": ["x", "y"], "ok": ["yes", "no"], "s": ["1", None]},
        PARIS | {"id": "2", "a": ["x"], "ok": ["no"], "s": "3"},
        PARIS | {"id": "3", "a": ["x", "y"], "ok": None, "s": None},
    ]

    rows, rejected = loaded(values, **SCORED)

    assert [(row["label"], row["score_s"]) for row in rows] == [
        (True, 1), (False, None), (False, 3), (None, None), (None, None)
    ]  # fmt: skip
    assert rejected == []


@pytest.mark.parametrize(
    ("values", "reason"),
    [({"ok": "yes"}, "ok: one value"), ({"s": "1"}, "s: one value"), ({"s": ["1", "2", "3"]}, "s: a list of 3")],
)
def test_one_label_or_score_is_not_of_each_answer_of_a_list(values: dict[str, Any], reason: str) -> None:
    rows, rejected = loaded([PARIS | {"a": ["x", "y"], "ok": None, "s": None} | values], **SCORED)

    assert rows == []
    assert [row["reason"] for row in rejected] == [
        f"{reason} for 2 answers of a list; expected a list with one value for each"
    ] * 2


def test_lists_and_a_column_of_draws_exclude_each_other() -> None:
    with pytest.raises(ParamsError, match="use one of the two"):
        loaded([PARIS], lists="draws", draw=True)


def test_without_draws_there_are_no_such_columns() -> None:
    assert "draw" not in schema(params()).names
    assert schema(params(draw=True)).names[-2:] == ["question", "draw"]


@pytest.mark.parametrize("draw", [True, "n"])
def test_draws_in_a_joined_file(tmp_path: Path, draw: Any) -> None:
    answers = [{"id": "1", "p": "x", "n": "0"}, {"id": "1", "p": "y", "n": "1"}, {"id": "2", "p": "z", "n": "0"}]
    answers += [{"id": "2", "p": "w", "n": "0"}] if draw == "n" else []
    (tmp_path / "m.jsonl").write_text("".join(json.dumps(each) + "\n" for each in answers))
    mapping = {"path": str(tmp_path), "candidates": {"m": {"path": "m.jsonl", "response": "p"}}}

    rows, rejected = loaded([PARIS, PARIS | {"id": "2"}], draw=draw, **mapping)

    assert [(row["id"], row["response"]) for row in rows] == [("1#1", "x"), ("1#2", "y"), ("2#1", "z")]
    assert [row["reason"] for row in rejected] == [
        f"the id '2' is also in {tmp_path}/m.jsonl, line 3" for _ in range(draw == "n")
    ]


@given(
    st.lists(
        st.fixed_dictionaries(
            {
                "id": st.sampled_from("12"),
                "model": st.sampled_from("xy"),
                "n": st.sampled_from(["0", "1", "2", "x", None]),
                "a": st.sampled_from([None, "a", ["b", "c"], []]),
            }
        ),
        max_size=10,
    ),
    st.sampled_from([True, "n", None]),
    st.sampled_from([LONG, {"m": {"response": "a"}, "n": {"response": "model"}}]),
    st.sampled_from(["first", "draws", None]),
)
def test_every_draw_is_in_exactly_one_table(values: Any, draw: Any, candidates: Any, lists: Any) -> None:
    if lists == "draws":
        draw = None
    whole = [PARIS | {"id": "0"}, *(PARIS | each for each in values)]

    [part] = load(records(*whole), params(draw=draw, lists=lists, candidates=candidates))

    rows, rejected = part["load"].to_pylist(), part["load_rejected"].num_rows
    many = [max(len(each["a"]), 1) if lists == "draws" and isinstance(each["a"], list) else 1 for each in whole]
    read = sum(many) if candidates is LONG else sum(many) + len(whole)
    assert len(rows) + rejected == read == counts(part)["rows_read"]
    assert len({(row["id"], row["candidate"]) for row in rows}) == len(rows)
    assert all(row["id"] == f"{row['question']}#{row['draw']}" for row in rows if "draw" in row)
