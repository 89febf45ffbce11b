"""The file of human labels that dataset.label_file reads: one record per labelled answer, one column per rater."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from flows.label.choice import read_name
from flows.label.run_rows import Mask, RunRows
from flows.label.weights import Design, Drawn, base_design, combined
from tasks.errors import DataError
from tasks.pipeline.files import replacing

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
    return Answer(texts.get("question") or texts["id"], texts["candidate"], texts["response"] or "")


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
