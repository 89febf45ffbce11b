import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.text.negation import Clauses, Mark, is_negation, joined, stands_alone
from tests.hostile_texts import TEXTS


def marks_in(text):
    return [Mark(*found.span(), found[0]) for found in re.finditer("x|y|z", text)]


def affirmed(text):
    marks = marks_in(text)
    return [mark.label for mark in Clauses(text, marks).affirmed(marks)]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("x", "x"),
        ("not x", ""),
        ("not x but y", "y"),
        ("not x, y", "y"),
        ("not x, y or z", ""),
        ("x and y are wrong, z", "z"),
        ("x, not y", "x"),
        ("x: no, y: 0, z: 0.5", "z"),
        ("no doubt x", "x"),
        ("not, in short, x", ""),
        ("all but x", ""),
        ("it is not. x", "x"),
    ],
)
def test_a_negation_reaches_to_the_end_of_its_clause(text, names):
    assert affirmed(text) == [*names]


def test_the_words_of_a_name_negate_nothing():
    assert not Clauses("not_x or y", [Mark(0, 5, "not_x")]).negate(9)
    assert Clauses("not x or y").negate(9)


@pytest.mark.parametrize(("text", "alone"), [("x, as", True), ("hm. x", True), ("x idea", False), ("of x.", False)])
def test_a_name_that_is_its_clause(text, alone):
    (mark,) = marks_in(text)

    assert stands_alone(text, mark) is alone


@pytest.mark.parametrize(("text", "is_list"), [("x, y", True), ("x) or (y", True), ("x/y", True), ("x is y", False)])
def test_neighbours_in_a_list(text, is_list):
    assert joined(text, *marks_in(text)) is is_list


@pytest.mark.parametrize(
    ("name", "negates"), [("no", True), ("nein", True), ("não", True), ("spam", False), ("", False)]
)
def test_names_that_negate(name, negates):
    assert is_negation(name) is negates


@given(st.text() | st.text("xyz not,.;:no") | st.sampled_from(TEXTS))
def test_what_is_affirmed_is_some_of_the_names_in_their_order(text):
    marks = marks_in(text[:10_000])

    kept = Clauses(text, marks).affirmed(marks)

    assert kept == [mark for mark in marks if mark in kept]
