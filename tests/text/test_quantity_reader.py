from datetime import date
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.text.quantities import Quantity, Reading, Tuple, close
from goldmeter.text.quantity_reader import MAX_WHOLE, stated, values, whole
from tests.text.quantity_cases import EQUAL, OTHER, minimal_pairs

UNITS = (("box", Fraction(12)), ("piece", Fraction(1)), ("hand", Fraction(4)))


def read(text, **options):
    return [bare(found.value) for found in values(text, Reading(**options))]


def bare(value):
    """A number without its unit, (form, parts) of several."""
    if isinstance(value, Quantity):
        return value.bound + str(value.number) if value.bound else value.number
    return (value.form, *map(bare, value.parts)) if isinstance(value, Tuple) else value


def test_every_writing_of_a_quantity_is_read_as_the_same():
    assert sum(map(len, EQUAL)) >= 195
    for first, *others in EQUAL:
        expected = whole(first)
        assert expected is not None
        assert [text for text in others if not close(whole(text), expected)] == []


def test_no_fragment_of_a_quantity_is_read():
    assert [pair for pair in OTHER if whole(pair[0]) == whole(pair[1]) != None] == []  # noqa: E711
    assert [pair for pair in minimal_pairs(2000) if close(whole(pair[0]), whole(pair[1]))] == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("none", []),
        ("42", [42]),
        ("It is 42.", [42]),
        ("-5, −7, +3, .5, -.5", [-5, -7, 3, Fraction("0.5"), Fraction("-0.5")]),
        ("- 5", [5]),  # a list's dash
        ("5-3, 5–10, COVID-19", [("-", 5, 3), ("-", 5, 10)]),
        ("$-1,234.50, -$5, € 7", [Fraction("-1234.5"), -5, 7]),
        ("1,00,000 and 1,234,567", [100_000, 1_234_567]),
        ("1'000 1_000 1\u202f000", [1000] * 3),
        ("2,4 and 12,34", [(",", 2, 4), (",", 12, 34)]),
        ("1.5e3 1.5 × 10^3 1.5 x 10^{3}", [1500] * 3),
        ("2E-1 2*10⁻¹", [Fraction("0.2")] * 2),
        ("10^5 10⁵", [10**5] * 2),
        ("½ 2½ 1 1/2", [Fraction("0.5"), Fraction("2.5"), Fraction("1.5")]),
        ("3/4. -1/2", [Fraction("0.75"), Fraction("-0.5")]),
        ("5% 5 percent ５％", [Fraction("0.05")] * 3),
        ("GPT4.5 H2O x_2 λ1", []),
        ("3.5.2", [(".", 3, 5, 2)]),
        ("٤٢ ３．５ 約5人", [42, Fraction("3.5"), 5]),
        ("3rd 1960s 5kg 12:30", [3, 1960, 5, (":", 12, 30)]),
        ("#### 42", [42]),
        ("25 cm^2, 9.8 m/s^{2}, 3 s^-1, 4 x^(1/2)", [25, Fraction("9.8"), 3, 4]),
        ("2^10, 12_{8}, x**2, 2**10", []),
        ("**42**, **Total**: 7", [42, 7]),
        ("5%-10%", [("-", Fraction("0.05"), Fraction("0.1"))]),
        ("5€–10€, 5 €–10 €", [("-", 5, 10), ("-", 5, 10)]),
        ("'-5' (-5) \"-5\"", [-5] * 3),
        ("x = - 5, (- 5)", [-5, -5]),
        ("are:\n- 5\n- 6", [5, 6]),
        ("1, - 2; - 3, -4 and x,- 5", [1, -2, -3, -4, -5]),
        ("5+3 = 8, 2*3*4", [("+", 5, 3), 8, ("*", 2, 3, 4)]),
        ("No one of the three; one and a half", [3, Fraction("1.5")]),
        ("<b>5</b>, -> 6, => 7, x > 8", [5, 6, 7, ">8"]),
        ("1979–80", [("-", 1979, 1980)]),
        ("1, \u2212\u20092", [1, -2]),
        ("one,\n- 5", [1, 5]),
        ("1, 2 - 3", [1, 2, 3]),
        ("Buy 3 pears; - 7 apples", [3, 7]),  # a dash in prose is no sign
        ("Two (of them, - 5 old)", [2, 5]),
        ("Between: \u2013 7", [7]),
    ],
)  # fmt: skip
def test_known_readings(text, expected):
    assert read(text) == expected


