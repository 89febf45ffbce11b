import re
from itertools import pairwise
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.monitoring.series import series
from tasks.reporting.drawing import SHAPES
from tasks.reporting.trends import SIZES, trend_chart, trend_charts
from tests.reporting.past import DAY, FIRST, SECOND, entry, floors, nights, past

SWATCHES = {"aurora": "var(--c0)", "borealis": "var(--c1)"}
TRIANGLE = "var(--bad)"
SQUARE = SHAPES[1]
WIDE_LETTER = 0.6


def first(rows):
    return series(past(*rows))[0].trends[0]


def drawn(rows, swatches=SWATCHES, size="wide"):
    """The SVG of the first trend."""
    return trend_chart(first(rows), swatches, size)


def texts(svg):
    return [each.text for each in ET.fromstring(svg).iter() if each.tag.endswith("}text")]  # noqa: S314 - our own


def marks(svg, kind):
    """What is drawn of one kind of mark: line, area, rule, symbol, text."""
    groups = [g for g in ET.fromstring(svg).iter() if g.get("class") == f"mark-{kind}"]  # noqa: S314 (a drawing of ours)
    return [child for group in groups for child in group]


def dates(svg, size):
    """From where to where each label of the time axis reaches, in pixels."""
    axis = next(g for g in ET.fromstring(svg).iter() if g.get("class") == "axis-x")  # noqa: S314 (a drawing of ours)
    found = []
    for label in axis:
        if label.tag.endswith("}text"):
            width = WIDE_LETTER * SIZES[size].font * len(label.text)
            middle = SIZES[size].left + float(label.get("x"))
            found.append((middle - width / 2, middle + width / 2))
    return sorted(found)


def test_the_svg_is_well_formed_the_same_every_time_and_has_no_ids():
    first, second = (drawn(nights(5, dropped=4)) for _ in range(2))

    assert ET.fromstring(first).tag == "{http://www.w3.org/2000/svg}svg"  # noqa: S314 - our own
    assert first == second
    assert not re.search(r'\sid="|<style|<script|href="', first)


def test_each_candidate_has_its_colour_a_band_and_its_name_and_last_value_at_the_end():
    svg = drawn(
        [
            entry(FIRST + day * DAY, name, rate=rate)
            for day in (0, 1)
            for name, rate in (("aurora", 0.5), ("borealis", 0.8))
        ]
    )

    assert [line.get("stroke") for line in marks(svg, "line")] == ["var(--c0)", "var(--c1)"]
    assert [band.get("fill") for band in marks(svg, "area")] == ["var(--c0)", "var(--c1)"]
    assert {"50.0 % aurora", "80.0 % borealis"} <= set(texts(svg))


def test_a_candidate_has_its_own_mark_whoever_else_is_there():
    alone, both = drawn([entry(candidate="borealis")]), drawn([entry(), entry(candidate="borealis")])

    assert [mark.get("d") for mark in marks(alone, "symbol")] == [SQUARE]
    other, square = (mark.get("d") for mark in marks(both, "symbol"))
    assert square == SQUARE != other


def test_a_large_trend_is_drawn_wide_and_narrow_any_other_small():
    trend = first([entry()])

    assert [*trend_charts(trend._replace(large=True), SWATCHES)] == ["wide", "narrow"]
    assert [*trend_charts(trend._replace(large=False), SWATCHES)] == ["small"]


def test_a_narrow_plot_has_the_last_values_without_names():
    svg = drawn([entry(), entry(candidate="borealis", rate=0.83)], size="narrow")

    assert {"50.0 %", "83.0 %"} <= set(texts(svg))
    assert "aurora" not in svg


def test_a_long_name_keeps_its_end():
    rows = [entry(candidate=f"model-with-a-long-name-{version}") for version in (1, 2)]
    swatches = dict.fromkeys((row["candidate"] for row in rows), "red")

    assert {"50.0 % model-…-name-1", "50.0 % model-…-name-2"} <= set(texts(drawn(rows, swatches)))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("nights", [1, 2, 3, 4, 6, 7, 10, 12, 14, 21, 30, 45, 60, 90, 180])
def test_dates_are_neither_cut_nor_on_each_other_nor_alone(size, nights):
    found = dates(drawn([entry(FIRST + day * DAY) for day in range(nights)], size=size), size)

    assert len(found) >= min(nights, 2)
    assert found[0][0] >= 0
    assert found[-1][1] <= SIZES[size].width
    assert all(later - earlier > 0 for (_, earlier), (later, _) in pairwise(found))


def test_a_changed_signature_leaves_a_gap_and_says_which_field():
    rows = [entry(FIRST + day * DAY, signature=f"f1|tok:{'13a' if day < 3 else 'char'}|v:1") for day in range(6)]
    svg = drawn(rows)

    assert len(marks(svg, "line")) == 2
    assert len(marks(svg, "area")) == 2
    assert "tok was 13a, is char" in texts(svg)
    assert [rule.get("stroke-dasharray") for rule in marks(svg, "rule")] == ["4,3"]


