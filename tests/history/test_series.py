from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.estimates.signature import FieldChange
from goldmeter.history.series import MOST_LARGE, MOST_RUNS, series
from tests.reporting.past import DAY, FIRST, entry, floors, nights, past


def daily(days, **changes):
    """A row for each of these days; changes: a function of the day, or one value."""
    return [
        entry(FIRST + day * DAY, **{name: each(day) if callable(each) else each for name, each in changes.items()})
        for day in days
    ]


def one(rows):
    """The only trend of the only schedule."""
    (found,) = series(past(*rows))
    (trend,) = found.trends
    return trend


def segments(trend, candidate="aurora"):
    """Each joined line of a candidate as the days it spans."""
    found = {}
    for point in trend.points:
        if point.candidate == candidate and point.value is not None:
            found.setdefault(point.segment, []).append((point.run.started - FIRST).days)
    return [*found.values()]


def test_a_series_per_schedule_those_by_hand_last_and_oldest_run_first():
    rows = [entry(FIRST + DAY, schedule="weekly"), entry(schedule="", run="try"), entry(FIRST + DAY), entry()]

    found = series(past(*rows))

    assert [each.schedule for each in found] == ["nightly", "weekly", ""]
    assert [run.started for run in found[0].runs] == [FIRST, FIRST + DAY]


def test_an_alarm_is_active_when_the_newest_run_raised_it_although_one_is_dated_years_ahead():
    rows = [entry(FIRST), entry(FIRST + 3650 * DAY), entry(FIRST + DAY, alarm="f1: worse")]

    (found,) = series(past(*rows))

    assert [alarm.active for alarm in found.alarms] == [True]
    assert found.status.startswith("Wrong since")


def test_a_metric_with_a_threshold_is_shown_by_its_pass_rate_and_another_by_its_value():
    rows = [entry(metric="f1", rate=0.6, value=0.4), entry(metric="rouge_recall", rate=None, value=0.3)]

    f1, recall = series(past(*rows))[0].trends

    assert (f1.measure, f1.share, f1.points[0].value, f1.points[0].low) == ("f1", True, 0.6, pytest.approx(0.55))
    assert (recall.measure, recall.share, recall.points[0].value) == ("rouge_recall", False, 0.3)


def test_a_value_that_was_decided_on_has_a_trend_of_its_own_with_its_floor_difference_and_alarm():
    decided = {
        "measure": "f1.value",
        "baseline": "v1",
        "difference": -0.1,
        "verdict": "worse",
        "alarm": "f1.value: worse",
    }
    rows = [entry(rate=0.6, value=0.4, floors=floors("f1.value", 0.35), **decided)]

    by_name = {trend.measure: trend for trend in series(past(*rows))[0].trends}
    (rate,), (value,) = by_name["f1"].points, by_name["f1.value"].points

    assert (rate.value, rate.difference, rate.floor, rate.alarm) == (0.6, None, None, None)
    assert (value.value, value.difference, value.floor, value.alarm) == (0.4, -0.1, 0.35, "f1.value: worse")
    assert value.baseline_value == pytest.approx(0.5)


def test_a_changed_signature_breaks_the_line_and_names_the_field():
    trend = one(daily(range(6), signature=lambda day: f"f1|tok:{'13a' if day < 4 else 'char'}|v:1"))

    (broken,) = trend.changes
    assert segments(trend) == [[0, 1, 2, 3], [4, 5]]
    assert (broken.run.started, broken.differing) == (FIRST + 4 * DAY, (FieldChange("tok", "13a", "char"),))
    assert broken.fields == "tok"


def test_a_changed_threshold_breaks_a_pass_rate_and_no_value():
    rows = daily(range(4), threshold=lambda day: 0.5 if day < 2 else 0.6, floors=floors("f1.value", 0.3))

    by_name = {trend.measure: trend for trend in series(past(*rows))[0].trends}

    assert [each.differing for each in by_name["f1"].changes] == [(FieldChange("threshold", "0.5", "0.6"),)]
    assert segments(by_name["f1"]) == [[0, 1], [2, 3]]
    assert segments(by_name["f1.value"]) == [[0, 1, 2, 3]]


def test_the_break_of_two_candidates_is_one():
    rows = [
        row
        for name in ("aurora", "borealis")
        for row in daily(range(4), candidate=name, signature=lambda day: f"f1|v:{day // 2}")
    ]

    assert [each.differing for each in one(rows).changes] == [(FieldChange("v", "0", "1"),)]


def test_no_line_crosses_an_unmeasured_run_a_run_without_the_candidate_or_a_long_pause():
    unmeasured = [*daily(range(5), rate=lambda day: None if day == 2 else 0.5), entry(candidate="b")]
    absent = [row for row in daily(range(5)) if row["started"] != FIRST + 2 * DAY] + daily([2], candidate="b")
    paused = daily([0, 1, 2, 3, 120, 121])

    assert segments(one(unmeasured)) == [[0, 1], [3, 4]]
    assert segments(one(absent)) == [[0, 1], [3, 4]]
    assert segments(one(paused)) == [[0, 1, 2, 3], [120, 121]]


def test_a_run_without_an_interval_has_a_line_of_its_own():
    rows = daily(range(5), rate=None, low=lambda day: None if day == 2 else 0.35)

    assert segments(one(rows)) == [[0, 1], [2], [3, 4]]


def test_a_line_goes_on_over_a_few_missed_nights():
    assert segments(one(daily([0, 1, 2, 6, 7]))) == [[0, 1, 2, 6, 7]]


def test_a_change_is_noticed_across_unmeasured_runs():
    rows = daily(range(5), rate=lambda day: None if day == 2 else 0.5, signature=lambda day: f"f1|v:{day // 3}")

    assert [each.run.started for each in one([*rows, entry(candidate="b")]).changes] == [FIRST + 3 * DAY]


