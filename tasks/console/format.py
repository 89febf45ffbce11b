"""Numbers and texts as a page shows them: three significant digits, nothing invisible, nothing endless."""

import re
from collections.abc import Sequence
from math import floor, isnan, log10
from typing import NamedTuple

NONE = "–"
# Characters of a text that stands on one line, and names in a list that is cut short.
CUT, LISTED = 60, 3
SMALLEST_SHOWN, LARGEST_SHOWN = 1e-4, 1e15
UNSEEN = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ufeff\ufffe\uffff\ud800-\udfff]"
    r"|[\xad\u034f\u180e\u200b\u2060-\u2065\u206a-\u206f\u3164\uffa0\ufff9-\ufffb\U000e0000-\U000e007f]"
)
"""Controls, what XML (so SVG) can't hold, Unicode's line breaks, marks that reorder; what has no width; tags.

Joiners, plain direction marks and selectors of a variant are part of writing.
"""
FLAG = re.compile("(\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f)")
"""The flag of a region, whose code tags spell. Source: UTS #51, annex C."""


class Text(NamedTuple):
    """A text made harmless to look at, and what was left out of it."""

    shown: str
    note: str = ""


def number(value: float | None) -> str:
    """Three significant digits; explorer.js writes them so too.

    >>> number(0.71349), number(1), number(0), number(-12.345), number(1234567), number(None)
    ('0.713', '1.00', '0', '−12.3', '1,230,000', '–')
    """
    if value is None or isnan(value):
        return NONE
    rounded = float(f"{value:.3g}")
    if not SMALLEST_SHOWN <= abs(rounded) < LARGEST_SHOWN:
        return "0" if value == 0 else f"{rounded:.3g}".replace("-", "−")
    return f"{rounded:,.{max(0, 2 - floor(log10(abs(rounded))))}f}".replace("-", "−")


def percent(share: float | None) -> str:
    """A share in percent; 0% and 100% mean none and all.

    >>> percent(0.71349), percent(1), percent(0.9999), percent(0.0001), percent(0)
    ('71.3%', '100%', '>99.9%', '<0.1%', '0%')
    """
    if share is None or isnan(share):
        return NONE
    if share in (0, 1):
        return f"{share:.0%}"
    text = f"{share:.1%}"
    return {"100.0%": ">99.9%", "0.0%": "<0.1%"}.get(text, text)


def level(confidence: float) -> str:
    """A confidence in percent, as it was set.

    >>> level(0.95), level(0.999), level(0.975)
    ('95%', '99.9%', '97.5%')
    """
    return f"{100 * confidence:g}%"


def count(n: float) -> str:
    """A count with thousands separators; what is no whole number as `number` shows it.

    >>> count(12345), count(2.5)
    ('12,345', '2.50')
    """
    return f"{int(n):,}" if n == int(n) else number(n)


def counted(n: int, one: str, several: str = "") -> str:
    """A number of things in words.

    >>> counted(1, "answer"), counted(1200, "answer"), counted(2, "reply", "replies")
    ('1 answer', '1,200 answers', '2 replies')
    """
    return f"{n:,} {one if n == 1 else several or f'{one}s'}"


def visible(text: str) -> str:
    r"""The text with what could hide or reorder something spelled out.

    >>> visible("a\x00b \u202egnp.exe")
    'a⟨U+0000⟩b ⟨U+202E⟩gnp.exe'
    >>> visible("Par\u200bis"), visible("co\u00adop")
    ('Par⟨U+200B⟩is', 'co⟨U+00AD⟩op')
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    pieces = FLAG.split(lines)  # every other one is a flag
    pieces[::2] = [UNSEEN.sub(lambda match: f"⟨U+{ord(match[0]):04X}⟩", piece) for piece in pieces[::2]]
    return "".join(pieces)


def cut(text: str | None, limit: int = CUT) -> str:
    """A text on one line, or its first characters; None as a dash.

    >>> cut("two\\nlines"), cut("a long answer", 7), cut(None)
    ('two lines', 'a long…', '–')
    """
    line = NONE if text is None else " ".join(text.split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


def listed(names: Sequence[str], limit: int = LISTED) -> str:
    """The first few names, and how many more there are.

    >>> listed(["a", "b", "c", "d"], 2)
    'a, b and 2 more'
    """
    more = len(names) - limit
    return ", ".join(names) if more <= 0 else f"{', '.join(names[:limit])} and {more} more"


def abridged(name: str, limit: int) -> str:
    """A name, without its middle where it is too long: names that begin alike often end apart.

    >>> abridged("model", 5), abridged("model-of-2024", 5)
    ('model', 'mo…24')
    """
    if len(name) <= limit:
        return name
    kept = limit - 1
    return f"{name[: kept // 2]}…{name[len(name) - (kept - kept // 2) :]}"


def shown(text: str, limit: int) -> Text:
    """The text, or its first `limit` characters and a note that says so."""
    if len(text) <= limit:
        return Text(visible(text))
    return Text(visible(text[:limit]) + "…", f"cut: the first {limit:,} of {len(text):,} characters")
