from datetime import date
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.text.numbers import Reading, Tolerance, Tuple, close, values

UNITS = (("km", Fraction(1000)), ("m", Fraction(1)), ("million", Fraction(10**6)))


def read(text, **options):
    return [found.value for found in values(text, Reading(**options))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("none", []),
        ("42", [42]),
        ("It is 42.", [42]),
        ("-5, −7, +3, .5, -.5", [-5, -7, 3, Fraction("0.5"), Fraction("-0.5")]),
        ("- 5", [5]),  # a list's dash
        ("5-3, 5–10, COVID-19", [5, 3, 5, 10, 19]),
        ("$-1,234.50, -$5, € 7", [Fraction("-1234.5"), -5, 7]),
        ("1,00,000 and 1,234,567", [100_000, 1_234_567]),
        ("1'000 1_000 1\u202f000", [1000] * 3),
        ("2,4 and 12,34", [2, 4, 12, 34]),
        ("1.5e3 1.5 × 10^3 1.5 x 10^{3}", [1500] * 3),
        ("2E-1 2*10⁻¹", [Fraction("0.2")] * 2),
        ("10^5 10⁵", [10**5] * 2),
        ("½ 2½ 1 1/2", [Fraction("0.5"), Fraction("2.5"), Fraction("1.5")]),
        ("3/4. -1/2", [Fraction("0.75"), Fraction("-0.5")]),
        ("5% 5 percent ５％", [Fraction("0.05")] * 3),
        ("GPT4.5 H2O x_2 λ1", []),
        ("3.5.2", [Fraction("3.5")]),
        ("٤٢ ３．５ 約5人", [42, Fraction("3.5"), 5]),
        ("3rd 1960s 5kg 12:30", [3, 1960, 5, 12, 30]),
        ("#### 42", [42]),
        ("25 cm^2, 9.8 m/s^{2}, 3 s^-1, 4 x^(1/2)", [25, Fraction("9.8"), 3, 4]),
        ("2^10, 12_{8}, x**2, 2**10", []),
        ("**42**, **Total**: 7", [42, 7]),
        ("5%-10%", [Fraction("0.05"), Fraction("0.1")]),
        ("5€–10€, 5 €–10 €", [5, 10, 5, 10]),
        ("'-5' (-5) \"-5\"", [-5] * 3),
        ("x = - 5, (- 5)", [-5, -5]),
        ("are:\n- 5\n- 6", [5, 6]),
        ("1, - 2; - 3, -4 and x,- 5", [1, -2, -3, -4, -5]),
        ("1, \u2212\u20092", [1, -2]),
        ("one,\n- 5", [5]),
        ("1, 2 - 3", [1, 2, 3]),
        ("Buy 3 pears; - 7 apples", [3, 7]),  # a dash in prose is no sign
        ("Two (of them, - 5 old)", [5]),
        ("Between: \u2013 7", [7]),
    ],
)  # fmt: skip
def test_known_readings(text, expected):
    assert read(text) == expected


def test_a_zero_denominator_is_not_read():
    assert read("1/0") == []
    assert read("1/2/3") == [1, 2, 3]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(2,4)", Tuple("()", (Fraction(2), Fraction(4)))),
        ("the point ( 2 ; 4 )", Tuple("()", (Fraction(2), Fraction(4)))),
        ("[1, 1/2, -3]", Tuple("[]", (Fraction(1), Fraction("0.5"), Fraction(-3)))),
        ("(2,4]", Tuple("(]", (Fraction(2), Fraction(4)))),
        ("(1,234, 5)", Tuple("()", (Fraction(1234), Fraction(5)))),
        ("(1,234)", Fraction(1234)),
        ("(7)", Fraction(7)),
    ],
)
def test_numbers_in_brackets_are_one_value(text, expected):
    assert read(text) == [expected]


@pytest.mark.parametrize("text", ["(2 and 4)", "(2, 4", "2, 4)", "(2, x, 4)", "f(2 4)"])
def test_other_numbers_are_several(text):
    assert read(text) == [2, 4]


def test_options():
    assert read("1.234,5 und 2,5", decimal=",") == [Fraction("1234.5"), Fraction("2.5")]
    assert read("1,234", thousands=False) == [1, 234]
    assert read("1e3", scientific=False) == [1]
    assert read("10^5", scientific=False) == []
    assert read("3/4 ½", fractions=False) == [3, 4]
    assert read("5%", percent="ignore") == [5]
    assert read("3 km, 3km, 3 kmh, 2.5 million", units=UNITS) == [3000, 3000, 3, 2_500_000]


