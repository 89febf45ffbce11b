"""Files of many shapes, real or made as their formats are documented: proposed, then loaded by the proposal alone.

Records = rows + rejected rows, and nothing is rejected, where the shape needs no word of the user.
"""

import csv
import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from goldmeter.dataset.joined import questions
from goldmeter.dataset.proposal import inputs, show
from goldmeter.dataset.proposal.given import Chosen
from goldmeter.dataset.proposal.inputs import propose_for
from goldmeter.dataset.proposal.proposal import UNSET, Proposal
from goldmeter.dataset.settings import Dataset, Load, Params
from goldmeter.dataset.table import tables
from goldmeter.metrics.base import NOT_APPLICABLE
from tests.small_project import ROOT

LOGS = ROOT / "tests/dataset/readers/logs"
LOAD = Load(part_rows=50_000, max_chars=100_000, max_rejected=1.0, require_references=True)


class Loaded(NamedTuple):
    """What load makes of a proposal."""

    proposal: Proposal
    rows: list[dict[str, Any]]
    rejected: list[dict[str, Any]]

    @property
    def systems(self) -> Counter[str]:
        """Rows per system."""
        return Counter(row["candidate"] for row in self.rows)

    @property
    def labels(self) -> Counter[bool | None]:
        """Rows per label."""
        return Counter(row["label"] for row in self.rows)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def loaded(*paths: object, **chosen: Any) -> Loaded:
    proposal = propose_for([str(path) for path in paths], None, Chosen(**chosen))
    params = Params(dataset=Dataset.model_validate(dict(proposal.options)), load=LOAD)
    parts = list(tables(questions(params), params))
    return Loaded(
        proposal, *([row for part in parts for row in part[name].to_pylist()] for name in ("load", "load_rejected"))
    )


def lines(name: str, rows: Iterable[dict[str, Any]]) -> str:
    Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return name


def table(name: str, rows: Sequence[dict[str, Any]]) -> str:
    with Path(name).open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return name


@pytest.fixture(scope="session")
def nq301() -> Path:
    folder = ROOT.parent / "shared/data/nq301"
    if not folder.exists():
        pytest.skip(f"{folder} is not there")
    return folder


def test_nq301_twelve_systems_from_twelve_files_with_labels_from_a_thirteenth(nq301: Path) -> None:
    files = [*sorted(nq301.glob("*.jsonl")), nq301 / "NQ301_human.tsv"]

    found = loaded(*files)

    assert len(found.systems) == 12
    assert set(found.systems.values()) == {301}
    assert found.rejected == []
    assert found.proposal.options["label_file"]["path"] == "NQ301_human.tsv"
    assert found.proposal.options["lists"] == "first"  # as the labels have these answers
    assert found.labels[None] <= 53
    assert {"other_questions", "lists", "labels"} <= found.proposal.unsure.keys()


def test_nq301_as_its_folder_is(nq301: Path) -> None:
    found = loaded(nq301)

    assert len(found.systems) == 12
    assert found.proposal.options["label_file"]["path"] == "NQ301_human.tsv"
    assert "or: NQ301_BEM.tsv" in found.proposal.unsure["label_file"]
    assert ["NQ301_text-davinci-003.tsv" in text for text in found.proposal.left_out] == [True]


def test_a_long_table_with_verdict_words() -> None:
    words = ["CORRECT", "INCORRECT", "NOT_ATTEMPTED"]
    rows = [
        {"question": f"Question {i}?", "answer": f"the {i}", "model": model, "response": f"{i}", "grade": words[i % 3]}
        for model in ("gpt-4o", "claude") for i in range(30)
    ]  # fmt: skip

    found = loaded(table("simpleqa.csv", rows))

    assert found.systems == {"gpt-4o": 30, "claude": 30}
    assert found.labels == {None: 60}
    assert Counter(row["score_grade"] for row in found.rows) == {1.0: 20, 0.0: 20, None: 20}
    assert found.rejected == []
    assert "grade" not in found.proposal.options["slices"]


LONG = [
    {"qid": f"q{i}", "model": model, "response": f"{model} {i}"} for model in ("gpt4", "fid") for i in range(8)
]  # fmt: skip


