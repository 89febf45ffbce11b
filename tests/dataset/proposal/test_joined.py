"""`propose_for` of several files: one per system, references or human labels in files of their own."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from goldmeter.dataset.proposal.given import Chosen
from goldmeter.dataset.proposal.inputs import propose_for
from goldmeter.dataset.proposal.proposal import Proposal
from goldmeter.dataset.settings import Dataset
from goldmeter.errors import DataError
from goldmeter.pipeline import params

QUESTIONS = [{"qid": str(i), "question": f"q{i}?", "gold": f"an a{i}"} for i in range(6)]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine").mkdir()


def lines(name: str, rows: Sequence[dict[str, Any]]) -> str:
    Path("mine", name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return f"mine/{name}"


def answers(name: str, key: str = "qid", field: str = "response") -> list[dict[str, Any]]:
    return [{key: row["qid" if key == "qid" else "question"], field: f"{name} {row['qid']}"} for row in QUESTIONS]


def joined(*paths: str) -> Proposal:
    proposal = propose_for(paths, None, Chosen())
    params.section(Dataset, {"dataset": dict(proposal.options)}, "dataset")
    return proposal


def chosen(proposal: Proposal) -> dict[str, Any]:
    """The options that say how the files are joined."""
    options = ("path", "pattern", "id", "input", "references", "candidates", "other_questions", "label_file")
    return {option: proposal.options[option] for option in options if proposal.options[option] != "reject"}


def test_answers_in_a_file_per_system_are_joined_by_id() -> None:
    files = [lines("questions.jsonl", QUESTIONS), *(lines(f"{n}.jsonl", answers(n)) for n in ("gpt4", "fid"))]

    assert chosen(joined(*files)) == {
        "path": "mine",
        "pattern": "questions.jsonl",
        "id": "qid",
        "input": "question",
        "references": "gold",
        "candidates": {
            "gpt4": {"response": "response", "path": "gpt4.jsonl"},
            "fid": {"response": "response", "path": "fid.jsonl"},
        },
        "label_file": None,
    }


def test_a_folder_of_them_is_the_same() -> None:
    files = [lines("questions.jsonl", QUESTIONS), *(lines(f"{n}.jsonl", answers(n)) for n in ("fid", "gpt4"))]

    assert joined("mine").options == joined(*files).options


def test_files_without_ids_are_joined_by_the_question() -> None:
    files = [
        lines("questions.jsonl", QUESTIONS),
        lines("out_a.jsonl", answers("a", "question", "prediction")),
        lines("out_b.jsonl", answers("b", "prompt", "prediction")),
    ]

    assert joined(*files).options["candidates"] == {
        "a": {"response": "prediction", "path": "out_a.jsonl", "on": "input"},
        "b": {"response": "prediction", "path": "out_b.jsonl", "input": "prompt"},
    }


def test_references_in_a_file_of_their_own() -> None:
    files = [
        lines("questions.jsonl", [{"qid": row["qid"], "question": row["question"]} for row in QUESTIONS]),
        lines("gold.jsonl", [{"qid": row["qid"], "gold": row["gold"]} for row in QUESTIONS]),
        lines("mine.jsonl", answers("mine")),
    ]

    assert joined(*files).options["references"] == {"path": "gold.jsonl", "id": "qid", "column": "gold"}


def test_files_of_systems_that_hold_the_questions_too() -> None:
    more = [*QUESTIONS, {"qid": "9", "question": "q9?", "gold": "an a9"}]
    lines("NQ_a.jsonl", [{"question": r["question"], "answer": [r["gold"]], "prediction": "x"} for r in more])
    lines("NQ_b.jsonl", [{"question": r["question"], "answer": [r["gold"]], "prediction": "y"} for r in QUESTIONS])

    proposal = joined("mine")

    assert chosen(proposal) == {
        "path": "mine",
        "pattern": "NQ_a.jsonl",
        "id": None,
        "input": "question",
        "references": "answer",
        "candidates": {"a": {"response": "prediction"}, "b": {"response": "prediction", "path": "NQ_b.jsonl"}},
        "label_file": None,
    }
    assert proposal.unsure == {}


def test_questions_that_people_judged_decide_where_files_differ() -> None:
    more = [*QUESTIONS, *({"question": f"more {i}?", "gold": "an a"} for i in range(2))]
    for name, asked in (("a", more), ("b", QUESTIONS)):
        rows = [{"question": r["question"], "answer": [r["gold"]], "prediction": f"{name} {r['gold']}"} for r in asked]
        lines(f"NQ_{name}.jsonl", rows)
    verdicts = [
        {"question": r["question"], "Model answer": f"{name} {r['gold']}", "grade": ("CORRECT", "INCORRECT")[i % 2]}
        for i, r in enumerate(QUESTIONS)
        for name in "ab"
    ]
    lines("human.jsonl", verdicts)

    proposal = joined("mine")

    assert (proposal.options["pattern"], proposal.options["other_questions"]) == ("NQ_b.jsonl", "leave_out")
    assert proposal.unsure["other_questions"] == "questions that NQ_b.jsonl lacks: NQ_a.jsonl 2"


def test_references_that_differ_between_systems_are_told() -> None:
    for name, end in (("a", ""), ("b", " more")):
        rows = [{"question": r["question"], "answer": r["gold"] + end, "prediction": name} for r in QUESTIONS]
        lines(f"NQ_{name}.jsonl", rows)

    count = len(QUESTIONS)
    assert joined("mine").unsure["references"] == (
        f"those of NQ_a.jsonl count for all systems; {count} of {count} questions of NQ_b.jsonl have others there"
    )


def test_human_labels_in_a_further_file_are_joined_by_the_answer() -> None:
    lines("questions.jsonl", QUESTIONS)
    for name in "ab":
        lines(f"{name}.jsonl", answers(name))
    verdicts = [{"id": row["qid"], "Model answer": row["response"], "grade": "CORRECT"} for row in answers("a")]
    verdicts += [{"id": row["qid"], "Model answer": row["response"], "grade": "INCORRECT"} for row in answers("b")]
    lines("human.jsonl", verdicts)

    proposal = joined("mine")

    assert proposal.options["label_file"] == {
        "path": "human.jsonl",
        "id": "id",
        "response": "Model answer",
        "label": {"column": "grade", "right": ["CORRECT"], "wrong": ["INCORRECT"]},
    }
    assert [*proposal.options["candidates"]] == ["a", "b"]


def test_human_labels_that_name_the_system() -> None:
    lines("questions.jsonl", QUESTIONS)
    for name in "ab":
        lines(f"{name}.jsonl", answers(name))
    lines("labels.jsonl", [{"qid": row["qid"], "model": name, "correct": True} for row in QUESTIONS for name in "ab"])

    assert joined("mine").options["label_file"] == {
        "path": "labels.jsonl", "id": "qid", "candidate": "model", "label": "correct"
    }  # fmt: skip


def test_pieces_of_one_table_are_no_systems() -> None:
    rows = [row | {"response": "x"} for row in QUESTIONS]
    lines("0.jsonl", rows[:3])
    lines("1.jsonl", rows[3:])

    proposal = joined("mine")

    assert (proposal.options["pattern"], proposal.read) == ("*", "its 6 records")
    assert proposal.options["candidates"] == {"model": {"response": "response"}}


def test_what_can_not_be_read_or_joined_is_told() -> None:
    lines("questions.jsonl", QUESTIONS)
    lines("gpt4.jsonl", answers("gpt4"))
    lines("other.jsonl", [{"question": f"else {i}?", "response": "x"} for i in range(3)])
    Path("mine/broken.jsonl").write_text("{", encoding="utf-8")

    proposal = joined("mine")

    assert [*proposal.options["candidates"]] == ["gpt4"]
    assert [text.split(":")[0] for text in proposal.left_out] == ["other.jsonl", "mine/broken.jsonl, line 1, column 2"]
    assert all(text in " ".join(proposal.notes) for text in proposal.left_out)


def test_files_without_references_are_refused() -> None:
    files = [
        lines("questions.jsonl", [{"qid": row["qid"], "question": row["question"]} for row in QUESTIONS]),
        lines("a.jsonl", answers("a")),
    ]

    with pytest.raises(DataError, match=r"questions\.jsonl: no file has references .* --references COLUMN"):
        joined(*files)


def test_a_folder_beside_files_is_refused() -> None:
    with pytest.raises(DataError, match="mine: a folder; name one folder, or several files"):
        joined("mine", lines("questions.jsonl", QUESTIONS))


def in_several_files(verdicts: Sequence[dict[str, Any]]) -> None:
    """Questions, references, answers by id and by question, and one verdict per question."""
    lines("questions.jsonl", [{"qid": row["qid"], "question": row["question"]} for row in QUESTIONS])
    lines("gold.jsonl", [{"qid": row["qid"], "answer": row["gold"]} for row in QUESTIONS])
    lines("gpt4.jsonl", answers("gpt4", field="prediction"))
    lines("fid.jsonl", answers("fid", "question", "prediction"))
    lines("verdicts.jsonl", verdicts)


@pytest.mark.parametrize("field", ["answer", "text", "prediction", "remark"])
def test_one_label_for_each_question_is_told_from_a_system_by_the_answers(field: str) -> None:
    both = [{"question": row["question"], "said": f"{('gpt4', 'fid')[i % 2]} {row['qid']}."} for i, row in
            enumerate(QUESTIONS)]  # fmt: skip
    in_several_files([{"question": row["question"], field: row["said"], "correct": "no"} for row in both])

    proposal = joined("mine")

    assert chosen(proposal) == {
        "path": "mine",
        "pattern": "questions.jsonl",
        "id": "qid",
        "input": "question",
        "references": {"path": "gold.jsonl", "id": "qid", "column": "answer"},
        "candidates": {
            "gpt4": {"response": "prediction", "path": "gpt4.jsonl"},
            "fid": {"response": "prediction", "path": "fid.jsonl", "on": "input"},
        },
        "label_file": {"path": "verdicts.jsonl", "input": "question", "response": field, "label": "correct"},
    }
    assert proposal.left_out == ()


def test_verdicts_on_answers_that_no_file_has_are_no_questions() -> None:
    rows = [{"question": row["question"], "answer": "an earlier answer", "correct": "no"} for row in QUESTIONS]
    in_several_files(rows)

    proposal = joined("mine")

    told = (
        "verdicts.jsonl: not clear on which answers its verdicts are; "
        "label_file: {path: verdicts.jsonl, input: question, response: …, label: correct}"
    )
    assert (proposal.options["pattern"], proposal.options["references"]["path"]) == ("questions.jsonl", "gold.jsonl")
    assert proposal.options["label_file"] is None
    assert proposal.left_out == (told,)


def test_references_beside_verdicts_are_to_be_checked() -> None:
    rows = [{"question": row["question"], "answer": "an earlier answer", "correct": "no"} for row in QUESTIONS]
    in_several_files(rows)
    Path("mine/gold.jsonl").unlink()

    assert joined("mine").unsure["references"] == (
        "answer of verdicts.jsonl, which also holds verdicts: are these the right answers?"
    )


def test_a_system_with_labels_of_its_own_stays_a_system() -> None:
    lines("questions.jsonl", QUESTIONS)
    lines("a.jsonl", answers("a"))
    lines("b.jsonl", [row | {"correct": True} for row in answers("b")])

    proposal = joined("mine")

    assert proposal.options["label_file"] is None
    assert proposal.options["candidates"]["b"] == {
        "response": "response",
        "label": {"column": "correct", "by": "correct"},
        "path": "b.jsonl",
    }


def test_a_system_with_the_answers_of_another_is_to_be_checked() -> None:
    lines("questions.jsonl", QUESTIONS)
    lines("a.jsonl", answers("a"))
    lines("b.jsonl", [row | {"correct": True} for row in answers("a")])

    assert joined("mine").unsure["label_file"] == (
        "its answers are those of other files; if they are of a system of its own, name it in candidates"
    )


def test_a_file_without_a_role_is_named() -> None:
    lines("questions.jsonl", QUESTIONS)
    lines("a.jsonl", answers("a"))
    lines("notes.jsonl", [{"qid": row["qid"], "remark": "long"} for row in QUESTIONS])

    told = (
        "notes.jsonl: no column of answers, references or labels is recognised; "
        "if it has one, name it beside {path: notes.jsonl, id: qid}"
    )
    assert joined("mine").left_out == (told,)
