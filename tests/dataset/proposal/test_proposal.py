"""What `python -m flows.init` proposes: real shapes of files, what is unsure or not recognised, hostile names."""

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from goldmeter.dataset.paths import lookup, parse
from goldmeter.dataset.proposal import names
from goldmeter.dataset.proposal.columns import MOST_COLUMNS, columns
from goldmeter.dataset.proposal.given import MOST_RECORDS, Sample, read_sample
from goldmeter.dataset.proposal.proposal import UNSET, Proposal, propose
from goldmeter.dataset.proposal.section import replaced, rewritten, written
from goldmeter.dataset.proposal.separators import separator
from goldmeter.dataset.settings import Dataset
from goldmeter.dataset.sources import Record
from goldmeter.errors import DataError, GoldmeterError, ParamsError
from goldmeter.pipeline import params
from goldmeter.pipeline.settings import Section
from goldmeter.pipeline.yaml import load_yaml, parse_yaml, scalar
from tests.small_project import PARAMS, ROOT, stated_in_full

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40)
HOSTILE = [
    "\x1b[31mred", "a\nb: c", "{x: [", "- y", "# z", "'\"", "null", "no", "1", "2024-01-01", "~", "\u202egnp",
    "&a *b !c", "\u2028", "\ufeff", "😀", "%", "@", "`", "${dataset.path}", "<<", "...", "---", " ",
]  # fmt: skip
COLUMN = TEXTS | st.sampled_from(HOSTILE)
VALUE = st.none() | TEXTS | st.sampled_from(["true", "0", "1.5", "[]", "a/b"])
KEY = st.text("ab01.[]'\"\\ \n", min_size=1, max_size=4) | COLUMN
NESTED = st.recursive(
    VALUE, lambda own: st.lists(own, max_size=3) | st.dictionaries(KEY, own, max_size=3), max_leaves=8
)
SYSTEMS = st.dictionaries(COLUMN, st.fixed_dictionaries({"response": COLUMN}, optional={"label": COLUMN}), min_size=1)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def lines(name: str, rows: Sequence[dict[str, Any]]) -> str:
    """Write a file of JSON lines; its name."""
    Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return name


def table(name: str, header: Sequence[str], rows: Sequence[Sequence[str]], delimiter: str = ",") -> str:
    """Write a CSV file or one like it; its name."""
    with Path(name).open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=delimiter).writerows([header, *rows])
    return name


def found(path: str, pattern: str | None = None) -> Proposal:
    return propose(path, read_sample(path, pattern))


def of(*rows: dict[str, Any]) -> Proposal:
    return found(lines("rows.jsonl", rows))


def mapped(proposal: Proposal) -> dict[str, Any]:
    """The options that are no constants, and hold something."""
    constant = {
        "path",
        "pattern",
        "limit",
        "exclude",
        "missing_response",
        "other_questions",
        "phrases",
        "scores",
        "thoughts",
    }
    given_ = {name: value for name, value in proposal.options.items() if name not in constant and value}
    return {name: value for name, value in given_.items() if value != "all"}


def refused(*rows: dict[str, Any]) -> str:
    with pytest.raises(DataError) as error:
        of(*rows)
    return str(error.value)


def as_read(section: Mapping[str, str]) -> Any:
    """The options of these lines with the defaults; a reader of YAML 1.1 must read the same."""
    stated = content_of(f"dataset:\n{''.join(section.values())}")
    return UNSET | stated


def content_of(text: str) -> Any:
    content = parse_yaml(text)
    older = YAML(typ="safe", pure=True)
    older.version = "1.1"
    assert older.load(text) == content
    return content["dataset"]


def test_the_bundled_example() -> None:
    example = str(ROOT / "data/examples/qa.jsonl")

    proposal = found(example)

    stated = UNSET | load_yaml(PARAMS)["dataset"] | {"path": example, "task": None}  # recognised from loaded rows
    for candidate in stated["candidates"].values():
        del candidate["about"]
        candidate["label"] = {"column": candidate["label"], "by": "correct"}
    assert proposal.options == stated
    assert proposal.unsure == {
        "candidates": "nothing says that people gave aurora_correct, …: a score; if they did, leave out by"
    }
    assert proposal.unused == []


def test_evouna(evouna: Path) -> None:
    proposal = found(str(evouna))

    assert mapped(proposal) == {
        "input": "question",
        "references": "golden_answer",
        "reference_separator": "/",
        "candidates": {
            name: {"response": f"answer_{name}", "label": {"column": f"judge_{name}", "by": "judge"}}
            for name in ("fid", "gpt35", "chatgpt", "gpt4", "newbing")
        },
    }
    assert proposal.comments["exclude"] == (
        "improper is true in 224 of 1,000, 200 of the 200 without an answer of newbing among them: "
        "{improper: true} leaves those out"
    )
    assert proposal.unsure == {
        "candidates": "nothing says that people gave judge_fid, …: a score; if they did, leave out by",
        "reference_separator": '"/" stands in 421 of 999 references, such as "Olivia/MFSK"; '
        "8 times not between two answers",
    }
    assert proposal.notes == ["not used: improper (true and false)"]


