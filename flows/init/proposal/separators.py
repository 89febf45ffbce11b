"""The separator between several references that are written as one text."""

import re
from collections.abc import Sequence
from typing import NamedTuple

# A slash of a date, a fraction, a unit, an abbreviation or an address.
_INSIDE = re.compile(
    r"://|(?<![\d/])\d{1,2}/\d{1,4}(?!\d)|\b(?:a|ac|and|c|ft|h|he|his|kg|km|l|m|mi|mph|n|o|w)/[a-z]{1,4}\b",
    re.IGNORECASE,
)
SEPARATORS = ("||", "|", "\n", "/", ";")
# Separators that also stand in prose: then the parts must be short.
OF_PROSE = (";", "\n")
FEWEST, GOOD_SHARE, MOST_INSIDE = 2, 0.05, 0.25
# Share of texts with a semicolon from which it is a separator, whatever the length of the parts.
USUAL = 0.5
# Longest part, in characters, that is taken for an answer and not for a clause.
SHORT = 40
MOST = 0.8


class Separator(NamedTuple):
    """A separator: in how many texts it stands, in how many of them as part of something else, and one text."""

    text: str
    found: int
    inside: int
    example: str
    plausible: bool


def separator(texts: Sequence[str]) -> Separator | None:
    """The most plausible separator of these texts; None if there is none."""
    candidates = [one for one in (_separator(texts, sign) for sign in SEPARATORS) if one]
    return next((one for one in candidates if one.plausible), candidates[0] if candidates else None)


def _separator(texts: Sequence[str], sign: str) -> Separator | None:
    having = [text for text in texts if sign in text]
    if not having:
        return None
    inside = [text for text in having if sign == "/" and _INSIDE.search(text)]
    good = [text for text in having if text not in set(inside) and all(part.strip() for part in text.split(sign))]
    enough = len(good) >= max(min(FEWEST, len(texts) / 2), GOOD_SHARE * len(texts))
    plausible = (
        enough
        and len(inside) <= MOST_INSIDE * len(having)
        and (sign not in OF_PROSE or _are_parts(good, len(texts), sign))
    )
    spaced = all(text.count(f" {sign} ") == text.count(sign) for text in having) and sign not in OF_PROSE
    example = (good or having)[0]
    return Separator(f" {sign} " if spaced else sign, len(having), len(inside), example, plausible)


def _are_parts(texts: Sequence[str], of: int, sign: str) -> bool:
    """Whether it separates answers, and not the clauses of sentences or paragraphs."""
    parts = [len(part) <= SHORT for text in texts for part in text.split(sign)]
    usual = sign == ";" and len(texts) >= USUAL * of
    return usual or sum(parts) >= MOST * len(parts)
