"""Algebraic expressions of plain text or LaTeX as trees; a strict parser that evaluates nothing.

A tree is a list: ["number", "3/4"], ["name", "x"], ["add", tree, tree], ["call", "sqrt", tree], ["tuple", "()", tree].
"""

import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from tasks.text import latex

Tree = list[Any]
MAX_CHARACTERS, MAX_NESTED, MAX_POWER = 500, 50, 1000
# Letters in a row that are a product; longer words are no expression.
MAX_FACTORS = 3
FUNCTIONS = frozenset(
    {"sqrt", "exp", "log", "ln", "abs", "sin", "cos", "tan", "cot", "sec", "csc", "arcsin", "arccos", "arctan"}
)
CONSTANTS = {"pi": "pi", "π": "pi", "infty": "infinity", "∞": "infinity", "e": "e", "i": "i"}
GREEK = frozenset("alpha beta gamma delta epsilon theta lambda mu rho sigma tau phi omega".split())  # noqa: SIM905
FRACTIONS = frozenset({"frac", "dfrac", "tfrac", "cfrac"})
KNOWN = FUNCTIONS | CONSTANTS.keys() | GREEK | FRACTIONS
CLOSING = {"(": ")", "[": "]", r"\{": r"\}", "{": "}", "|": "|"}


class NoExpressionError(ValueError):
    """A text is no expression of this grammar."""


def expression(text: str) -> Tree | None:
    r"""Return the tree of an expression, or None if the text is none.

    >>> expression(r"2\sqrt{x}")
    ['multiply', ['number', '2'], ['call', 'sqrt', ['name', 'x']]]
    """
    if len(text) > MAX_CHARACTERS:
        return None
    try:
        return _Parser(_tokens(latex.plain(text, braces=True))).whole()
    except NoExpressionError:
        return None


def _tokens(text: str) -> list[str]:
    """Return numbers, names and symbols, and an empty token at the end."""
    tokens, place = [], 0
    text = _DIGITS.sub(r"\\frac{\1}{\2}", text).translate(_SYMBOLS).strip().removesuffix(".")
    is_formula = bool(_SIGN.search(text))
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None:
            raise NoExpressionError
        tokens += _factors(match[1], splits=is_formula)
        place = match.end()
    return [*tokens, ""]


def _factors(token: str, *, splits: bool) -> list[str]:
    """Return a token, or the letters of a short word that is no known name, as in 2xy."""
    name = token.removeprefix("\\")
    if not name.isalpha() or len(name) == 1 or name in KNOWN:
        return [name if name.isalpha() else token]
    if not splits or len(name) > MAX_FACTORS or token != name:
        raise NoExpressionError
    return [*name]


