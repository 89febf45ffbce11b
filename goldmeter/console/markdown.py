"""Markdown that is safe for texts of others: no markup, link, mention or line break of theirs takes effect."""

import html
import re
from collections.abc import Iterable, Iterator, Sequence

from goldmeter.console.format import visible

# What may begin or end markup: an underscore in a word, and # before other text, do not.
# A backslash makes a sign text in CommonMark, on GitHub and in both of Prefect's UIs; the older of these does not
# decode character references. Source: https://spec.commonmark.org/0.31.2/#backslash-escapes
SIGNS = re.compile(r"[&<>\\`*\[\]|~]|(?<!\w)_++|_++(?!\w)|#++$")
# What makes a heading, a list item or a line at the start of a text.
START = re.compile(r"^(\d{0,9})([-+=#.)])(?=[-+=#\s]|$)")
# Places where a renderer makes a link or a mention, even of escaped signs, unless a character stands between.
LINKED = re.compile(r"(?<=[@#])(?=\w)|(?<=:)(?=//)|(?<=www)(?=\.)", re.IGNORECASE)
# A zero-width non-joiner, which `visible` does not spell out.
NON_JOINER = "\u200c"


def escaped(text: str) -> str:
    r"""Escape a text, on one line, for a paragraph, a heading, a list item or a cell of a table.

    >>> print(escaped("a|b [0, 1]"))
    a\|b \[0, 1\]
    """
    return START.sub(r"\1\\\2", SIGNS.sub(lambda signs: re.sub("(.)", r"\\\1", signs[0]), _unlinked(text)))


def escaped_in_html(text: str) -> str:
    """Escape a text, on one line, between HTML tags, where a backslash means nothing.

    >>> escaped_in_html("[0, 1] <i>")
    '[0, 1] &lt;i&gt;'
    """
    return html.escape(_unlinked(text), quote=False)


def code(text: str) -> str:
    """A text as inline code, where nothing is markup but as many backticks as enclose it.

    >>> code("a`b")
    '``a`b``'
    """
    line = _one_line(text)
    fence = "`" * (max(map(len, re.findall("`+", line)), default=0) + 1)
    pad = " " if line[:1] == "`" or line[-1:] == "`" else ""
    return f"{fence}{pad}{line}{pad}{fence}"


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """The lines of a table; all its texts are escaped."""
    yield f"| {' | '.join(map(escaped, heads))} |"
    yield f"|{'---|' * len(heads)}"
    for row in rows:
        yield f"| {' | '.join(map(escaped, row))} |"


def _unlinked(text: str) -> str:
    return LINKED.sub(NON_JOINER, _one_line(text))


def _one_line(text: str) -> str:
    return visible(text).replace("\n", " ").strip()
