"""Explanations of a score, as its metric wrote them: a text, or details as lines."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from tasks.console.format import Text, shown

# Suffixes of the columns that explain a score.
SUFFIXES = ("_details", "_reason")


class DetailLines(NamedTuple):
    """What a metric says of a score, a fact a line: its names and its value. note: that something was cut."""

    lines: list[list[str]]
    note: str


def reason_shown(column: str, text: str, limit: int) -> Text | DetailLines:
    """What a column says of a score, for people."""
    return details_shown(text, limit) if column.endswith("_details") else shown(text, limit)


def metric_of(column: str) -> str:
    """The metric whose scores a column explains."""
    for end in SUFFIXES:
        column = column.removesuffix(end)
    return column


def details_shown(details: str, limit: int) -> Text | DetailLines:
    """The details of a score; of facts at most `limit` characters.

    >>> details_shown('{"threshold": 0.7, "similarities": {"Rom": 0.1}}', 99).lines
    [['threshold', '0.7'], ['similarities', 'Rom', '0.1']]
    """
    facts = json.loads(details)
    if not isinstance(facts, dict):
        return shown(details, limit)
    lines = [*_facts(facts)]
    return DetailLines([*_first(lines, limit)], shown("".join(map("".join, lines)), limit).note)


def _first(lines: Sequence[Sequence[str]], left: int) -> Iterator[list[str]]:
    """The lines as far as so many characters reach."""
    for line in lines:
        kept = []
        for part in line:
            kept.append(shown(part, max(0, left)).shown)
            left -= len(part)
        yield kept
        if left <= 0:
            return


def _facts(facts: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    for name, value in facts.items():
        if isinstance(value, dict):
            yield from ((name, each, _said(inner)) for each, inner in value.items())
        else:
            yield name, _said(value)


def _said(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
