"""The section on repeated answers: the conclusion first, every number one of metrics.json, and none without draws."""

import json
import re
from pathlib import Path

import pytest

from goldmeter.reporting.summary import of_last_run
from goldmeter.wording.repeated_answers import repeated_answers
from tests.reporting.made import ROWS, inputs, row, section_of, written
from tests.test_report import words_of

PAGE = "reports/index.html"


def drawn(results, candidate="aurora", **others):
    """One question per text, one answer per sign: + is labelled right, . wrong."""
    return [
        row(f"q{number}#{draw}", candidate, "Paris", sign == "+", float(sign == "+"), 0.9, **others)
        | {"question": f"q{number}", "draw": draw}
        for number, text in enumerate(results)
        for draw, sign in enumerate(text, 1)
    ]


HALF = [*drawn(["+++++", "+....", ".....", "++++."] * 5), *drawn(["+++++"] * 20, "borealis")]


@pytest.fixture(scope="module")
def half(tmp_path_factory):
    """metrics.json of HALF as text."""
    _, documents = inputs(HALF, tmp_path_factory.mktemp("half"), part_rows=1000)
    return json.dumps(documents["reports/metrics.json"])


@pytest.fixture(scope="module")
def section(tmp_path_factory):
    """The section of the page of HALF."""
    return section_of(written(HALF, tmp_path_factory.mktemp("page"), part_rows=1000)[PAGE], "draws")


def test_the_conclusion_comes_first_then_the_advice(section):
    words = words_of(section)

    said = "borealis: One answer passes in 100 % ["
    assert words.index(said) < words.index("aurora: One answer passes in 50.0 %")
    assert words.index("aurora: One answer passes") < words.index("More questions help more than more draws")
    assert words.index("More questions help more") < words.index("How to read this")
    assert "by human labels" in words
    assert "20 questions with 5 answers each" in words


def test_questions_with_too_few_answers_are_counted(tmp_path):
    words = words_of(section_of(written(drawn(["+++++", "+.", "++"]), tmp_path)[PAGE], "draws"))

    assert "2 questions left out" in words
    assert "3 questions with 2 to 5 answers each" in words
    assert "pass@5pass@10pass^5pass^10" in words
    assert "too few answers" in words


def test_every_number_is_one_of_metrics_json(half, section):
    numbers = re.findall(r"-?\d+\.\d+(?:e-\d+)?", half)

    shown = re.findall(r'<data value="([^"]+)"', section)

    assert shown
    assert {float(one) for one in shown} <= {*map(float, numbers), 0.0, 1.0}


@pytest.mark.parametrize("rows", [ROWS, ROWS[:1]])
def test_without_draws_there_is_no_section(rows, tmp_path: Path):
    html = written(rows, tmp_path)[PAGE]

    assert 'id="draws"' not in html
    assert "Repeated answers" not in html


def test_the_error_of_a_judge_is_said_not_to_be_in_the_intervals(half):
    document = json.loads(half)
    for own in document["candidates"].values():
        own["meaning_match"] = own["label"] | {"signature": "meaning_match|provider:offline"}
    document["primary"]["measure"] = "meaning_match"
    document["headlines"]["aurora"]["status"] = "estimated"

    found = repeated_answers(document, ["aurora", "borealis"])

    assert found is not None
    assert found.caution == "The intervals are of the verdicts: the error of the offline judge is not in them."
    assert next(table.measure for table in found.others) != "meaning_match"


def test_names_of_candidates_are_shown_as_text(tmp_path):
    hostile = "<script>alert(1)</script>"

    html = written(drawn(["++", ".."], hostile), tmp_path)[PAGE]

    assert hostile not in section_of(html, "draws")


def test_the_summary_of_a_run_says_it_too(half, tmp_path):
    path = tmp_path / "metrics.json"
    path.write_text(half, encoding="utf-8")

    found = of_last_run(path, tmp_path / "none")

    assert found is not None
    assert [line[:36] for line in found.evidence[:3]] == [
        "borealis: One answer passes in 100 %",
        "aurora: One answer passes in 50.0 % ",
        "aurora: More questions help more tha",
    ]
