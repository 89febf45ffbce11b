"""FloorTests on fresh rows: each row once, states that travel, alarms that stay, floors that can't be."""

import json
from collections.abc import Mapping, Sequence
from math import nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.errors import LedgerError, ParamsError
from goldmeter.estimates.columns import Candidate
from goldmeter.history import decision, floors, store
from goldmeter.history.floors import EProcessEntry, FloorTests
from goldmeter.statistics import drift_detector
from tests.history.made_nights import candidate, facts, line

NOTHING = np.zeros(0, np.uint64)


class Watch:
    """A schedule that holds candidates against floors, night by night."""

    def __init__(self, **floors: float) -> None:
        self.floors: Mapping[str, float] = floors or {"f1": 0.8}
        self.past, self.seen, self.nights = store.table([]), NOTHING, 0

    def night(self, *candidates: Candidate, asked: Sequence[int] | None = None) -> FloorTests:
        """asked: what each row was asked; new rows if not given."""
        self.nights += 1
        rows_ = len(candidates[0].keys)
        contents = np.arange(rows_) + 10_000 * self.nights if asked is None else np.asarray(asked)
        named = {each.name: each for each in candidates}
        streams = floors.streams(named, dict.fromkeys(named, contents.astype(np.uint64)), self.floors, "nightly")
        bets = floors.update(streams, self.past, "nightly", self.seen, 0.05, facts(self.nights).started)
        self.seen = np.union1d(self.seen, bets.contents)
        lines = decision.with_floors([line(self.nights, candidate=name) for name in named], bets)
        self.past = store.table([*self.past.to_pylist(), *lines])
        return bets

    def entry(self, name: str = "aurora", measure: str = "f1") -> EProcessEntry:
        """The newest entry of a candidate's measure."""
        lines = [each for each in self.past.to_pylist() if each["candidate"] == name]
        return dict(json.loads(lines[-1]["floors"])[measure])


GOOD, BAD = [1.0] * 18 + [0.0] * 2, [1.0] * 10 + [0.0] * 10


def test_states_go_through_json_and_say_what_the_detector_says_in_one_go() -> None:
    watch, state = Watch(), None

    for values in (GOOD, BAD, GOOD):
        watch.night(candidate(values))
        state = drift_detector(state, values, 0.8)

    assert state is not None
    assert watch.entry()["state"] == json.loads(json.dumps([*state]))
    assert {name: watch.entry()[name] for name in ("nights", "seen", "rows")} == {"nights": 3, "seen": 60, "rows": 20}
    assert watch.entry()["mean"] == 0.9


def test_candidates_whose_long_names_differ_in_the_middle_have_different_alarms() -> None:
    names = [f"{'prompt ' * 20}v{number}{' of the last quarter' * 20}" for number in (13, 14)]

    tests = Watch().night(*(candidate([0.0] * 40, name) for name in names))

    assert len({sentence for [sentence] in tests.alarms.values()}) == 2


def test_a_content_that_stands_twice_on_one_night_is_bet_once() -> None:
    watch = Watch()

    watch.night(candidate([nan, 0.0, 0.0, 1.0]), asked=[7, 7, 7, 8])

    assert (watch.entry()["rows"], watch.entry()["mean"]) == (2, 0.5)


def test_a_night_without_fresh_rows_changes_nothing() -> None:
    watch = Watch()
    watch.night(candidate(BAD), asked=range(20))
    before = watch.entry()

    bets = watch.night(candidate(BAD), asked=range(20))

    assert watch.entry() == before | {"rows": 0, "mean": None}
    assert len(bets.contents) == 0


def test_unmeasured_rows_are_no_bet_and_stay_fresh() -> None:
    watch = Watch()

    bets = watch.night(candidate([nan, nan, 1.0]), asked=[1, 2, 3])
    assert bets.contents.tolist() == [3]

    watch.night(candidate([0.0, 0.0, 1.0]), asked=[1, 2, 3])
    assert watch.entry()["seen"] == 3


def test_what_one_candidate_bet_is_nobodys_fresh_row_any_more() -> None:
    watch = Watch()

    watch.night(candidate([1.0]), candidate([nan], "borealis"), asked=[1])
    watch.night(candidate([1.0, 1.0]), candidate([1.0, 1.0], "borealis"), asked=[1, 2])

    assert (watch.entry("aurora")["seen"], watch.entry("borealis")["seen"]) == (2, 1)


