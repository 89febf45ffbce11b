"""Punctuation and symbols that change what a text says: C++ is not C#, x == y not x != y, and $5 not €5."""

import re
import unicodedata
from functools import lru_cache
from typing import NamedTuple

# Without one of these characters a text has no such sign.
SIGNS = r"[-+#*^=<>≤≥≠≈×÷·∙⋅∗−‐‑‒–%‰,$&|\p{Sc}←-⇿➔-➾]"
# The same characters, and all others that are not ASCII: Python knows no classes of Unicode categories.
_MAY_BE_SIGN = re.compile(r"[-+#*^=<>!,$&|%]|[^\x00-\x7f]")
_OTHERS = str.maketrans("−‐‑‒–×·∙⋅∗", "-----*****")
# **bold**, *italics* and __both__ of Markdown.
_EMPHASIS = re.compile(r"(\*{1,3}|_{2})(?=\S)([^*\n]+?)(?<=\S)\1(?!\*)")
_NEEDED = re.compile(
    r"(?<=\w)(?:[+#]+|-+|\*+)(?![\w+#*-])"  # C++, O-, a*
    r"|(?<=[\w)\]])\s*(?:!==?|[=<>]=?=?|[≤≥≠≈^÷])\s*(?=[\w(\[])"  # x==y, 2^10
    r"|(?<=\d)\s*\*\s*(?=\d)"  # 2×3
    r"|[<>≤≥≈]=?\s*(?=[-+]?\W?\.?\d)"  # <5
    r"|(?<=\d)\s?[%‰]"
    r"|(?<=\d),(?=\d(?!\d))"  # 1,5
)
_IF_BOTH = re.compile(
    r"(?<![\w-])--?(?=[^\W\d])"  # --v
    r"|(?<=\w)\s+[+-]\s+(?=\w)"  # a + b
    r"|(?<=\w)\s*(?:&&|\|\|?)\s*(?=\w)"
    r"|[←-⇿➔-➾]"
)


class _Signs(NamedTuple):
    """The signs of a text in their order: those that another one must have, and those that it may lack."""

    needed: tuple[str, ...]
    if_both: tuple[str, ...]
    currencies: tuple[str, ...]


def same_signs(text: str, other: str) -> bool:
    """Return whether two texts, equal after normalisation, have no punctuation or symbol that tells them apart.

    >>> same_signs("C++", "C#"), same_signs("**C++**!", "c++"), same_signs("$5", "5"), same_signs("$5", "€5")
    (False, True, True, False)
    """
    if text == other or _characters(text) == _characters(other):
        return True
    (needed, *optional), (needed_of_other, *optional_of_other) = _signs(text), _signs(other)
    either = zip(optional, optional_of_other, strict=True)
    return needed == needed_of_other and all(one == two or not (one and two) for one, two in either)


def _characters(text: str) -> list[str]:
    return _MAY_BE_SIGN.findall(text)


@lru_cache(maxsize=1 << 12)
def _signs(text: str) -> _Signs:
    plain = text if text.isascii() else unicodedata.normalize("NFKC", text).translate(_OTHERS)
    if "*" in plain or "_" in plain:
        plain = _EMPHASIS.sub(r"\2", plain)
    needed, if_both = (tuple(_written(match[0]) for match in found.finditer(plain)) for found in (_NEEDED, _IF_BOTH))
    if plain.isascii():
        return _Signs(needed, if_both, ("$",) * plain.count("$"))
    return _Signs(needed, if_both, tuple(one for one in plain if unicodedata.category(one) == "Sc"))


def _written(sign: str) -> str:
    """The sign in one writing."""
    return "".join(sign.split()).replace("≤", "<=").replace("≥", ">=").replace("≠", "!=")