def test_an_alarm_is_a_triangle_large_where_it_begins():
    svg = drawn([entry(FIRST + day * DAY, alarm="worse" if day else None) for day in range(3)])

    sizes = [each.get("d") for each in marks(svg, "symbol") if each.get("fill") == TRIANGLE]
    assert len(sizes) == 2
    assert sizes[0] != sizes[1]
    assert TRIANGLE not in drawn([entry()])


def test_an_alarm_without_a_number_is_drawn_too():
    rows = [entry(), entry(FIRST + DAY, rate=None, alarm="could not be measured")]

    assert drawn(rows).count(TRIANGLE) == 1


def test_floor_and_baseline_are_lines_of_their_own():
    rows = [
        entry(FIRST + day * DAY, floors=floors("f1", 0.45), baseline="v1", measure="f1", difference=0.1)
        for day in (0, 1)
    ]

    dashes = [line.get("stroke-dasharray") for line in marks(drawn(rows), "line")]

    assert dashes == [None, "7,3", "1.5,2.5"]


def test_another_baseline_is_another_line():
    rows = [entry(FIRST + day * DAY, baseline=f"v{day // 2}", measure="f1", difference=0.1) for day in range(4)]

    assert [line.get("stroke-dasharray") for line in marks(drawn(rows), "line")] == [None, "1.5,2.5", "1.5,2.5"]


def test_a_single_run_is_a_dot_with_its_interval():
    svg = drawn([entry()])

    assert len(marks(svg, "rule")) == 1
    assert len(marks(svg, "symbol")) == 1


def test_a_long_line_has_a_dot_at_its_end_alone_and_a_short_one_at_each_run():
    long, short = ([entry(FIRST + day * DAY) for day in range(days)] for days in (60, 5))

    assert len(marks(drawn(long), "symbol")) == 1
    assert len(marks(drawn(short), "symbol")) == 5


def test_many_candidates_have_no_names_at_the_ends_of_their_lines():
    names = [f"c{number}" for number in range(9)]
    svg = drawn([entry(candidate=name) for name in names], dict.fromkeys(names, "red"))

    assert not marks(svg, "text")


def test_a_pass_rate_that_hardly_moves_is_not_blown_up():
    svg = drawn([entry(FIRST + day * DAY, rate=0.9, pass_rate_low=None, pass_rate_high=None) for day in (0, 1)])

    assert {"89.0%", "91.0%"} & set(texts(svg))


@pytest.mark.parametrize(
    ("rows", "ticks"),
    [
        ([entry(), entry(FIRST + SECOND)], {"02:00:00", "02:00:01"}),
        ([entry()], {"1 Sep 02:00"}),
        ([entry(FIRST + day * DAY) for day in range(3)], {"1 Sep 02:00", "2 Sep 02:00", "3 Sep 02:00"}),
        ([entry(FIRST + day * DAY) for day in range(90)], {"14 Sep", "9 Nov"}),
        ([entry(FIRST + 40 * day * DAY) for day in range(20)], {"Jan 2027"}),
    ],
)
def test_the_ticks_fit_the_time_that_is_shown(rows, ticks):
    found = [text for text in texts(drawn(rows)) if "%" not in text]

    assert ticks <= set(found)
    assert len(found) == len(set(found))


def test_names_that_would_lie_on_each_other_are_moved_apart():
    names = [f"c{number}" for number in range(4)]
    svg = drawn([entry(candidate=name, rate=0.5) for name in names], dict.fromkeys(names, "red"))

    places = [float(each.get("y")) for each in marks(svg, "text")]
    assert all(later - earlier >= 14.9 for earlier, later in pairwise(places))


@pytest.mark.parametrize(
    "name", ["<script>alert(1)</script>", '" onload="x', "\x00\x1b[31m\u202egnp.exe", "a" * 10_000]
)
def test_hostile_names_and_signatures_are_escaped_and_short(name):
    rows = [entry(FIRST + day * DAY, name, signature=f"f1|{name}:{day // 2}|v:1") for day in range(4)]
    svg = drawn(rows, {name: "var(--c0)"})

    ET.fromstring(svg)  # noqa: S314 - our own
    assert "<script" not in svg
    assert not [each for each in ET.fromstring(svg).iter() if "onload" in each.attrib]  # noqa: S314 - our own
    assert "\u202e" not in svg
    assert len(svg) < 20_000


def test_half_a_year_stays_small():
    rows = [row for row in nights(180, dropped=150) if row["metric"] == "label"]

    assert len(drawn(rows)) < 60_000


NUMBERS = st.floats(-1e9, 1e9) | st.sampled_from([0.0, 1.0, 1e-12])


@given(
    st.lists(
        st.tuples(st.integers(0, 10**7), NUMBERS, st.booleans(), st.booleans()),
        min_size=1,
        unique_by=lambda row: row[0],
    )
)
def test_any_numbers_at_any_times_make_a_picture(found):
    rows = [
        entry(FIRST + seconds * SECOND, metric="score_x", rate=None, value=value)
        | {"low": None if bare else value - 1, "high": None if bare else value + 1, "alarm": "x" if alarm else None}
        for seconds, value, bare, alarm in found
    ]

    svg = drawn(rows)

    ET.fromstring(svg)  # noqa: S314 - our own
    assert "NaN" not in svg
