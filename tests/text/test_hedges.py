import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.text.negation import Mark, definite
from tests.hostile_texts import TEXTS


def marks_in(text):
    return [Mark(*found.span(), found[0]) for found in re.finditer(r"\b[xyz]\b", text)]


def stated(text):
    return "".join(mark.label for mark in definite(text, marks_in(text)))


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("x", "x"),
        ("it could be x", ""),
        ("it might also be an x", ""),
        ("maybe x", ""),
        ("x, maybe", ""),
        ("probably x", "x"),
        ("maybe x, but y", "y"),
        ("maybe x. y", "y"),
        ("x. it may be y", "x"),
        ("it could be x or y", "xy"),
        ("it could be x or y; z", "z"),
        ("maybe, x", "x"),
        ("x, though y is also possible", "x"),
        ("x (y remains a possibility)", "x"),
        ("x; y cannot be ruled out.", "x"),
        ("x is possible, y is certain", "y"),
        ("x is not possible", "x"),
        ("it can be x", "x"),
        ("in may x", "x"),
    ],
)
def test_what_is_only_called_possible_is_not_stated(text, names):
    assert stated(text) == names


def test_a_hedge_that_is_a_part_of_a_name_is_none():
    assert definite("maybe x", [Mark(0, 7, "maybe x")]) == [Mark(0, 7, "maybe x")]


@given(st.lists(st.sampled_from(["x", "y", "maybe", "could be", "or", ",", ".", "but", "perhaps"]), max_size=9))
def test_stated_names_are_some_of_the_names_and_all_without_a_hedge(words):
    text = " ".join(words)
    found = definite(text, marks_in(text))

    assert set(found) <= set(marks_in(text))
    if not {"maybe", "could be", "perhaps"} & {*words}:
        assert found == marks_in(text)


@pytest.mark.parametrize("text", TEXTS)
def test_hostile_texts(text):
    marks = marks_in(text)[:50]

    assert set(definite(text, marks)) <= set(marks)