SHAPES: dict[str, tuple[list[dict[str, Any]], dict[str, Any]]] = {
    "azure": (
        [{"query": f"q{i}?", "response": f"r {i}", "ground_truth": f"g {i}"} for i in range(3)],
        {"input": "query", "references": "ground_truth", "candidates": {"model": {"response": "response"}}},
    ),
    "ragas": (
        [{"user_input": "q?", "response": "r", "reference": "g", "retrieved_contexts": ["c"], "faithfulness": 0.5}],
        {"input": "user_input", "references": "reference", "candidates": {"model": {"response": "response"}},
         "contexts": "retrieved_contexts"},
    ),
    "ragas of old, whose answer is the system's": (
        [{"question": "q?", "answer": "r", "contexts": ["c"], "ground_truth": "g", "answer_relevancy": 0.25}],
        {"input": "question", "references": "ground_truth", "candidates": {"model": {"response": "answer"}},
         "contexts": "contexts"},
    ),
    "deepeval": (
        [{"input": "q?", "actual_output": "r", "expected_output": "g", "context": None, "retrieval_context": ["c"]}],
        {"input": "input", "references": "expected_output", "candidates": {"model": {"response": "actual_output"}},
         "contexts": "retrieval_context"},
    ),
    "squad": (
        [{"id": "1", "question": "q?", "answers": {"text": ["g"], "answer_start": [1]}, "prediction_text": "r"}],
        {"id": "id", "input": "question", "references": "answers.text",
         "candidates": {"model": {"response": "prediction_text"}}},
    ),
    "squad, answers taken out": (
        [{"id": str(i), "title": "T", "question": f"q{i}?", "answers": ["g", "h"], "prediction_text": "r"}
         for i in range(3)],
        {"id": "id", "input": "question", "references": "answers",
         "candidates": {"model": {"response": "prediction_text"}}},
    ),
    "places in nested records": (
        [{"id": i, "input": {"question": "q?"}, "gold": {"answers": ["a"]}, "outputs": {"m": {"text": "a"}}}
         for i in range(3)],
        {"id": "id", "input": "input.question", "references": "gold.answers",
         "candidates": {"m": {"response": "outputs.m.text"}}},
    ),
    "a label of the only system": (
        [{"question": f"q{i}", "reference": "a", "response": "b", "is_correct": i % 2} for i in range(4)],
        {"input": "question", "references": "reference",
         "candidates": {"model": {"response": "response", "label": {"column": "is_correct", "by": "is correct"}}}},
    ),
    "a baseline beside a labelled system": (
        [{"question": f"q{i}", "gold": "an a", "baseline": f"b{i}", "v2": "c", "v2_correct": "yes"} for i in range(2)],
        {"input": "question", "references": "gold",
         "candidates": {"baseline": {"response": "baseline"},
                        "v2": {"response": "v2", "label": {"column": "v2_correct", "by": "correct"}}}},
    ),
}  # fmt: skip


@pytest.mark.parametrize(("rows", "mapping"), SHAPES.values(), ids=SHAPES.keys())
def test_shapes_of_records(rows: list[dict[str, Any]], mapping: dict[str, Any]) -> None:
    assert mapped(of(*rows)) == mapping


def test_numbers_of_other_tools_are_suggested_as_scores() -> None:
    proposal = of(*SHAPES["ragas"][0])

    assert proposal.comments["scores"] == "scores from elsewhere; perhaps faithfulness: {faithfulness: faithfulness}"
    assert proposal.notes == ["not used: faithfulness (numbers)"]


def test_openai_evals_have_messages_and_no_answers() -> None:
    row = {"input": [{"role": "user", "content": "q?"}], "ideal": "Paris"}

    assert refused(row).splitlines() == [
        "rows.jsonl: not recognised: candidates",
        "  candidates: the answers of the system, such as a column `response`, or answer_A and answer_B of two systems",
        "2 columns, with a value of each:",
        "  input: a list of objects with role, content",
        '  "input[0]": an object with role, content',
        '  "input[0].role": "user"',
        '  "input[0].content": "q?"',
        '  ideal: "Paris"',
        "Say which it is (--input --references --candidate NAME=COLUMN), or write section dataset of params.yaml:",
        "  path: rows.jsonl",
        '  input: "input[0].content"',
        "  references: ideal",
        "  candidates: {mine: {response: …}}",
    ]


def test_an_id_is_never_the_question() -> None:
    rows = [{"id": i, "input": {"blob": [1, 2]}, "gold": {"start": [3]}, "outputs": [{"role": "x"}]} for i in range(3)]

    message = refused(*rows).splitlines()

    assert message[0] == "rows.jsonl: not recognised: references, candidates"
    assert (
        "  gold: an object with start, but load takes a text or a list of texts; put that into its own column"
        in message
    )
    assert message[-4:] == ["  id: id", "  input:", "  references: …", "  candidates: {mine: {response: …}}"]


def test_the_only_lists_of_texts_are_taken_for_references() -> None:
    row = {"question": "q?", "response": "r", "variants": ["a", "b"]}

    proposal = of(row)

    assert mapped(proposal)["references"] == "variants"
    assert proposal.unsure["references"] == "the only column of lists of texts; are they the right answers?"
    for other in (
        {"more": ["c"]},
        {"variants": None, "retrieved_contexts": ["c"]},
        {"variants": None, "keywords": ["c"]},
    ):
        assert refused(row | other).startswith("rows.jsonl: not recognised: references")


