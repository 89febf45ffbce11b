"""Where section `dataset` of params.yaml has its labels, and the section that reads them from the file of labels."""

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from goldmeter.dataset.proposal.dataset_section import tables_in
from goldmeter.dataset.settings import Dataset
from goldmeter.dataset.sources import records
from goldmeter.errors import ParamsError
from goldmeter.labelling.label_file import NAME, PROBABILITY, UNSURE


def label_path(dataset: Dataset) -> Path:
    """Return the path of the file of labels: in the folder of the data, which DVC watches."""
    path = Path(dataset.path)
    return (path if path.is_dir() else path.parent) / NAME


def require_own_folder(dataset: Dataset) -> None:
    """Check that the file of labels can stand beside the data.

    Raises:
        ParamsError: The folder also holds tables of the pipeline, or the pattern of the data would match the labels.
    """
    path = Path(dataset.path)
    if not path.is_dir() and tables_in(path.parent.as_posix()):
        folder = path.parent / path.stem
        raise ParamsError(
            f"dataset.path: labels are kept beside the data, and {path.parent.as_posix()} also holds tables of the "
            f"pipeline; give the data a folder of their own:\n  mkdir {shlex.quote(folder.as_posix())} && "
            f"{_move(path)} {shlex.quote(path.as_posix())} {shlex.quote(folder.as_posix())}/\n"
            f"and set dataset.path: {(folder / path.name).as_posix()}, then `dvc repro`"
        )
    if path.is_dir() and _pattern(dataset) is None:
        raise ParamsError(
            f"dataset.pattern: {dataset.pattern!r} matches {label_path(dataset).as_posix()} too, in which labels are "
            "kept; choose a pattern that matches the files of the data only"
        )


def with_labels(options: Mapping[str, Any], dataset: Dataset, raters: Sequence[str], labels: str) -> dict[str, Any]:
    """Return the options of section `dataset` that read the file of labels, and no labels from elsewhere.

    Args:
        options: As they are in params.yaml.
        dataset: The same, checked.
        raters: Columns of the raters.
        labels: Value of `dataset.labels`.
    """
    by = "id" if dataset.id else "input"
    probability = {"probability": PROBABILITY} if labels == "designed" else {}
    mapping = {"columns": [*raters], "unsure": [UNSURE], **probability}
    label_file = {"path": NAME, by: by, "candidate": "candidate", "response": "response", "label": mapping}
    return {
        **options,
        "path": label_path(dataset).parent.as_posix(),
        "pattern": _pattern(dataset),
        "candidates": _unlabelled(options["candidates"]),
        "label_file": label_file,
        "labels": labels,
    }


def _pattern(dataset: Dataset) -> str | list[str] | None:
    """Return the pattern that matches the files of the data and not that of labels; None without one."""
    path = Path(dataset.path)
    if not path.is_dir():
        return path.name
    if isinstance(dataset.pattern, tuple):
        return [*dataset.pattern]
    if dataset.pattern and not path.joinpath(NAME).match(dataset.pattern):
        return dataset.pattern
    files = [file for file in records(path, dataset.pattern, dataset.format).files if file.name != NAME]
    suffixes = {file.suffix for file in files if file.parent == path}
    if len(files) == 1 and files[0].parent == path:
        return files[0].name
    return f"*{suffixes.pop()}" if len(suffixes) == 1 and suffixes != {Path(NAME).suffix} else None


def _unlabelled(candidates: Mapping[str, Any]) -> dict[str, Any]:
    """Return the candidates without labels of their own, which the file of labels now has."""
    if isinstance(candidates.get("column"), str):
        return _without_label(candidates)
    return {name: _without_label(one) for name, one in candidates.items()}


def _without_label(columns: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in columns.items() if name not in {"label", "labelled"}}


def _move(path: Path) -> str:
    return "dvc move" if Path(f"{path}.dvc").is_file() else "mv"
