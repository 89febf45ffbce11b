"""Markdown that is safe for texts of others: no markup, link, mention or line break of theirs takes effect."""

import re
from collections.abc import Iterable, Iterator, Sequence

from tasks.console.format import visible

# Markup characters → their character references.
SIGNS = {ord(sign): f"&#{ord(sign)};" for sign in "&<>\\`*[]|~"} | {ord("\n"): " "}
# Places where a renderer makes a link or a mention, even of character references, unless a character stands between.
LINKED = re.compile(r"(?<=[@#])(?=\w)|(?<=:)(?=//)|(?<=www)(?=\.)", re.IGNORECASE)
# A zero-width non-joiner, which `visible` does not spell out.
NON_JOINER = "\u200c"


def escaped(text: str) -> str:
    """Escape a text, on one line.

    >>> escaped("a|b <i> @me")
    'a&#124;b &#60;i&#62; @\\u200cme'
    """
    return LINKED.sub(NON_JOINER, visible(text)).translate(SIGNS)


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """The lines of a table; all its texts are escaped."""
    yield f"| {' | '.join(map(escaped, heads))} |"
    yield f"|{'---|' * len(heads)}"
    for row in rows:
        yield f"| {' | '.join(map(escaped, row))} |"
