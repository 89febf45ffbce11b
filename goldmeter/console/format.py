"""Numbers and texts for people: three significant digits, no invisible characters, limited length."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from math import ceil, floor, isnan, log10
from typing import NamedTuple

NONE = "–"
# Characters of a text that stands on one line, and names in a list that is cut short.
CUT, LISTED = 60, 3
SMALLEST_SHOWN, LARGEST_SHOWN = 1e-4, 1e15
# Significant digits that the order in which parts are added up does not change.
CERTAIN = 12
# First line: control characters, characters that XML (so SVG) can't hold, Unicode line breaks, bidirectional overrides.
# Second line: characters without width, and tags.
# Joiners, plain direction marks and variation selectors are not in it: they are part of normal text.
UNSEEN = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ufeff\ufffe\uffff\ud800-\udfff]"
    r"|[\xad\u034f\u180e\u200b\u2060-\u2065\u206a-\u206f\u3164\uffa0\ufff9-\ufffb\U000e0000-\U000e007f]"
)
# The flag of a region, spelled by tag characters. Source: UTS #51, annex C.
FLAG = re.compile("(\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f)")


class Text(NamedTuple):
    """A text without invisible characters, and a note on what was cut from it."""

    shown: str
    note: str = ""


def number(value: float | None) -> str:
    """Format with three significant digits, as explorer.js does.

    >>> number(0.71349), number(1), number(0), number(-12.345), number(1234567), number(None)
    ('0.713', '1.00', '0', '−12.3', '1,230,000', '–')
    """
    if value is None or isnan(value):
        return NONE
    rounded = float(f"{float(f'{value:.{CERTAIN}g}'):.3g}")
    if not SMALLEST_SHOWN <= abs(rounded) < LARGEST_SHOWN:
        return "0" if value == 0 else f"{rounded:.3g}".replace("-", "−")
    return f"{rounded:,.{max(0, 2 - floor(log10(abs(rounded))))}f}".replace("-", "−")


def points(difference: float | None) -> str:
    """Format a difference of two shares in percentage points with one decimal and its sign, which no rounding hides.

    >>> points(0.0704), points(-0.038), points(9e-6), points(0), points(None)
    ('+7.0', '−3.8', '+0.0', '0.0', '–')
    """
    if difference is None or isnan(difference):
        return NONE
    return f"{100 * difference:+.1f}".replace("-", "−") if difference else "0.0"


def points_interval(value: float | None, low: float | None, high: float | None) -> str:
    """Format a difference of two shares with its limits; unknown limits are left out.

    >>> points_interval(0.0704, -0.038, 0.174), points_interval(0.0704, None, None)
    ('+7.0 points [−3.8, +17.4]', '+7.0 points')
    """
    limits = "" if low is None or high is None else f" [{points(low)}, {points(high)}]"
    return f"{points(value)}{'' if value is None or isnan(value) else ' points'}{limits}"


def rate(share: float | None) -> str:
    """Format a share in percent with one decimal; 0 % and 100 % are exact: none and all.

    >>> rate(0.787), rate(1), rate(0.9999), rate(0.0001), rate(0), rate(None)
    ('78.7 %', '100 %', '>99.9 %', '<0.1 %', '0 %', '–')
    """
    if share is None or isnan(share):
        return NONE
    if share in (0, 1):
        return f"{100 * share:.0f} %"
    text = f"{100 * share:.1f} %"
    return {"100.0 %": ">99.9 %", "0.0 %": "<0.1 %"}.get(text, text)


def rate_interval(value: float | None, low: float | None, high: float | None) -> str:
    """Format a share with its limits in percent; unknown limits are left out.

    >>> rate_interval(0.787, 0.735, 0.831), rate_interval(0.787, None, None)
    ('78.7 % [73.5, 83.1]', '78.7 %')
    """
    limits = "" if low is None or high is None else f" [{_bare(low)}, {_bare(high)}]"
    return f"{rate(value)}{limits}"


def coefficient(value: float | None) -> str:
    """Format a coefficient between −1 and 1, such as kappa, with two decimals.

    >>> coefficient(0.4275), coefficient(-0.038), coefficient(-1e-4), coefficient(None)
    ('0.43', '−0.04', '0.00', '–')
    """
    return NONE if value is None or isnan(value) else f"{round(value, 2) + 0.0:.2f}".replace("-", "−")


def about(n: float) -> str:
    """Round a count up to two significant digits, as estimates of the rows needed deserve no more.

    >>> about(873), about(1234), about(57), about(7)
    ('880', '1,300', '57', '7')
    """
    unit = 10 ** max(0, len(str(ceil(n))) - 2)
    return f"{ceil(n / unit) * unit:,}"


def level(confidence: float) -> str:
    """Format a confidence in percent, so that the chance of an error has three digits.

    >>> level(0.95), level(0.999), level(0.975), level(1 - 0.05 / 3)
    ('95 %', '99.9 %', '97.5 %', '98.33 %')
    """
    error = float(f"{100 * (1 - confidence):.3g}")
    return f"{100 - error:.10g} %"


def count(n: float) -> str:
    """Format a count with thousands separators; a fraction as `number` does.

    >>> count(12345), count(2.5)
    ('12,345', '2.50')
    """
    return f"{int(n):,}" if n == int(n) else number(n)


def counted(n: int, one: str, several: str = "") -> str:
    """Format a count with its noun.

    >>> counted(1, "answer"), counted(1200, "answer"), counted(2, "reply", "replies")
    ('1 answer', '1,200 answers', '2 replies')
    """
    return f"{n:,} {one if n == 1 else several or f'{one}s'}"


def visible(text: str) -> str:
    r"""Spell out invisible and reordering characters.

    >>> visible("a\x00b \u202egnp.exe")
    'a⟨U+0000⟩b ⟨U+202E⟩gnp.exe'
    >>> visible("Par\u200bis"), visible("co\u00adop")
    ('Par⟨U+200B⟩is', 'co⟨U+00AD⟩op')
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    pieces = FLAG.split(lines)  # every second piece is a flag
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


