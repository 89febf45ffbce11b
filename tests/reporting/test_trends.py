import re

import pytest

from tasks.monitoring.series import series
from tasks.reporting.drawing import SHAPES
from tests.reporting.made import ROWS, section_of, written
from tests.reporting.past import DAY, FIRST, entry, floors, nights, past
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
    html = written(ROWS, tmp_path)[PAGE]

    assert 'id="history"' not in html
    assert "Over time" not in html


def test_no_runs_are_as_no_history(tmp_path):
    assert page(tmp_path / "a", []) == written(ROWS, tmp_path / "b")[PAGE]


def test_every_tag_is_closed_no_id_stands_twice_and_every_link_leads_somewhere(html):
    found = Page(html)
    ids = [attributes["id"] for _, attributes in found.tags if "id" in attributes]

    assert found.open == []
    assert sorted(set(ids)) == sorted(ids)
    assert {attributes["href"].partition("?")[0] for attributes in found.all("a")} <= {f"#{each}" for each in ids}
    assert '<a href="#history">Over time</a>' in html


def test_nothing_is_fetched_and_nothing_runs(html):
    plain = re.sub(r'xmlns(:xlink)?="http://www\.w3\.org/[^"]*"', "", html)

    assert not {"link", "img", "iframe"} & {tag for tag, _ in Page(html).tags}
    assert len(scripts(html)) == 2
    assert "http" not in plain.replace("http-equiv", "")
    assert "url(" not in plain


def test_ninety_nights_of_fifteen_metrics_and_two_candidates_stay_small(html, tmp_path):
    assert len(html) - len(written(ROWS, tmp_path)[PAGE]) < 450_000
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