def test_a_zero_denominator_is_not_read():
    assert read("1/0") == []
    assert read("1/2/3") == [("/", 1, 2, 3)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(2,4)", ("()", 2, 4)),
        ("the point ( 2 ; 4 )", ("()", 2, 4)),
        ("[1, 1/2, -3]", ("[]", 1, Fraction("0.5"), -3)),
        ("(2,4]", ("(]", 2, 4)),
        ("(1,234, 5)", ("()", 1234, 5)),
        ("(1,234)", 1234),
        ("(7)", 7),
    ],
)
def test_numbers_in_brackets_are_one_value(text, expected):
    assert read(text) == [expected]


@pytest.mark.parametrize("text", ["(2 and 4)", "(2, 4", "2, 4)", "(2, x, 4)", "f(2 4)"])
def test_other_numbers_are_several(text):
    assert read(text) == [2, 4]


def test_options():
    assert read("1.234,5 und 2,5", decimal=",") == [Fraction("1234.5"), Fraction("2.5")]
    assert read("1.234.567 und 1.2.3", decimal=",") == [1234567, (".", 1, 2, 3)]
    assert read("1,234", thousands=False) == [(",", 1, 234)]
    assert read("5%", percent="ignore") == [5]
    assert read("3 box, 3hand, 3 boxer, 2.5 piece", units=UNITS) == [36, 12, 3, Fraction("2.5")]


def test_figures_come_before_words():
    assert [bare(found.value) for found in stated("2 of the three")] == [2]
    assert [bare(found.value) for found in stated("two of the three")] == [2, 3]


@pytest.mark.parametrize("text", ["Apollo 11", "2 of 3", "Paris", "", "10 Downing Street", "x = 5", "Seven Samurai"])
def test_what_is_more_than_a_quantity_is_no_whole_one(text):
    assert whole(text) is None


def test_dates():
    dates = ["2025-04-03", "April 3, 2025", "Apr. 3rd 2025", "3 April 2025", "3rd of April, 2025", "3/4/2025"]
    dates += ["03.04.2025", "2025-04-03T10:00:00Z", "2025-04-03 10:00", "2025/04/03"]

    assert [read(text, dates="dmy") for text in dates] == [[date(2025, 4, 3)]] * len(dates)
    assert read("13/4/2025") == read("4/13/2025") == [date(2025, 4, 13)]
    assert read("3/4/2025") == [("/", 3, 4, 2025)]


def test_the_order_of_day_and_month_is_an_option_and_no_such_day_is_no_date():
    assert read("3/4/2025", dates="mdy") == [date(2025, 3, 4)]
    assert read("30/2/2025", dates="dmy") == [("/", 30, 2, 2025)]
    assert read("marching 3, 2025", dates="mdy") == [3, 2025]
    assert read("7 on 2025-04-03, then 8", dates="dmy") == [7, date(2025, 4, 3), 8]


@pytest.mark.parametrize(
    "text", ["1" * 2000, "1e1001", "1e" + "9" * 5000, f"1/{'9' * 5000}", "10^9999999", "1" + ",000" * 9999]
)
def test_huge_numbers_are_not_computed(text):
    assert all(str(value).count("9") < 200 for value in read(text))


