"""The band of a cascade from the labels of the user's records: what is printed, and when it is refused."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from goldmeter.errors import DataError, ParamsError
from goldmeter.judging import preflight
from goldmeter.pipeline import params
from tasks.__main__ import main
from tests.small_project import ROWS, edit, write

pytestmark = pytest.mark.usefixtures("project")


def project(n: int, *, labels: str = "all", **values: Callable[[int], Any]) -> None:
    """Write n questions, of which aurora answers each with the reference, and borealis none; labels are right."""
    rows = [
        {**ROWS[0], "id": f"q{i}", "question": f"What is number {i}?", "references": [f"answer {i}"], "thread": f"t{i}"}
        | {"aurora": f"answer {i}", "aurora_correct": True, "borealis": f"reply {i}", "borealis_correct": False}
        | {name: value(i) for name, value in values.items()}
        for i in range(n)
    ]
    write(Path(), rows)
    edit(lambda content: content["dataset"].update({"labels": labels}))


def test_the_band_is_printed_as_params_yaml_takes_it_with_what_shows_it(capsys: pytest.CaptureFixture[str]) -> None:
    project(40)

    assert main(["judge", "--band", "0.3"]) == 0

    said = capsys.readouterr().out
    assert said.startswith(
        "judge: with 95 % confidence at most 30 % of what the offline judge decides is wrong, on answers like the 80 "
    )
    assert "it passes 40 labelled answers, those above " in said
    assert "of which 0 are wrong: at most " in said
    low, high = map(float, said.partition("  band: [")[2].strip(" ]\n").split(","))
    assert 0.0 <= low <= 0.5 <= high < 1.0
    edit(lambda content: content["judge"].update({"provider": "cascade", "band": [low, high]}))
    assert params.for_stage("judge").judge.band == (low, high)


def test_too_few_labels_and_a_judge_that_is_wrong_are_refused() -> None:
    project(40)
    with pytest.raises(DataError, match=r"judge\.band: 80 labels do not show .* 306 independent labelled answers"):
        preflight.show_band(0.02)

    project(40, aurora_correct=lambda i: i % 2 == 0, borealis_correct=lambda i: i % 2 == 0)
    with pytest.raises(DataError, match=r"It passes none: of the \d+ labelled .* wrong on 20; it fails none: "):
        preflight.show_band(0.3)


def test_answers_of_a_group_count_together() -> None:
    project(40, thread=lambda i: f"t{i % 4}")

    with pytest.raises(DataError, match="80 labels do not show"):
        preflight.show_band(0.3)


@pytest.mark.parametrize("labels", ["designed", "other"])
def test_labels_that_are_no_random_part_teach_no_band(labels: str, monkeypatch: pytest.MonkeyPatch) -> None:
    project(40)
    of_stage = params.for_stage
    monkeypatch.setattr(params, "for_stage", lambda stage: with_labels(of_stage(stage), labels))

    with pytest.raises(ParamsError, match=f"dataset.labels: {labels}: a band is learnt from labels of all rows"):
        preflight.show_band(0.3)


def with_labels(sections: Any, labels: str) -> Any:
    if not hasattr(sections, "dataset"):
        return sections
    return sections.model_copy(update={"dataset": sections.dataset.model_copy(update={"labels": labels})})


def test_some_labels_teach_a_band_only_if_they_were_chosen_at_random() -> None:
    project(60, aurora_correct=lambda i: True if i % 2 else None)
    with pytest.raises(ParamsError, match=r"dataset\.labels: all, but 30 of 120 answers .* have no label"):
        preflight.show_band(0.3)

    edit(lambda content: content["dataset"].update({"labels": "random"}))
    preflight.show_band(0.3)


@pytest.mark.parametrize("share", ["0", "0.5", "nan", "-1"])
def test_no_share_is_refused(share: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["judge", f"--band={share}"]) == 2
    assert "expected a share above 0 and below 0.5" in capsys.readouterr().err