def test_an_alarm_says_how_low_and_then_since_when_it_stands() -> None:
    watch = Watch()

    first = watch.night(candidate([0.0] * 20))
    second = watch.night(candidate([1.0] * 20))
    third = watch.night(candidate([1.0] * 20), asked=range(20_000, 20_020))

    assert first.alarms == {
        ("aurora", "f1"): [
            "aurora f1: below its floor of 80.0 % (alarm of tonight); mean 0 % of 20 fresh rows tonight, 20 in 1 night"
        ]
    }
    [[standing]] = second.alarms.values()
    assert standing.startswith(
        "aurora f1: below its floor of 80.0 % (alarm stands since 2026-11-01 02:00 UTC); mean 100 % "
    )
    assert standing.endswith(" of 20 fresh rows tonight, 40 in 2 nights")
    assert "no fresh rows tonight, 40 in 2 nights" in third.alarms["aurora", "f1"][0]


def test_an_alarm_ends_with_another_floor_or_signature() -> None:
    watch = Watch()
    watch.night(candidate([0.0] * 20))

    assert watch.night(candidate(GOOD, signature="f1|v:2")).alarms == {}
    watch.floors = {"f1": 0.75}
    assert watch.night(candidate(GOOD)).alarms == {}
    watch.floors = {"f1": 0.8}
    assert watch.night(candidate(GOOD)).alarms != {}


def test_another_signature_begins_anew_and_the_first_one_goes_on_when_it_is_back() -> None:
    watch = Watch()

    watch.night(candidate(GOOD))
    watch.night(candidate(GOOD, signature="f1|v:2"))
    assert watch.entry()["seen"] == 20
    watch.night(candidate(GOOD))
    assert watch.entry()["seen"] == 40


def test_candidates_come_and_go_each_with_its_own_state() -> None:
    watch = Watch()

    watch.night(candidate(GOOD), candidate(BAD, "borealis"))
    watch.night(candidate(GOOD))
    watch.night(candidate(GOOD), candidate(BAD, "borealis"), candidate(GOOD, "new"))

    assert [watch.entry(name)["seen"] for name in ("aurora", "borealis", "new")] == [60, 40, 20]


def test_every_floor_of_every_candidate_gets_its_share_of_false_alarms() -> None:
    watch = Watch(f1=0.8)
    watch.night(candidate(GOOD), candidate(GOOD, "borealis"))
    assert watch.entry()["level"] == 0.025

    watch.floors = {"f1": 0.8, "f1.value": 0.5}
    watch.night(candidate(GOOD), candidate(GOOD, "borealis"))
    assert watch.entry("aurora", "f1.value")["level"] == 0.0125


def test_an_alarm_stays_although_more_floors_leave_each_less() -> None:
    watch = Watch(f1=0.8)
    state = watch.night(candidate([0.0] * 6)).entries["aurora", "f1"]["f1"]["state"]
    assert 0.0125 < np.exp(-state[-1]) < 0.05

    watch.floors = {"f1": 0.8, "f1.value": 0.5}
    assert watch.night(candidate([1.0] * 6), candidate([1.0] * 6, "borealis")).alarms != {}


def test_other_schedules_and_runs_by_hand_are_not_ours() -> None:
    watch = Watch()
    watch.night(candidate([0.0] * 20))
    others = [each | {"schedule": name} for each in watch.past.to_pylist() for name in ("", "weekly")]
    watch.past = store.table(others)

    assert watch.night(candidate(GOOD)).alarms == {}


def test_the_rows_of_a_group_are_one_bet() -> None:
    watch = Watch()

    watch.night(candidate([0.0] * 20, groups=[0] * 20))

    assert watch.entry()["state"][:3] == [0.8, 1, 1]
    assert watch.entry()["rows"] == 20
    assert watch.entry()["since"] is None


def test_a_measure_of_which_less_is_better_has_a_limit() -> None:
    watch = Watch(**{"f1.value": 200.0})
    slow = candidate([900.0] * 20, bounds=(0.0, 1000.0), higher_is_better=False)

    bets = watch.night(candidate([100.0] * 20, bounds=(0.0, 1000.0), higher_is_better=False))
    assert bets.alarms == {}
    [[told]] = watch.night(slow).alarms.values()
    assert told.startswith("aurora f1.value: above its limit of 200 (alarm of tonight); mean 900 of 20 fresh rows")


