"""Texts that are one number with its name and unit, x = 5 cm, or an expression, such as 2√7 or x > 5."""

import re

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
