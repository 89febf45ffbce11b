"""Explanations of a score, as its metric wrote them: a text, or details as lines."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from tasks.console.format import Text, shown
from tasks.pipeline.tables import Parts
from tasks.scores.verdict_source import JUDGED_BY

# Suffixes of the columns that explain a score.
SUFFIXES = ("_details", "_reason")


class DetailLines(NamedTuple):
    """Details of a score, one fact per line: its names, then its value; note: says that something was cut."""

    lines: list[list[str]]
    note: str


def explanation_columns(table: Parts) -> list[str]:
    """Return the columns of a table that explain scores, and the one that says who judged."""
    return [name for name in table.schema.names if name.endswith(SUFFIXES) or name == JUDGED_BY]


def metric_of(column: str) -> str:
    """Return the metric whose scores a column explains."""
    for suffix in SUFFIXES:
        column = column.removesuffix(suffix)
    return column


def explanation(column: str, text: str, limit: int) -> Text | DetailLines:
    """Return what a column says about a score, at most `limit` characters of it."""
    return detail_lines(text, limit) if column.endswith("_details") else shown(text, limit)


def detail_lines(details: str, limit: int) -> Text | DetailLines:
    """Return the details of a score as lines, or as a text if they are no JSON object; at most `limit` characters.

    >>> detail_lines('{"threshold": 0.7, "similarities": {"Rom": 0.1}}', 99).lines
    [['threshold', '0.7'], ['similarities', 'Rom', '0.1']]
    """
    facts = json.loads(details)
    if not isinstance(facts, dict):
        return shown(details, limit)
    lines = [*_lines(facts)]
    return DetailLines([*_first(lines, limit)], shown("".join(map("".join, lines)), limit).note)


def _lines(facts: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    for name, value in facts.items():
        if isinstance(value, dict):
            yield from ((name, inner_name, _text(inner)) for inner_name, inner in value.items())
        else:
            yield name, _text(value)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _first(lines: Sequence[Sequence[str]], left: int) -> Iterator[list[str]]:
    """Yield lines until so many characters are used up."""
    for line in lines:
        parts = []
        for part in line:
            parts.append(shown(part, max(0, left)).shown)
            left -= len(part)
        yield parts
        if left <= 0:
            return
