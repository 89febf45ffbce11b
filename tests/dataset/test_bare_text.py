"""The forms in which the answer of a label and the answer of a candidate are compared."""

import re
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.dataset.texts import bare_text, same_text


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("C", "C#"), ("Vitamin", "Vitamin A"), ("Hepatitis A", "Hepatitis"), ("5", "–5"), ("5", "－5"), ("5", "5‰"),
        ("$5 million", "-$5 million"), ("$-5", "$5"), ("5 million", "(5) million"), ("5'", '5"'), ("5′", "5"),
        ("#1", "1"), ("5", "5!"), ("A, B", "B"), ("A*", "A"), ("x-3", "x 3"), ("x - y", "x y"), ("(x+1)y", "x+1y"),
        ("[1, 2]", "1,2"), (",5", "5"), (".5", "5."), ("about .5", "about 5"), ("R&D", "R D"), ("AC/DC", "AC DC"),
        ("-a big", "big"),
        ("温度-5度", "温度5度"), ("٣٫٥", "٣٥"), ("1e-3", "1e3"), ("3−5", "3 5"), ("5-", "5"), ("a 5", "5"),
        ("a", "the"), ("2-sqrt(3)", "2 sqrt(3)"), ("3-sin", "3 sin"),
    ],
)  # fmt: skip
def test_different_answers_are_told_apart_without_their_punctuation(one: str, other: str) -> None:
    assert bare_text(one) != bare_text(other)


@pytest.mark.parametrize(
    ("answer", "label"),
    [
        ("A", "A."), ("A", "(A)"), ("the Negev", "Negev"), ("A dog", "dog"), ("The The", "the"), ("5", "5."),
        ("“5”", "5"), ("18-degree", "18 degree"),
        ("–5", "-5"), ("1914–1918", "1914-1918"), ("O’Neill", "o'neill"), ("¿Qué?", "qué"), ("« Non »", "non"),
        ("北京。", "北京"), ("Spider-Man", "spider man"), ("Paris (France)", "Paris, France"),
        ("July, 1776", "July 1776"), ("Yes!", "yes"), ("Wait…", "wait"), ("Paris: the capital", "paris capital"),
    ],
)  # fmt: skip
def test_punctuation_and_articles_that_say_nothing_do_not_tell_answers_apart(answer: str, label: str) -> None:
    assert bare_text(answer) == bare_text(label)


# properties


@given(st.text(), st.text())
def test_the_same_text_is_the_same_without_punctuation(one: str, other: str) -> None:
    apart = re.sub(r"(?<=\W)|(?=\W)", " ", one).upper()
    for text in (other, apart):
        assert same_text(one) != same_text(text) or bare_text(one) == bare_text(text)
    assert bare_text(one).strip() == bare_text(one)


amounts = st.decimals(-10_000, 10_000, places=2).map(lambda number: number.normalize() + 0)
written = st.sampled_from(["{:f}", "{:,f}", "{:f}.", "{:f}!", "“{:f}”", "  {:f} ", "{:f},"])


@given(amounts, amounts, written, written, st.sampled_from(["", "$", "about ", "the ", "x = "]))
def test_two_numbers_are_never_the_same_text(
    one: Decimal, other: Decimal, first: str, second: str, before: str
) -> None:
    texts = [bare_text(before + form.format(number)) for form, number in ((first, one), (second, other))]

    assert one == other or texts[0] != texts[1]
