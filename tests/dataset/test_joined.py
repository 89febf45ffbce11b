"""Joined files: a candidate's answers, references and human labels in files of their own; nothing is lost."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from goldmeter.errors import DataError, ParamsError
from goldmeter.pipeline.tables import about
from tasks.load import counts, load, source
from tests.test_load import params

Rows = list[dict[str, Any]]
QUESTIONS = [
    {"id": "1", "q": "Capital of  France?", "ref": "Paris", "b": "B1"},
    {"id": "2", "q": "Capital of Italy?", "ref": "Rome", "b": "B2"},
]
M = {"m": {"response": "prediction", "path": "m.jsonl"}}


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(tmp_path)
    Path("data").mkdir()

    def write(**files: Sequence[Mapping[str, Any]]) -> None:
        for name, values in ({"questions": QUESTIONS} | files).items():
            Path(f"data/{name}.jsonl").write_text("".join(json.dumps(each) + "\n" for each in values), "utf-8")

    return write


def parts(**mapping: Any) -> list[Any]:
    wanted = params(**{"path": "data", "pattern": "questions.jsonl", "candidates": M} | mapping)
    return list(load(source(wanted), wanted))


def loaded(**mapping: Any) -> tuple[Rows, Rows]:
    found = parts(**mapping)
    for part in found:
        assert counts(part)["rows_read"] == part["load"].num_rows + part["load_rejected"].num_rows
    rows, rejected = ([row for part in found for row in part[name].to_pylist()] for name in ("load", "load_rejected"))
    return rows, rejected


def answers(rows: Rows) -> list[tuple[str, str, str | None]]:
    return [(row["id"], row["candidate"], row["response"]) for row in rows]


def refusal(**mapping: Any) -> str:
    with pytest.raises((DataError, ParamsError)) as caught:
        loaded(**mapping)
    return str(caught.value)


# answers


def test_answers_of_a_file_are_joined_by_id(write: Any) -> None:
    write(m=[{"id": 2, "prediction": "Rome!"}, {"id": "1", "prediction": "Paris!"}])

    rows, rejected = loaded(candidates=M | {"n": {"response": "b"}})

    assert answers(rows) == [("1", "m", "Paris!"), ("1", "n", "B1"), ("2", "m", "Rome!"), ("2", "n", "B2")]
    assert rejected == []


@pytest.mark.parametrize(
    ("join", "mapping"),
    [({"on": "input"}, {}), ({"input": "q"}, {}), ({}, {"id": None})],
    ids=["on", "input", "without ids"],
)
def test_answers_are_joined_by_the_input(write: Any, join: dict[str, str], mapping: dict[str, Any]) -> None:
    write(m=[{"q": "Capital of Italy?", "prediction": "Rome!"}, {"q": " Capital of France? ", "prediction": "Paris!"}])

    rows, rejected = loaded(candidates={"m": M["m"] | join}, **mapping)

    assert [row["response"] for row in rows] == ["Paris!", "Rome!"]
    assert rejected == []


def test_an_input_that_two_questions_share_joins_nothing(write: Any) -> None:
    indented = [{"id": str(i), "q": q, "ref": "r", "b": "B"} for i, q in enumerate(["if x:\n  y", "if x:\ny", "z"])]
    write(questions=indented, m=[{"q": "if x: y", "prediction": "1"}, {"q": "z", "prediction": "2"}])

    message = refusal(candidates={"m": M["m"] | {"on": "input"}})

    assert message.startswith("dataset.candidates.m: m.jsonl is joined by the input, but two questions have the same: ")
    assert "data/questions.jsonl, line 1, and data/questions.jsonl, line 2" in message
    assert len(loaded(candidates={"m": M["m"] | {"on": "input"}}, exclude={"id": "0"})[0]) == 2


@pytest.mark.parametrize("others", ["reject", "leave_out"])
def test_an_answer_that_names_another_question_than_that_of_its_id_is_no_answer(write: Any, others: str) -> None:
    write(
        m=[
            {"id": "1", "q": "Capital of Italy?", "prediction": "Rome"},
            {"id": "2", "q": "Capital  of Italy?", "prediction": "Roma"},
            {"id": "2", "q": None, "prediction": "Rom"},
        ]
    )

    rows, rejected = loaded(other_questions=others, draw=True)
    first = "data/questions.jsonl, line 1"

    assert answers(rows) == [("1#1", "m", None), ("2#1", "m", "Roma"), ("2#2", "m", "Rom")]
    assert [(row["line"], row["id"], row["reason"]) for row in rejected] == [
        (1, "1", f"q: another question than that of {first}, which has the same id; on: input joins by the question")
    ][: others == "reject"]
    assert about(parts(other_questions=others)[0]["load"].schema)["left_out"] == (
        {"m.jsonl": 1} if others == "leave_out" else {}
    )


@pytest.mark.parametrize("kind", ["label", "references"])
def test_labels_and_references_of_another_question_than_that_of_their_id_do_not_count(write: Any, kind: str) -> None:
    write(
        m=[{"id": "1", "prediction": "x"}, {"id": "2", "prediction": "y"}],
        more=[{"id": "1", "q": "Another?", "v": "no"}, {"id": "2", "q": "Capital of Italy?", "v": "yes"}],
    )
    file = {"path": "more.jsonl", "id": "id", ("label" if kind == "label" else "column"): "v"}

    rows, rejected = loaded(**{"label_file" if kind == "label" else "references": file})

    assert [row["id"] for row in rejected] == (["1"] if kind == "label" else ["1", "1"])
    found = [row["label"] if kind == "label" else row["references"] for row in rows]
    assert found == ([None, True] if kind == "label" else [["yes"]])


def test_other_names_and_nested_places_in_the_joined_file(write: Any) -> None:
    write(m=[{"meta": {"qid": "2"}, "out": {"text": "Rome!"}}])

    rows, _ = loaded(candidates={"m": {"path": "data/m.jsonl", "id": "meta.qid", "response": "out.text"}})

    assert [row["response"] for row in rows] == [None, "Rome!"]


def test_a_question_without_an_answer_is_unmeasured(write: Any) -> None:
    write(m=[{"id": "2", "prediction": "Rome!"}])

    assert [row["response"] for row in loaded()[0]] == [None, "Rome!"]
    assert [row["response"] for row in loaded(missing_response="wrong")[0]] == ["", "Rome!"]


def test_answers_to_other_questions_are_rejected_or_left_out(write: Any, caplog: pytest.LogCaptureFixture) -> None:
    write(m=[{"id": str(i), "prediction": "x"} for i in range(5)])

    rows, rejected = loaded()
    assert len(rows) == 2
    assert [(row["file"], row["line"], row["id"], row["candidate"]) for row in rejected] == [
        ("data/m.jsonl", 1, "0", "m"), ("data/m.jsonl", 4, "3", "m"), ("data/m.jsonl", 5, "4", "m")
    ]  # fmt: skip
    assert rejected[0]["reason"] == "no question in dataset.path has its id; see dataset.other_questions"

    rows, rejected = loaded(other_questions="leave_out")
    assert (len(rows), rejected) == (2, [])
    (part,) = parts(other_questions="leave_out")
    assert about(part["load"].schema)["left_out"] == {"m.jsonl": 3}
    assert (
        caplog.messages
        == ["m.jsonl: 3 records left out: their question, or the answer that they label, is not in the data"] * 2
    )


def test_answers_to_questions_that_are_excluded_or_beyond_the_limit_are_no_others(write: Any) -> None:
    write(m=[{"id": "1", "prediction": "x"}, {"id": "2", "prediction": "y"}])

    assert [len(rows) for rows in loaded(exclude={"id": "1"})] == [1, 0]
    assert [len(rows) for rows in loaded(limit=1)] == [1, 0]


def test_a_second_answer_and_one_without_a_key_are_rejected(write: Any) -> None:
    write(m=[{"id": "1", "prediction": "x"}, {"id": "1", "prediction": "y"}, {"id": None, "prediction": "z"}])

    rows, rejected = loaded()

    assert [row["response"] for row in rows] == ["x", None]
    assert [(row["line"], row["reason"]) for row in rejected] == [
        (3, "id: no id to join by"),
        (2, "the id '1' is also in data/m.jsonl, line 1; dataset.draw takes repeated answers"),
    ]


def test_labels_and_scores_are_in_either_file(write: Any) -> None:
    both = {"m": {**M["m"], "label": "ok", "labelled": "of"}}
    write(
        questions=[each | {"s_m": "0.5", "of": "Paris!"} for each in QUESTIONS],
        m=[{"id": "1", "prediction": "Paris!", "ok": "yes"}, {"id": "2", "prediction": "x", "ok": "no"}],
    )

    rows, _ = loaded(candidates=both, scores={"s": "s_{candidate}"})

    assert [(row["label"], row["label_status"], row["score_s"]) for row in rows] == [
        (True, "confirmed", 0.5), (None, "stale", 0.5)
    ]  # fmt: skip


def test_a_label_of_the_questions_file_is_not_of_a_joined_answer(write: Any) -> None:
    write(
        questions=[each | {"ok": "yes"} for each in QUESTIONS],
        m=[{"id": "1", "prediction": "x", "ok": "no"}, {"id": "2", "prediction": "y"}],
    )

    rows, _ = loaded(candidates={"m": {**M["m"], "label": "ok"}})

    assert [row["label"] for row in rows] == [False, None]


def test_a_column_in_neither_file_is_an_error(write: Any) -> None:
    write(m=[{"id": "1", "prediction": "x"}])

    assert "dataset.candidates.m.response: no record has a column 'answer'" in refusal(
        candidates={"m": {"path": "m.jsonl", "response": "answer"}}
    )
    assert "dataset.candidates.m.id: no record has a column 'nr'" in refusal(candidates={"m": M["m"] | {"id": "nr"}})
    assert "dataset.candidates.m.label: no record has a column 'ok'" in refusal(
        candidates={"m": M["m"] | {"label": "ok"}}
    )


def test_joined_files_are_in_the_folder_that_dvc_watches(write: Any) -> None:
    write(m=[{"id": "1", "prediction": "x"}])
    Path("m.jsonl").write_text('{"id": "1", "prediction": "x"}\n')

    alone = refusal(path="data/questions.jsonl", pattern=None)
    assert alone.startswith("dataset.candidates.m.path: m.jsonl is not in the folder dataset.path")
    assert "set dataset.path: data and dataset.pattern" in alone
    assert "is not in the folder" in refusal(candidates={"m": M["m"] | {"path": "../m.jsonl"}})
    assert "no such file" in refusal(candidates={"m": M["m"] | {"path": "n.jsonl"}})


def test_a_joined_file_is_no_file_of_questions(write: Any) -> None:
    write(m=[{"id": "1", "prediction": "x"}])

    assert refusal(pattern="*").startswith("dataset.pattern: '*' matches data/m.jsonl, which is joined")


# lists


@pytest.mark.parametrize(
    ("lists", "given", "expected"),
    [
        ("first", ["a", "b"], "a"),
        ("first", [], None),
        ("join", ["a", None, "b"], "a\nb"),
        ("join", [], None),
        ("join", "plain", "plain"),
        ("first", "plain", "plain"),
    ],
)
def test_a_list_as_answer(write: Any, lists: str, given: Any, expected: str | None) -> None:
    write(m=[{"id": "1", "prediction": given}])

    assert loaded(lists=lists)[0][0]["response"] == expected


def test_a_list_is_rejected_unless_the_mapping_says_how_it_is_read(write: Any) -> None:
    write(m=[{"id": "1", "prediction": ["a"]}, {"id": "2", "prediction": [["a"]]}])

    assert [row["reason"] for row in loaded()[1]] == ["prediction: a list where text is expected"] * 2
    assert [row["reason"] for row in loaded(lists="join")[1]] == ["prediction: a list where text is expected"]


# references


def test_references_of_a_file_of_their_own(write: Any) -> None:
    write(
        m=[{"id": "1", "prediction": "x"}],
        gold=[{"nr": "2", "gold": ["Rome"]}, {"nr": "1", "gold": "Paris/City"}, {"nr": "1", "gold": "Lutetia"}],
    )
    references = {"path": "gold.jsonl", "id": "nr", "column": "gold"}

    rows, rejected = loaded(references=references, reference_separator="/")

    assert [row["references"] for row in rows] == [["Paris", "City", "Lutetia"], ["Rome"]]
    assert rejected == []


def test_a_question_without_references_is_rejected_and_references_without_a_question_too(write: Any) -> None:
    write(m=[{"id": "1", "prediction": "x"}], gold=[{"id": "2", "gold": "Rome"}, {"id": "3", "gold": "Oslo"}])

    rows, rejected = loaded(references={"path": "gold.jsonl", "id": "id", "column": "gold"})

    assert [row["id"] for row in rows] == ["2"]
    assert [(row["id"], row["reason"]) for row in rejected] == [
        ("1", "gold of gold.jsonl: no reference that is not blank"),
        ("3", "no question in dataset.path has its id; see dataset.other_questions"),
    ]


# labels


def test_labels_of_a_file_by_candidate(write: Any) -> None:
    write(
        m=[{"id": "1", "prediction": "x"}],
        labels=[
            {"id": "1", "system": "m", "grade": "A"},
            {"id": "1", "system": "n", "grade": "B"},
            {"id": "2", "system": "n", "grade": "A"},
            {"id": "2", "system": "n", "grade": "A"},
            {"id": "2", "system": "n", "grade": "B"},
        ],
    )
    label = {"column": "grade", "right": ["A"], "wrong": ["B"]}
    file = {"path": "labels.jsonl", "id": "id", "candidate": "system", "label": label}

    rows, _ = loaded(candidates=M | {"n": {"response": "b"}}, label_file=file)

    assert [row["label"] for row in rows] == [True, False, None, True]


def test_labels_of_a_file_by_the_text_of_the_answer(write: Any) -> None:
    write(
        m=[{"id": "1", "prediction": "The  Answer"}, {"id": "2", "prediction": "x"}],
        labels=[
            {"question": "Capital of France?", "text": "the answer ", "grade": "no"},
            {"question": "Capital of Italy?", "text": "B2", "grade": "yes"},
            {"question": "Capital of Italy?", "text": "of another run", "grade": "yes"},
        ],
    )
    file = {"path": "labels.jsonl", "input": "question", "response": "text", "label": "grade"}

    found = parts(candidates=M | {"n": {"response": "b"}}, label_file=file)
    rows = found[0]["load"].to_pylist()

    assert [(row["label"], row["label_status"]) for row in rows] == [
        (False, "confirmed"), (None, None), (None, None), (True, "confirmed")
    ]  # fmt: skip
    assert about(found[0]["load"].schema)["left_out"] == {"labels.jsonl": 1}


def test_labels_are_of_the_text_with_other_punctuation_unless_they_are_of_the_very_text(write: Any) -> None:
    texts = ["the Negev", "negev", "John F. Kennedy", "-1.5"]
    write(
        questions=[{"id": str(i), "q": f"Question {i}?", "ref": "x"} for i in range(4)],
        m=[{"id": str(i), "prediction": text} for i, text in enumerate(texts)],
        labels=[
            *({"id": "0", "text": text, "ok": ok} for text, ok in (("The negev", "no"), ("Negev", "yes"))),
            *({"id": "1", "text": text, "ok": ok} for text, ok in (("a Negev!", "no"), ("The negev.", "yes"))),
            {"id": "2", "text": "john f kennedy", "ok": "yes"},
            {"id": "3", "text": "15", "ok": "yes"},
        ],
    )
    file = {"path": "labels.jsonl", "id": "id", "response": "text", "label": "ok"}

    rows, _ = loaded(label_file=file)

    assert [(row["label"], row["label_status"]) for row in rows] == [
        (False, "confirmed"), (None, None), (True, "confirmed"), (None, None),
    ]  # fmt: skip


def test_a_label_of_another_answer_without_its_punctuation_is_not_joined(write: Any) -> None:
    write(
        m=[{"id": "1", "prediction": "C"}, {"id": "2", "prediction": "A"}],
        labels=[{"id": "1", "text": "C#", "ok": "yes"}, {"id": "2", "text": "(A)", "ok": "yes"}],
    )
    file = {"path": "labels.jsonl", "id": "id", "response": "text", "label": "ok"}

    assert [row["label"] for row in loaded(label_file=file)[0]] == [None, True]


def test_a_label_of_a_file_that_is_of_another_answer_is_stale(write: Any) -> None:
    write(
        m=[{"id": "1", "prediction": "new"}, {"id": "2", "prediction": "same"}],
        labels=[{"id": i, "c": "m", "text": text, "ok": "yes"} for i, text in (("1", "old"), ("2", "same"))],
    )
    file = {"path": "labels.jsonl", "id": "id", "candidate": "c", "response": "text", "label": "ok"}

    rows, _ = loaded(label_file=file)

    assert [(row["label"], row["label_status"]) for row in rows] == [(None, "stale"), (True, "confirmed")]


def test_labels_of_one_answer_that_contradict_each_other_are_counted(
    write: Any, caplog: pytest.LogCaptureFixture
) -> None:
    labels = [{"id": i, "ok": ok} for i, ok in (("1", "yes"), ("1", "no"), ("2", "yes"), ("2", "yes"))]
    write(m=[{"id": i, "prediction": "x"} for i in "12"], labels=labels)

    (part,) = parts(label_file={"path": "labels.jsonl", "id": "id", "label": "ok"})

    assert part["load"]["label"].to_pylist() == [None, True]
    assert about(part["load"].schema)["label_conflicts"] == {"labels.jsonl": 1}
    assert caplog.messages == ["labels.jsonl: 1 answers have as many right as wrong labels; they count as not labelled"]


@pytest.mark.parametrize(
    ("labels", "conflicts"),
    [
        ((("Negev.", "yes"), ("The Negev", "no")), {"labels.jsonl": 1}),
        ((("the Negev!", "yes"), ("Negev", "yes"), ("The Negev", "no"), ("negev", "no")), {}),
    ],
)
def test_contradictions_are_counted_among_the_labels_that_count(
    write: Any, labels: tuple[tuple[str, str], ...], conflicts: dict[str, int]
) -> None:
    write(
        m=[{"id": "1", "prediction": "the Negev!"}, {"id": "2", "prediction": "x"}],
        labels=[{"id": "1", "text": text, "ok": ok} for text, ok in labels],
    )

    found = parts(label_file={"path": "labels.jsonl", "id": "id", "response": "text", "label": "ok"})

    assert found[0]["load"]["label"].to_pylist() == [None if conflicts else True, None]
    assert about(found[0]["load"].schema)["label_conflicts"] == conflicts


def test_a_candidate_that_a_file_of_labels_spells_in_another_way_is_an_error(write: Any) -> None:
    labels = [{"id": "1", "c": "m", "ok": "yes"}, {"id": "2", "c": " M", "ok": "yes"}]
    write(m=[{"id": "1", "prediction": "x"}], labels=labels)
    file = {"path": "labels.jsonl", "id": "id", "candidate": "c", "label": "ok"}

    assert refusal(label_file=file) == (
        "dataset.label_file.candidate: data/labels.jsonl, line 2: c is ' M', but the candidate is 'm'; write both alike"
    )
    assert loaded(label_file=file, other_questions="leave_out")[0][0]["label"] is True


BY_BOTH = {"path": "labels.jsonl", "id": "id", "candidate": "c", "response": "text", "label": "ok"}


def labels_of_1(*verdicts: tuple[str | None, str]) -> Rows:
    return [{"id": "1", "c": "m", "text": text, "ok": ok} for text, ok in verdicts]


def test_only_labels_of_the_same_answer_count(write: Any) -> None:
    write(m=[{"id": "1", "prediction": "new"}], labels=labels_of_1(("new", "yes"), ("old", "no"), ("old", "no")))

    rows, _ = loaded(label_file=BY_BOTH)

    assert (rows[0]["label"], rows[0]["label_status"]) == (True, "confirmed")


def test_labels_of_repeated_answers_are_told_apart_by_the_answer(write: Any) -> None:
    answers = [{"id": "1", "prediction": text} for text in ("2", "9", "5")]
    write(m=answers, labels=labels_of_1(("2", "yes"), ("9", "no"), ("7", "no")))

    found = parts(label_file=BY_BOTH, draw=True)

    rows = found[0]["load"].to_pylist()
    assert [(row["label"], row["label_status"]) for row in rows[:3]] == [
        (True, "confirmed"), (False, "confirmed"), (None, None)
    ]  # fmt: skip
    assert about(found[0]["load"].schema)["left_out"] == {"labels.jsonl": 1}


@pytest.mark.parametrize("repeated", [{"draw": True}, {"lists": "draws"}])
def test_labels_of_repeated_answers_name_the_answer(write: Any, repeated: dict[str, Any]) -> None:
    write(m=[{"id": "1", "prediction": "x"}], labels=labels_of_1(("x", "yes")))
    file = {key: value for key, value in BY_BOTH.items() if key != "response"}

    assert "name the column of the labelled answer" in refusal(label_file=file, **repeated)


def test_a_label_without_the_text_of_an_answer_is_of_none(write: Any) -> None:
    write(
        m=[{"id": "1", "prediction": ""}, {"id": "2", "prediction": "x"}],
        labels=[{"id": "1", "text": None, "ok": "yes"}, {"id": "2", "text": "x", "ok": "yes"}],
    )
    file = {"path": "labels.jsonl", "id": "id", "response": "text", "label": "ok"}

    found = parts(label_file=file)

    assert [row["label"] for row in found[0]["load"].to_pylist()] == [None, True]
    assert about(found[0]["load"].schema)["left_out"] == {"labels.jsonl": 1}


@pytest.mark.parametrize(("answer", "labelled"), [("1 2 3", "123"), ("no one", "noone")])
def test_white_space_between_words_tells_answers_apart(write: Any, answer: str, labelled: str) -> None:
    write(m=[{"id": "1", "prediction": answer}], labels=labels_of_1((labelled, "yes")))

    assert loaded(label_file=BY_BOTH)[0][0]["label_status"] == "stale"


def test_labels_of_no_answer_at_all_are_an_error(write: Any) -> None:
    write(m=[{"id": "1", "prediction": "x"}], labels=[{"id": "1", "c": "n", "ok": "yes"}])

    message = refusal(label_file={"path": "labels.jsonl", "id": "id", "candidate": "c", "label": "ok"})

    assert message.startswith("dataset.label_file: no label of labels.jsonl is of an answer in the data")


def test_an_unknown_word_in_a_file_of_labels_names_its_line(write: Any) -> None:
    write(m=[{"id": "1", "prediction": "x"}], labels=[{"id": "1", "ok": "good"}, {"id": "2", "ok": "bad"}])

    first, words, _ = refusal(label_file={"path": "labels.jsonl", "id": "id", "label": "ok"}).splitlines()

    assert first.startswith("data/labels.jsonl, line 1: ok is 'good', which is not a label (dataset.label_file.label)")
    assert words == "its values: 'good', 'bad'"


def test_labels_twice_are_an_error(write: Any) -> None:
    write(m=[{"id": "1", "prediction": "x"}], labels=[{"id": "1", "ok": "yes"}])
    file = {"path": "labels.jsonl", "id": "id", "label": "ok"}

    assert "have labels already" in refusal(label_file=file, candidates={"m": M["m"] | {"label": "ok"}})
    assert "name the column of the candidate" in refusal(label_file=file, candidates=M | {"n": {"response": "b"}})


# properties

ids = st.sampled_from(["1", "2", "3", "4", None, " "])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(ids, max_size=6),
    st.lists(st.fixed_dictionaries({"id": ids, "prediction": st.none() | st.sampled_from(["a", "b"])}), max_size=8),
    st.sampled_from(["reject", "leave_out"]),
    st.integers(2, 5),
)
def test_every_answer_is_in_exactly_one_table(
    write: Any, asked: list[str | None], given_: list[dict[str, Any]], others: str, part_rows: int
) -> None:
    questions = [{"id": key, "q": "?", "ref": "r", "b": "B"} for key in ["first", *asked]]
    write(questions=questions, m=[{"id": "first", "prediction": "x"}, *given_])
    mapping = {"candidates": M | {"n": {"response": "b"}}, "other_questions": others}

    rows, rejected = loaded(**mapping, limits={"part_rows": part_rows})

    (first, *_) = parts(**mapping)
    left_out = sum(about(first["load"].schema)["left_out"].values())
    known = {key for key in asked if key and key.strip()}
    usable = [each["id"] for each in given_ if each["id"] and each["id"].strip()]
    extra = len(given_) - len(usable) + sum(usable.count(key) - 1 for key in {*usable} & known)
    orphans = sum(key not in known for key in usable)
    assert left_out == (orphans if others == "leave_out" else 0)
    assert len(rows) + len(rejected) + left_out == 2 * len(questions) + extra + orphans
    assert len({(row["id"], row["candidate"]) for row in rows}) == len(rows)


# real data

NQ301 = Path(__file__).parents[3] / "shared" / "data" / "nq301"


@pytest.mark.skipif(not NQ301.exists(), reason="the NQ301 data are not here")
def test_twelve_systems_of_twelve_files_with_verdicts_of_a_thirteenth() -> None:
    files = sorted(NQ301.glob("NQ*.jsonl"))
    first = "NQ301_text-davinci-003_zeroshot"
    candidates: dict[str, Any] = {path.stem: {"response": "prediction", "path": path.name} for path in files}
    del candidates[first]["path"]
    wanted = params(
        path=str(NQ301), pattern=f"{first}.jsonl", id=None, input="question", references="answer",
        other_questions="leave_out", lists="first", candidates=candidates,
        label_file={
            "path": "NQ301_human.tsv", "input": "Question", "response": "Model answer", "label": "Acceptable?"
        },
        limits={"part_rows": 50_000, "max_chars": 100_000},
    )  # fmt: skip

    (part,) = load(source(wanted), wanted)

    rows = part["load"].to_pandas()
    labelled = rows.groupby("candidate")["label"].count()
    assert (len(rows), part["load_rejected"].num_rows) == (12 * 301, 0)
    assert (labelled.min(), labelled.sum()) == (274, 3559)
    assert set(rows.loc[rows["label"].notna(), "label_status"]) == {"confirmed"}
    assert about(part["load"].schema)["left_out"]["NQ_FiD.jsonl"] == 3_309


def test_a_file_of_labels_may_have_several_raters(write: Any) -> None:
    write(
        m=[{"id": "1", "prediction": "Paris"}, {"id": "2", "prediction": "Rome"}],
        labels=[{"id": "1", "r1": "yes", "r2": "no"}, {"id": "2", "r1": "no", "r2": None}, {"id": "2", "r1": "no"}],
    )

    rows, _ = loaded(label_file={"path": "labels.jsonl", "id": "id", "label": {"columns": ["r1", "r2"]}})

    assert [row["label"] for row in rows] == [None, False]
    assert [row["ratings"] for row in rows] == [[True, False], [False, None, False, None]]
