"""WMT's MQM annotations: a TSV with a row for each error that a rater marked. Written for the files of 2020 to 2023.

One record for each segment of a system. A rater's grade `mqm` is the negative sum of the weights of the errors marked.
Human translations are the references of a segment, and no systems. Marks around an error are no part of the text.
Source: Freitag et al. 2021, Experts, Errors, and Context (arXiv:2104.14478).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from goldmeter.dataset.readers import log, tables
from goldmeter.dataset.record import Record, file_name
from goldmeter.errors import DataError

COLUMNS = {"system", "doc", "rater", "source", "target", "category", "severity"}
SEGMENTS = ("globalSegId", "seg_id")
HUMAN = re.compile(r"(human|ref)([-_.]?[a-z]?)([-_.]?\d*)", re.IGNORECASE)
MARK = re.compile(r"</?v>")
WEIGHTS: Mapping[str, float] = {"no-error": 0.0, "neutral": 0.0, "minor": 1.0, "major": 5.0, "critical": 5.0}
PUNCTUATION, UNTRANSLATED = 0.1, 25.0
# Rows that test whether a rater pays attention.
TEST = "hotw-test"

Key = tuple[str, str]
"""System and segment."""


def recognises(head: log.Head) -> bool:
    """Tell whether a file holds MQM annotations."""
    return head.columns >= COLUMNS and any(name in head.columns for name in SEGMENTS)


def read(files: Sequence[Path]) -> Iterator[Record]:
    """Yield the records of all files.

    Raises:
        DataError: A row can't be read, or its severity is unknown.
    """
    for file in files:
        rows: dict[Key, tuple[int, Mapping[str, Any]]] = {}
        sums: dict[Key, dict[str, float]] = {}
        for line, row in tables.rows(file):
            segment = f"{row.get('doc')}/{log.text_of(tables.first_of(row, SEGMENTS)) or ''}"
            key = str(row.get("system")), segment
            rows.setdefault(key, (line, row))
            weight = _weight(row, f"{file_name(file)}, line {line}")
            if weight is not None:
                given = sums.setdefault(key, {})
                given[str(row.get("rater"))] = given.get(str(row.get("rater")), 0.0) + weight
        yield from _records(file_name(file), rows, sums)


def _records(
    where: str, rows: Mapping[Key, tuple[int, Mapping[str, Any]]], sums: Mapping[Key, Mapping[str, float]]
) -> Iterator[Record]:
    references: dict[str, list[str]] = {}
    for (system, segment), (_, row) in rows.items():
        if HUMAN.fullmatch(system):
            references.setdefault(segment, []).append(_plain(row.get("target")) or "")
    for (system, segment), (line, row) in rows.items():
        if HUMAN.fullmatch(system):
            continue
        response = _plain(row.get("target"))
        values = log.flat(
            id=segment,
            candidate=system,
            input=_plain(row.get("source")),
            references=references.get(segment, []),
            response=response,
            error=None if response is not None else "no output",
            group=log.text_of(row.get("doc")),
        )
        grades = {f"mqm{log.RATER}{rater}": repr(0.0 - sum_) for rater, sum_ in sums.get((system, segment), {}).items()}
        yield Record(where, line, tables.with_people(values, grades))


def _weight(row: Mapping[str, Any], where: str) -> float | None:
    """Return the weight of an error; None for a row that tests the rater."""
    severity, category = str(row.get("severity")).lower(), str(row.get("category")).lower()
    if severity == TEST:
        return None
    if severity not in WEIGHTS:
        raise DataError(f"{where}: severity {severity[:40]!r} is not known; known: {', '.join([*WEIGHTS, TEST])}")
    if category.startswith("non-translation") and WEIGHTS[severity]:
        return UNTRANSLATED
    return PUNCTUATION if severity == "minor" and category == "fluency/punctuation" else WEIGHTS[severity]


def _plain(text: Any) -> str | None:
    return MARK.sub("", text) if isinstance(text, str) else None
