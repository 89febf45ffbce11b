"""Choose answers for people to label, with the width that their labels will give, and take the labels back."""

import argparse
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from goldmeter.console.arguments import Parser
from goldmeter.console.format import counted
from goldmeter.console.json_output import add_json, print_json, texts_to_stderr
from goldmeter.console.terminal import exit_status, say
from goldmeter.dataset.corrections import Correction, read_corrections, read_list, to_line
from goldmeter.dataset.proposal.section import NAME, is_tracked, write_dataset, written
from goldmeter.dataset.settings import Dataset
from goldmeter.errors import DataError, ParamsError
from goldmeter.labelling import label_file
from goldmeter.labelling.choice import BY, By, choose, widths
from goldmeter.labelling.run_rows import RunRows, read_run
from goldmeter.labelling.sheet import read_sheet, write_sheet
from goldmeter.pipeline import params
from goldmeter.pipeline.dvc_yaml import LABELS, stages
from goldmeter.pipeline.files import replacing
from goldmeter.system import locks, processes

OUTPUT = Path("reports/label")
COMMENTS = dict.fromkeys(("label_file", "corrections"), "by python -m flows.label --take")


def main(arguments: Sequence[str]) -> int:
    """Choose or take back; returns the exit status: 0, or 2 for an error that the user can fix."""
    command_line = parser()
    chosen = command_line.parse_args(arguments)
    if (chosen.rows is None) == (not chosen.take):
        command_line.error("give --rows N to choose answers, or --take FILE to take labels back")
    if chosen.rows is not None and chosen.rows < 1:
        command_line.error(f"--rows {chosen.rows}: expected a number from 1")

    def body() -> None:
        with texts_to_stderr(is_json=chosen.json):
            result = _take(chosen.take) if chosen.take else _choose(chosen)
        if chosen.json:
            print_json(result)

    try:
        return exit_status(body)
    finally:
        processes.stop()


def parser() -> Parser:
    """The parser of the command line."""
    command_line = Parser(
        prog="python -m flows.label",
        description=__doc__,
        epilog="--take sets section dataset of params.yaml.",
        examples=[
            "python -m flows.label --rows 100",
            "python -m flows.label --take active-100-of-480-0f3a9c1d-anna.csv active-100-of-480-0f3a9c1d-ben.csv",
        ],
    )
    add = command_line.add_argument
    add("--rows", type=int, metavar="N", help="choose so many answers of the present run that have no label")
    add(
        "--by",
        choices=BY,
        default=BY[0],
        help="active: those of which the offline judge is unsure more often, which needs fewest labels; random: all "
        "alike; disagreement: where measures or candidates differ most, to find faults, not to estimate a rate; "
        "references: one answer to each question whose references the report says to look at first",
    )
    add("--output", type=Path, default=OUTPUT, metavar="DIR", help=f"where to write the sheet; default: {OUTPUT}")
    add("--take", type=Path, nargs="+", default=[], metavar="FILE", help="sheets with labels; one per rater")
    add_json(command_line)
    return command_line


def _choose(options: argparse.Namespace) -> dict[str, Any]:
    """Choose answers, say what their labels will give, and write the sheet; returns what of it JSON has."""
    by: By = options.by
    run, dataset = read_run(), _dataset()
    require_watched()
    before = label_file.design_of(run, label_file.known_entries(run, label_path(dataset), dataset.labels))
    confidence = params.for_stage("aggregate").aggregate.confidence
    choice = choose(run, before, options.rows, by, confidence)
    lines = [*widths(run, before, choice, confidence)]
    say("\n".join([*lines, ""]))
    paths = write_sheet(run, choice, options.output)
    if options.output == OUTPUT:
        Path(OUTPUT, ".gitignore").write_text("*\n", encoding="utf-8")
    for path in paths:
        say(path)
    say(f"next: label in either; then python -m flows.label --take {choice.name}.csv")
    return {"sheets": paths, "notes": lines}