def test_messages_beside_an_id_are_left_out_and_told() -> None:
    proposal = of({"id": "1", "messages": 3, "input": [{"role": "user"}], "ideal": "Paris", "completion": "Paris"})

    assert mapped(proposal)["id"] == "id"
    assert proposal.options["input"] is None
    assert proposal.unsure["input"].startswith("none; input holds no text: a list of objects with role")


TRUTHFUL = ["Type", "Category", "Question", "Best Answer", "Correct Answers", "Incorrect Answers", "Source"]
TRUTHFUL_ROW = ["Adversarial", "Law", "What if?", "Nothing happens", "Nothing happens; It passes", "You die", "x"]


def test_truthfulqa_with_answers() -> None:
    rows = [[*TRUTHFUL_ROW[:2], f"What if {i}?", *TRUTHFUL_ROW[3:], f"a {i}"] for i in range(3)]

    proposal = found(table("t.csv", [*TRUTHFUL, "gpt-4 answer"], rows))

    assert mapped(proposal) == {
        "input": "Question",
        "references": "Correct Answers",
        "reference_separator": ";",
        "candidates": {"gpt-4": {"response": "gpt-4 answer"}},
    }
    assert proposal.comments["references"] == 'by its name; or: "Best Answer"'


def test_choices_are_no_candidates() -> None:
    rows = [{"question": "q?", "answer_a": "x", "answer_b": "y", "correct_answer": "ab"[i % 2]} for i in range(4)]

    assert refused(*rows).startswith("rows.jsonl: not recognised: candidates")


def test_a_tsv_with_labels_of_some_systems() -> None:
    header = ["Question", "Gold", "gpt-4 response", "claude_response", "human_verdict_gpt-4"]

    proposal = found(table("x.tsv", header, [["q", "a, b", "c", "d", "yes"], ["r", "a", "c", "d", "no"]], "\t"))

    assert mapped(proposal) == {
        "input": "Question",
        "references": "Gold",
        "candidates": {
            "gpt-4": {"response": "gpt-4 response", "label": "human_verdict_gpt-4"},
            "claude": {"response": "claude_response"},
        },
    }


@pytest.mark.parametrize("sign", [";", "\t", "|"])
def test_another_delimiter_in_a_csv_file_is_read(sign: str) -> None:
    path = table("semi.csv", ["question", "reference", "response"], [["a", "b, c", "d"]], sign)

    assert mapped(found(path))["references"] == "reference"


def test_parquet_with_lists_and_a_folder_of_parts_beside_other_files() -> None:
    Path("parts").mkdir()
    frame = pd.DataFrame(
        {"qid": [1, 2], "question": ["a", "b"], "references": [["x", "y"], ["z"]], "output": ["x", "y"]}
    )
    frame[:1].to_parquet("parts/0.parquet")
    frame[1:].to_parquet("parts/1.parquet")
    Path("parts/README.md").write_text("about", encoding="utf-8")

    proposal = found("parts")

    assert proposal.options["pattern"] == "*.parquet"
    assert mapped(proposal) == {
        "id": "qid", "input": "question", "references": "references", "candidates": {"model": {"response": "output"}}
    }  # fmt: skip
    assert proposal.read == "its 2 records"


def test_a_folder_of_several_formats_needs_a_pattern() -> None:
    Path("both").mkdir()
    row = {"question": "a", "reference": "b", "response": "c"}
    lines("both/a.jsonl", [row])
    table("both/b.csv", list(row), [list(row.values())])

    with pytest.raises(DataError, match=r"^both: files of several formats, 1 of \*\.csv, 1 of \*\.jsonl; .*--pattern"):
        found("both")
    assert found("both", "*.csv").options["pattern"] == "*.csv"


def test_a_folder_is_read_for_the_one_format_in_it() -> None:
    Path("here").mkdir()
    for name in ("README.md", "setup.py", "params.yaml"):
        Path("here", name).touch()

    with pytest.raises(DataError, match=r"^here: no data files here: a folder must hold \.jsonl, .*--pattern '\*\*/"):
        found("here")
    table("here/a.csv", ["question", "reference", "response"], [["a", "b", "c"]])
    assert found("here").options["pattern"] == "*.csv"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("none.jsonl", b"", r"^none\.jsonl: empty, no record in it$"),
        ("latin.csv", "question,reference\nwho?,R\xf6ntgen\n".encode("latin-1"), r"^latin\.csv, line 2: .* not UTF-8"),
        ("mine.txt", b"x", r"^mine\.txt: unknown format '\.txt'; allowed"),
    ],
)
def test_what_load_can_not_read_is_its_own_error(name: str, content: bytes, message: str) -> None:
    Path(name).write_bytes(content)

    with pytest.raises(DataError, match=message):
        found(name)


def test_what_is_not_there_is_loads_own_error() -> None:
    with pytest.raises(DataError, match=r"^mine\.csv: no such file or folder"):
        found("mine.csv")