class _Parser:
    """Recursive descent: equation, sum, product, sign, power, atom."""

    def __init__(self, tokens: list[str]) -> None:
        self._tokens, self._place, self._nested = tokens, 0, 0

    def whole(self) -> Tree:
        """Return the tree of all tokens; several expressions, separated by commas, are a tuple without brackets."""
        first = self._equation()
        items = [first, *self._more()]
        if self._next():
            raise NoExpressionError
        return first if len(items) == 1 else ["tuple", "", *items]

    def _more(self) -> list[Tree]:
        items = []
        while self._take(","):
            items.append(self._equation())
        return items

    def _equation(self) -> Tree:
        left = self._sum()
        return ["equation", left, self._sum()] if self._take("=") else left

    def _sum(self) -> Tree:
        left = self._product()
        while sign := self._take("+", "-"):
            left = ["add" if sign == "+" else "subtract", left, self._product()]
        return left

    def _product(self) -> Tree:
        left = self._signed(self._power)
        while True:
            if sign := self._take("*", "/"):
                left = ["multiply" if sign == "*" else "divide", left, self._signed(self._power)]
            elif self._begins_factor():
                left = ["multiply", left, self._power()]
            else:
                return left

    def _signed(self, operand: Callable[[], Tree]) -> Tree:
        sign = self._take("+", "-")
        return ["negate", operand()] if sign == "-" else operand()

    def _power(self) -> Tree:
        base = self._atom()
        return ["power", base, self._exponent()] if self._take("^", "**") else base

    def _exponent(self) -> Tree:
        self._descend()
        exponent = self._signed(self._power)
        self._nested -= 1
        if not _has_name(exponent) and abs(_constant(exponent)) > MAX_POWER:
            raise NoExpressionError
        return exponent

    def _atom(self) -> Tree:
        token = self._next()
        self._place += 1
        if token[:1].isdigit() or token[:1] == ".":
            number = ["number", str(Fraction(token))]
            return self._mixed(number) if token.isdecimal() else number
        if token in FUNCTIONS:
            return self._call(token)
        if token in FRACTIONS:
            return ["divide", self._argument(), self._argument()]
        if token.isalpha() or token in CONSTANTS:
            return ["name", CONSTANTS.get(token, token)]
        if token in CLOSING:
            self._place -= 1
            return self._group()
        raise NoExpressionError

    def _mixed(self, whole: Tree) -> Tree:
        r"""Return a whole number, with the fraction after it: 1\frac{1}{2} is a sum, no product."""
        after = self._tokens[self._place : self._place + 7]
        if len(after) < len(_MIXED) or not all(map(re.fullmatch, _MIXED, after)) or int(after[2]) >= int(after[5]):
            return whole
        self._place += len(_MIXED)
        return ["add", whole, ["divide", ["number", str(int(after[2]))], ["number", str(int(after[5]))]]]

    def _call(self, function: str) -> Tree:
        root = self._group() if function == "sqrt" and self._next() == "[" else None
        power = self._exponent() if self._take("^") else None
        call: Tree = ["call", function, self._argument()]
        if root is not None:
            call = ["power", call[2], ["divide", ["number", "1"], root]]
        return call if power is None else ["power", call, power]

    def _argument(self) -> Tree:
        self._descend()
        argument = self._power() if self._next() in FUNCTIONS else self._atom()
        self._nested -= 1
        if argument[0] == "tuple":
            raise NoExpressionError
        return argument

    def _group(self) -> Tree:
        """Return what is in brackets: one expression, or a tuple (a set in braces)."""
        self._descend()
        opening = self._take(*CLOSING)
        items = [self._equation(), *self._more()]
        closing = self._take(*(")]" if opening in "([" else [CLOSING[opening]]))
        self._nested -= 1
        if not closing:
            raise NoExpressionError
        if opening == "|":
            return ["call", "abs", *items[:1]]
        single = len(items) == 1 and closing == CLOSING[opening] and opening != r"\{"
        return items[0] if single else ["tuple", opening + closing, *items]

    def _descend(self) -> None:
        self._nested += 1
        if self._nested > MAX_NESTED:
            raise NoExpressionError

    def _begins_factor(self) -> bool:
        token = self._next()
        return token.isalnum() or token in CONSTANTS or token in {"(", "{"}

    def _next(self) -> str:
        return self._tokens[self._place]

    def _take(self, *symbols: str) -> str:
        """Return the next token if it is one of these symbols, and go on; else an empty text."""
        token = self._next()
        if not token or token not in symbols:
            return ""
        self._place += 1
        return token


def _has_name(tree: Tree) -> bool:
    return tree[0] == "name" or any(_has_name(part) for part in tree[1:] if isinstance(part, list))


def _constant(tree: Tree) -> Fraction:
    """Return the value of sums, products and quotients of numbers."""
    kind, *parts = tree
    if kind == "number":
        return Fraction(parts[0])
    if kind not in _OPERATIONS:
        raise NoExpressionError
    try:
        return _OPERATIONS[kind](*map(_constant, parts))
    except ZeroDivisionError:
        raise NoExpressionError from None


_OPERATIONS: dict[str, Callable[..., Fraction]] = {
    "add": lambda left, right: left + right,
    "subtract": lambda left, right: left - right,
    "multiply": lambda left, right: left * right,
    "divide": lambda left, right: left / right,
    "negate": lambda value: -value,
}
_SYMBOLS = str.maketrans({"−": "-", "×": "*", "·": "*", "⋅": "*", "÷": "/", "°": None, "\u2009": None})
_MIXED = ("[dtc]?frac", r"\{", r"\d+", r"\}", r"\{", r"\d+", r"\}")
# One of these tells 2xy from prose of short words.
_SIGN = re.compile(r"[\d+*/^=\\]")
_DIGITS = re.compile(r"\\[dtc]?frac\s*(\d)\s*(\d)")
_TOKEN = re.compile(r"\s*(\d+(?:\.\d+)?|\.\d+|\\?[A-Za-z]+|π|∞|\*\*|\\[{}]|[-+*/^()\[\]{},=|])\s*")
