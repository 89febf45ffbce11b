from datetime import date
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from goldmeter.text.quantities import Quantity, Tolerance, Tuple, asked_for, close, is_part
from goldmeter.text.quantity_reader import whole


def quantity(text):
    return Quantity(Fraction(text))


def test_close():
    two, ten = quantity("2"), quantity("10")

    assert close(ten, ten)
    assert not close(quantity("10.1"), ten, Tolerance(relative=Fraction("0.001")))
    assert close(quantity("10.1"), ten, Tolerance(relative=Fraction("0.01")))
    assert close(quantity("-10.1"), quantity("-10"), Tolerance(relative=Fraction("0.01")))
    assert close(quantity("2.5"), two, Tolerance(absolute=Fraction("0.5")))
    assert close(Tuple("()", (ten,)), Tuple("()", (quantity("10.1"),)), Tolerance(absolute=Fraction(1)))
    assert not close(Tuple("()", (ten,)), Tuple("[]", (ten,)))
    assert not close(Tuple("()", (ten,)), Tuple("()", (ten, two)))
    assert not close(Tuple("()", (ten,)), ten, Tolerance(relative=Fraction(9)))
    assert not close(date(2025, 1, 1), ten, Tolerance(relative=Fraction(9)))


def test_a_percentage_is_a_share_unless_the_question_asks_for_another_thing():
    half, fifty = whole("50 %"), whole("50")
    for question, share, number in (
        ("What share?", True, False),
        ("How many?", False, False),
        ("What percent?", False, True),
    ):
        asked = asked_for(question)
        assert (close(half, whole("0.5"), asked=asked), close(half, fifty, asked=asked)) == (share, number)


def test_a_unit_counts_if_both_have_one():
    assert close(whole("5 km"), whole("5"))
    assert close(whole("5 pounds"), whole("£5"))
    assert not close(whole("5 km"), whole("5 kg"))
    assert not close(whole("5"), whole("5 percentage points"))


def test_a_date_contains_its_year_and_its_month():
    day, month, year = whole("3 April 2025"), whole("April 2025"), whole("2025")

    assert is_part(day, month)
    assert is_part(day, year)
    assert is_part(year, month)
    assert is_part(whole("2001–02"), whole("2001"))
    assert not is_part(day, whole("3"))
    assert not is_part(year, year)


@given(st.fractions(), st.fractions())
def test_equality_has_no_order(one, other):
    first, second = Quantity(one), Quantity(other)

    assert close(first, second) == close(second, first) == (one == other)