def test_a_long_table_beside_a_file_of_questions() -> None:
    lines("questions.jsonl", [{"qid": f"q{i}", "question": f"Why {i}?", "gold": f"so {i}"} for i in range(9)])
    lines("answers.jsonl", [row | {"question": f"Why {row['qid'][1:]}?"} for row in LONG])

    found = loaded(".")

    assert found.systems == {"gpt4": 8, "fid": 8}
    assert {(row["id"], row["input"], *row["references"]) for row in found.rows} == {
        (f"q{i}", f"Why {i}?", f"so {i}") for i in range(8)
    }
    assert found.rejected == []
    assert found.proposal.unsure == {"other_questions": "questions that answers.jsonl lacks: questions.jsonl 1"}
    assert found.proposal.options == loaded("answers.jsonl", "questions.jsonl").proposal.options


def test_a_long_table_that_has_only_the_ids_of_the_questions() -> None:
    lines("questions.jsonl", [{"qid": f"q{i}", "question": f"Why {i}?", "gold": f"so {i}"} for i in range(8)])
    lines("answers.jsonl", [row | {"human_correct": i % 2} for i, row in enumerate(LONG)])

    found = loaded(".")

    assert found.systems == {"gpt4": 8, "fid": 8}
    assert found.labels == {True: 8, False: 8}
    assert {row["references"][0] for row in found.rows} == {f"so {i}" for i in range(8)}
    assert found.proposal.unsure["input"].startswith("none: the questions of questions.jsonl can't be joined")


def test_a_long_table_with_labels_in_a_file_of_their_own() -> None:
    lines("answers.jsonl", [row | {"gold": f"so {row['qid']}"} for row in LONG])
    lines("human.jsonl", [{"qid": r["qid"], "model": r["model"], "correct": "yes"} for r in LONG[:12]])

    found = loaded(".")

    assert found.systems == {"gpt4": 8, "fid": 8}
    assert found.labels == {True: 12, None: 4}
    assert found.rejected == []


def test_a_long_table_sorted_by_system() -> None:
    rows = [
        {"question": f"Question {i}?", "gold": f"the {i}", "model": model, "response": f"{model} {i}"}
        for model in ("a", "b") for i in range(1_200)
    ]  # fmt: skip

    assert loaded(lines("sorted.jsonl", rows)).systems == {"a": 1200, "b": 1200}


def test_repeated_answers_that_a_column_numbers() -> None:
    rows = [
        {"id": f"q{i}", "input": f"Question {i}?", "target": f"the {i}", "epoch": epoch, "output": f"{i} {epoch}"}
        for epoch in (1, 2, 3) for i in range(10)
    ]  # fmt: skip

    found = loaded(lines("epochs.jsonl", rows))

    assert found.proposal.options["draw"] == "epoch"
    assert Counter(row["question"] for row in found.rows) == dict.fromkeys([f"q{i}" for i in range(10)], 3)
    assert found.rejected == []


def test_repeated_answers_in_lists() -> None:
    rows = [{"prompt": f"Question {i}?", "solution": f"{i}", "completions": [f"{i}", f"{i + 1}"]} for i in range(5)]

    found = loaded(lines("draws.jsonl", rows))

    assert found.proposal.options["lists"] == "draws"
    assert found.proposal.unsure.keys() >= {"lists"}
    assert len(found.rows) == 10


def test_truthfulqa_with_references_in_four_columns() -> None:
    rows = [
        {"Question": f"What if {i}?",
         **{f"Best_Answer{n}": f"it {n} {i}" if n < 4 or i % 2 else "" for n in (1, 2, 3, 4)},
         "gpt-4 answer": f"it {i}", "is_hallucination": i % 2}
        for i in range(8)
    ]  # fmt: skip

    found = loaded(table("truthful.csv", rows))

    assert found.proposal.options["references"] == [f"Best_Answer{n}" for n in (1, 2, 3, 4)]
    assert Counter(len(row["references"]) for row in found.rows) == {3: 4, 4: 4}
    assert [row["score_is_hallucination"] for row in found.rows] == [1.0, 0.0] * 4


def test_references_in_lines_and_as_a_python_list() -> None:
    rows = [{"question": f"Question {i}?", "reference": f"the {i}\n{i}", "response": f"{i}"} for i in range(4)]
    others = [row | {"reference": f"['the {i}', \"{i}\"]"} for i, row in enumerate(rows)]

    in_lines, in_list = loaded(lines("lines.jsonl", rows)), loaded(table("list.csv", others))

    assert in_lines.proposal.options["reference_separator"] == "\n"
    assert [row["references"] for row in in_lines.rows] == [[f"the {i}", f"{i}"] for i in range(4)]
    assert [row["references"] for row in in_list.rows] == [[f"the {i}", f"{i}"] for i in range(4)]