@pytest.mark.parametrize(
    "text",
    [
        "(" * 20_000,
        "1," * 20_000,
        "(1" * 15_000,
        "1 " * 20_000,
        "-" * 40_000,
        "1/" * 20_000,
        "one " * 20_000,
        "1." * 20_000,
        "a " * 20_000,
        "1-" * 20_000,
        "3 May 2020 " * 5_000,
        "5 ft " * 20_000,
        "< 5" * 20_000,
        "II " * 20_000,
        "1x" * 20_000,
    ],
)
def test_hostile_texts_are_read_in_time(text):
    assert len(read(text, dates="dmy")) <= 20_000


@given(st.text() | st.text(alphabet="0123456789.,-+/%()[]eE×10^ ½$_'"))
def test_any_text_is_read_the_same_each_time(text):
    found = values(text)

    assert found == values(text)
    assert all(0 <= each.start < each.stop <= len(text) for each in found)


@given(
    st.lists(st.integers(-999, 999), min_size=2, max_size=5),
    st.sampled_from([", ", "; ", " , "]),
    st.sampled_from(["-", "- ", "\u2212\u00a0", "\u2013\u2009"]),
    st.sampled_from(["()", "[]"]),
)
def test_signs_apart_from_their_numbers_in_lists(numbers: list[int], comma: str, minus: str, brackets: str) -> None:
    written = comma.join(f"{minus if number < 0 else ''}{abs(number)}" for number in numbers)

    if not minus.startswith("\u2013"):  # outside of brackets it is a dash
        assert read(f"x = {written}", thousands=False) == numbers
    assert read(f"{brackets[0]}{written}{brackets[1]}", thousands=False) == [(brackets, *numbers)]


@given(st.decimals(allow_nan=False, allow_infinity=False, places=3, min_value=-(10**12), max_value=10**12))
def test_a_number_as_python_writes_it_is_read_exactly(number):
    for text in (f"{number:f}", f"{number:,f}", f"is {number:e}"):
        assert read(text) == [Fraction(number)]


SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
TENS = "twenty thirty forty fifty sixty seventy eighty ninety"


def in_words(number: int) -> str:
    """A whole number below 10**9 in words."""
    for size, name in ((10**6, "million"), (1000, "thousand"), (100, "hundred")):
        if number >= size:
            rest = number % size
            joined = "" if not rest else " and " if rest < 100 else " "
            return f"{in_words(number // size)} {name}{joined}{in_words(rest) if rest else ''}"
    if number < 20:
        return SMALL.split()[number]
    return TENS.split()[number // 10 - 2] + (f"-{in_words(number % 10)}" if number % 10 else "")


DIGITS = ["0123456789", "٠١٢٣٤٥٦٧٨٩", "०१२३४५६७८९", "０１２３４５６７８９", "০১২৩৪৫৬৭৮৯"]
WRITERS = [
    str,
    "{:,}".format,
    lambda number: f"{number:,}".replace(",", "\u202f"),
    lambda number: f"{number}.00",
    lambda number: f"{number / 1000:g} thousand" if number < 10**6 else str(number),
    lambda number: f"{number}e0",
    lambda number: f"{number} × 10^0",
    lambda number: f"{2 * number}/2",
    lambda number: f"{100 * number} %",
    lambda number: str(number).translate(str.maketrans(DIGITS[0], DIGITS[number % 5])),
    in_words,
]
UNITS_BESIDE = ["{}", "{} km", "${}", "{} €", "<{}", "at least {}", "{}+", "{} ± {}", "{}–{}"]


@given(st.integers(0, 10**9 - 1), st.sampled_from(WRITERS), st.sampled_from(WRITERS), st.sampled_from(UNITS_BESIDE))
def test_every_writer_of_a_number_is_read_as_every_other(number, write, write_too, beside):
    first, second = (beside.format(one(number), one(number)) for one in (write, write_too))
    if ("%" in first + second and beside != "{}") or max(len(first), len(second)) >= MAX_WHOLE:
        return

    assert close(whole(first), whole(second))
    assert not close(whole(first), whole(beside.format(write_too(number + 1), write_too(number + 1))))
