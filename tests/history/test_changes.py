"""Fresh rows compared with a schedule's first nights: a change raises an alarm, and the alarm ends."""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from goldmeter.errors import LedgerError
from goldmeter.estimates.columns import Candidate
from goldmeter.history import changes, decision, store
from goldmeter.history.changes import FreshRows
from tests.history.made_nights import candidate, facts, line

NOTHING = np.zeros(0, np.uint64)


def rows(rate: float, n: int = 400) -> list[float]:
    return [float(number < rate * n) for number in range(n)]


class Schedule:
    """A schedule whose nights have fresh rows."""

    def __init__(self, measure: str = "f1") -> None:
        self.measure, self.past, self.seen, self.nights = measure, store.table([]), NOTHING, 0

    def night(self, *candidates: Candidate, asked: Sequence[int] | None = None) -> FreshRows:
        """asked: what each row was asked; new rows if not given."""
        self.nights += 1
        named = {one.name: one for one in candidates}
        contents = np.arange(len(candidates[0].keys)) + 10_000 * self.nights if asked is None else np.asarray(asked)
        of = dict.fromkeys(named, contents.astype(np.uint64))
        found = changes.update(
            named, of, self.measure, self.past, "nightly", self.seen, 0.05, facts(self.nights).started
        )
        self.seen = np.union1d(self.seen, found.contents)
        lines = decision.with_fresh([line(self.nights, candidate=name) for name in named], found)
        self.past = store.table([*self.past.to_pylist(), *lines])
        return found

    def same(self, rate: float, nights: int) -> list[FreshRows]:
        return [self.night(candidate(rows(rate))) for _ in range(nights)]


def test_a_night_whose_judge_stopped_early_is_not_compared_as_a_fixed_number_of_rows() -> None:
    schedule = Schedule()
    schedule.same(0.8, 10)

    found = [schedule.night(candidate(rows(0.6), stopped=True)) for _ in range(3)]

    assert all(not one.alarms and not one.entries and not len(one.contents) for one in found)
    assert schedule.same(0.6, 2)[0].alarms


def test_a_fall_is_told_without_a_floor_and_since_when() -> None:
    schedule = Schedule()
    assert not any(found.alarms for found in schedule.same(0.8, 10))

    [first, second] = schedule.same(0.6, 2)

    assert first.alarms == {
        ("aurora", "f1"): [
            "aurora f1: fell to 60.0 % of 400 fresh rows tonight, from 80.0 % in the first 10 nights (alarm of tonight)"
        ]
    }
    assert second.alarms["aurora", "f1"][0].endswith("(alarm stands since 2026-11-11 02:00 UTC)")


def test_a_rise_is_told_too_and_a_measure_for_which_less_is_better_is_not_turned() -> None:
    schedule = Schedule()
    schedule.same(0.6, 10)

    [found] = schedule.same(0.8, 1)

    assert found.alarms["aurora", "f1"][0].startswith("aurora f1: rose to 80.0 %")


def test_an_alarm_stands_without_fresh_rows_and_is_over_after_a_week_like_the_first() -> None:
    schedule = Schedule()
    schedule.same(0.8, 10)
    schedule.same(0.6, 1)

    waiting = schedule.night(candidate(rows(0.6)), asked=[110_000 + number for number in range(400)])
    weeks = schedule.same(0.8, 14)

    assert waiting.entries == {}
    assert "in the last night, from" in waiting.alarms["aurora", "f1"][0]
    assert weeks[0].alarms
    assert not weeks[-1].alarms


def test_a_fall_that_stays_is_never_told_as_over() -> None:
    schedule = Schedule()
    schedule.same(0.8, 10)

    fallen = schedule.same(0.7, 60)

    raised = next(number for number, found in enumerate(fallen) if found.alarms)
    assert all(found.alarms and not found.over for found in fallen[raised:])


def test_the_end_of_an_alarm_is_told_once() -> None:
    schedule = Schedule()
    schedule.same(0.8, 10)
    schedule.same(0.6, 3)

    told = [said for found in schedule.same(0.8, 30) for said in found.over]

    [said] = told
    assert said.startswith("aurora f1: back to 80.0 % of 2,800 fresh rows in 7 nights, from 80.0 % in the first ")
    assert said.endswith("(over, raised 2026-11-11 02:00 UTC)")


def test_candidates_are_told_apart_and_groups_widen_the_error() -> None:
    schedule = Schedule()
    grouped = candidate(rows(0.8), "b", groups=[number // 50 for number in range(400)])

    found = schedule.night(candidate(rows(0.8), "a"), grouped)

    errors = [found.entries[name, "f1"]["error"] for name in "ab"]
    assert errors[1] > 3 * errors[0]


@pytest.mark.parametrize("measure", ["", "unknown", "f1.value"])
def test_only_the_primary_measure_is_watched(measure: str) -> None:
    found = Schedule(measure).night(candidate(rows(0.8)))

    assert [entry["measure"] for entry in found.entries.values()] == ([measure] if measure == "f1.value" else [])


def test_scores_without_bounds_are_not_watched() -> None:
    assert Schedule("f1.value").night(candidate(rows(0.8), bounds=None)).entries == {}


def test_another_signature_begins_anew() -> None:
    schedule = Schedule()
    schedule.same(0.8, 10)

    assert schedule.night(candidate(rows(0.2), signature="f1|v:2")).alarms == {}


BROKEN: list[dict[str, Any]] = [{"error": 0.0}, {"rows": 0}, {"mean": float("nan")}, {"mean": "x"}]


@pytest.mark.parametrize("changed", BROKEN)
def test_a_damaged_entry_is_named(changed: dict[str, Any]) -> None:
    schedule = Schedule()
    schedule.same(0.8, 1)
    lines = schedule.past.to_pylist()
    schedule.past = store.table([lines[0] | {"fresh": json.dumps(json.loads(lines[0]["fresh"]) | changed)}])

    with pytest.raises(LedgerError, match="fresh rows of nightly-1 can't be read"):
        schedule.same(0.8, 1)