def test_a_metric_that_was_never_measured_has_no_trend():
    rows = [entry(), entry(metric="meaning_match", rate=None, value=None, low=None, high=None)]

    assert [trend.measure for trend in series(past(*rows))[0].trends] == ["f1"]


def test_an_alarm_lasts_from_its_first_run_to_the_last_before_a_quiet_one():
    (found,) = series(past(*daily(range(7), alarm=lambda day: f"sentence {day}" if day in {1, 2, 5, 6} else None)))
    now, earlier = found.alarms

    assert (now.first.started, now.runs, now.sentence, now.active) == (FIRST + 5 * DAY, 2, "sentence 6", True)
    assert (earlier.first.started, earlier.last.started, earlier.runs) == (FIRST + DAY, FIRST + 2 * DAY, 2)
    assert not earlier.active
    assert [point.onset for point in found.trends[0].points] == [False, True, False, False, False, True, False]
    assert found.status == "Wrong since 2026-09-06 02:00 UTC, 2 runs."
    assert [found.alarms_in(run) for run in found.runs] == [0, 1, 1, 0, 0, 1, 1]


@pytest.mark.parametrize(
    ("rows", "status"),
    [
        (daily([0]), "No alarm: 1 run, the last at 2026-09-01 02:00 UTC."),
        (
            daily(range(3), alarm=lambda day: "x" if day == 1 else None),
            "No alarm now: 3 runs, the last at 2026-09-03 02:00 UTC; the last alarm was at 2026-09-02 02:00 UTC.",
        ),
        (daily(range(2), schedule=""), "2 runs, the last at 2026-09-02 02:00 UTC."),
    ],
)
def test_the_status_says_whether_something_is_wrong(rows, status):
    assert series(past(*rows))[0].status == status


def test_the_leading_measure_is_the_nearest_to_people_and_few_are_large():
    found = series(past(*nights(3, dropped=2)))[0]

    assert [trend.measure for trend in found.trends if trend.large] == ["label", "f1", "meaning_match"]
    assert found.trends[0].measure == "label"


def test_no_more_than_a_few_are_large_when_all_is_wrong():
    rows = [entry(metric=f"m{number}", alarm="wrong") for number in range(12)]

    found = series(past(*rows))[0]

    assert sum(trend.large for trend in found.trends) == MOST_LARGE
    assert len(found.trends) == 12


def test_a_long_history_shows_its_newest_runs_and_knows_since_when():
    (found,) = series(past(*daily(range(MOST_RUNS + 40), alarm=lambda day: "x" if day >= 10 else None)))

    assert (len(found.runs), found.older_runs) == (MOST_RUNS, 40)
    assert found.runs[0].started == FIRST + 40 * DAY
    assert found.active_alarms[0].first.started == FIRST + 10 * DAY


def test_the_description_tells_what_the_eye_sees():
    rows = daily(range(3), rate=lambda day: [0.5, 0.4, 0.45][day], alarm=lambda day: "x" if day == 1 else None)
    rows += daily([2], candidate="b\u202e", rate=None)

    assert one(rows).description == (
        "3 runs from 2026-09-01 02:00 UTC to 2026-09-03 02:00 UTC; "
        "aurora: last 45.0 %, lowest 40.0 %, highest 50.0 %, 1 with an alarm; b⟨U+202E⟩: not measured"
    )


ROWS = st.lists(
    st.builds(
        lambda hours, schedule, candidate, metric, rate, signature, threshold, alarm: entry(
            FIRST + timedelta(hours=hours),
            candidate,
            metric,
            rate,
            schedule=schedule,
            signature=f"{metric}|v:{signature}",
            alarm=alarm,
            **({} if rate is None else {"threshold": threshold}),
        ),
        st.integers(0, 40) | st.integers(0, 9000),
        st.sampled_from(["nightly", "weekly", ""]),
        st.sampled_from(["aurora", "borealis", "<b>", "\u202e\x00"]),
        st.sampled_from(["f1", "label", "score_x"]),
        st.none() | st.floats(0, 1),
        st.integers(0, 2),
        st.sampled_from([None, 0.5, 0.6]),
        st.none() | st.text(),
    ),
    min_size=1,
    max_size=60,
    unique_by=lambda row: (row["started"], row["schedule"], row["candidate"], row["metric"]),
)


@given(ROWS)
def test_whatever_happened_no_line_joins_what_does_not_compare(rows):
    kinds = {
        (row["schedule"], row["started"], row["candidate"], row["metric"]): (row["signature"], row.get("threshold"))
        for row in rows
    }

    for each in series(past(*rows)):
        assert each.runs == sorted(each.runs, key=lambda run: run.started)
        assert sum(trend.large for trend in each.trends) <= MOST_LARGE
        for trend in each.trends:
            joined = {}
            for point in trend.points:
                if point.value is not None:
                    kind = kinds[each.schedule, point.run.started, point.candidate, trend.measure]
                    joined.setdefault((point.candidate, point.segment), set()).add(kind if trend.share else kind[0])
            assert all(len(each) == 1 for each in joined.values())


@given(ROWS)
def test_every_alarm_is_told_once_and_marked_on_its_point(rows):
    found = series(past(*rows))

    assert sum(alarm.runs for each in found for alarm in each.alarms) == sum(row["alarm"] is not None for row in rows)
    marked = [point for each in found for trend in each.trends for point in trend.points if point.alarm is not None]
    assert len(marked) == sum(row["alarm"] is not None for row in rows)
    assert sum(point.onset for point in marked) == sum(len(each.alarms) for each in found)
