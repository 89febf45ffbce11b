"""Tables of Markdown, and what stands in their cells."""

import inspect
import re
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

from goldmeter.pipeline.yaml import load_yaml

NONE = "–"


@cache
def meanings() -> dict[str, dict[str, str]]:
    """What options say where nothing nearer to them does: of `settings` by path, of `metrics` by name."""
    content: dict[str, dict[str, str]] = load_yaml(Path(__file__).with_name("meanings.yaml"))
    return content


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; an empty cell gets a dash.

    >>> print(table(["a", "b"], [["1", "x|y"], ["", "`<p>` <p>"]]))
    | a | b |
    |---|---|
    | 1 | x\\|y |
    | – | `<p>` &lt;p> |
    """
    return "\n".join([_row(head), f"|{'---|' * len(head)}", *(_row([cell or NONE for cell in row]) for row in rows)])


def code(text: object) -> str:
    """A text as code.

    >>> code("{a: 1}"), code("")
    ('`{a: 1}`', '')
    """
    return f"`{text}`" if str(text) else ""


def option_notes(documented: type, options: Sequence[str]) -> dict[str, str]:
    """Option → what the docstrings of the class and its bases say of it, in sentences that begin with its name.

    >>> class Example:
    ...     '''What it is.
    ...
    ...     low: the least. high, top: the most,
    ...     of all.
    ...
    ...     Not of top.
    ...     '''
    >>> option_notes(Example, ["low", "high", "top"])
    {'high': 'the most, of all.', 'top': 'the most, of all.', 'low': 'the least.'}
    """
    notes: dict[str, str] = {}
    for each in documented.__mro__:
        for paragraph in paragraphs(each.__doc__):
            _, *pieces = _split(paragraph, options)
            for named, note in zip(pieces[::2], pieces[1::2], strict=True):
                notes = dict.fromkeys(named.split(", "), note.strip()) | notes
    return notes


def said_of_all(documented: type, options: Sequence[str]) -> str:
    """What the docstring of the class says that is about no single option."""
    return " ".join(part for each in paragraphs(documented.__doc__) if (part := _split(each, options)[0].strip()))


def paragraphs(documentation: str | None) -> list[str]:
    """The paragraphs of a docstring, each on one line."""
    return [" ".join(each.split()) for each in inspect.cleandoc(documentation or "").split("\n\n")]


def _split(paragraph: str, options: Sequence[str]) -> list[str]:
    """What stands before the first option, then by turns options, joined by commas, and what is said of them."""
    names = "|".join(map(re.escape, options))
    return re.split(rf"(?:^|(?<=\. ))((?:{names})(?:, (?:{names}))*): ", paragraph) if names else [paragraph]


def sentence(text: str) -> str:
    """A text that ends as a sentence does.

    >>> sentence("the least"), sentence("the most."), sentence("")
    ('the least.', 'the most.', '')
    """
    return text if not text or text.endswith((".", "!", "?")) else f"{text}."


def opening(text: str) -> str:
    """A text that begins and ends as a sentence does.

    >>> opening("the least")
    'The least.'
    """
    return sentence(text[:1].upper() + text[1:])


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(_cell(cell) for cell in cells)} |"


def _cell(text: str) -> str:
    """A text as it stands in a cell: no bar or line ends it, no bracket outside of code begins a tag."""
    pieces = " ".join(text.split()).replace("|", "\\|").split("`")
    return "`".join(piece if i % 2 else piece.replace("<", "&lt;") for i, piece in enumerate(pieces))
