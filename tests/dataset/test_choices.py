"""References that are an index, a letter or the text of an option."""

import json
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from string import ascii_uppercase
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.dataset.choices import First, first_index, option, place_of
from goldmeter.dataset.proposal.command import with_task
from goldmeter.dataset.proposal.given import Chosen
from goldmeter.dataset.proposal.inputs import propose_for
from goldmeter.dataset.proposal.proposal import Proposal
from goldmeter.dataset.texts import UnusableValueError
from tests.test_load import loaded

CITIES = ["Rome", "Paris", "Oslo", "Riga"]


def proposed(tmp_path: Path, answers: Sequence[Any], choices: Any = CITIES) -> Proposal:
    path = tmp_path / "choice.jsonl"
    rows = [{"question": f"Which city is no. {row}?", "choices": choices, "answer": answers[row % len(answers)],
             "answer_a": "B) Paris", "answer_b": f"It is {CITIES[row % 4]}."} for row in range(40)]  # fmt: skip
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    found, task = with_task(propose_for([str(path)], None, Chosen()), None)
    assert task is not None
    return found


@pytest.mark.parametrize(
    ("answers", "first", "comment"),
    [
        ([0, 1, 2, 3], 0, "the references are its index from 0: one is 0"),
        ([1, 2, 3, 4], 1, "the references are its index from 1: one is as large as the number of choices"),
        ([1, 2], 0, "check: the references are its index from 0, which no value proves; from 1: choices_from: 1"),
        (["A", "C"], None, "the references are letters or texts: each is a letter or the text of a choice"),
        (CITIES, None, "the references are letters or texts: each is a letter or the text of a choice"),
    ],
)
def test_init_says_how_the_references_are_read(tmp_path: Path, answers: list[Any], first: First, comment: str) -> None:
    found = proposed(tmp_path, answers)

    assert (found.options["choices"], found.options["choices_from"]) == ("choices", first)
    assert found.comments["choices"] == comment
    assert found.options["task"] == "choice"
    assert "choices" not in [column.name for column in found.unused]


@pytest.mark.parametrize(
    "choices", [{"text": CITIES, "label": [*"ABCD"]}, [{"text": one} for one in CITIES], str(CITIES)]
)
def test_choices_in_an_object_or_a_printed_list_are_read(tmp_path: Path, choices: Any) -> None:
    found = proposed(tmp_path, ["A", "D"], choices)

    assert (found.options["choices"], found.options["task"]) == ("choices", "choice")


def test_a_column_of_choices_that_the_references_are_not_of_is_left(tmp_path: Path) -> None:
    assert proposed(tmp_path, ["Bern", "Rome"]).options["choices"] is None


def test_load_reads_the_letter_and_the_text_and_names_what_is_none_of_them() -> None:
    answers = [2, "B", "riga", "Riga", 4, -1, ""]
    rows = [{"id": str(row), "ref": one, "q": "?", "options": CITIES, "a": "B"} for row, one in enumerate(answers)]

    good, rejected = loaded(rows, choices="options", limits={"max_rejected": 1.0})

    assert [row["references"] for row in good] == [["C", "Oslo"], ["B", "Paris"], ["D", "Riga"]]
    assert [row["phrases"] for row in good] == [CITIES] * 3
    assert [row["reason"] for row in rejected] == [
        "ref: 'riga' is none of the 4 choices, counted from 0 (dataset.choices_from)",
        "ref: '4' is none of the 4 choices, counted from 0 (dataset.choices_from)",
        "ref: '-1' is none of the 4 choices, counted from 0 (dataset.choices_from)",
        "ref: no reference that is not blank",
    ]


@pytest.mark.parametrize(
    ("options", "expected"),
    [(["A", "B", "AB", "O"], [["A"], ["B"], ["C", "AB"], ["D", "O"]]), (["3", "1"], [["A", "3"], ["B", "1"]])],
)
def test_the_text_of_an_option_that_is_the_letter_of_another_is_no_reference(
    options: Any, expected: list[list[str]]
) -> None:
    assert [option(str(row), options, 0, "c", 99) for row in range(len(options))] == expected


@given(
    st.lists(st.text(min_size=1, max_size=5), min_size=1, max_size=6) | st.text() | st.none(),
    st.text(max_size=4) | st.integers(0, 8).map(str) | st.lists(st.text(max_size=2), max_size=2) | st.none(),
    st.sampled_from([0, 1, None]),
)
def test_any_value_is_an_option_no_reference_or_named(options: Any, value: Any, first: First) -> None:
    found: list[str] = []
    with suppress(UnusableValueError):
        found = option(value, options, first, "answer", 100)

    assert not found or (found[0] in ascii_uppercase[: len(options)] and {*found[1:]} <= {*options})


@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from([0, 1])), min_size=1))
def test_an_index_of_either_count_is_the_same_option(pairs: list[tuple[int, int]]) -> None:
    assert all(place_of(str(place + first), CITIES, first) == place for place, first in pairs)
    cities: Any = CITIES
    for first in (0, 1):
        seen = first_index([str(place + first) for place, _ in pairs], [cities] * len(pairs))
        assert seen is not None
        assert seen[0] == first or not seen[1]
