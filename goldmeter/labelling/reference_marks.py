"""Marks of references and references that people added in sheets, taken back into the file of corrections."""

from collections.abc import Sequence
from pathlib import Path

from goldmeter.dataset.corrections import Correction, read_list, to_line
from goldmeter.labelling.label_file import RATER, Outcome, matched, question_of, rater_of
from goldmeter.labelling.run_rows import RunRows
from goldmeter.labelling.sheet import read_sheet
from goldmeter.pipeline.dvc_yaml import LABELS
from goldmeter.pipeline.files import replacing

PATH = Path(LABELS, "references.jsonl")


def take_marks(run: RunRows, files: Sequence[Path], outcome: Outcome) -> int:
    """Add the marks of sheets that came back to the file of corrections; returns how many are new.

    Args:
        run: The present run.
        files: The sheets.
        outcome: Notes marks of questions that are not in the run, or changed.

    Raises:
        DataError: A file is no sheet, or the file of corrections is damaged.
    """
    known = read_list(PATH)
    every = dict.fromkeys(known)
    for file in files:
        rows = [row for row in read_sheet(file) if row.is_marked]
        found = matched(run, rows, outcome)
        texts = run.texts([*found.values()])
        for row, number in found.items():
            asked = texts[number]
            every[
                Correction(
                    id=question_of(asked),
                    input=asked["input"],
                    references=tuple(asked["references"] or ()),
                    mark=row.reference,
                    add=(row.add,) if row.add else (),
                    rater=rater_of(row, file).removeprefix(RATER),
                )
            ] = None
    if len(every) > len(known):
        with replacing(PATH) as temporary:
            temporary.write_text("".join(map(to_line, every)), encoding="utf-8", newline="")
    return len(every) - len(known)
