"""The study of a judge's probability beside its verdict."""

import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks.judge_probability import calibration_error, judge, measured, people

RIGHT = (np.random.default_rng(3).random(2000) < 0.7).astype(np.float64)


def test_the_simulated_judge_is_calibrated_and_its_verdicts_agree_as_often_as_asked_for() -> None:
    judged = judge(RIGHT, 0.9, np.random.default_rng(1))

    assert calibration_error(judged.p, RIGHT) < 0.03
    assert 0.88 < (judged.verdicts == RIGHT).mean() < 0.94


def test_the_calibration_error_is_the_mean_distance_in_groups() -> None:
    assert calibration_error(np.array([1.0, 1.0, 0.0, 0.0]), np.array([1.0, 0.0, 0.0, 0.0])) == 0.25
    assert calibration_error(np.array([0.25] * 4), np.array([1.0, 0.0, 0.0, 0.0])) == pytest.approx(0.0)


def test_probabilities_narrow_the_intervals() -> None:
    found = measured("s", RIGHT, 0.95, np.random.default_rng(2), draws=6)

    assert found.brier[1] < found.brier[0]
    assert found.chosen < found.random < 1.0


def test_people_judge_the_answers_that_are_there(tmp_path: Path) -> None:
    rows = [
        {"answer_a": "x", "judge_a": True, "improper": False},
        {"answer_a": "x", "judge_a": None, "improper": False},
    ]
    rows += [
        {"answer_a": None, "judge_a": True, "improper": False},
        {"answer_a": "x", "judge_a": False, "improper": True},
    ]
    (tmp_path / "NQ.json").write_text(json.dumps(rows))

    assert people(tmp_path / "NQ.json", "a").tolist() == [1.0]
