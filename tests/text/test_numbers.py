from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.text.numbers import as_ascii, in_figures


def read(text, **options):
    return [number.value for number in in_figures(text, **options)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("-5, −7, +3, .5, -.5", [-5, -7, 3, Fraction("0.5"), Fraction("-0.5")]),
        ("33 000, 1 2 3, 12 3456", [33_000, 1, 2, 3, 12, 3456]),
        ("1920×1080", [1920, 1080]),
        ("1e3 1/4 2½", [1000, Fraction(1, 4), Fraction("2.5")]),
        ("2^10, H2O", []),
    ],
)
def test_known_numbers(text, expected):
    assert read(text) == expected


def test_the_decimal_separator_is_an_option():
    assert read("1.234,5", decimal=",") == [Fraction("1234.5")]
    assert read("1,234", thousands=False) == [1, 234]


@given(st.text())
def test_signs_are_replaced_place_by_place(text):
    assert len(as_ascii(text)) == len(text)
