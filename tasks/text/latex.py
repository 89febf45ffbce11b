r"""LaTeX as plain text, for readers of numbers: \frac{1}{2} is 1/2."""

import re

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


def plain(text: str, *, braces: bool = False) -> str:
    r"""Return a text without LaTeX's markup: $, \left, \right, \text{…}, spaces; with / for \frac, × for \times.

    braces: keep those that group, as in 2^{x + 1}, and \frac.

    >>> plain(r"$\left(2,\dfrac{1}{2}\right)$ is $1{,}000\,\text{km}$ or $50\%$")
    '(2,1/2) is 1,000 km or 50%'
    """
    for pattern, replacement in _REPLACED:
        text = pattern.sub(replacement, text)
    if braces:
        return _WRAPPERS.sub("", text)
    return _BRACES.sub(r"\1", _WRAPPERS.sub("", _with_slashes(text)))


def _with_slashes(text: str) -> str:
    r"""Replace \frac{a}{b}, inner ones first; parts that are more than a number or a name get parentheses."""
    for _ in range(MAX_NESTED):
        changed = _FRACTION.sub(_slashed, text)
        if changed == text:
            break
        text = changed
    return text


def _slashed(match: re.Match[str]) -> str:
    numerator, denominator = ("".join(filter(None, pair)).strip() for pair in (match.group(1, 2), match.group(3, 4)))
    return f"{_whole(numerator)}/{_whole(denominator)}"


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
    (re.compile(r"\\[,;: ]|~|\\q?quad(?![a-zA-Z])"), " "),
    (re.compile(r"\^\s*(?:\{\s*\\circ\s*\}|\\circ(?![a-zA-Z]))"), "°"),
    (re.compile(r"\s*\\times(?![a-zA-Z])"), " ×"),
    (re.compile(r"\\cdot(?![a-zA-Z])"), "·"),
)
