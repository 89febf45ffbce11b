from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.text.numbers import has_number_word, spelt


def read(text):
    return [number.value for number in spelt(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("twenty-one", [21]),
        ("nineteen eighty-four", [1984]),
        ("twenty ten", [2010]),
        ("one million two hundred thousand and three", [1_200_003]),
        ("five hundred and twenty-five thousand six hundred", [525_600]),
        ("half a dozen", [6]),
        ("a quarter of a million", [250_000]),
        ("two and two thirds", [Fraction(8, 3)]),
        ("ninety nine point nine", [Fraction("99.9")]),
        ("minus five", [-5]),
        ("the third, a third, twenty-third", [3, Fraction(1, 3), 23]),
        ("five and six", [5, 6]),
        ("one second, five seconds", [1, 5]),
        ("No one; the one; one of them", []),
        ("MCMXC", [1990]),
        ("Louis XIV", [14]),
        ("MIX it, mix, I, C", []),
        ("someone, tent, sixth-form", [6]),
    ],
)
def test_known_numbers(text, expected):
    assert read(text) == expected


@given(
    st.text(max_size=80)
    | st.lists(st.sampled_from(["one", "a", "hundred", "and", "half", "of", "third", "point", "minus", "XIV"])).map(
        " ".join
    )
)
def test_any_text_is_read(text):
    found = spelt(text)

    assert all(0 <= number.start < number.stop <= len(text) for number in found)
    assert has_number_word(text) or not found
