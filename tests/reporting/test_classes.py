"""The section on classes: measures, differences, confusions that lead to their answers, and what is no class."""

import json
import re
from base64 import b64decode
from gzip import decompress
from html import unescape

from tests.hostile_texts import TEXTS
from tests.reporting.made import ROWS, section_of, written
from tests.reporting.made_classes import class_rows, lexical
from tests.test_report import words_of

PAGE = "reports/index.html"


def page(folder, rows=None, options=None):
    rows = class_rows() if rows is None else rows
    return written(rows, folder, extra=lexical(rows, options))[PAGE]


def test_the_page_shows_measures_differences_and_what_is_no_class(tmp_path):
    words = unescape(words_of(section_of(page(tmp_path), "classes")))

    for said in (
        "Balanced accuracy",
        "Cohen's kappa",
        "borealis: 1 answer names no class, counted as wrong.",
        "aurora: 1 answer names two or more, counted as wrong.",
        "2 answers are not measured: the reference is no class (q09: refund).",
        "No reference is spam; averages over classes leave it out.",
        "difference on 8 answers of both",
    ):
        assert said in words


def test_a_confusion_leads_to_its_answers(tmp_path):
    html = page(tmp_path)

    addresses = {unescape(one) for one in re.findall(r'href="(#rows\?[^"]*)"', section_of(html, "classes"))}
    start = "#rows?candidate=borealis&slice.class_match%3A+expected="
    assert f"{start}billing&slice.class_match%3A+named=login" in addresses
    assert f"{start}login&slice.class_match%3A+named=%28none%29" in addresses
    packed = json.loads(decompress(b64decode(html.split('id="answers">')[1].split("<")[0])))
    expected, named = packed["classes"]
    assert (expected["name"], named["name"]) == ("class_match: expected", "class_match: named")
    assert len(expected["codes"]) == len(packed["asked"])
    place = packed["responses"].index("I can't say")
    assert named["values"][named["codes"][place]] is None
    assert expected["values"][expected["codes"][place]] == "login"


def test_without_the_metric_there_is_no_section(tmp_path):
    html = written(ROWS, tmp_path)[PAGE]

    assert 'id="classes"' not in html
    assert json.loads(decompress(b64decode(html.split('id="answers">')[1].split("<")[0])))["classes"] == []


def test_hostile_names_of_classes_are_text(tmp_path):
    names = [text[:80] for text in TEXTS if text[:80].strip()][:40]
    answers = [(f"q{i:02}", name, name, names[0]) for i, name in enumerate(names)]

    html = section_of(page(tmp_path, class_rows(answers), {}), "classes")

    assert "<script" not in html
    assert "<img" not in html
