"""Contexts and relevant texts: recognised by names, and by texts that two columns share."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from goldmeter.dataset.proposal.given import Chosen, Sample
from goldmeter.dataset.proposal.inputs import propose_for, propose_log
from goldmeter.dataset.proposal.proposal import Proposal, propose
from goldmeter.dataset.settings import Dataset
from goldmeter.dataset.sources import Record
from tests.small_project import ROOT

ASKED = {"question": "q?", "bot": "b", "answers": ["a"]}


def of(row: dict[str, Any], **chosen: Any) -> Proposal:
    records = [Record("x", i, {**ASKED, "question": f"q{i}?", **row}) for i in range(4)]
    return propose("x.jsonl", Sample(records, "*", complete=True), Chosen(candidates=["bot"], **chosen))


def retrieval(proposal: Proposal) -> tuple[str | None, str | None, str]:
    return proposal.options["contexts"], proposal.options["relevant"], proposal.options["references"]


def test_the_page_about_retrieval() -> None:
    proposal = of({"retrieved": ["doc-7", "doc-2"], "gold": ["doc-2"]})

    assert retrieval(proposal) == ("retrieved", "gold", "answers")
    assert proposal.comments["contexts"] == "lists, by its name; retrieval metrics: docs/how-to/retrieval.md"
    assert proposal.unsure["relevant"] == "its texts are among retrieved in 4 of 4 records: no right answers"
    assert proposal.notes == []


@pytest.mark.parametrize(
    ("contexts", "relevant"),
    [
        ("retrieved_contexts", "reference_contexts"),
        ("retrieved_docs", "relevant_docs"),
        ("passages", "gold_passages"),
        ("contexts", "qrels"),
        ("retrieval_context", "supporting_facts"),
    ],
)
@pytest.mark.parametrize("write", [list, json.dumps, str])
def test_by_their_names(contexts: str, relevant: str, write: Any) -> None:
    proposal = of({contexts: write(["one", "two"]), relevant: write(["three"])})

    assert retrieval(proposal) == (contexts, relevant, "answers")
    assert proposal.unsure == {}


def test_a_single_id_that_was_retrieved() -> None:
    assert retrieval(of({"retrieved_ids": ["d7", "d2"], "doc": "d2"})) == ("retrieved_ids", "doc", "answers")


def test_references_that_are_contexts_nowhere_stay_references() -> None:
    assert retrieval(of({"answers": None, "contexts": ["Oslo is a city."], "gold": ["Oslo"]})) == (
        "contexts", None, "gold"
    )  # fmt: skip


@pytest.mark.parametrize("value", ["a text", "['a', ...]", "{'a': 'b'}", {"a": 1}, 3, [{"text": "a"}]])
def test_what_load_does_not_read_as_lists_is_left(value: Any) -> None:
    assert retrieval(of({"contexts": value}))[0] is None


def test_several_columns_of_contexts_are_told() -> None:
    proposal = of({"contexts_a": ["x"], "contexts_b": ["y"]})

    assert proposal.options["contexts"] == "contexts_a"
    assert proposal.unsure["contexts"].startswith("one column counts for all systems of a record; or: contexts_b")


def test_what_the_user_says_counts() -> None:
    row = {"retrieved": ["d1"], "gold": ["d1"], "more": ["d2"]}

    assert retrieval(of(row, contexts="more", relevant="retrieved")) == ("more", "retrieved", "gold")
    assert retrieval(of(row, contexts="")) == (None, None, "gold")
    assert retrieval(of(row, relevant="")) == ("retrieved", None, "gold")


def test_logs_with_contexts(tmp_path: Path) -> None:
    log = json.loads((ROOT / "tests/dataset/readers/logs/deepeval.json").read_text(encoding="utf-8"))
    for case in log["testCases"]:
        case["retrievalContext"] = ["a text"]
    path = tmp_path / "test_run_1.json"
    path.write_text(json.dumps(log), encoding="utf-8")

    assert propose_log(str(path), "deepeval").options["contexts"] == "contexts"


def test_contexts_of_one_of_several_files_are_not_those_of_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a", "b"):
        rows = [
            {"question": f"q{i}?", "gold": "g", "response": f"{name} {i}", "contexts": [f"{name}"]} for i in range(4)
        ]
        Path(f"out_{name}.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")

    proposal = propose_for(["."], None, Chosen())

    assert [*proposal.options["candidates"]] == ["a", "b"]
    assert proposal.options["contexts"] is None
    assert proposal.comments["contexts"] == "none: contexts of out_a.jsonl would count for the other systems too"


CELL = (
    st.none() | st.text() | st.lists(st.text()) | st.sampled_from(["[", '["a"]', "[1, null]", "[" * 2000, '{"a": 1}'])
)


@pytest.mark.property
@given(st.lists(st.tuples(CELL, CELL, CELL), min_size=1, max_size=5))
@example([(None, None, '["a"]')])  # the only right answer is among the contexts
def test_any_cells_give_a_section_that_load_takes(cells: list[tuple[Any, Any, Any]]) -> None:
    records = [
        Record("x", i, {**ASKED, "question": f"q{i}?", "retrieved": a, "gold": b, "docs": c})
        for i, (a, b, c) in enumerate(cells)
    ]

    proposal = propose("x.jsonl", Sample(records, "*", complete=True), Chosen(candidates=["bot"]))

    Dataset.model_validate(dict(proposal.options))
