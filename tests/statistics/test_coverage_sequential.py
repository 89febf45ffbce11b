"""Scheduled runs in simulation: one cell of each study; `make coverage` has them all."""

from benchmarks.coverage.sequential import LATE, drop, looks, no_drift


def test_spending_keeps_false_alarms_of_ninety_looks_rare() -> None:
    [cell] = looks("binary", 500)

    assert cell.reached, cell
    assert cell.measured < 0.05


def test_looking_every_night_at_five_percent_raises_many_false_alarms() -> None:
    [cell] = looks("binary", 200, level=lambda _: 0.05)

    assert cell.measured > 0.25


def test_a_mean_at_the_floor_rarely_raises_an_alarm() -> None:
    [cell] = no_drift("binary", 300)

    assert cell.measured < 0.05


def test_a_drop_is_found() -> None:
    for cell in drop(*LATE, 300):
        assert cell.reached, cell
