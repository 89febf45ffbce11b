"""What stands between several right answers that are written as one text."""

import re
from collections.abc import Sequence
from typing import NamedTuple

_INSIDE = re.compile(
    r"://|(?<![\d/])\d{1,2}/\d{1,4}(?!\d)|\b(?:a|ac|and|c|ft|h|he|his|kg|km|l|m|mi|mph|n|o|w)/[a-z]{1,4}\b",
    re.IGNORECASE,
)
"""A slash of a date, a fraction, a unit, an abbreviation or an address."""
SEPARATORS = ("||", "|", "/", ";")
FEWEST, GOOD_SHARE, MOST_INSIDE = 2, 0.05, 0.25
USUAL = 0.5
"""Share of texts from which a semicolon is no punctuation, however long the parts are."""
SHORT = 40
"""Characters of a part that is no clause of a sentence."""
MOST = 0.8


class Separator(NamedTuple):
    """A separator, in how many texts it stands, in how many as part of something else, and one of the texts."""

    text: str
    found: int
    inside: int
    example: str
    plausible: bool


def separator(texts: Sequence[str]) -> Separator | None:
    """What separates alternatives in these texts, or might; None when nothing does."""
    seen = [_seen(texts, sign) for sign in SEPARATORS]
    found = [each for each in seen if each]
    return next((each for each in found if each.plausible), found[0] if found else None)


def _seen(texts: Sequence[str], sign: str) -> Separator | None:
    having = [text for text in texts if sign in text]
    if not having:
        return None
    inside = [text for text in having if sign == "/" and _INSIDE.search(text)]
    good = [text for text in having if text not in set(inside) and all(part.strip() for part in text.split(sign))]
    enough = len(good) >= max(min(FEWEST, len(texts) / 2), GOOD_SHARE * len(texts))
    plausible = enough and len(inside) <= MOST_INSIDE * len(having) and (sign != ";" or _are_parts(good, len(texts)))
    spaced = all(text.count(f" {sign} ") == text.count(sign) for text in having) and sign != ";"
    example = (good or having)[0]
    return Separator(f" {sign} " if spaced else sign, len(having), len(inside), example, plausible)


def _are_parts(texts: Sequence[str], of: int) -> bool:
    """Whether semicolons stand between answers, and not between the clauses of sentences."""
    parts = [len(part) <= SHORT for text in texts for part in text.split(";")]
    return len(texts) >= USUAL * of or sum(parts) >= MOST * len(parts)