def test_dates():
    dates = ["2025-04-03", "April 3, 2025", "Apr. 3rd 2025", "3 April 2025", "3rd of April, 2025", "3/4/2025"]
    dates += ["03.04.2025", "2025-04-03T10:00:00Z", "2025-04-03 10:00", "2025/04/03"]

    assert [read(text, dates="dmy") for text in dates] == [[date(2025, 4, 3)]] * len(dates)


def test_the_order_of_day_and_month_is_an_option_and_no_such_day_is_no_date():
    assert read("3/4/2025", dates="mdy") == [date(2025, 3, 4)]
    assert read("30/2/2025", dates="dmy") == [30, 2, 2025]
    assert read("marching 3, 2025", dates="mdy") == [3, 2025]
    assert read("7 on 2025-04-03, then 8", dates="dmy") == [7, date(2025, 4, 3), 8]


@pytest.mark.parametrize(
    "text", ["1" * 2000, "1e1001", "1e" + "9" * 5000, f"1/{'9' * 5000}", "10^9999999", "1" + ",000" * 9999]
)
def test_huge_numbers_are_not_computed(text):
    assert all(isinstance(value, Fraction) and value < 10**100 for value in read(text))


@pytest.mark.parametrize(
    "text", ["(" * 50_000, "1," * 50_000, "(1" * 30_000, "1 " * 50_000, "-" * 90_000, "1/" * 50_000]
)
def test_hostile_texts_are_read_in_time(text):
    assert len(read(text, dates="dmy")) <= 50_000


def test_close():
    two, ten = Fraction(2), Fraction(10)

    assert close(ten, ten, Tolerance())
    assert not close(Fraction("10.1"), ten, Tolerance(relative=Fraction("0.001")))
    assert close(Fraction("10.1"), ten, Tolerance(relative=Fraction("0.01")))
    assert close(Fraction("-10.1"), -ten, Tolerance(relative=Fraction("0.01")))
    assert close(Fraction("2.5"), two, Tolerance(absolute=Fraction("0.5")))
    assert close(Tuple("()", (ten,)), Tuple("()", (Fraction("10.1"),)), Tolerance(absolute=Fraction(1)))
    assert not close(Tuple("()", (ten,)), Tuple("[]", (ten,)), Tolerance())
    assert not close(Tuple("()", (ten,)), Tuple("()", (ten, two)), Tolerance())
    assert not close(Tuple("()", (ten,)), ten, Tolerance(relative=Fraction(9)))
    assert not close(date(2025, 1, 1), ten, Tolerance(relative=Fraction(9)))


@given(st.text() | st.text(alphabet="0123456789.,-+/%()[]eE×10^ ½$_'"))
def test_any_text_is_read_the_same_each_time(text):
    found = values(text)

    assert found == values(text)
    assert all(0 <= each.start < each.stop <= len(text) for each in found)


@given(
    st.lists(st.integers(-999, 999), min_size=2, max_size=5),
    st.sampled_from([", ", "; ", ",", " , "]),
    st.sampled_from(["-", "- ", "\u2212\u00a0", "\u2013\u2009"]),
    st.sampled_from(["()", "[]"]),
)
def test_signs_apart_from_their_numbers_in_lists(numbers: list[int], comma: str, minus: str, brackets: str) -> None:
    written = comma.join(f"{minus if number < 0 else ''}{abs(number)}" for number in numbers)
    reading = Reading(thousands=False)

    if not minus.startswith("\u2013"):  # outside of brackets it is a dash
        assert [found.value for found in values(f"x = {written}", reading)] == numbers
    [pair] = values(f"{brackets[0]}{written}{brackets[1]}", reading)
    assert pair.value == Tuple(brackets, tuple(map(Fraction, numbers)))


@given(st.decimals(allow_nan=False, allow_infinity=False, places=3, min_value=-(10**12), max_value=10**12))
def test_a_number_as_python_writes_it_is_read_exactly(number):
    for text in (f"{number:f}", f"{number:,f}", f"is {number:e}"):
        assert read(text) == [Fraction(number)]
