"""Where section `dataset` of params.yaml has its labels, and the section that reads them from the file of labels."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from goldmeter.dataset.settings import Dataset
from goldmeter.errors import ParamsError
from goldmeter.labelling.label_file import NAME, PROBABILITY, UNSURE
from goldmeter.pipeline.dvc_yaml import LABELS, stages


def label_path(dataset: Dataset) -> Path:
    """Return the path of the file of labels: in data/labels, or beside the data where params.yaml names it."""
    if dataset.label_file and dataset.label_file.path == NAME and (beside := Path(dataset.path, NAME)).is_file():
        return beside
    return Path(LABELS, NAME)


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
    path = label_path(dataset)
    place = NAME if path.parent == Path(dataset.path) else path.as_posix()
    label_file = {"path": place, by: by, "candidate": "candidate", "response": "response", "label": mapping}
    return {
        **options,
        "candidates": _unlabelled(options["candidates"]),
        "label_file": label_file,
        "labels": labels,
    }


def _unlabelled(candidates: Mapping[str, Any]) -> dict[str, Any]:
    """Return the candidates without labels of their own, which the file of labels now has."""
    if isinstance(candidates.get("column"), str):
        return _without_label(candidates)
    return {name: _without_label(one) for name, one in candidates.items()}


def _without_label(columns: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in columns.items() if name not in {"label", "labelled"}}
