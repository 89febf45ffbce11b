r"""LaTeX as plain text, for readers of numbers: \frac{1}{2} is 1/2."""

import re
from fractions import Fraction

# Fractions that are nested deeper stay as they are.
MAX_NESTED = 50


def boxed(text: str) -> str | None:
    r"""Return what the last \boxed{…} or \fbox{…} holds, or None if the text has none that is closed.

    >>> boxed(r"so \boxed{\frac{1}{2}} it is")
    '\\frac{1}{2}'
    """
    boxes = [match.end() - 1 for match in _BOX.finditer(text)]
    closing = _closing_braces(text) if boxes else {}
    return next((text[opening + 1 : closing[opening]] for opening in reversed(boxes) if opening in closing), None)


def formulas(text: str) -> list[str]:
    r"""Return the formulas of a text: $…$, $$…$$, \(…\) and \[…\].

    >>> formulas(r"so $x$ is \(2y\)")
    ['x', '2y']
    """
    return [next(filter(None, match.groups())) for match in _FORMULA.finditer(text)]


def plain(text: str) -> str:
    r"""Return a text without LaTeX's markup: $, \left, \right, \text{…}, spaces; with / for \frac, × for \times.

    >>> plain(r"$\left(2,\dfrac{1}{2}\right)$ is $1{,}000\,\text{km}$ or $50\%$")
    '(2,1/2) is 1,000 km or 50%'
    """
    for pattern, replacement in _REPLACED:
        text = pattern.sub(replacement, text)
    return _BRACES.sub(r"\1", _WRAPPERS.sub("", _with_slashes(text)))


def _with_slashes(text: str) -> str:
    r"""Replace \frac{a}{b}, inner ones first; parts that are more than a number or a name get parentheses.

    A fraction of numbers is one number: \frac{-1.5}{2} is -3/4, and 5\frac{1}{2} is 5 1/2.
    """
    for _ in range(MAX_NESTED):
        changed = _FRACTION.sub(_slashed, text)
        if changed == text:
            break
        text = changed
    return text


def _slashed(match: re.Match[str]) -> str:
    numerator, denominator = ("".join(filter(None, pair)).strip() for pair in (match.group(1, 2), match.group(3, 4)))
    context = match.string[max(0, match.start() - 2) : match.start()]
    before, after = context[-1:], match.string[match.end() : match.end() + 1]
    text = _quotient(numerator, denominator) or f"{_whole(numerator)}/{_whole(denominator)}"
    if (before.isdecimal() and not _is_below_one(numerator, denominator)) or (
        text.startswith("-") and _OPERAND.search(context)
    ):
        text = f"({text})"
    return f"{' ' * (before.isalnum() or before == '}')}{text}{' ' * after.isalnum()}"


def _is_below_one(numerator: str, denominator: str) -> bool:
    """Return whether both are short whole numbers, the first of them smaller."""
    return bool(_DIGITS.fullmatch(numerator) and _DIGITS.fullmatch(denominator)) and int(numerator) < int(denominator)


def _quotient(numerator: str, denominator: str) -> str | None:
    """Return the quotient of two numbers as one number; None if one is none."""
    if not (_NUMBER.fullmatch(numerator) and _NUMBER.fullmatch(denominator)):
        return None
    if numerator.isdecimal() and denominator.isdecimal():
        return f"{numerator}/{denominator}"
    try:
        quotient = Fraction(numerator) / Fraction(denominator)
    except ZeroDivisionError:
        return None
    return f"{quotient.numerator}/{quotient.denominator}"


def _whole(part: str) -> str:
    return part if _SIMPLE.fullmatch(part) else f"({part})"


def _closing_braces(text: str) -> dict[int, int]:
    """Return the place of each opening brace that is closed, and the place of the brace that closes it."""
    closing: dict[int, int] = {}
    opened: list[int] = []
    for match in _BRACE.finditer(text):
        if match[0] == "{":
            opened.append(match.start())
        elif opened:
            closing[opened.pop()] = match.start()
    return closing


_BOX = re.compile(r"\\f?box(?:ed)?\s*\{")
_BRACE = re.compile(r"(?<!\\)[{}]")
_FRACTION = re.compile(r"\\[dtc]?frac\s*(?:\{([^{}]*)\}|(\d))\s*(?:\{([^{}]*)\}|(\d))")
_FORMULA = re.compile(r"(?<!\\)\$+([^$]+)(?<!\\)\$+|\\\(([^$]{1,500}?)\\\)|\\\[([^$]{1,500}?)\\\]")
_DIGITS = re.compile(r"\d{1,99}")
_NUMBER = re.compile(r"[-+]?\d{1,99}(?:\.\d{1,99}|/\d{1,99})?")
# What a sign after it is no sign of a number.
_OPERAND = re.compile(r"[\w)\]}+\-*/^]\s?$")
_SIMPLE = re.compile(r"\d+|\w")
_WRAPPERS = re.compile(r"\\(?:text|textbf|mathrm|mathbf|mbox|boxed|fbox|operatorname)(?![a-zA-Z])\s*")
_BRACES = re.compile(r"(?<!\\)\{([^{}]*)\}(?!\{)")
_REPLACED = (
    (re.compile(r"\\\$"), "$"),
    (re.compile(r"\\%"), "%"),
    (re.compile(r"(?<!\\)\$+|\\[()\[\]]"), ""),
    (re.compile(r"\\(?:left|right|displaystyle|[bB]igg?[lr]?)(?![a-zA-Z])"), ""),
    (re.compile(r"\{,\}|\\!,"), ","),
    (re.compile(r"\\!"), ""),
    (re.compile(r"(?<=\d)\\,(?=\d{3}(?!\d))"), "\u2009"),
    (re.compile(r"\\[,;: ]|~|\\q?quad(?![a-zA-Z])"), " "),
    (re.compile(r"\^\s*(?:\{\s*\\circ\s*\}|\\circ(?![a-zA-Z]))"), "°"),
    (re.compile(r"\s{0,9}\\times(?![a-zA-Z])"), " ×"),
    (re.compile(r"\\cdot(?![a-zA-Z])"), "·"),
)