def _take(files: Sequence[Path]) -> dict[str, Any]:
    """Take labels and marks of references back, and let params.yaml read them; returns what of it JSON has."""
    with locks.one_at_a_time(locks.dvc_tmp(Path.cwd()), lambda line: say(line, sys.stderr)):
        run, dataset = read_run(), _dataset()
        require_watched()
        path = label_path(dataset)
        if dataset.corrections == MARKS.as_posix():
            read_corrections(MARKS, by_id=True)
        for folder in (path.parent, MARKS.parent):
            folder.mkdir(parents=True, exist_ok=True)
        outcome = label_file.take(run, label_file.known_entries(run, path, dataset.labels), files)
        marks = take_marks(run, files, outcome)
        design = label_file.design_of(run, outcome.entries)
        options = dict(params.effective()[NAME])
        if marks:
            options["corrections"] = MARKS.as_posix()
        if has_labels := bool(outcome.added or not marks):
            if design.labels is None:
                raise DataError("\n".join(["no label says right or wrong", *outcome.lines]))
            options = with_labels(options, dataset, label_file.raters(outcome.entries), design.labels)
            label_file.write_entries(path, run, outcome.entries, design)
        kept = write_dataset(options, written(options, COMMENTS))
    labelled, notes = int(design.labelled.sum()), [*outcome.lines, *(design.notes if has_labels else ())]
    say(f"{path}: {outcome.added:,} labels added; {labelled:,} answers of the present run have one")
    if marks:
        say(f"{MARKS}: {counted(marks, 'mark')} of references added")
    for note in notes:
        say(f"note: {note}")
    say(f"{params.PATH}: section {NAME} reads them{f'; labels: {design.labels}' if has_labels else ''}")
    if kept:
        say(
            f"{params.PATH} had changes that were not committed; to get it back: git cat-file -p {kept} > {params.PATH}"
        )
    new = [*([MARKS] if marks else []), *([path] if has_labels else [])]
    say("next: " + "\n      ".join([*dict.fromkeys(map(_version, new)), "python -m flows.evaluate"]))
    return {
        "labels": path,
        "design": design.labels or dataset.labels,
        "added": outcome.added,
        "labelled": labelled,
        "marks": marks,
        "corrections": MARKS if marks else None,
        "notes": notes,
    }


def _version(path: Path) -> str:
    """Return the command that puts the file of labels under version control."""
    folders = [path, *path.parents]
    if tracked := [folder for folder in folders if folder.name and Path(f"{folder}.dvc").is_file()]:
        return f"dvc add {shlex.quote(tracked[0].as_posix())}"
    if is_tracked(path.as_posix()):
        return f"git add {shlex.quote(path.as_posix())}"
    return f"dvc add {shlex.quote(path.as_posix())}"


def _dataset() -> Dataset:
    return params.section(Dataset, params.raw(), NAME)


MARKS = Path(LABELS, "references.jsonl")


def take_marks(run: RunRows, files: Sequence[Path], outcome: label_file.Outcome) -> int:
    """Add the marks of sheets that came back to the file of corrections; returns how many are new.

    Args:
        run: The present run.
        files: The sheets.
        outcome: Notes marks of questions that are not in the run, or changed.

    Raises:
        DataError: A file is not a sheet, or the file of corrections is damaged.
    """
    known = read_list(MARKS)
    every = dict.fromkeys(known)
    for file in files:
        rows = [row for row in read_sheet(file) if row.is_marked]
        found = label_file.matched(run, rows, outcome)
        texts = run.texts([*found.values()])
        for row, number in found.items():
            asked = texts[number]
            every[
                Correction(
                    id=label_file.question_of(asked),
                    input=asked["input"],
                    references=tuple(asked["references"] or ()),
                    mark=row.reference,
                    add=(row.add,) if row.add else (),
                    rater=label_file.rater_of(row, file).removeprefix(label_file.RATER),
                )
            ] = None
    if len(every) > len(known):
        with replacing(MARKS) as temporary:
            temporary.write_text("".join(map(to_line, every)), encoding="utf-8", newline="")
    return len(every) - len(known)


def label_path(dataset: Dataset) -> Path:
    """Return the path of the file of labels: in data/labels, or beside the data where params.yaml names it."""
    if (
        dataset.label_file
        and dataset.label_file.path == label_file.NAME
        and (beside := Path(dataset.path, label_file.NAME)).is_file()
    ):
        return beside
    return Path(LABELS, label_file.NAME)


def require_watched() -> None:
    """Check that new labels make the stage load run again.

    Raises:
        ParamsError: dvc.yaml is of a version that kept labels beside the data.
    """
    if LABELS not in stages()["load"].deps:
        raise ParamsError(
            f"dvc.yaml: stage load does not watch {LABELS}, where labels are kept; run `goldmeter upgrade`, or add it "
            "to the stage's deps"
        )


def with_labels(options: Mapping[str, Any], dataset: Dataset, columns: Sequence[str], labels: str) -> dict[str, Any]:
    """Return the options of section `dataset` that read the file of labels, and no labels from elsewhere.

    Args:
        options: As they are in params.yaml.
        dataset: The same, checked.
        columns: Those of the raters.
        labels: Value of `dataset.labels`.
    """
    by = "id" if dataset.id else "input"
    probability = {"probability": label_file.PROBABILITY} if labels == "designed" else {}
    mapping = {"columns": [*columns], "unsure": [label_file.UNSURE], **probability}
    path = label_path(dataset)
    place = label_file.NAME if path.parent == Path(dataset.path) else path.as_posix()
    read = {"path": place, by: by, "candidate": "candidate", "response": "response", "label": mapping}
    candidates = _unlabelled(options["candidates"])
    return {**options, "candidates": candidates, "label_file": read, "labels": labels}


def _unlabelled(candidates: Mapping[str, Any]) -> dict[str, Any]:
    """Return the candidates without labels of their own, which the file of labels now has."""
    if isinstance(candidates.get("column"), str):
        return _without_label(candidates)
    return {name: _without_label(one) for name, one in candidates.items()}


def _without_label(columns: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in columns.items() if name not in {"label", "labelled"}}
