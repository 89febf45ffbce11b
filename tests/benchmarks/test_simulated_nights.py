"""A few teams' nights through the code that decides: alarms are rare when nothing changed, and come when it did."""

from math import inf

import numpy as np
import pytest

from benchmarks import nights
from goldmeter.history.decision import BaselineLook

pytestmark = pytest.mark.exhaustive


def test_unchanged_answers_alarm_few_teams_however_often_they_are_looked_at() -> None:
    assert sum(nights.same_rows(team, 20) < inf for team in range(20)) <= 1


def test_the_same_level_each_night_would_alarm_many() -> None:
    def each_night(*_: object) -> BaselineLook:
        return BaselineLook(1, nights.ALPHA, "")

    assert sum(nights.same_rows(team, 20, each_night) < inf for team in range(20)) >= 3


def test_rows_at_the_floor_alarm_few_teams() -> None:
    assert sum(nights.fresh_rows(team, [nights.FLOOR] * 30, nights.TWO) < inf for team in range(25)) <= 1


def test_a_drop_of_five_points_is_told_within_weeks() -> None:
    days = np.array([nights.fresh_rows(team, [0.80] * 30, nights.ONE) for team in range(40)])

    assert [bool((days <= night).mean() >= share) for night, share in nights.EARLY[1].items()] == [True] * 3


def test_a_drop_after_good_weeks_is_told_too() -> None:
    days = np.array([nights.fresh_rows(team, [0.87] * 30 + [0.80] * 30, nights.ONE) for team in range(20)]) - 30

    assert [bool(((days > 0) & (days <= night)).mean() >= share) for night, share in nights.LATE[1].items()] == [
        True
    ] * 2
