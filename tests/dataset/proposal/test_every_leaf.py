"""Nothing of a record is dropped in silence: systems in lists, and what is not used."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.dataset.proposal.columns import columns
from goldmeter.dataset.proposal.given import Chosen, Sample
from goldmeter.dataset.proposal.proposal import Proposal, propose
from goldmeter.dataset.sources import Record
from goldmeter.errors import DataError

ROW: dict[str, Any] = {"question": "Which river flows through Graz?", "gold": "Mur"}


def of(*rows: dict[str, Any], **chosen: Any) -> Proposal:
    records = [Record("x", line, row) for line, row in enumerate(rows, 1)]
    return propose("x.jsonl", Sample(records, "*", complete=True), Chosen(**chosen))


def asked(number: int, **others: Any) -> dict[str, Any]:
    return {**ROW, "question": f"Question {number}?", **others}


@pytest.mark.parametrize(
    ("column", "member", "text"),
    [
        ("completions", "model", "text"),
        ("outputs", "generator", "output"),
        ("answers", "system", "answer"),
        ("results", "llm", "response"),
        ("systems", "name", "output"),
        ("predictions", "name", "text"),
    ],
)
def test_a_list_with_an_object_for_each_system_holds_all_systems(column: str, member: str, text: str) -> None:
    of_both = [{member: "FiD KD", text: "Mur"}, {member: "org/gpt-4", text: "Donau"}]
    rows = [asked(0, **{column: of_both}), asked(1, **{column: of_both[::-1]}), asked(2, **{column: of_both[:1]})]

    candidates = of(*rows).options["candidates"]

    assert candidates == {
        "FiD KD": {"response": f"{column}[{member}='FiD KD'].{text}"},
        "org/gpt-4": {"response": f"{column}[{member}='org/gpt-4'].{text}"},
    }


def test_what_a_list_says_beside_the_answers_is_a_label_or_named_as_unused() -> None:
    outputs = [{"model": name, "text": "Mur", "human_correct": "true", "tokens": "3"} for name in ("a1", "b1")]

    proposal = of(*(asked(number, outputs=outputs) for number in range(4)))

    assert [one["label"] for one in proposal.options["candidates"].values()] == [
        "outputs[model='a1'].human_correct",
        "outputs[model='b1'].human_correct",
    ]
    assert proposal.notes == [
        "not used: \"outputs[model='a1'].tokens\" (numbers), \"outputs[model='b1'].tokens\" (numbers)"
    ]


@pytest.mark.parametrize(
    "other",
    [
        {"tools": [{"name": "search", "text": "x"}, {"name": "read", "text": "y"}]},
        {"documents": [{"model": "T-34", "title": "tank"}]},
        {"messages": [{"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}]},
        {"runs": [{"run": "1", "output": "a"}, {"run": "2", "output": "b"}]},
        {"outputs": [{"model": "a", "text": "x"}, {"model": "a", "text": "y"}]},
    ],
)
def test_other_lists_of_objects_name_no_systems(other: dict[str, Any]) -> None:
    assert not any(column.system for column in columns([Record("x", 1, {**ROW, **other})]))


def test_choices_beside_the_first_are_named() -> None:
    choices = [{"message": {"content": text}} for text in ("Mur", "Donau")]

    proposal = of(*(asked(number, choices=choices) for number in range(3)))

    assert proposal.options["candidates"] == {"model": {"response": "choices[0].message.content"}}
    assert proposal.notes == ['not used: "choices[1]" (an object with message)']


def test_cells_that_hold_an_object_as_text_are_named_with_its_members() -> None:
    cell = "{'topic': 'rivers', 'urls': ['u']}"

    assert of(*(asked(number, response="Mur", metadata=cell) for number in range(3))).notes == [
        "not used: metadata (an object as text with topic, urls)"
    ]


LEAF = st.sampled_from(["Mur", "true", "3", "", None, "{'a': 1}"])
KEYS = st.sampled_from(["model", "text", "output", "a.b", "meta", "x", "name", "human_correct"])
TREE = st.recursive(LEAF, lambda own: st.lists(own, max_size=3) | st.dictionaries(KEYS, own, max_size=3), max_leaves=10)


@pytest.mark.property
@given(st.lists(st.dictionaries(KEYS | st.just("outputs"), TREE, max_size=4), min_size=1, max_size=4))
def test_every_place_is_used_or_named(extra: list[dict[str, Any]]) -> None:
    rows = [asked(number, **own) for number, own in enumerate(extra)]
    try:
        proposal = of(*rows, slices=[""])
    except DataError:
        return

    found = columns([Record("x", line, row) for line, row in enumerate(rows, 1)])
    used = json.dumps(dict(proposal.options), ensure_ascii=False)
    for column in found:
        is_named = any(column.name == one.name or column.is_below(one) for one in proposal.unused)
        is_container = any(other.is_below(column) for other in found)
        is_used = json.dumps(column.name, ensure_ascii=False) in used
        assert is_named or is_used or is_container, column.name


def test_columns_whose_name_no_file_can_hold_are_named() -> None:
    assert (
        "not used: column '\\udc80': its name is not UTF-8"
        in of(asked(1, response="Mur", **{"\udc80": "x"}), asked(2, response="Mur")).notes
    )


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
