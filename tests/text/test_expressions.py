import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.text.expressions import expression

PIECES = ["x", "2", "1.5", "+", "-", "*", "/", "^", "(", ")", "{", "}", r"\frac", "sqrt", "sin", ",", "=", "[", "]"]


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        ("x", "x"),
        ("x + 2.", "x + 2"),
        ("2xy", "2xy"),
        ("x**2", "x^2"),
        (r"\frac{1}{\sqrt{2}}", r"\frac{1}{\sqrt{2}}"),
        ("sqrt(8) - sin x", r"sqrt(8) - \sin x"),
        ("2pi × arcsin(1)", r"2\pi \times  \arcsin(1)"),
        ("0.5", r"{\frac{5}{10}}"),
        (".05x", r"{\frac{5}{100}}x"),
        ("|x| − abs(y)", "|x| - |y|"),
        ("(1,\n2]", "(1, 2]"),
        ("x ≤ 2", r"x \le  2"),
    ],
)
def test_latex(text, latex):
    assert expression(text) == latex


@pytest.mark.parametrize(
    "text",
    ["", "Paris", "no", "the x", "the no-one", "__import__('os')", "lambda: 0", "x; y", "x$", r"5\text{ metres}", "½",
     "1+" * 300 + "1", "sin " * 120 + "é"],
)  # fmt: skip
def test_what_is_no_expression(text):
    assert expression(text) is None


@given(st.text() | st.lists(st.sampled_from(PIECES), max_size=15).map("".join))
def test_any_text_may_be_an_expression_or_none(text):
    assert expression(text) is None or "$" not in expression(text)