def test_only_the_first_records_are_looked_at() -> None:
    rows = [{"id": i, "question": f"q{i}", "reference": "a", "response": "b"} for i in range(MOST_RECORDS)]
    path = lines("many.jsonl", rows)
    with Path(path).open("a", encoding="utf-8") as file:
        file.write('{"id": 0, "question": "q", "reference": "a", "response": "b"}\nnot JSON\n')

    proposal = found(path)

    assert proposal.read == "its first 1,000 records"
    assert mapped(proposal)["id"] == "id"


def test_a_record_a_system_is_the_long_form() -> None:
    rows = [
        {"question": f"q{i}", "gold": "an a", "model": model, "answer": f"{model}{i}"} for i in "12" for model in "xyz"
    ]

    proposal = of(*rows)

    assert mapped(proposal) == {
        "input": "question", "references": "gold", "candidates": {"column": "model", "response": "answer"}
    }  # fmt: skip
    assert proposal.comments["candidates"] == 'one record a system: model names 3 ("x", "y", "z")'
    assert proposal.unsure == {}


def test_columns_named_like_models_are_taken_but_unsure() -> None:
    rows = [
        {"prompt": f"q{i}", "gold": "x", "gpt-4o": f"a {i}", "claude-3": f"b {i}", "language": "en"} for i in range(3)
    ]

    proposal = of(*rows)

    assert [*mapped(proposal)["candidates"]] == ["gpt-4o", "claude-3"]
    assert proposal.unsure["candidates.gpt-4o"] == "only its name says that it holds answers"
    assert "    gpt-4o: {response: gpt-4o}  # check: only its name" in proposal.section["candidates"]


VERDICTS = {
    "verdict": ["Correct.", "Incorrect."],
    "match": ["1", "0", ""],
    "hit": ["true", "false"],
    "judge": ["YES", "NO", "ERROR"],
    "correctness": ["richtig", "falsch"],
    "rating": ["4/5", "5/5", "1/5"],
    "support": ["supported", "not supported"],
    "faithful": ["faithful", "unfaithful"],
    "status": ["success", "failure"],
    "check": ["✓", "✗"],
    "assessment": ["fully correct", "mostly wrong", "wrong"],
    "thumbs": ["up", "down"],
    "flag": ["t", "f"],
    "outcome": ["TP", "FP"],
}


@pytest.mark.parametrize(("name", "values"), VERDICTS.items(), ids=VERDICTS.keys())
@pytest.mark.parametrize("systems", [1, 2])
def test_verdicts_are_never_a_slice_and_are_told(name: str, values: list[str], systems: int) -> None:
    answers = {f"answer_{each}": "b" for each in ("v1", "v2")[:systems]}
    rows = [{"id": i, "question": f"q{i}", "gold": "a", **answers, name: values[i % len(values)]} for i in range(12)]

    proposal = of(*rows)

    assert proposal.options["slices"] == []
    label = proposal.options["candidates"].popitem()[1].get("label")
    assert (label and label["column"] == name) or name in proposal.unsure["candidates"]


@pytest.mark.parametrize("values", [["open", "closed"], ["yes/no", "list"], ["up", "left"], ["valid", "test"]])
def test_other_words_stay_slices(values: list[str]) -> None:
    rows = [{"id": i, "question": f"q{i}", "gold": "a", "response": "b", "match_type": values[i % 2]} for i in range(9)]

    assert of(*rows).options["slices"] == ["match_type"]


@pytest.mark.parametrize("name", ["context_recall", "answer_relevancy", "bleu_score"])
def test_a_score_of_two_values_is_no_slice(name: str) -> None:
    rows = [{"question": f"q{i}", "gold": f"a{i}", "response": "b", name: f"{i % 2}.0"} for i in range(9)]

    proposal = of(*rows)

    assert proposal.options["slices"] == []
    assert name in proposal.comments["scores"]


def test_groups_repeat_and_slices_are_few() -> None:
    rows = [
        {"id": i, "question": f"q{i}", "gold": "a", "response": "b", "conversation_id": i // 2, "topic": "xy"[i % 2],
         "year": 2000 + i % 2, "difficulty": 1 + i % 3, "session": i, "is_short": i % 2 == 0, "note": f"n{i}"}
        for i in range(12)
    ]  # fmt: skip

    proposal = of(*rows)

    assert proposal.options["group"] == "conversation_id"
    assert proposal.options["slices"] == ["topic", "difficulty", "is_short"]
    assert proposal.comments["slices"] == "topic: 2 values, difficulty: 3 values, is_short: 2 values"
    assert proposal.notes == ["not used: year (numbers), session (numbers), note (12 values)"]


@pytest.mark.parametrize(
    ("references", "first", "second"),
    [
        (["Paris", "Paris", "Rome", "Rome"], ["In Paris.", "In Paris.", "In Rome.", "In Rome."], ["a", "b", "c", "d"]),
        (["spam", "ham", "spam", "ham"], ["spam", "spam", "spam", "ham"], ["ham", "ham", "spam", "ham"]),
        ([1, 2, 3, 4], [1, 2, 3, 5], [1, 1, 1, 4]),
    ],
)  # fmt: skip
def test_columns_that_are_named_alike_for_models_are_systems(
    references: list[Any], first: list[Any], second: list[Any]
) -> None:
    rows = [
        {"question": f"Q {i}?", "answer": right, "model_a": one, "model_b": other}
        for i, (right, one, other) in enumerate(zip(references, first, second, strict=True))
    ]

    proposal = of(*rows)

    assert {name: one["response"] for name, one in proposal.options["candidates"].items()} == {
        "a": "model_a",
        "b": "model_b",
    }