def joined(names: Sequence[str]) -> str:
    """All names as a part of a sentence.

    >>> joined(["a"]), joined(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def capitalized(sentence: str) -> str:
    """A sentence with its first letter in upper case; the others stay.

    >>> capitalized("the judge is GPT")
    'The judge is GPT'
    """
    return f"{sentence[:1].upper()}{sentence[1:]}"


def abridged(name: str, limit: int) -> str:
    """Shorten a long name in its middle, because names that begin alike often differ at the end.

    >>> abridged("model", 5), abridged("model-of-2024", 5)
    ('model', 'mo…24')
    """
    if len(name) <= limit:
        return name
    head = (limit - 1) // 2
    tail = limit - 1 - head
    return f"{name[:head]}…{name[len(name) - tail :]}"


def _bare(share: float) -> str:
    return rate(share).removesuffix(" %")


def abridged_apart(names: Iterable[str], limit: int) -> dict[str, str]:
    """Shorten names as `abridged`; those that would become equal keep their full length.

    >>> abridged_apart(["answer-of-v13-today", "answer-of-v14-today", "another-long-name"], 9)["answer-of-v13-today"]
    'answer-of-v13-today'
    """
    short = {name: abridged(name, limit) for name in names}
    uses = Counter(short.values())
    return {name: text if uses[text] == 1 else name for name, text in short.items()}


def shown(text: str, limit: int, length: int | None = None) -> Text:
    """The visible text, cut after `limit` characters; the note says so. length: of the whole text, if it is longer."""
    length = length or len(text)
    if length <= limit:
        return Text(visible(text))
    return Text(visible(text[:limit]) + "…", f"cut: the first {limit:,} of {length:,} characters")
