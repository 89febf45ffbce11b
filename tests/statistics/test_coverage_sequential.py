"""Scheduled runs in simulation: a fast part of the benchmark."""

import pytest

from benchmarks.coverage.sequential import EARLY, LATE, drop, looks, no_drift


def test_spending_keeps_false_alarms_of_ninety_looks_rare() -> None:
    [cell] = looks("binary", 500)

    assert cell.reached, cell
    assert cell.measured < 0.05


def test_looking_every_night_at_five_percent_raises_many_false_alarms() -> None:
    [cell] = looks("binary", 200, level=lambda _: 0.05)

    assert cell.measured > 0.25


@pytest.mark.parametrize("scores", ["binary", "continuous"])
def test_a_mean_at_the_floor_rarely_raises_an_alarm(scores: str) -> None:
    [cell] = no_drift(scores, 300)

    assert cell.measured < 0.05


@pytest.mark.parametrize("design", [EARLY, LATE], ids=["first day", "late"])
def test_a_drop_is_found(design: tuple[int, dict[int, float]]) -> None:
    for cell in drop(*design, 300):
        assert cell.reached, cell