def test_an_id_that_stands_twice_is_none() -> None:
    row = {"id": "1", "question": "q", "reference": "a", "response": "b"}

    proposal = of(row, row | {"question": "r"})

    assert proposal.options["id"] is None
    assert proposal.comments["id"] == "none: a hash of the input; id is null or has a value twice"


ROW = {"question": "q", "reference": "an a", "response": "b"}


SURE = ("human_correct", "annotator_accepted")


@pytest.mark.parametrize("name", ["label", "annotation", "human", "gold_label", "human_response", *SURE])
def test_a_label_is_sure_if_its_name_says_right(name: str) -> None:
    doubt = f"label: the column of human labels; if {name} is true of any but right answers, leave it out"

    proposal = of(ROW | {name: 1}, ROW | {name: 0})

    assert mapped(proposal)["candidates"] == {"model": {"response": "response", "label": name}}
    assert proposal.unsure == ({} if name in SURE else {"candidates": doubt})


# Columns of verdicts as tools export them: promptfoo, OpenAI Evals, MLflow, LangSmith, Langfuse, Phoenix, DeepEval,
# Ragas, Inspect, lm_eval, HELM, SimpleQA, and names that a grader of one's own may have.
MACHINES = (
    "pass", "passed", "status", "score", "success", "grade", "graded", "correct", "is_correct", "correctness",
    "feedback.correctness", "answer_correctness/v1/score", "exact_match", "quasi_exact_match", "includes", "match",
    "acc", "acceptable", "rightAnswer", "eval", "evaluation", "evaluator", "judge", "llm_judge", "judgement", "verdict",
    "model_verdict", "predicted_correct", "auto_label", "llm_label", "predicted_label", "grader", "grader_verdict",
    "hallucination", "is_hallucination", "outcome", "result", "testPass", "llm_annotation", "model_annotation",
    "ai_label", "machine_annotated", "gpt4_label", "pseudo_label", "weak_label", "human_eval_pass",
)  # fmt: skip
PEOPLE = ("human", "human_label", "label", "gold_label", "annotator", "annotator_1", "annotation", "rater", "reviewer")


@given(st.sampled_from([*MACHINES, *PEOPLE]), st.sampled_from(["", "my_", "openai "]), st.sampled_from(["pass", "yes"]))
def test_only_a_name_that_says_people_makes_human_labels(name: str, prefix: str, word: str) -> None:
    words = {"pass": ("pass", "fail"), "yes": ("yes", "no")}[word]

    proposal = of(*(ROW | {"question": f"q{i}", f"{prefix}{name}": words[i % 2]} for i in range(8)))

    label = proposal.options["candidates"]["model"].get("label")
    by_people = label is not None and (not isinstance(label, dict) or "by" not in label)
    assert by_people == (name in PEOPLE) if word == "pass" or not prefix else not by_people or name in PEOPLE
    assert label is None or by_people or "by" in label
    assert by_people or proposal.options["labels"] != "other"


def test_a_system_that_always_says_the_same_is_one_and_an_attribute_of_a_system_is_none() -> None:
    rows = [
        {"question": f"Q{n}?", "reference": f"R{n}", "gpt-4o": "I don't know", "claude": f"It is R{n}",
         "claude_prompt": "Be brief.", "gpt4_version": "2026-05"}
        for n in range(4)
    ]  # fmt: skip
    yes_or_no = [{"question": f"Q{n}?", "reference": "yes", "gpt-4o": "yes", "claude": "no"} for n in range(4)]

    assert of(*rows).options["candidates"].keys() == {"gpt-4o", "claude"}
    assert of(*yes_or_no, yes_or_no[0] | {"question": "?", "reference": "no"}).options["candidates"].keys() == {
        "gpt-4o", "claude"
    }  # fmt: skip


@pytest.mark.parametrize("name", ["bad_answer", "wrong_answer", "incorrect_answer", "worstAnswer", "Bad Answers"])
def test_wrong_answers_are_no_systems(name: str) -> None:
    assert mapped(of(ROW | {name: "c"}))["candidates"] == {"model": {"response": "response"}}


def test_a_blank_column_that_is_named_less_like_an_input_is_no_doubt() -> None:
    proposal = of(ROW | {"text": ""}, ROW | {"text": "t"})

    assert proposal.options["input"] == "question"
    assert proposal.comments["input"] == "by its name; or: text"
    assert proposal.unsure == {}


