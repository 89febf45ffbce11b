"""Markdown that other people's texts can't break: no markup of theirs, no link, no mention, no new line."""

import re
from collections.abc import Iterable, Iterator, Sequence

from tasks.console.format import visible

SIGNS = {ord(sign): f"&#{ord(sign)};" for sign in "&<>\\`*[]|~"} | {ord("\n"): " "}
"""What a Markdown reader would take for markup → what it shows as the sign itself."""
LINKED = re.compile(r"(?<=[@#])(?=\w)|(?<=:)(?=//)|(?<=www)(?=\.)", re.IGNORECASE)
"""Where a name, a number or an address becomes a link or calls somebody, entities or not, unless something is there."""
NOTHING = "\u200c"
"""A joiner: `visible` leaves it, however often a text goes through it."""


def escaped(text: str) -> str:
    """A text as it is to be read, on one line.

    >>> escaped("a|b <i> @me")
    'a&#124;b &#60;i&#62; @\\u200cme'
    """
    return LINKED.sub(NOTHING, visible(text)).translate(SIGNS)


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """The lines of a table of texts, each escaped."""
    yield f"| {' | '.join(map(escaped, heads))} |"
    yield f"|{'---|' * len(heads)}"
    for row in rows:
        yield f"| {' | '.join(map(escaped, row))} |"
