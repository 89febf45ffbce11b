"""Texts of answers as the page shows them: cut, with a note that says so."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from tasks.console.format import Text, shown
from tasks.reporting.explanations import DetailLines, explanation
from tasks.scores.column_facts import WEIGHT

# References of an input on the page at most.
REFERENCES_SHOWN = 10
# A text: as it is, or cut and with a note that says so, or none.
PackedText = str | list[str] | None
# What is said about a score: a text, or facts with a note.
PackedExplanation = PackedText | dict[str, Any]


class Beginning(NamedTuple):
    """The beginning of a text, and how many characters the whole text has."""

    text: str
    length: int


class InputTexts(NamedTuple):
    """The input of an id; more: how many references are not shown. weight: None without weights."""

    id: Beginning | None
    input: Beginning | None
    references: list[Beginning | None]
    more: int
    slices: dict[str, str | None]
    weight: float | None = None


def references_shown(row: Mapping[str, Any], max_chars: int) -> tuple[list[Text], int]:
    """Return the first references of a row of data/load, and how many more there are."""
    references = row["references"] or []
    first = [shown(text or "", max_chars) for text in references[:REFERENCES_SHOWN]]
    return first, len(references) - len(first)


def input_texts(row: Mapping[str, Any], whole: int, max_chars: int) -> InputTexts:
    """Return the input of a row of data/load; whole: characters of a text, max_chars: of a slice's value."""
    references = row["references"] or []
    first = references[:REFERENCES_SHOWN]
    return InputTexts(
        beginning(row["id"], whole),
        beginning(row["input"], whole),
        [beginning(text or "", whole) for text in first],
        len(references) - len(first),
        {name: value and value[:max_chars] for name, value in (row.get("slices") or {}).items()},
        row.get(WEIGHT),
    )


def beginning(text: str | None, limit: int) -> Beginning | None:
    """Return at most so many first characters of a text."""
    return None if text is None else Beginning(text[:limit], len(text))


def packed(text: Beginning | None, limit: int) -> PackedText:
    """Return a text as the page has it, cut after so many characters."""
    found: PackedText = None if text is None else _packed(shown(text.text, limit, text.length))
    return found


def packed_explanation(column: str, text: str | None, max_chars: int) -> PackedExplanation:
    """Return what a column says about a score; None without a text."""
    found: PackedExplanation = None if text is None else _packed(explanation(column, text, max_chars))
    return found


def _packed(text: Text | DetailLines) -> Any:
    if isinstance(text, DetailLines):
        return {"facts": text.lines, "note": text.note}
    return [text.shown, text.note] if text.note else text.shown
