"""Scheduled runs in simulation: a fast part of the benchmark."""

import pytest

from benchmarks.coverage.sequential import drop, looks, no_drift


def test_spending_keeps_false_alarms_of_ninety_looks_rare() -> None:
    cell = looks("binary", 500)

    assert cell.reached, cell
    assert cell.measured < 0.05


def test_looking_every_night_at_five_percent_raises_many_false_alarms() -> None:
    assert looks("binary", 200, level=lambda _: 0.05).measured > 0.25


@pytest.mark.parametrize("scores", ["binary", "continuous"])
def test_a_mean_at_the_floor_rarely_raises_an_alarm(scores: str) -> None:
    assert no_drift(scores, 300).measured < 0.05


def test_a_drop_on_the_first_day_is_found() -> None:
    for cell in drop(300, 0, {7: 0.50, 14: 0.90, 30: 0.99}):
        assert cell.reached, cell


def test_a_late_drop_is_found() -> None:
    for cell in drop(300, 30, {14: 0.55, 30: 0.99}):
        assert cell.reached, cell
