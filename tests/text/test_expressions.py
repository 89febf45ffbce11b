import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.text.expressions import expression

ONE, TWO, X, Y = ["number", "1"], ["number", "2"], ["name", "x"], ["name", "y"]
PIECES = [
    "x",
    "y",
    "2",
    "1.5",
    "+",
    "-",
    "*",
    "/",
    "^",
    "(",
    ")",
    "{",
    "}",
    r"\frac",
    r"\sqrt",
    "sin",
    ",",
    "=",
    "[",
    "]",
]


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("x", X),
        ("x + 2.", ["add", X, TWO]),
        ("2xy", ["multiply", ["multiply", TWO, X], Y]),
        ("-x^2", ["negate", ["power", X, TWO]]),
        ("x**2", ["power", X, TWO]),
        ("2/x/y", ["divide", ["divide", TWO, X], Y]),
        (r"\frac{1}{\sqrt{2}}", ["divide", ONE, ["call", "sqrt", TWO]]),
        (r"\frac12", ["divide", ONE, TWO]),
        (r"1\frac{1}{2}", ["add", ONE, ["divide", ONE, TWO]]),
        (r"2\frac{x}{2}", ["multiply", TWO, ["divide", X, TWO]]),
        (r"\sqrt[2]{x}", ["power", X, ["divide", ["number", "1"], TWO]]),
        (r"2\pi", ["multiply", TWO, ["name", "pi"]]),
        (r"\sin^2(x)", ["power", ["call", "sin", X], TWO]),
        ("0.5", ["number", "1/2"]),
        ("(1, 2)", ["tuple", "()", ONE, TWO]),
        ("(1, 2]", ["tuple", "(]", ONE, TWO]),
        (r"\{1, 2\}", ["tuple", r"\{\}", ONE, TWO]),
        ("x = 2", ["equation", X, TWO]),
        ("x, y", ["tuple", "", X, Y]),
        (r"\left(x + y\right)2", ["multiply", ["add", X, Y], TWO]),
        ("e^{x^2}", ["power", ["name", "e"], ["power", X, TWO]]),
        ("|x|", ["call", "abs", X]),
    ],
)
def test_trees(text, tree):
    assert expression(text) == tree


@pytest.mark.parametrize(
    "text",
    [
        "", "Paris", "no", "the x",  "the no-one", "__import__('os')",
        "x.y", "lambda: 0", "x; y", "x!", "1 +", "(x", "x)", "x = y = 2",
        "9^9^9", "2^{2000}", "2^(1/0)", "x^{10^9}", "2^" * 200 + "2", "(" * 400, "1+" * 300 + "1", "sin " * 100 + "x",
        "- " * 200 + "x", r"\frac{1}", r"\unknown{x}", "½",
    ],
)  # fmt: skip
def test_what_is_no_expression(text):
    assert expression(text) is None


@given(st.text() | st.lists(st.sampled_from(PIECES), max_size=15).map("".join))
def test_any_text_is_an_expression_or_none(text):
    assert expression(text) is None or isinstance(expression(text), list)
