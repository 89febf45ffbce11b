"""Corrections of references that people marked: `dataset.corrections`, which stage load applies to the data set."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError

from goldmeter.dataset.texts import same_input
from goldmeter.errors import DataError
from goldmeter.pipeline.settings import Section

# What people call the references of a question.
Mark = Literal["wrong", "incomplete", "ambiguous"]


class Correction(Section):
    """What one rater says of the references of a question.

    id: of the question. input: its text, by which it is found where the data have no ids. references: those that the
    rater saw; the correction applies to them only. mark: none for references that are merely added to.
    """

    id: str
    input: str | None
    references: tuple[str, ...]
    mark: Mark | None
    add: tuple[str, ...]
    rater: str


# Id of a question, or its text where the data have no ids → its corrections, in their order.
Corrections = Mapping[str, Sequence[Correction]]


def corrected(
    references: Sequence[str], corrections: Sequence[Correction]
) -> tuple[list[str] | None, list[Correction]]:
    """Return the references after all corrections, and the corrections that are of other references.

    None: no reference is right, and the question is left out.

    What one rater says is enough: references that any calls wrong are replaced by those that raters added to them.
    """
    now, left = [*references], [*corrections]
    while same := [one for one in left if {*one.references} == {*now}]:
        left = [one for one in left if one not in same]
        marks, added = {one.mark for one in same}, dict.fromkeys(text for one in same for text in one.add)
        if not added and marks & {"wrong", "ambiguous"}:
            return None, left
        now = [*added] if "wrong" in marks else [*dict.fromkeys([*now, *added])]
    return now, left


def read_list(path: Path) -> list[Correction]:
    """Read the file of corrections; none where it is missing.

    Raises:
        DataError: A line is no correction.
    """
    found = []
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n") if path.exists() else (), 1):
        if line.strip():
            try:
                found.append(Correction.model_validate(json.loads(line)))
            except (ValueError, ValidationError) as error:
                raise DataError(
                    f"{path}, line {number}: not written by flows.label ({error}); restore it by git or DVC"
                ) from None
    return found


def read_corrections(path: Path, *, by_id: bool) -> Corrections:
    """Read the file of corrections, by id or by text of the question.

    Raises:
        DataError: It is missing, or a line is no correction.
    """
    if not path.exists():
        raise DataError(f"dataset.corrections: {path} is missing; restore it by git or DVC, or set corrections to none")
    found: dict[str, list[Correction]] = {}
    for one in read_list(path):
        found.setdefault(one.id if by_id else same_input(one.input or ""), []).append(one)
    return found


def to_line(correction: Correction) -> str:
    """Return a correction as a line of the file."""
    values: dict[str, Any] = correction.model_dump(mode="json")
    return json.dumps(values, ensure_ascii=False) + "\n"
