"""The file of human labels that dataset.label_file reads, and the sheets that are added to it."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from goldmeter.console.format import cut
from goldmeter.errors import DataError
from goldmeter.labelling.choice import Design, Drawn, base_design, combined, read_name
from goldmeter.labelling.run_rows import Mask, RunRows
from goldmeter.labelling.sheet import SheetRow, read_sheet
from goldmeter.pipeline.files import replacing
from goldmeter.reporting.row_texts import row_name

NAME = "labels.jsonl"
RATER = "rater_"
UNSURE = "unsure"
PROBABILITY = "label_probability"
# The rater of the labels that came by no sheet, and what their `sheet` begins with, before their dataset.labels.
EARLIER = f"{RATER}earlier"
_NO_SHEET = "earlier-"


class Answer(NamedTuple):
    """An answer that was labelled."""

    id: str
    candidate: str
    response: str


class Labelled(NamedTuple):
    """The labels of one answer.

    Attributes:
        input: The question.
        sheet: Name of the sheet that it was chosen for.
        inclusion: Its inclusion probability in that sheet; None for labels that are no sample.
        share: Of the earlier labels' estimate, as the sheet has it.
        ratings: Rater → True, False or "unsure".
        comments: Rater → comment.
    """

    input: str | None
    sheet: str
    inclusion: float | None
    share: float
    ratings: Mapping[str, bool | str]
    comments: Mapping[str, str]

    @property
    def decides(self) -> bool:
        """Whether any rater called the answer right or wrong."""
        return any(isinstance(rating, bool) for rating in self.ratings.values())


Entries = dict[Answer, Labelled]


def known_entries(run: RunRows, path: Path, labels: str) -> Entries:
    """Return the labels of the file, and of the run where the file has none; labels: as dataset.labels.

    Raises:
        DataError: The file can't be read.
    """
    entries = read_entries(path) if path.exists() else {}
    rows = np.flatnonzero(~np.isnan(run.labels) & run.answered).tolist()
    for row, texts in run.texts(rows).items():
        given = Labelled(texts["input"], f"{_NO_SHEET}{labels}", None, 0.0, {EARLIER: bool(run.labels[row])}, {})
        entries.setdefault(answer_of(texts), given)
    return entries


def answer_of(texts: Mapping[str, Any]) -> Answer:
    """Return the key of an answer in the file of labels: repeated answers to a question share its id."""
    return Answer(question_of(texts), texts["candidate"], texts["response"] or "")


def question_of(texts: Mapping[str, Any]) -> str:
    """Return the id of a question, which its repeated answers share."""
    return str(texts.get("question") or texts["id"])


def design_of(run: RunRows, entries: Entries) -> Design:
    """Return how the labelled rows of the present run were chosen, and the probability by which each label counts."""
    rows = present_rows(run, entries)
    by_sheet: dict[str, list[Answer]] = {}
    for answer, given in entries.items():
        if answer in rows and given.decides:
            by_sheet.setdefault(given.sheet, []).append(answer)
    earlier = [name for name in by_sheet if name.startswith(_NO_SHEET)]
    base: Mask = np.zeros(len(run.ids), np.bool_)
    for name in earlier:
        base[[rows[answer] for answer in by_sheet[name]]] = True
    random = earlier == [f"{_NO_SHEET}random"]
    design = base_design(base, run.answered, "random" if random else "other")
    for name in [one for one in by_sheet if one not in earlier]:
        by, size, frame = read_name(name)
        answers = by_sheet[name]
        chosen = np.array([rows[answer] for answer in answers], np.intp)
        inclusion = np.array([entries[answer].inclusion or np.nan for answer in answers])
        drawn = Drawn(by, size, frame, chosen, inclusion, entries[answers[0]].share)
        design = combined(design, drawn, run.answered)
    return design


def present_rows(run: RunRows, entries: Iterable[Answer]) -> dict[Answer, int]:
    """Return the row of each labelled answer that is in the run; labels of changed answers have none."""
    wanted = {(answer.id, answer.candidate) for answer in entries}
    asked = run.questions
    rows = [row for row, key in enumerate(zip(asked, run.candidates, strict=True)) if key in wanted]
    return {answer_of(texts): row for row, texts in run.texts(rows).items()}


def read_entries(path: Path) -> Entries:
    """Read a file that `write_entries` wrote.

    Raises:
        DataError: It is another file, or damaged.
    """
    entries: Entries = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        if not line:
            continue
        try:
            record = json.loads(line)
            ratings = {name: value for name, value in record.items() if name.startswith(RATER) and value is not None}
            answer = Answer(record["id"], record["candidate"], record["response"])
            entries[answer] = Labelled(
                record["input"],
                record["sheet"],
                record["inclusion_probability"],
                record["earlier_share"],
                ratings,
                record["comments"],
            )
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise DataError(
                f"{path}, line {number}: not written by flows.label ({type(error).__name__}: {error}); move it away, "
                "or restore it by git or DVC"
            ) from None
    return entries


def write_entries(path: Path, run: RunRows, entries: Entries, design: Design) -> None:
    """Write the labels, sheet by sheet in the order in which they came, and in each by id and candidate."""
    rows = present_rows(run, entries)
    sheets = {name: number for number, name in enumerate(dict.fromkeys(one.sheet for one in entries.values()))}
    ordered = sorted(entries, key=lambda answer: (sheets[entries[answer].sheet], answer))
    columns = raters(entries)
    with replacing(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        for answer in ordered:
            given = entries[answer]
            values = {
                **answer._asdict(),
                "input": given.input,
                **{name: given.ratings.get(name) for name in columns},
                "comments": dict(given.comments),
                "sheet": given.sheet,
                "inclusion_probability": given.inclusion,
                "earlier_share": given.share,
                PROBABILITY: _probability(given, design, rows.get(answer)),
            }
            file.write(json.dumps(values, ensure_ascii=False, allow_nan=False) + "\n")


def raters(entries: Entries) -> list[str]:
    """Return the columns of all raters, sorted."""
    return sorted({name for given in entries.values() for name in given.ratings})


def _probability(given: Labelled, design: Design, row: int | None) -> float | None:
    """Return the probability by which a label counts; where the answer changed since, it counts for nothing."""
    if not given.decides:
        return None
    return (given.inclusion or 1.0) if row is None else float(design.probabilities[row])


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
        DataError: A file is not a sheet, or none of its labels is of an answer of the run, and it marks no reference.
    """
    outcome = Outcome(dict(known))
    for file in files:
        every = read_sheet(file)
        found = matched(run, [row for row in every if row.label is not None], outcome)
        if not found and not any(row.is_marked for row in every):
            reasons = "\n".join(outcome.lines)
            raise DataError(f"{file}: no label to take{f': {reasons}' if reasons else ''}")
        texts = run.texts([*found.values()])
        for row, number in found.items():
            _add(outcome, row, texts[number], rater_of(row, file))
    return outcome


def rater_of(row: SheetRow, file: Path) -> str:
    """Return the column of a rater: the name that the page was given, else that of the file."""
    name = row.rater or _COPY.sub("", file.stem).replace(row.sheet, "")
    return f"{RATER}{_UNUSUAL.sub('_', name).strip('_') or 'unnamed'}"


def matched(run: RunRows, rows: Sequence[SheetRow], outcome: Outcome) -> dict[SheetRow, int]:
    """Return the number of each row whose answer is as it was shown."""
    numbers = [run.by_name.get(row.row.removeprefix("r").partition("-")[0]) for row in rows]
    texts = run.texts([number for number in numbers if number is not None])
    found: dict[SheetRow, int] = {}
    for row, number in zip(rows, numbers, strict=True):
        if number is None:
            outcome.refuse(UNKNOWN, row)
        elif row_name(texts[number]) != row.row:
            outcome.refuse(CHANGED, row)
        else:
            found[row] = number
    return found


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
