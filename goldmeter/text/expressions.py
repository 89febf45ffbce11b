"""Texts that are one number with its name and unit, or an expression; LaTeX as plain text."""

import re
from fractions import Fraction

# Texts of more words are prose, whose numbers are read one by one.
MAX_WORDS = 4
MAX_CHARACTERS = 500
FUNCTIONS = frozenset(
    {"sqrt", "exp", "log", "ln", "abs", "sin", "cos", "tan", "cot", "sec", "csc", "arcsin", "arccos", "arctan"}
)
CONSTANTS = frozenset({"pi", "infty"})
GREEK = frozenset("alpha beta gamma delta epsilon theta lambda mu rho sigma tau phi omega".split())  # noqa: SIM905


def is_short(text: str) -> bool:
    """Return whether a text is too short for prose; what follows #### is an answer in prose.

    >>> is_short("x = 5 square metres"), is_short("3 + 4 #### 7")
    (True, False)
    """
    return "####" not in text and len(_WORD.findall(text)) <= MAX_WORDS


def without_name(text: str) -> str:
    """Return a text without the name before its equals sign, and with its sign next to its digits.

    >>> without_name("x_1 = - 5")
    '-5'
    """
    return _SIGN.sub(r"\1", _NAME.sub("", text))


def is_alone(before: str, after: str) -> bool:
    """Return whether what stands around a number is words, a unit and punctuation.

    >>> is_alone("about ", " cm^2"), is_alone("", r"\\sqrt{7}"), is_alone("x > ", "")
    (True, False, False)
    """
    names = {word.lower() for word in _WORD.findall(before + " " + after)} & (FUNCTIONS | CONSTANTS)
    return not names and bool(_BEFORE.fullmatch(before) and _AFTER.fullmatch(after))


def expression(text: str) -> str | None:
    r"""Return an expression, of plain text or LaTeX, as LaTeX with fractions for decimals; None for prose.

    Letters in a row are a product, as in 2xy, if there are at most three. Whether it can be read is not known yet.

    >>> expression("2 sin x"), expression("no idea"), expression("0.5x")
    ('2 \\sin x', None, '{\\frac{5}{10}}x')
    """
    text = " ".join(text.split()).removesuffix(".")
    if len(text) > MAX_CHARACTERS or not _EXPRESSION.fullmatch(text):
        return None
    if _LETTERS.search(text) and not _FORMULA_SIGN.search(text):
        return None
    for pattern, replacement in _LATEX:
        text = pattern.sub(replacement, text)
    return text.translate(_SYMBOLS)


def _fraction(decimal: re.Match[str]) -> str:
    whole, part = decimal.groups()
    return rf"{{\frac{{{(whole + part).lstrip('0') or 0}}}{{1{'0' * len(part)}}}}}"


_WORD = re.compile(r"(?<![\\A-Za-z])[^\W\d_]{2,}")
_NAME = re.compile(r"^\s*(?:\\?[^\W\d_]+(?:_\w|_\{\w{1,20}\})?(?:\([^\W\d_]\))?\s*=\s*){1,3}")
_SIGN = re.compile(r"^\s*([-+\u2212])\s+(?=[\d.])")
_CURRENCY = "$€£¥₹₩"
# Letters of other scripts than Latin and Greek are words and units, one letter too.
_SCRIPT = r"[^\W\d_A-Za-z\u00c0-\u024f\u0370-\u03ff]+"
_SPOKEN = rf"(?:[^\W\d_]{{2,}}|{_SCRIPT})"
_MARKS = r"[\s:.,;~≈#\"'’“”`]|\*\*|\\[()\[\]]|\\(?:text|mathrm|textbf)(?![a-zA-Z])|[{}]"
_BEFORE = re.compile(rf"(?:\([A-Za-z]\)|(?<![^\W\d_])\(|{_SPOKEN}(?![^\W\d_])|[{_CURRENCY}]|\\approx|{_MARKS})*")
_POWER = r"(?:\^[-+]?\d|\^\{[-+]?\d\}|[²³]|\^?\\circ)?"
_UNIT = rf"(?:[mgshdlLKCFNJWVAT](?![^\W\d_])|{_SPOKEN}(?![^\W\d_])){_POWER}"
_GLUED = (
    rf"(?:km|cm|mm|nm|kg|mg|m[lL]|ft|mph|hrs?|min|sec|[ap]m|st|nd|rd|th|in|[kMG]?Hz|[kMG]B|°[CFK]?|{_SCRIPT})"
    rf"(?![A-Za-z]){_POWER}"
)
_AFTER = re.compile(
    rf"(?:\^?\{{?{_GLUED}\}}?)?(?:(?<=[^\w^]){_UNIT}|[/·]\s?{_UNIT}|[%°‰]|[)]|[{_CURRENCY}]|{_MARKS}"
    rf"|\s\((?={_SPOKEN}))*"
)
_NAMES = "|".join(sorted(FUNCTIONS | CONSTANTS | GREEK))
_EXPRESSION = re.compile(
    rf"(?:\\[A-Za-z]+|\\[^A-Za-z]|(?:{_NAMES}|[A-Za-z]{{1,3}})(?![A-Za-z])"
    r"|[\d .,=<>|!+\-*/^_(){}\[\]−×·⋅÷°∞√≤≥≠α-ω])++"
)
_LETTERS = re.compile(rf"(?<![\\A-Za-z])(?!(?:{_NAMES})(?![A-Za-z]))[A-Za-z]{{2,3}}(?![A-Za-z])")
# One of these tells 2xy from prose of short words.
_FORMULA_SIGN = re.compile(r"[\d+*/^=\\]")
_LATEX = (
    (re.compile(r"(?<![\\A-Za-z])abs ?\(([^()]*)\)"), r"|\1|"),
    (re.compile(rf"(?<![\\A-Za-z])(?!sqrt ?\()({_NAMES})(?![A-Za-z])"), r"\\\1"),
    (re.compile(r"\*\*"), "^"),
    (re.compile(r"(\d*)\.(\d+)"), _fraction),
)
_SYMBOLS = str.maketrans(
    {"−": "-", "×": r"\times ", "·": r"\cdot ", "⋅": r"\cdot ", "÷": "/", "°": None, "∞": r"\infty ", "π": r"\pi "}
    | {"√": r"\sqrt ", "≤": r"\le ", "≥": r"\ge ", "≠": r"\ne "}
)


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


def formulas_in(text: str) -> list[str]:
    r"""Return the formulas of a text: $…$, $$…$$, \(…\) and \[…\].

    >>> formulas_in(r"so $x$ is \(2y\)")
    ['x', '2y']
    """
    return [next(filter(None, match.groups())) for match in _FORMULA.finditer(text)]


def without_markup(text: str) -> str:
    r"""Return a text without LaTeX's markup: $, \left, \right, \text{…}, spaces; with / for \frac, × for \times.

    >>> without_markup(r"$\left(2,\dfrac{1}{2}\right)$ is $1{,}000\,\text{km}$ or $50\%$")
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