DOUBTS: dict[str, tuple[list[dict[str, Any]], dict[str, Any], dict[str, str]]] = {
    "codes as references": (
        [{"question": f"q{i}", "choices": ["x", "y"], "answer": "AB"[i % 2], "prediction": "A"} for i in range(4)],
        {"references": "answer"},
        {"references": 'codes such as "A"; the answers must be codes, too'},
    ),
    "the reference of a classifier": (
        [{"text": f"t{i}", "label": i % 2, "prediction": (i + 1) % 2} for i in range(4)],
        {"references": "label"},
        {"references": "true and false; people's verdict on an answer would be its label"},
    ),
    "a label in other words": (
        [ROW | {"human_label": "somewhat"}],
        {},
        {"candidates": 'human_label holds "somewhat": if these are human labels, say which are right: '
                       "label: {column: human_label, right: […], wrong: […]}"},
    ),
    "a model's verdict before people's": (
        [ROW | {"predicted_correct": 1, "human_correct": 1}],
        {"candidates": {"model": {"response": "response", "label": "human_correct"}}},
        {"candidates.model": "label human_correct, or: predicted_correct"},
    ),
    "people's verdict before a model's": (
        [ROW | {"human_correct": 1, "predicted_correct": 1}],
        {"candidates": {"model": {"response": "response", "label": "human_correct"}}},
        {"candidates.model": "label human_correct, or: predicted_correct"},
    ),
    "a model's verdict alone": (
        [ROW | {"predicted_correct": 1}],
        {},
        {"candidates": "nothing says that people gave predicted_correct: a score; if they did, leave out by"},
    ),
    "answers beside a response": (
        [{"question": "q", "answer": "an a", "correct_answer": "an a", "response": "b"}],
        {"references": "correct_answer"},
        {"candidates.answer": "a system's answers, or right ones?"},
    ),
    "an input that is mostly blank": (
        [{"instruction": f"do {i}", "input": "" if i else "it", "reference": "an a", "output": "b"} for i in range(3)],
        {"input": "instruction"},
        {"input": "not the best name, but input is blank in 2 of 3"},
    ),
    "an only input that is blank in more than a few records": (
        [ROW | {"question": "" if i < 5 else f"q{i}"} for i in range(99)],
        {},
        {"input": "question is blank in 5 of 99"},
    ),
    "an only input that is blank in a few": ([ROW | {"question": "q" if i > 4 else ""} for i in range(100)], {}, {}),
    "a few labels, which are not taken to be random": (
        [ROW | {"question": f"q{i}", "human_right": True if i == 3 else None} for i in range(4)],
        {},
        {"labels": "1 of 4 answers are labelled; random, if those were drawn at random"},
    ),
}  # fmt: skip


@pytest.mark.parametrize(("rows", "options", "unsure"), DOUBTS.values(), ids=DOUBTS.keys())
def test_what_is_uncertain_is_told(rows: list[dict[str, Any]], options: dict[str, Any], unsure: dict[str, str]) -> None:
    proposal = of(*rows)

    assert mapped(proposal) | options == mapped(proposal)
    assert proposal.unsure == unsure


@pytest.mark.parametrize(("option", "column"), [("criteria", "rubric"), ("phrases", "keywords")])
def test_criteria_and_phrases_are_only_suggested(option: str, column: str) -> None:
    proposal = of(ROW | {column: ["Names it", "Is polite"]})

    assert proposal.options[option] is None
    assert proposal.comments[option].endswith(f"; perhaps {column}")


@pytest.mark.parametrize(
    ("texts", "sign", "plausible"),
    [
        (["Paris / City of Paris", "Rome", "Bonn / Berlin"], " / ", True),
        (["Paris/City of Paris", "Rome", "Bonn/Berlin"], "/", True),
        (["a | b", "c | d"], " | ", True),
        (["a|b", "c"] * 2, "|", True),
        (["a||b", "c||d"], "||", True),
        (["Nothing happens to you; It passes", "One; Two"], ";", True),
        (["05/18/2018", "1/2", "12/25/1999"], "/", False),
        (["100 km/h", "5 m/s", "AC/DC", "and/or"], "/", False),
        (["https://a.example/b", "http://c.example"], "/", False),
        (["a/b"] + ["c"] * 99, "/", False),
        (
            ["It was long and cold; nobody came to see what had become of the house; it fell"] * 2 + ["x"] * 3,
            ";",
            False,
        ),
        (["Se busca dependienta/e", "La persona seleccionada/o", "el usuario/a"], "/", False),
        (["Der Fahrer und/oder der Halter des Wagens haftet hier für den Schaden."] * 4, "/", False),
        (["Das <v>Haus</v> ist groß."] * 9, "/", False),
        (["16 - 3 - 4 = 9\n9 * 2 = 18\n#### 18"] * 9, "\n", False),
        (["It rained; nobody came."] * 9, ";", False),
        (["f(a|b)", "g(c|d)"], "|", False),
        (["a/b"] + ["c"] * 9, "/", False),
    ],
)
def test_what_separates_references(texts: list[str], sign: str, plausible: bool) -> None:
    found_ = separator(texts)

    assert found_ is not None
    assert (found_.text, found_.plausible) == (sign, plausible)


def test_nothing_separates_plain_references() -> None:
    assert separator(["Paris", "Marie Curie, physicist"]) is None