def test_nested_messages_and_answers() -> None:
    rows = [
        {"id": i, "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": f"Why {i}?"}],
         "expected": {"answers": [f"so {i}"]}, "output": {"choices": [{"message": {"content": f"so {i}"}}]},
         "metadata": {"category": "ab"[i % 2]}}
        for i in range(6)
    ]  # fmt: skip

    found = loaded(lines("chat.jsonl", rows))

    assert [row["input"] for row in found.rows] == [f"Why {i}?" for i in range(6)]
    assert [row["response"] for row in found.rows] == [f"so {i}" for i in range(6)]
    assert [row["references"] for row in found.rows] == [[f"so {i}"] for i in range(6)]
    assert found.rows[0]["slices"] == {"metadata.category": "a"}


def test_answers_of_systems_in_one_object() -> None:
    rows = [
        {"prompt": f"Why {i}?", "reference": f"so {i}", "responses": {"gpt4": "so", "fid": f"no {i}"}} for i in range(4)
    ]

    assert loaded(lines("object.jsonl", rows)).systems == {"gpt4": 4, "fid": 4}


def test_grades_and_several_raters() -> None:
    row = {"question": "Why?", "gold": "so", "response": "so"}
    graded = [row | {"question": f"Why {i}?", "human_grade": str(i + 1)} for i in range(5)]
    rated = [
        row | {"question": f"Why {i}?", "annotator1": "Yes", "annotator2": "No", "annotator3": "Yes" if i else ""}
        for i in range(4)
    ]

    assert [row["label"] for row in loaded(lines("graded.jsonl", graded)).rows] == [False, False, False, True, True]
    assert [row["label"] for row in loaded(lines("rated.jsonl", rated)).rows] == [None, True, True, True]


@pytest.mark.parametrize("name", ["labelled", "labeled", "human_labelled"])
@pytest.mark.parametrize("words", [("correct", "wrong"), ("yes", "no"), (True, False)])
def test_a_column_called_labelled_holds_labels(name: str, words: tuple[Any, Any]) -> None:
    rows = [{"question": f"Why {i}?", "gold": "so", "response": "so", name: words[i % 2]} for i in range(6)]

    found = loaded(lines("labelled.jsonl", rows))

    assert found.labels == {True: 3, False: 3}
    assert "leave it out" in found.proposal.unsure.get("candidates", "leave it out")


def test_questions_that_records_with_their_own_ids_repeat_are_groups() -> None:
    rows = [
        {"id": i, "question": f"Why {i // 4}?", "gold": "so", "response": f"so {i}", "ok": i % 2} for i in range(12)
    ]

    found = loaded(lines("bem.jsonl", rows))

    assert Counter(row["group"] for row in found.rows) == {"Why 0?": 4, "Why 1?": 4, "Why 2?": 4}
    assert found.proposal.unsure["group"].startswith("12 records ask 3 questions, so that intervals are by question")
    assert loaded("bem.jsonl", group="").proposal.options["group"] is None


def test_booleans_with_gaps_are_no_slice() -> None:
    rows = [
        {"question": f"Why {i}?", "gold": "so", "response": "so", "flag": ["True", "False", "nan"][i % 3]}
        for i in range(9)
    ]

    found = loaded(lines("gaps.jsonl", rows))

    assert found.proposal.options["slices"] == []
    assert found.labels == {None: 9}
    assert found.proposal.notes == ["not used: flag (3 values)"]


@pytest.mark.parametrize(
    ("log", "systems"),
    [
        ("deepeval.json", {"tiny": 3}),
        ("promptfoo.json", {"tiny, prompt 1": 2, "tiny, prompt 2": 2}),
        ("inspect.eval", {"mockllm/model": 6}),
        ("inspect.json.gz", {"mockllm/model": 3}),
    ],
)
def test_logs_of_other_tools(log: str, systems: dict[str, int]) -> None:
    found = loaded(LOGS / log)

    assert found.systems == systems
    assert found.rejected == []
    assert found.proposal.options["scores"]
    assert found.proposal.comments["format"] == f"recognised by its content: logs of {Path(log).name.partition('.')[0]}"


