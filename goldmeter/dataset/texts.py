"""Texts of a record, checked; numbers that texts state; forms in which texts count as the same."""

import re
import unicodedata
from math import isfinite

from goldmeter.dataset.record import Value


class UnusableValueError(Exception):
    """A value of a record can't be used; the message is stored as the reason in data/load_rejected."""


def checked_text(value: Value, column: str, max_chars: int, limit: str = "") -> str | None:
    """Return the text of a value; None for null.

    limit: what a longer text is told; none: load.max_chars.

    Raises:
        UnusableValueError: It is no text, longer than `max_chars`, or can't be stored as UTF-8.
    """
    if value is None:
        return None
    if not isinstance(value, str):
        kind = "a list" if isinstance(value, list) else "an object"
        hint = "; write JSON as text, in a string" if isinstance(value, dict) else ""
        raise UnusableValueError(f"{column}: {kind} where text is expected{hint}")
    if len(value) > max_chars:
        raise UnusableValueError(f"{column}: {len(value):,} characters; {limit or f'load.max_chars is {max_chars:,}'}")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise UnusableValueError(f"{column}: character {error.start + 1} is half of a surrogate pair") from None
    return value


def texts(value: Value, column: str, max_chars: int) -> list[str]:
    """Return the items of a list, or one value as a list, without those that are blank."""
    checked = [checked_text(item, column, max_chars) for item in (value if isinstance(value, list) else [value])]
    return [text for text in checked if text is not None and text.strip()]


# A decimal comma: not 1,234, which may be a thousand.
_COMMA = re.compile(r"\s*[+-]?(?:\d+,(?!\d{3}\s*\Z)\d+|0,\d+)\s*")


def finite(value: Value) -> float | None:
    """Return the finite number that a text states; None for any other value.

    >>> finite("1e2"), finite("0,5"), finite("1,234"), finite("1_000")
    (100.0, 0.5, None, None)
    """
    if not isinstance(value, str) or "_" in value:  # float() alone would read 1_000 as a number
        return None
    try:
        number = float(value.replace(",", ".") if _COMMA.fullmatch(value) else value)
    except ValueError:
        return None
    return number if isfinite(number) else None


BESIDE_PUNCTUATION = re.compile(r" (?:(?=\W)|(?<=\W ))")
# Characters that are written in several ways, and mean the same in an answer.
ONE_FORM = str.maketrans("−–－—‒‐‑，：；．！？’‘＇“”", "-------,:;.!?'''" + '""')
SEVERAL_FORMS = re.compile(f"[{''.join(map(chr, ONE_FORM))}]")
# What an answer is written with and without: a closed list, because "C#", "5‰", "2 + 3" and "A*" need their signs. A
# comma, colon or point between digits belongs to the number, and so do a point before its digits, ' and " beside them.
# A hyphen between words is left out; before or after a digit, and at the start of a word, it is a sign.
PUNCTUATION = re.compile(
    r"""
    [,:;.?!'"…。、،؛؟।¿¡„‚‹›«»「」『』《》〈〉【】-]  # first, so that the search skips other characters
    (?:
    (?<=[,:;])(?:(?<!\d.)(?=\d)(?<!^.) | (?!\d)) | (?<=\.)(?!\d) | (?<=\?) | (?<!\d.)(?<=!) | (?<!\d.)(?<=['"])(?!\d)
    | (?<=[…。、،؛؟।¿¡„‚‹›«»「」『』《》〈〉【】])
    | (?<=[^\W\d_]-)(?=[^\W\d_]{2,}+(?!\()) | (?<=[^\W\d_]{2}-)(?=[^\W\d_](?!\()) | (?<=\d-)(?=[^\W\d_]{4,}+(?!\())
    )
    """,
    re.VERBOSE,
)
QUOTED = re.compile(r"""(['"])([^'"]*)\1""")
BRACKETS = re.compile(r"[()\[\]{}]")
# Brackets of a formula, of an amount as accountants write a loss, and of other numbers.
MEANT_BRACKETS = re.compile(r"[+*/^=<>|~\\]|-(?![^\W\d_]{2})|[(\[{][^()\[\]{}]*\d")
# Only where a word follows: "Vitamin A" and the option A keep theirs. Before a letter or number, "a" may be a name.
A, THE = re.compile(r"an?\s+(?=[^\W\d_]{2})"), re.compile(r"the(?<!\wthe)\s+(?=\w)")


def same_text(text: str) -> str:
    """Return the form in which the answer of a label and the answer of a candidate are compared.

    Case does not count, nor white space beside a punctuation mark: label files often hold answers that were retyped.

    >>> same_text("In the S-block "), same_text("in the s - block"), same_text("1 2 3")
    ('in the s-block', 'in the s-block', '1 2 3')
    """
    return BESIDE_PUNCTUATION.sub("", same_input(text).casefold())


def bare_text(text: str) -> str:
    """Return `same_text` without punctuation and English articles: labels are often of answers that were normalised.

    Only what says nothing is left out: signs and separators of a number count, and so do symbols such as $, %, # and &,
    brackets around a number, and an article without a word behind it.

    >>> bare_text("The Negev."), bare_text("John F. Kennedy"), bare_text("1,950: $–1.5"), bare_text("(A)")
    ('negev', 'john f kennedy', '1,950 $-1.5', 'a')
    """
    whole = same_text(text)
    whole = whole.translate(ONE_FORM) if SEVERAL_FORMS.search(whole) else whole
    quoted = QUOTED.fullmatch(whole)
    bare = quoted[2] if quoted else whole
    article = A.match(bare)
    bare = PUNCTUATION.sub(" ", THE.sub("", bare[article.end() :] if article else bare))
    if BRACKETS.search(bare) and not MEANT_BRACKETS.search(bare):
        bare = BRACKETS.sub(" ", bare)
    return " ".join(bare.split()) or whole


def same_input(text: str) -> str:
    """Return the form in which inputs are joined: runs of white space count as one."""
    return " ".join((text if text.isascii() else unicodedata.normalize("NFC", text)).split())
