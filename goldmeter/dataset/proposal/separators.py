"""The separator between several references that are written as one text."""

import re
from collections.abc import Sequence
from typing import NamedTuple

# A slash of a date, a fraction, a unit, an abbreviation, an address, a mark such as </v>, or an ending: seleccionada/o.
_INSIDE = re.compile(
    r"://|</|/>|(?<![\d/])\d{1,2}/\d{1,4}(?!\d)|\b(?:a|ac|and|c|ft|h|he|his|kg|km|l|m|mi|mph|n|o|w)/[a-z]{1,4}\b|"
    r"(?<=\w\w)(?:o/a|os/as|or/a|ores/as|a/o|as/os|[^\W\d_]/(?:e|es|n|r|s|en|er|innen|ne|se|trice|in(?! \w)))(?!\w)",
    re.IGNORECASE,
)
SEPARATORS = ("||", "|", "\n", "/", ";")
# Separators that also stand in prose: then the parts must be short.
OF_PROSE = (";", "\n")
# Share of the texts that must hold it, and share of these in which it may stand for something else.
FEWEST, FEWEST_SHARE, MOST_INSIDE = 2, 0.2, 0.05
# Share of texts with a semicolon from which it is a separator, whatever the length of the parts.
USUAL = 0.5
# Longest part, in characters, that is taken for an answer and not for a clause; and at a slash, for no sentence.
SHORT, LONGEST = 40, 120
MOST = 0.8
_SENTENCE_END = re.compile(r"""[.!?…。！？][)\]"'”’»]*\Z""")
# A line of a worked solution, a list or code.
_STEP = re.compile(r"[=:{}\\]|####|\A\s*(?:[-*•]|\d+[.)])\s|\A\s{2,}")
_BRACKETS = (("(", ")"), ("[", "]"), ("{", "}"), ("<", ">"), ("“", "”"), ("«", "»"))


class Separator(NamedTuple):
    """A separator: in how many texts it stands, in how many of them as part of something else, and one text."""

    text: str
    found: int
    inside: int
    example: str
    plausible: bool


def separator(texts: Sequence[str]) -> Separator | None:
    """The most plausible separator of these texts; None if there is none.

    >>> separator(["Paris / City of Paris", "Rome / Roma"]).plausible, separator(["Se busca chico/a"] * 9).plausible
    (True, False)
    """
    candidates = [one for one in (_separator(texts, sign) for sign in SEPARATORS) if one]
    return next((one for one in candidates if one.plausible), candidates[0] if candidates else None)


def _separator(texts: Sequence[str], sign: str) -> Separator | None:
    having = [text for text in texts if sign in text]
    if not having:
        return None
    good = [text for text in having if _is_between_answers(text, sign)]
    inside = len(having) - len(good)
    plausible = (
        len(good) >= max(min(FEWEST, len(texts) / 2), FEWEST_SHARE * len(texts))
        and inside <= MOST_INSIDE * len(having)
        and (sign not in OF_PROSE or _are_short(good, len(texts), sign))
    )
    spaced = all(text.count(f" {sign} ") == text.count(sign) for text in having) and sign not in OF_PROSE
    example = (good or having)[0]
    return Separator(f" {sign} " if spaced else sign, len(having), inside, example, plausible)


def _is_between_answers(text: str, sign: str) -> bool:
    """Whether each part could be an answer by itself: no piece of a word, a mark, a sentence or a solution."""
    parts = text.split(sign)
    if not all(part.strip() for part in parts) or (sign == "/" and _INSIDE.search(text)):
        return False
    if sign == "\n" and any(map(_STEP.search, parts)):
        return False
    if any(part.count(left) != part.count(right) for part in parts for left, right in _BRACKETS):
        return False
    ends = [bool(_SENTENCE_END.search(part.rstrip())) for part in parts]
    if ends[-1] and not all(ends) and (sign == ";" or (sign == "/" and len(text) > SHORT)):
        return False
    return sign != "/" or max(len(part) for part in parts) <= LONGEST or all(ends)


def _are_short(texts: Sequence[str], of: int, sign: str) -> bool:
    """Whether it separates answers, and not the clauses of sentences or paragraphs."""
    parts = [len(part) <= SHORT for text in texts for part in text.split(sign)]
    usual = sign == ";" and len(texts) >= USUAL * of
    return usual or sum(parts) >= MOST * len(parts)