@pytest.mark.parametrize(
    ("columns", "called"),
    [
        (["answer_fid", "answer_gpt4"], ["fid", "gpt4"]),
        (["model_a_response", "model_b_response"], ["a", "b"]),
        (["response", "gpt4_response"], ["response", "gpt4_response"]),
        (["answer_1", "answer_2"], ["answer_1", "answer_2"]),
        (["answer1", "answer2"], ["answer1", "answer2"]),
        (["responseGpt", "responseClaude"], ["Gpt", "Claude"]),
        (["answer_text-davinci-003", "answer_FiD"], ["text-davinci-003", "FiD"]),
        (["answerFiD", "answerGPT4o"], ["FiD", "GPT4o"]),
        (["FiD_answer", "DeepSeekR1_answer"], ["FiD", "DeepSeekR1"]),
        (["org/Llama-3:8b_output", "org/FiD@2_output"], ["Llama-3:8b", "FiD@2"]),
        (["gpt-4 (turbo) response", "gpt-4 response"], ["gpt-4_turbo", "gpt-4"]),
        (["response"], ["model"]),
        (["gpt-4.1_output"], ["gpt-4.1"]),
        (["Antwort_\x1b[31m_response", "x_response"], ["Antwort_31m", "x"]),
    ],
)
def test_systems_are_called_by_what_differs(columns: list[str], called: list[str]) -> None:
    assert names.candidate_names(columns) == called


@given(st.lists(TEXTS | st.sampled_from(HOSTILE), min_size=1, max_size=8, unique=True))
def test_names_of_systems_are_short_plain_and_different(columns: list[str]) -> None:
    called = names.candidate_names(columns)

    assert len(set(called)) == len(columns)
    assert all(name and len(name) <= 70 and name.isprintable() and " " not in name for name in called)


def test_only_what_differs_from_the_defaults_is_stated() -> None:
    row = {"question": "q", "reference": "a", "response": "b"}

    assert "".join(of(row).section.values()).splitlines() == [
        "  path: rows.jsonl",
        "  input: question",
        "  references: reference",
        "  candidates:",
        "    model: {response: response}",
    ]


@given(TEXTS | st.sampled_from(HOSTILE))
def test_any_text_is_read_as_it_was_written(text: str) -> None:
    assert content_of(f"dataset: {{{scalar(text)}: [{scalar(text)}]}}\n") == {text: [text]}


OPTIONS = st.fixed_dictionaries({
    **{name: st.just(unset) for name, unset in UNSET.items()},
    **dict.fromkeys(["path", "pattern", "input", "references"], COLUMN),
    **dict.fromkeys(["id", "reference_separator", "group"], COLUMN | st.none()),
    "candidates": SYSTEMS,
    "labels": st.sampled_from(["all", "other"]),
    "slices": st.lists(COLUMN, unique=True),
})  # fmt: skip


@given(OPTIONS, st.dictionaries(st.sampled_from(["id", "input", "references", "slices"]), st.text(max_size=300)))
def test_a_section_is_read_as_the_mapping_that_was_written(options: dict[str, Any], comments: dict[str, str]) -> None:
    from goldmeter.dataset.proposal.section import shown

    section = written(options, {name: shown(each, 300) for name, each in comments.items()}, [*comments])

    assert as_read(section) == options
    assert {"path", "candidates", *comments} <= section.keys()
    Dataset.model_validate(as_read(section))


@given(st.dictionaries(COLUMN, st.tuples(VALUE, VALUE, VALUE), min_size=1, max_size=8))
def test_any_columns_give_a_proposal_that_load_takes_or_an_error(columns: dict[str, Sequence[str | None]]) -> None:
    named = ["question", "reference", "response", "gpt_response", "is_correct", "topic", "thread", "id"]
    spread = dict(zip(named, columns.values(), strict=False)) | columns
    records = [Record("x", i, {name: values[i] for name, values in spread.items()}) for i in range(3)]

    try:
        proposal = propose("x.csv", Sample(records, "*", complete=True))
    except GoldmeterError as error:
        told = str(error).splitlines()
    else:
        told = "".join(proposal.section.values()).splitlines()
        assert as_read(proposal.section) == proposal.options
        Dataset.model_validate(proposal.options)

    assert all(line.isprintable() for line in told)


BEFORE = "# head: ü\n\nlexical: {bleu: {}}  # dataset: no\n"
SECTION = "dataset:   # old\n  path: x\n  # a comment of it\n\n  input: |\n    two\n\n    lines\n"
AFTER = "\n# about load: '\n\nload:\n  dataset: 3\n"


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize(("before", "after"), [("", ""), (BEFORE, ""), ("", AFTER), (BEFORE, AFTER), ("\ufeff", AFTER)])
def test_only_the_section_is_replaced(before: str, after: str, end: str) -> None:
    content, new = (before + SECTION + after).replace("\n", end), "dataset:\n  path: y\n"

    assert replaced(content, new) == f"{before}{new}{after}".replace("\n", end if end in content else "\n")


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("text", [PARAMS.read_text(encoding="utf-8"), stated_in_full()], ids=["short", "in full"])
def test_of_our_own_params_every_other_byte_stays(text: str, end: str) -> None:
    text = text.replace("\n", end)
    proposal = found(str(ROOT / "data/examples/qa.jsonl"))

    changed = rewritten(text, proposal.section)

    start, stop = text.index("dataset:"), text.index(f"{end}answer:")
    assert changed.startswith(text[:start])
    assert changed.endswith(text[stop:])
    assert changed.count("\n") == changed.count(end)
    assert UNSET | content_of(changed.replace(end, "\n")) == proposal.options
    assert rewritten(changed, proposal.section) == changed


