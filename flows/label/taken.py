"""Labels that come back: each sheet's rows are checked against the present run and added to the file of labels."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from flows.label.label_file import RATER, Entries, Labelled, answer_of
from flows.label.run_rows import RunRows
from flows.label.sheet import SheetRow, read_sheet
from tasks.console.format import cut
from tasks.errors import DataError
from tasks.reporting.row_texts import row_name

# Rows that a message names.
NAMED = 5
_UNUSUAL = re.compile(r"\W+")
# What browsers append to the name of a file that is saved again.
_COPY = re.compile(r" ?\(\d+\)$")


@dataclass
class Outcome:
    """The labels after files were taken back, and what was not taken, by reason.

    Attributes:
        entries: All labels.
        added: Number of labels that are new.
        refused: Reason → the rows.
    """

    entries: Entries
    added: int = 0
    refused: dict[str, list[str]] = field(default_factory=dict)

    def refuse(self, reason: str, row: SheetRow) -> None:
        """Leave out a row."""
        named = f"{cut(row.id)} of {cut(row.candidate)}" if row.id else row.row
        self.refused.setdefault(reason, []).append(f"{named} ({row.file})")

    @property
    def lines(self) -> list[str]:
        """What was left out, in words."""
        return [
            f"{len(rows):,} {reason}: {'; '.join(rows[:NAMED])}{'; …' if len(rows) > NAMED else ''}"
            for reason, rows in self.refused.items()
        ]


CHANGED = "labels not taken, their answer, question or references changed since the sheet was written"
UNKNOWN = "labels not taken, no such answer is in the present run"
CONFLICT = "labels not taken, the rater had labelled the answer otherwise before; the first label is kept"


def take(run: RunRows, known: Entries, files: Sequence[Path]) -> Outcome:
    """Add the labels of sheets that came back; labels that there are stay.

    Raises:
        DataError: A file is no sheet, or none of its labels is of an answer of the run.
    """
    outcome = Outcome(dict(known))
    for file in files:
        rows = [row for row in read_sheet(file) if row.label is not None]
        matched = _matched(run, rows, outcome)
        if not matched:
            reasons = "\n".join(outcome.lines)
            raise DataError(f"{file}: no label to take{f': {reasons}' if reasons else ''}")
        texts = run.texts([*matched.values()])
        for row, number in matched.items():
            _add(outcome, row, texts[number], rater_of(row, file))
    return outcome


def rater_of(row: SheetRow, file: Path) -> str:
    """Return the column of a rater: the name that the page was given, else that of the file."""
    name = row.rater or _COPY.sub("", file.stem).replace(row.sheet, "")
    return f"{RATER}{_UNUSUAL.sub('_', name).strip('_') or 'unnamed'}"


def _matched(run: RunRows, rows: Sequence[SheetRow], outcome: Outcome) -> dict[SheetRow, int]:
    """Return the number of each row whose answer is as it was shown."""
    numbers = [run.by_name.get(row.row.removeprefix("r").partition("-")[0]) for row in rows]
    texts = run.texts([number for number in numbers if number is not None])
    matched: dict[SheetRow, int] = {}
    for row, number in zip(rows, numbers, strict=True):
        if number is None:
            outcome.refuse(UNKNOWN, row)
        elif row_name(texts[number]) != row.row:
            outcome.refuse(CHANGED, row)
        else:
            matched[row] = number
    return matched


def _add(outcome: Outcome, row: SheetRow, texts: Mapping[str, Any], rater: str) -> None:
    answer = answer_of(texts)
    given = outcome.entries.get(answer, Labelled(texts["input"], row.sheet, row.probability, row.share, {}, {}))
    if row.label is None:
        return
    if given.ratings.get(rater, row.label) != row.label:
        outcome.refuse(CONFLICT, row)
        return
    outcome.added += rater not in given.ratings
    comments = {rater: row.comment} if row.comment else {}
    outcome.entries[answer] = given._replace(
        ratings={**given.ratings, rater: row.label}, comments={**given.comments, **comments}
    )
