"""References as people corrected them: what marks do, to which references, and what a damaged file says."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.dataset.corrections import Correction, corrected, read_corrections, read_list, to_line
from goldmeter.errors import DataError, ParamsError
from tasks.load import load, source
from tests.test_load import params


def said(mark, *add, references=("Oahe",), rater="anna", **more):
    facts = {"id": "q1", "input": "Which lake?", "references": references, "mark": mark, "add": add, "rater": rater}
    return Correction(**facts | more)


@pytest.mark.parametrize(
    ("corrections", "after"),
    [
        ([], ["Oahe"]),
        ([said(None, "Mead")], ["Oahe", "Mead"]),
        ([said("incomplete", "Mead")], ["Oahe", "Mead"]),
        ([said("incomplete")], ["Oahe"]),
        ([said("wrong", "Mead")], ["Mead"]),
        ([said("wrong")], None),
        ([said("ambiguous")], None),
        ([said("ambiguous", "Mead")], ["Oahe", "Mead"]),
        ([said("incomplete", "Mead"), said("wrong", "Powell", rater="ben")], ["Mead", "Powell"]),
        ([said("wrong"), said(None, "Mead", rater="ben")], ["Mead"]),
        ([said("wrong", "Mead"), said("incomplete", "Lake Mead", references=("Mead",))], ["Mead", "Lake Mead"]),
        ([said("wrong", "Mead", references=("other",))], ["Oahe"]),
        ([said("incomplete", "Oahe")], ["Oahe"]),
    ],
)
def test_what_marks_do(corrections, after):
    assert corrected(["Oahe"], corrections)[0] == after


texts = st.text(max_size=5)
some = st.builds(
    said,
    st.sampled_from(["wrong", "incomplete", "ambiguous", None]),
    st.sampled_from("abc"),
    references=st.lists(st.sampled_from("abc"), max_size=2).map(tuple),
)


@given(st.lists(st.sampled_from("abc"), max_size=2), st.lists(some, max_size=6), st.randoms(use_true_random=False))
def test_corrections_end_and_their_order_changes_no_reference(references, corrections, random):
    mixed = random.sample(corrections, len(corrections))

    (one, left), (other, others) = corrected(references, corrections), corrected(references, mixed)

    assert (one is None) == (other is None)
    assert sorted(one or []) == sorted(other or [])
    assert {*left} == {*others} <= {*corrections}


@given(st.lists(st.builds(said, st.just("wrong"), texts, rater=texts, input=texts | st.none(), id=texts), max_size=4))
def test_what_is_written_is_read(tmp_path_factory, corrections):
    path = tmp_path_factory.mktemp("x") / "references.jsonl"
    path.write_text("".join(map(to_line, corrections)), encoding="utf-8", newline="")

    assert read_list(path) == corrections


@pytest.mark.parametrize("line", ["{", "[]", "1", '{"id": "q1"}', to_line(said("wrong")).replace("wrong", "odd")])
def test_another_file_is_named_with_its_line(tmp_path, line):
    path = tmp_path / "references.jsonl"
    path.write_text(to_line(said("wrong")) + line, encoding="utf-8")

    with pytest.raises(DataError, match=r"references.jsonl, line 2: not written by flows.label"):
        read_list(path)
    with pytest.raises(DataError, match="is missing; restore it"):
        read_corrections(tmp_path / "none.jsonl", by_id=True)


QUESTIONS = [
    {"id": f"q{number}", "q": f"Question {number}?", "ref": "Oahe", "a": "Mead", "b": "Oahe"} for number in range(4)
]


def load_with(marks, *, with_ids=True, questions=QUESTIONS, **dataset):
    Path("data/labels").mkdir(parents=True, exist_ok=True)
    Path("data/labels/references.jsonl").write_text("".join(map(to_line, marks)), encoding="utf-8")
    Path("q.jsonl").write_text("".join(json.dumps(one) + "\n" for one in questions), encoding="utf-8")
    given = {"path": "q.jsonl", "id": "id" if with_ids else None, "input": "q", "references": "ref"}
    given |= {"candidates": {name: {"response": name} for name in "ab"}}
    wanted = params(**given | {"corrections": "data/labels/references.jsonl"} | dataset)
    parts = [*load(source(wanted), wanted)]
    assert sum(part["load_rejected"].num_rows for part in parts) == 0
    rows = [row for part in parts for row in part["load"].to_pylist()]
    return {(row["input"], tuple(row["references"])) for row in rows}


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize("with_ids", [True, False])
def test_corrections_of_references_that_changed_since_are_named(with_ids, caplog):
    marks = [said("wrong", "Mead", id=f"q{n}", input=f"Question {n}?", references=("old",)) for n in (2, 3)]
    applied = said("wrong", "Mead", id="q1", input="Question 1?")

    load_with([applied, *marks], with_ids=with_ids)

    first = "'q2', 'q3'" if with_ids else "'Question 2?', 'Question 3?'"
    [message] = caplog.messages
    assert message == (
        "dataset.corrections: corrections that do not apply, because references have changed since: "
        f"{first}; mark these again (flows.label), or delete the lines"
    )


@pytest.mark.usefixtures("project")
def test_a_correction_applies_to_one_of_two_rows_with_the_same_question(caplog):
    again = [{**QUESTIONS[0], "q": "Question 0?", "ref": "other", "id": "q9"}, *QUESTIONS]

    load_with([said("wrong", id="q0", input="Question 0?")], with_ids=False, questions=again)

    assert caplog.messages == []


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize("with_ids", [True, False])
def test_the_data_set_has_the_corrected_references_and_leaves_out_questions_without_one(with_ids):
    found = [said("wrong", "Mead", id="q0", input="Question 0?"), said("wrong", id="q1", input="Question  1?")]

    rows = load_with([*found, said(None, "Lake", id="q2", input="Question 2?")], with_ids=with_ids)

    assert rows == {
        ("Question 0?", ("Mead",)),
        ("Question 2?", ("Oahe", "Lake")),
        ("Question 3?", ("Oahe",)),
    }


@pytest.mark.usefixtures("project")
def test_a_file_that_no_stage_watches_is_refused():
    with pytest.raises(ParamsError, match=r"dataset.corrections: elsewhere.jsonl is not in the folder"):
        load_with([], corrections="elsewhere.jsonl")