def test_binary_scores_of_a_log_have_bounds() -> None:
    found = loaded(LOGS / "inspect.eval")

    assert found.proposal.options["scores"]["match"] == {"column": "score_match", "bounds": [0, 1]}
    assert "bounds [0, 1], as all values of match, includes are 0 or 1" in found.proposal.comments["scores"]


def test_what_tells_questions_or_systems_apart_is_no_slice() -> None:
    assert loaded(LOGS / "inspect.eval").proposal.options["slices"] == []
    assert loaded(LOGS / "promptfoo.json").proposal.options["slices"] == []
    assert loaded(LOGS / "lm_eval").proposal.options["slices"] == ["metadata.topic", "metadata.task"]


def test_scores_that_a_task_does_not_have_are_not_asked_for() -> None:
    found = loaded(LOGS / "lm_eval")

    tasks = {row["id"].partition("/")[0] for row in found.rows if row["score_acc"] is not None}
    details = {row["id"].partition("/")[0]: row["score_acc_details"] for row in found.rows}
    asked = {task for task, detail in details.items() if detail is None}
    assert asked == tasks == {"choose"}
    several = [row["score_exact_match_details"] for row in found.rows if row["candidate"].endswith("(both)")]
    assert None not in several
    assert {json.loads(detail)["unmeasured"] for detail in details.values() if detail} == {NOT_APPLICABLE}


def test_a_score_that_failed_is_a_failure() -> None:
    found = loaded(LOGS / "deepeval.json")

    assert [row["score_Exact_details"] for row in found.rows] == [None] * 3
    assert [row["score_Exact"] for row in found.rows].count(None) == 1


def test_a_folder_of_lm_eval_with_several_tasks_and_filters() -> None:
    found = loaded(LOGS / "lm_eval")

    assert sum(found.systems.values()) == 14
    assert found.rejected == []
    assert found.proposal.options["draw"] == "draw"
    assert found.proposal.options["pattern"] == "**/*"


def test_what_was_guessed_wrong_is_overridden() -> None:
    rows = [
        {"id": str(i), "text": f"Why {i}?", "a": "so", "b": "no", "ok_b": "1", "gold": "so", "kind": "xy"[i % 2]}
        for i in range(8)
    ]

    found = loaded(
        lines("odd.jsonl", rows), id="", input="text", references=["gold"], candidates=["one=a", "two=b"],
        labels=["two=ok_b"], slices=[], group="kind",
    )  # fmt: skip

    assert found.systems == {"one": 8, "two": 8}
    assert found.labels == {None: 8, True: 8}
    assert {row["group"] for row in found.rows} == {"x", "y"}
    assert (found.proposal.options["id"], found.proposal.options["slices"]) == (None, [])


def test_repeated_answers_of_a_log_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    found = loaded(LOGS / "lm_eval").proposal

    show.mapping(found)

    assert found.comments["draw"] == "the log numbers several answers to a question; intervals are by question"
    assert re.search(r"^draw +\S", capsys.readouterr().out, re.MULTILINE)


def test_bounds_that_only_the_first_records_show_are_told_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inputs, "MOST_RECORDS", 2)

    told = loaded(LOGS / "inspect.eval").proposal.comments["scores"]

    assert "of the first 2 are 0 or 1" in told


def test_letters_of_graders_are_told_with_their_meaning() -> None:
    rows = [{"question": f"q{i}?", "gold": "x", "answer": "y", "grade": "ABC"[i % 3]} for i in range(9)]

    asked = loaded(lines("graded.jsonl", rows)).proposal.unsure

    told = "grade: A right, B wrong, C no label, as graders of models write them; school grades: change right and wrong"
    assert told in " ".join(asked.values())


@pytest.mark.parametrize("option", [name for name in UNSET if name not in show.NOT_PRINTED])
def test_an_option_that_is_set_is_printed(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [{"question": f"q{i}?", "gold": "x", "answer": "y"} for i in range(9)]
    proposal = loaded(lines("plain.jsonl", rows)).proposal
    value = {"column": "model", "response": "answer"} if option == "candidates" else "set"

    show.mapping(proposal._replace(options={**proposal.options, option: value}, comments={}))

    assert re.search(rf"^{option} +\S", capsys.readouterr().out, re.MULTILINE)
