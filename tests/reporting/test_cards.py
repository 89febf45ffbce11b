"""Cards of the rows to look at: their content, and how it is cut."""

import json
import re

from goldmeter.console.format import Text
from goldmeter.reporting.row_texts import DetailLines, detail_lines
from tests.reporting.made import ROWS, row, score_table, section_of, written
from tests.test_report import Page

PAGE = "reports/index.html"
ARABIC, HEBREW = "برلين عاصمة", "שלום"


def look(rows, folder, **more):
    return section_of(written(rows, folder, **more)[PAGE], "look")


def test_each_fact_is_a_line_and_those_inside_it_too():
    details = {"threshold": 0.7, "similarities": {ARABIC: 0.5, HEBREW: 1}, "matches": [True], "note": "empty"}

    assert detail_lines(json.dumps(details), 99) == DetailLines(
        [
            ["threshold", "0.7"],
            ["similarities", ARABIC, "0.5"],
            ["similarities", HEBREW, "1"],
            ["matches", "[true]"],
            ["note", "empty"],
        ],
        "",
    )
    assert detail_lines('"a text"', 99) == Text('"a text"')


def test_of_many_facts_the_first_are_shown_and_a_note_says_so():
    details = {"a": "xxxx", "similarities": {"y" * 20: 1}, "b": 2}

    assert detail_lines(json.dumps(details), 20) == DetailLines(
        [["a", "xxxx"], ["similarities", "yyy…", "…"]], "cut: the first 20 of 40 characters"
    )
    assert detail_lines(json.dumps({"z" * 10**6: 1}), 3).lines == [["zzz…", "…"]]


def test_what_hides_is_spelled_out_in_names_and_values_of_facts():
    assert detail_lines(json.dumps({"a\u202e": "b\x00"}), 9).lines == [["a⟨U+202E⟩", "b⟨U+0000⟩"]]


def test_names_and_values_of_a_fact_keep_their_places_whichever_way_they_are_written(tmp_path):
    details = [json.dumps({"similarities": {ARABIC: 0.25}}) for _ in ROWS]
    f1 = score_table(ROWS, "f1", "lexical", 0.5, [each["f1"] for each in ROWS], details)

    html = look(ROWS, tmp_path, extra={"lexical": f1})

    assert f"<div><bdi>similarities</bdi>: <bdi>{ARABIC}</bdi>: <bdi>0.25</bdi></div>" in html


def test_a_slice_value_of_which_nothing_can_be_seen_is_called_empty(tmp_path):
    rows = [each | {"topic": {"words": "  ", "names": "(empty)"}.get(each["topic"], each["topic"])} for each in ROWS]

    html = written(rows, tmp_path, section={"slice_values": 9})[PAGE]
    slices, cards = section_of(html, "slices"), section_of(html, "look")

    assert Page(html).open == []
    assert len(re.findall(r'<span class="value"><a [^>]*><em class="quiet">\(empty\)</em></a></span>', slices)) == 3
    assert slices.count('<th scope="row"><em class="quiet">(empty)</em></th>') == 3
    assert slices.count('<th scope="row"><bdi>(empty)</bdi></th>') == 3
    assert slices.count('aria-label="(empty): ') == 6
    assert "topic: <em" in cards
    assert not re.search(r"<bdi>\s*</bdi>", slices + cards)


def test_what_is_cut_ends_in_one_character(tmp_path):
    rows = [row("i" * 200, "aurora", "Paris", False, 1.0, 0.9, input="x" * 190, topic="t" * 180)]

    html = written(rows, tmp_path)[PAGE]

    assert "..." not in html.split("<main")[1].split("<script")[0]
    assert "i" * 23 + "…</bdi>" in section_of(html, "look")
