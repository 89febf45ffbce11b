"""Texts of answers as the page shows them: cut, with a note that says so."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from tasks.console.format import Text, shown
from tasks.reporting.explanations import DetailLines, explanation

# References of an input on the page at most.
REFERENCES_SHOWN = 10
# A text: as it is, or cut and with a note that says so, or none.
PackedText = str | list[str] | None
# What is said about a score: a text, or facts with a note.
PackedExplanation = PackedText | dict[str, Any]


class PackedInput(NamedTuple):
    """The input of an id; more: how many references are not shown."""

    id: PackedText
    input: PackedText
    references: list[PackedText]
    more: int
    slices: dict[str, str | None]


def references_shown(row: Mapping[str, Any], max_chars: int) -> tuple[list[Text], int]:
    """Return the first references of a row of data/load, and how many more there are."""
    references = row["references"] or []
    first = [shown(text or "", max_chars) for text in references[:REFERENCES_SHOWN]]
    return first, len(references) - len(first)


def packed_input(row: Mapping[str, Any], max_chars: int) -> PackedInput:
    """Return the input of a row of data/load."""
    references, more = references_shown(row, max_chars)
    return PackedInput(
        _cut(row["id"], max_chars),
        _cut(row["input"], max_chars),
        [*map(_packed, references)],
        more,
        {name: value and value[:max_chars] for name, value in (row.get("slices") or {}).items()},
    )


def packed_response(text: str | None, max_chars: int) -> tuple[PackedText, int]:
    """Return an answer, and how long it is."""
    return _cut(text, max_chars), len(text or "")


def packed_explanation(column: str, text: str | None, max_chars: int) -> PackedExplanation:
    """Return what a column says about a score; None without a text."""
    packed: PackedExplanation = None if text is None else _packed(explanation(column, text, max_chars))
    return packed


def _packed(text: Text | DetailLines) -> Any:
    if isinstance(text, DetailLines):
        return {"facts": text.lines, "note": text.note}
    return [text.shown, text.note] if text.note else text.shown


def _cut(text: str | None, max_chars: int) -> PackedText:
    return None if text is None else _packed(shown(text, max_chars))
