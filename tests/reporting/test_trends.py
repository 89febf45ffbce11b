"""Past runs on the page: series and trends as plain values, and their charts as inline SVG."""

import re
from itertools import pairwise
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.history.series import series
from goldmeter.reporting.drawing import SHAPES
from goldmeter.reporting.trends import SIZES, trend_chart, trend_charts
from tests.reporting.made import ROWS, section_of, written
from tests.reporting.past import DAY, FIRST, SECOND, entry, floors, nights, past
from tests.reporting.policy import scripts
from tests.test_report import Page, words_of

PAGE = "reports/index.html"
HOSTILE = ["<script>alert(1)</script>", '" onload="x', "\x00\x1b[31m\u202egnp.exe", "{{ 7 * 7 }}", "שלום"]


def page(folder, rows):
    """The report of a small run with these past runs."""
    return written(ROWS, folder, history=series(past(*rows)))[PAGE]


def section(html):
    """The part of the page that is about past runs."""
    return section_of(html, "history")


@pytest.fixture(scope="module")
def html(tmp_path_factory):
    rows = [*nights(90, dropped=83), entry(schedule="", run="try-0.2")]
    return page(tmp_path_factory.mktemp("page"), rows)


def test_without_past_runs_the_page_says_nothing_of_them(tmp_path):
    html = page(tmp_path, [])

    assert 'id="history"' not in html
    assert "Over time" not in html


def test_every_tag_is_closed_no_id_stands_twice_and_nothing_is_fetched(html):
    found = Page(html)
    ids = [attributes["id"] for _, attributes in found.tags if "id" in attributes]

    assert found.open == []
    assert sorted(set(ids)) == sorted(ids)
    assert {attributes["href"].partition("?")[0] for attributes in found.all("a")} <= {f"#{each}" for each in ids}
    assert not {"link", "img", "iframe"} & {tag for tag, _ in found.tags}
    assert len(scripts(html)) == 2
    plain = re.sub(r'xmlns(:xlink)?="http://www\.w3\.org/[^"]*"', "", html).replace("http-equiv", "")
    assert "http" not in plain
    assert "url(" not in plain


def test_ninety_nights_of_fifteen_metrics_and_two_candidates_stay_small(html):
    assert len(section(html)) < 450_000
    assert section(html).count('<div class="chart"') == 15 + 1


def test_it_says_first_since_when_what_is_wrong(html):
    words = words_of(section(html))

    assert words.index("Wrong since 2026-11-23 02:00 UTC, 7 runs.") < words.index("aurora: f1 is worse than in v1.2")
    assert "since 2026-11-23 02:00 UTC, 7 runs" in words
    assert "1 run, the last at 2026-09-01 02:00 UTC." in words


def test_every_chart_says_in_words_what_it_shows(html):
    labels = [each["aria-label"] for each in Page(html).all("div") if each.get("role") == "img"]
    (label,) = [each for each in labels if each.startswith("meaning_match over time: ")]

    assert label.startswith(
        "meaning_match over time: 90 runs from 2026-09-01 02:00 UTC to 2026-11-29 02:00 UTC; aurora: last "
    )
    assert label.endswith("measured differently from 2026-10-01 02:00 UTC on")


def test_one_run_is_one(tmp_path):
    assert "f1 over time: 1 run at 2026-09-01 02:00 UTC; aurora: last 50.0 %" in page(tmp_path, [entry()])


def test_landmarks_have_names_of_their_own_also_with_several_schedules(tmp_path):
    rows = [entry(schedule=name, alarm="f1 fell") for name in ("nightly", "weekly", "")]
    several, one = page(tmp_path / "a", rows), page(tmp_path / "b", rows[:1])

    names = [each["aria-label"] for each in Page(section(several)).all("div") if each.get("role") == "region"]
    assert sorted(set(names)) == sorted(names)
    assert {"Numbers of f1, nightly", "The last runs, weekly", "The last runs, Runs by hand"} <= {*names}
    assert 'aria-label="The last runs"' in one


def test_a_break_is_told_in_full_below_the_plot(html):
    assert "2026-10-01 02:00 UTC: model was 37a0, is b2c3." in words_of(section(html))


def test_the_table_has_the_same_numbers(tmp_path):
    decided = {
        "measure": "f1",
        "baseline": "v1.2",
        "difference": -0.1,
        "difference_low": -0.2,
        "difference_high": -0.05,
    }
    rows = [entry(), entry(FIRST + DAY, rate=0.61, **decided, verdict="worse", alarm="x", floors=floors("f1", 0.62))]
    html = page(tmp_path, rows)
    table = words_of(section(html).split("f1, run by run")[1].split("</table>")[0])

    newest, oldest = table.split("2026-09-02 02:00 UTC")[1].split("2026-09-01 02:00 UTC")
    assert "61.0 % 56.0 % to 66.0 %, 260 answers" in newest
    assert "−10.0 points [−20.0, −5.0] from v1.2: worse" in newest
    assert "floor 62.0 %" in newest
    assert "▼ alarm" in newest
    assert "50.0 % 45.0 % to 55.0 %, 260 answers" in oldest
    assert "▼" not in oldest


def test_candidates_keep_their_colours_and_those_that_are_gone_get_others(tmp_path):
    rows = [entry(candidate=name) for name in ("aardvark", "borealis")]
    found = section(page(tmp_path, rows))

    assert f'style="color:var(--c1)"><path d="{SHAPES[1]}"/></svg><bdi>borealis</bdi>' in found
    assert f'style="color:var(--c2)"><path d="{SHAPES[2]}"/></svg><bdi>aardvark</bdi>' in found


def test_runs_without_a_value_or_a_candidate_are_told_apart(tmp_path):
    rows = [entry(), entry(candidate="borealis"), entry(FIRST + DAY, rate=None)]
    table = words_of(section(page(tmp_path, rows)).split("f1, run by run")[1].split("2026-09-01")[0])

    assert table.endswith("2026-09-02 02:00 UTCnot measured– ")


def test_earlier_alarms_are_folded_away(tmp_path):
    rows = [entry(FIRST + day * DAY, alarm="f1 fell" if day in {1, 2} else None) for day in range(5)]
    words = words_of(section(page(tmp_path, rows)))

    assert "No alarm now: 5 runs, the last at 2026-09-05 02:00 UTC" in words
    assert "Earlier alarms: 1 2026-09-02 02:00 UTC to 2026-09-03 02:00 UTC, 2 runs: f1 fell" in words


def test_hostile_texts_are_only_text(tmp_path):
    rows = [
        entry(FIRST + day * DAY, text, signature=f"f1|{text}:{day}|v:1", alarm=text, run=text, data=text, baseline=text)
        | {"schedule": text, "measure": "f1", "difference": 0.1, "verdict": "worse"}
        for day in range(2)
        for text in HOSTILE
    ]
    html = page(tmp_path, rows)
    found = Page(html)

    assert found.open == []
    assert not {"img", "iframe"} & {tag for tag, _ in found.tags}
    assert len(scripts(html)) == 2
    assert not [name for _, attributes in found.tags for name in attributes if name.startswith("on")]
    assert "{{ 7 * 7 }}" in html
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069]", html)


def test_the_same_runs_make_the_same_bytes_in_whatever_order_they_were_written(tmp_path):
    rows = [row for row in nights(3) if row["metric"] in {"f1", "label"}]
    newest_first = sorted(rows, key=lambda row: row["started"], reverse=True)

    assert page(tmp_path / "a", rows) == page(tmp_path / "b", newest_first)


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
@pytest.mark.parametrize("nights", [1, 2, 3, 7, 12, 30, 90, 180])
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
