"""lm-evaluation-harness's logs; logs/make_lm_eval.py wrote them with lm_eval 0.4.13 and its dummy model."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from goldmeter.dataset.readers import READERS
from goldmeter.dataset.sources import records
from goldmeter.errors import DataError

LOGS = Path(__file__).parent / "logs/lm_eval"
RESULTS = next(LOGS.glob("results_*.json"))
MODEL = json.loads(RESULTS.read_text())["model_name"]


def read(path, pattern="*"):
    return [record.values for record in records(path, pattern, "lm_eval")]


def log(task):
    return next(LOGS.glob(f"samples_{task}_*.jsonl"))


@pytest.fixture
def copied(tmp_path):
    def copy(task, edit=lambda lines: lines, results=lambda text: text):
        lines = log(task).read_text().splitlines(keepends=True)
        (tmp_path / log(task).name).write_text("".join(edit(lines)))
        (tmp_path / RESULTS.name).write_text(results(RESULTS.read_text()))
        return tmp_path / log(task).name

    return copy


def sampled(tmp_path, **changes):
    sample = json.loads(log("ask").read_text().splitlines()[0]) | changes
    (tmp_path / "samples_ask.jsonl").write_text(json.dumps(sample))
    return read(tmp_path)


def test_a_sample_is_one_record():
    assert read(log("ask"))[0] == {
        "id": "ask/0",
        "input": "Q: What is the capital of France?\nA:",
        "references": ["Paris", "City of Paris"],
        "response": "lol",
        "candidate": MODEL,
        "error": None,
        "score_exact_match": "0.0",
        "metadata.question": "What is the capital of France?",
        "metadata.topic": "geography",
        "metadata.task": "ask",
        "metadata.doc_id": "0",
        "metadata.doc_hash": "ae1e8724c07dd929ebe660580b61aa59517b12ed95ef567a761b630871ba4dc4",
        "metadata.target_hash": "bdefa1c1f408b2324c2125cb37e6ebed810f9607773eb88f21aeba91a05a7f58",
    }


def test_filters_are_candidates_and_the_answers_of_one_filter_are_draws():
    rows = [(row["id"], row["candidate"], row.get("draw")) for row in read(log("twice"))]

    assert rows[:3] == [(f"twice/{n}", f"{MODEL} (first)", "1") for n in range(3)]
    assert rows[3:5] == [("twice/0", f"{MODEL} (both)", "1"), ("twice/0", f"{MODEL} (both)", "2")]
    assert len(rows) == 9


def test_a_score_of_a_document_is_of_none_of_its_several_answers():
    rows = read(log("twice"))

    assert not any("score_exact_match" in row for row in rows if "(both)" in row["candidate"])
    assert {row["score_exact_match"] for row in rows if "(first)" in row["candidate"]} != {None}


def test_the_most_likely_choice_is_the_response():
    first = json.loads(log("choose").read_text().splitlines()[0])
    likelihoods = [float(answer[0]) for answer in first["filtered_resps"]]
    row = read(log("choose"))[0]

    assert row["response"] == ["Paris", "Rome"][likelihoods.index(max(likelihoods))]
    assert row["references"] == ["Paris"]
    assert "score_acc" in row


def test_a_folder_holds_all_tasks():
    assert {row["id"].split("/")[0] for row in read(LOGS)} == {"ask", "twice", "choose"}


def test_a_file_alone_takes_the_model_from_its_folder(tmp_path):
    shutil.copy(log("ask"), tmp_path)

    assert {row["candidate"] for row in read(tmp_path)} == {tmp_path.name}


def test_a_folder_without_samples_says_how_they_are_written(tmp_path):
    shutil.copy(RESULTS, tmp_path)

    with pytest.raises(DataError, match=r"no file samples_\*\.jsonl; lm_eval writes them with --log_samples"):
        read(tmp_path)


def test_two_runs_of_a_task_in_one_folder_are_refused(tmp_path):
    for date in ("2026-01-01T00-00-00.1", "2026-01-02T00-00-00.1"):
        shutil.copy(log("ask"), tmp_path / f"samples_ask_{date}.jsonl")

    with pytest.raises(DataError, match=r"2026-01-02.*is also in .*choose one run with dataset\.pattern"):
        read(tmp_path)


@pytest.mark.parametrize("lost", [[0], [2], [0, 1], [0, 1, 2]])
def test_documents_that_the_log_lacks_have_a_null_response(copied, lost):
    path = copied("ask", lambda lines: [line for number, line in enumerate(lines) if number not in lost] or ["\n"])
    rows = read(path)

    assert {row["id"] for row in rows} == {"ask/0", "ask/1", "ask/2"}
    assert {row["id"] for row in rows if row["error"] == "missing from the log"} == {f"ask/{n}" for n in lost}


def test_a_document_that_one_filter_lacks_has_its_question_from_the_other(copied):
    rows = read(copied("twice", lambda lines: lines[:-1]))
    missing = rows[-1]

    assert (missing["candidate"], missing["id"], missing["response"]) == (f"{MODEL} (both)", "twice/2", None)
    assert missing["references"] == ["Beethoven"]


def test_more_documents_than_the_results_say_are_refused(copied):
    extra = lambda lines: [*lines, lines[0].replace('"doc_id": 0', '"doc_id": 7')]  # noqa: E731 (in one place)

    with pytest.raises(DataError, match="4 documents, but the results file says 3"):
        read(copied("ask", extra))


def test_documents_that_are_missing_without_known_ids_are_refused(copied):
    chosen = lambda lines: [lines[0].replace('"doc_id": 0', '"doc_id": 70')]  # noqa: E731 (in one place)

    with pytest.raises(DataError, match="1 documents, but the results file says 3"):
        read(copied("ask", chosen))


def test_documents_that_were_not_chosen_are_not_missing(copied):
    path = copied(
        "ask", lambda lines: [lines[0], lines[2]], lambda text: text.replace('"effective": 3', '"effective": 2')
    )

    assert [(row["id"], row["error"]) for row in read(path)] == [("ask/0", None), ("ask/2", None)]


def test_a_version_that_is_not_known_is_named(copied):
    path = copied("ask", results=lambda text: text.replace('"0.4.13"', '"1.2.0"'))

    with pytest.raises(DataError, match=r"written by lm_eval 1\.2\.0, whose logs can't be read; known: 0\.4"):
        read(path)


def test_a_line_that_is_no_sample_names_what_is_missing(copied):
    path = copied("ask", lambda lines: [lines[0], lines[1].replace('"filtered_resps"', '"responses"'), lines[2]])

    with pytest.raises(DataError, match="line 2: 'filtered_resps' is missing; the log is incomplete or of a version"):
        read(path)


@pytest.mark.parametrize(
    ("responses", "response", "error"),
    [
        ([], None, "no response"),
        ([None], None, "no response"),
        ([["-1.5", "False"]], None, "a log-likelihood, no text"),
    ],
)
def test_a_sample_without_a_text_has_a_null_response(tmp_path, responses, response, error):
    row = sampled(tmp_path, filtered_resps=responses)[0]

    assert (row["response"], row["error"]) == (response, error)


@pytest.mark.parametrize("answers", [["False", "True"], ["x", "False"], ["7", "True"]])
def test_two_answers_of_which_one_is_a_truth_value_are_no_ranking(tmp_path, answers):
    assert [row["response"] for row in sampled(tmp_path, filtered_resps=[answers])] == answers


OTHERS, LOOKS = ["[-1, 1]", "['a', 1]", "[None]", "[['a']]"], ["[broken", "['a', ", "[a]", "[" * 500 + "]", "9" * 5_000]


@pytest.mark.parametrize("target", [*OTHERS, *LOOKS])
def test_a_list_of_other_things_than_texts_and_what_only_looks_like_one_is_one_reference(tmp_path, target):
    assert sampled(tmp_path, target=target)[0]["references"] == [target]


def test_a_missing_document_has_as_many_draws_as_its_filter_gives_answers(copied):
    lost = lambda lines: [line for line in lines if json.loads(line)["doc_id"] != 1]  # noqa: E731 (in one place)
    rows = [row for row in read(copied("twice", lost)) if row["id"] == "twice/1"]

    assert [(row["candidate"], row["draw"]) for row in rows] == [
        (f"{MODEL} (first)", "1"),
        (f"{MODEL} (both)", "1"),
        (f"{MODEL} (both)", "2"),
    ]


@pytest.mark.parametrize("text", ["", "None"])
def test_a_text_that_may_stand_for_no_answer_stays_an_answer(tmp_path, text):
    assert sampled(tmp_path, filtered_resps=[text])[0]["response"] == text


def test_the_results_say_of_which_scores_less_is_better(tmp_path: Path) -> None:
    shutil.copytree(LOGS, tmp_path / "run")
    [results] = (tmp_path / "run").glob("results_*.json")
    stated = json.loads(results.read_text(encoding="utf-8"))
    files = sorted((tmp_path / "run").iterdir())

    def lower(**directions: Mapping[str, bool]) -> frozenset[str]:
        results.write_text(json.dumps(stated | {"higher_is_better": directions}), encoding="utf-8")
        return READERS["lm_eval"].lower_is_better(files)

    assert lower() == frozenset()
    assert lower(ask={"exact_match": True}, choose={"acc": False}) == {"acc"}
    with pytest.raises(DataError, match="more of exact_match is better in one task, and less in another one"):
        lower(ask={"exact_match": True}, twice={"exact_match": False})