def test_comments_of_the_user_and_lines_of_values_that_stay_are_kept() -> None:
    proposal = of({"question": "q", "reference": "a", "response": "b"})
    before = """\
# the top
dataset:  # ours
  # asked in March
  input:    question   # as people typed it
  limit: 3  # for a try
  # the gold
  references: gold
  path: old.jsonl
  # at the end
gate: {}
"""

    assert (
        rewritten(before, proposal.section)
        == """\
# the top
dataset:  # ours
  # asked in March
  input:    question   # as people typed it
  # the gold
  references: reference
  candidates:
    model: {response: response}
  path: rows.jsonl
  # at the end
gate: {}
"""
    )


LINES = st.lists(st.sampled_from(["# a comment", "", "  # deeper", "limit: 3  # mine", "id: old", "input: question"]),
                 unique=True)  # fmt: skip


@given(LINES, st.sampled_from(["", "  path: x\n"]))
def test_whatever_stands_in_a_section_it_then_has_what_is_proposed(lines: list[str], first: str) -> None:
    proposal = of({"question": "q", "reference": "a", "response": "b"})
    text = f"# head\ndataset:\n{first}{''.join(f'  {line}'.rstrip() + chr(10) for line in lines)}\n# tail\ngate: {{}}\n"

    changed = rewritten(text, proposal.section)

    assert UNSET | parse_yaml(changed)["dataset"] == proposal.options
    assert changed.startswith("# head\n")
    assert changed.endswith("\n# tail\ngate: {}\n")


def test_a_missing_section_is_put_first() -> None:
    assert replaced("# head\nload: {a: 1}\n", "dataset: {path: x}\n") == "# head\ndataset: {path: x}\nload: {a: 1}\n"


@pytest.mark.parametrize("content", ["{dataset: {a: 1}, load: {b: 2}}\n", "dataset: &x {a: 1}\nload: *x\n"])
def test_a_section_that_does_not_stand_by_itself_is_left(content: str) -> None:
    with pytest.raises(ParamsError, match="can't be replaced where it stands; write by hand:\n\ndataset:"):
        replaced(content, "dataset: {path: x}\n")


def test_many_columns_are_listed_in_part() -> None:
    message = refused({f"column {i}": "x" for i in range(200)})

    assert f"  and {200 - MOST_COLUMNS:,} more" in message
    assert len(message) < 3_000


def test_texts_of_the_data_are_cut_and_spelled_out_in_messages() -> None:
    message = refused({"\x1b]0;title\x07\nx": "\x1b[2J" * 1000 + "\u202e"})

    assert all(line.isprintable() for line in message.splitlines())
    assert len(message) < 1_000


def test_a_column_that_no_params_can_name_is_left_out() -> None:
    Path("half.jsonl").write_text('{"question": "q", "gold": "a", "response": "b", "\\ud800topic": "x", "": "y"}\n')

    assert mapped(found("half.jsonl"))["input"] == "question"


def test_a_proposal_is_checked_by_the_model_of_the_section() -> None:
    proposal = of({"question": "q", "reference": "a", "response": "b"})

    section: Section = params.section(Dataset, {"dataset": dict(proposal.options)}, "dataset")

    assert list(proposal.options) == list(type(section).model_fields)


@pytest.mark.property
@given(record=st.dictionaries(KEY, NESTED, min_size=1, max_size=4))
def test_the_name_of_each_place_leads_to_its_values(record: dict[str, Any]) -> None:
    for column in columns([Record(Path("f"), 1, record)]):
        steps = parse(column.name) if column.leaf else (column.name,)

        assert steps is not None
        assert _without_blanks(lookup(record, steps)) == column.cells[0]


def _without_blanks(value: Any) -> Any:
    return None if value in (None, [], {}) or (isinstance(value, str) and not value.strip()) else value


@pytest.mark.parametrize(
    "name", ["possible_answers", "answers", "all_answers", "aliases", "answer_aliases", "valid answers"]
)
def test_printed_lists_of_right_answers_are_references(name: str) -> None:
    rows = [[f"Who wrote book {i}?", str([f"Author {i}", f"A. {i}"]), f"Author {i}"] for i in range(20)]

    for response in ("gpt4", "response", "prediction"):
        found = propose("x.csv", read_sample(table("x.csv", ["question", name, response], rows)))
        assert found.options["references"] == name
        assert [one["response"] for one in found.options["candidates"].values()] == [response]


def test_other_names_of_an_answer_are_references_beside_it_and_no_system() -> None:
    rows = [[f"Who wrote book {i}?", f"Author {i}", str([f"A. {i}", f"Author {i}"]), f"so {i}"] for i in range(20)]

    for name in ("aliases", "possible_answers"):
        found = propose("x.csv", read_sample(table("x.csv", ["question", "answer", name, "gpt4"], rows)))
        assert found.options["references"] == ["answer", name]
        assert list(found.options["candidates"]) == ["gpt4"]


@pytest.mark.parametrize("name", ["choices", "wrong_answers", "keywords", "retrieved", "gpt4_answers"])
def test_printed_lists_of_something_else_are_no_references(name: str) -> None:
    rows = [[f"Who wrote book {i}?", f"Author {i}", str([f"Author {i}", "B"]), f"so {i}"] for i in range(20)]

    found = propose("x.csv", read_sample(table("x.csv", ["question", "answer", name, "gpt4"], rows)))

    assert found.options["references"] == "answer"
