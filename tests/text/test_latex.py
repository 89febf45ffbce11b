import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.text.expressions import boxed, formulas_in, without_markup

PIECES = [r"\frac", r"\dfrac", r"\boxed", r"\text", "{", "}", "$", r"\left(", r"\right)", "1", "x", r"\$", r"\%", " "]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("42", "42"),
        ("$42$", "42"),
        (r"\$32{,}348.50", "32,348.50"),
        (r"\left(2,\dfrac{1}{2}\right)", "(2,1/2)"),
        (r"\frac12, \tfrac{x+1}{y}", "1/2, (x+1)/y"),
        (r"\frac{\frac{1}{2}}{3}", "1/6"),
        (r"5\frac{1}{2}, \frac{1}{2}3, 2\frac{3}{2}", "5 1/2, 1/2 3, 2 (3/2)"),
        (r"\frac{-1}{2}, -\frac{-1}{2}, \frac{1.5}{2}", "-1/2, -(-1/2), 3/4"),
        (r"\frac{1.5}{0}", "(1.5)/0"),
        (r"5\,000", "5\u2009000"),
        (r"3\times10^{5}", "3 ×10^5"),
        (r"5\,\text{km}", "5 km"),
        (r"90^\circ", "90°"),
        (r"50\%", "50%"),
    ],
)
def test_markup_is_removed(text, expected):
    assert without_markup(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r"\boxed{1} and \boxed{2}", "2"),
        (r"\boxed{\frac{1}{2}} or 3", r"\frac{1}{2}"),
        (r"\fbox{7}", "7"),
        (r"\boxed{1} \boxed{2", "1"),
        (r"\boxed{\{1\}}", r"\{1\}"),
        (r"\boxed 5", None),
        ("5", None),
    ],
)
def test_the_last_closed_box(text, expected):
    assert boxed(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "{" * 100_000,
        " " * 100_000,
        r"\frac{1}{2}" * 9000,
        r"\boxed{" * 14_000,
        r"\frac{1}{" * 9000 + "1" + "}" * 9000,
        r"\frac{" * 9000 + "1" + "}{2}" * 9000,
    ],
)
def test_hostile_nesting_is_read_in_time(text):
    assert without_markup(text) is not None
    boxed(text)
    formulas_in(text)


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join) | st.text())
def test_any_text_has_a_plain_form(text):
    assert isinstance(without_markup(text), str)
    assert boxed(text) is None or boxed(text) in text