@pytest.mark.parametrize(
    ("floors", "about", "message"),
    [
        ({"f2": 0.8}, {}, r"^schedule\.nightly\.floors\.f2: no such measure; there is f1, f1\.value$"),
        ({"f1": 1.0}, {}, r"^schedule\.nightly\.floors\.f1: 1: expected a number between 0 and 1"),
        ({"f1": 0.0}, {}, r"^schedule\.nightly\.floors\.f1: 0: expected"),
        ({"f1": 85.0}, {}, r"^schedule\.nightly\.floors\.f1: 85: expected"),
        ({"f1.value": 6.0}, {"bounds": (1.0, 5.0)}, r"floors\.f1\.value: 6: expected a number between 1 and 5"),
        ({"f1.value": 0.5}, {"bounds": None}, r"floors\.f1\.value: f1 has no bounds"),
    ],
)
def test_a_floor_that_cannot_be_is_named(floors: dict[str, float], about: dict[str, object], message: str) -> None:
    with pytest.raises(ParamsError, match=message):
        Watch(**floors).night(candidate(GOOD, **about))


@pytest.mark.parametrize("broken", ["", "{", "[]", '{"f1": 3}', '{"f1": {"floor": 0.8}}'])
def test_floors_of_the_past_that_cannot_be_read_are_named(broken: str) -> None:
    watch = Watch()
    watch.past = store.table([line(1, floors=broken)])

    with pytest.raises(LedgerError, match=r"^the history's floors of nightly-1 can't be read"):
        watch.night(candidate(GOOD))


@pytest.mark.parametrize(
    "changed",
    [
        *({"state": state} for state in ([], [0.7, 1, 1, [], 0, 0], [0.8, 1, 1, [0.0], 0, 0], None)),
        {"since": "long ago"},
        {"since": 3},
        {"seen": None},
    ],
)
def test_a_state_that_cannot_go_on_is_named(changed: dict[str, object]) -> None:
    watch = Watch()
    watch.night(candidate(GOOD))
    entry = {"f1": watch.entry() | changed}
    watch.past = store.table([line(1, floors=json.dumps(entry))])

    with pytest.raises(LedgerError, match="can't be read"):
        watch.night(candidate(GOOD))


def test_no_floors_are_no_bets() -> None:
    assert floors.update([], store.table([]), "nightly", NOTHING, 0.05, facts().started).alarms == {}


NIGHT = st.lists(st.tuples(st.integers(0, 30), st.sampled_from([0.0, 1.0, nan])), min_size=1, max_size=8)


@given(st.lists(NIGHT, min_size=1, max_size=6))
def test_whatever_nights_bring_each_measured_content_is_bet_once(nights: list[list[tuple[int, float]]]) -> None:
    watch, measured = Watch(), set[int]()

    for drawn in nights:
        watch.night(candidate([value for _, value in drawn]), asked=[content for content, _ in drawn])
        measured |= {content for content, value in drawn if not np.isnan(value)}

    assert watch.entry()["seen"] == len(measured)
    assert watch.seen.tolist() == sorted(measured)


@given(st.permutations(range(12)))
def test_the_order_of_rows_does_not_matter(order: list[int]) -> None:
    values = np.array([0.0, 1.0] * 6)
    straight, shuffled = Watch(), Watch()

    straight.night(candidate(values.tolist()), asked=range(12))
    shuffled.night(candidate(values[order].tolist()), asked=order)

    *counted, wealth, evidence, peak = straight.entry()["state"]
    *counted_too, wealth_too, evidence_too, peak_too = shuffled.entry()["state"]
    assert counted == counted_too
    assert [*wealth, evidence, peak] == pytest.approx([*wealth_too, evidence_too, peak_too])


def test_an_alarm_is_over_when_the_rows_since_show_that_the_mean_is_back() -> None:
    watch = Watch()
    watch.night(candidate([0.0] * 40))
    assert watch.entry()["since"] is not None

    nights = [watch.night(candidate([1.0] * 40)) for _ in range(4)]

    assert [said for night in nights for said in night.over] == [
        "aurora f1: back at its floor of 80.0 % (over, raised 2026-11-01 02:00 UTC)"
    ]
    assert not nights[-1].alarms
    assert watch.entry()["since"] is watch.entry()["recovery"] is None
    again = watch.night(candidate([0.0] * 40))
    assert again.alarms


def test_a_mean_at_its_floor_does_not_end_an_alarm() -> None:
    watch = Watch()
    watch.night(candidate([0.0] * 40))

    for _ in range(20):
        tests = watch.night(candidate([1.0] * 16 + [0.0] * 4))

    assert tests.alarms
