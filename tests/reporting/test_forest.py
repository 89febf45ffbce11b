"""Drawings of the page: to scale, told in words, and apart for whoever sees no colours."""

import re

import pyarrow as pa
import pytest

from goldmeter.pipeline.tables import describe
from goldmeter.reporting.drawing import COLOURS, SHAPES, colour, shape
from tests.reporting.made import ROWS, column, row, score_table, section_of, written
from tests.test_report import Page, words_of

PAGE = "reports/index.html"


@pytest.fixture(scope="module")
def html(tmp_path_factory):
    return written(ROWS, tmp_path_factory.mktemp("forest"))[PAGE]


@pytest.fixture(scope="module")
def crowd(tmp_path_factory):
    """One, five and nine candidates, some with hostile or endless names."""
    names = ["a", "<b onclick=x>", "\u202eb", "x" * 200, "with_many_underscores_" * 4, "東京", "f", "g", "h"]
    answers = [
        row(f"q{n}", name, "Paris", n % 3 > 0, 0.1 * n, 0.9, topic="x" * 300 if n % 2 else "<i>y")
        for n in range(6)
        for name in names
    ]
    return {
        size: written([each for each in answers if each["candidate"] in names[:size]], folder)[PAGE]
        for size, folder in ((size, tmp_path_factory.mktemp("crowd")) for size in (1, 5, 9))
    }


def labels(part):
    return re.findall(r'class="lanes"[^>]*aria-label="([^"]*)"', part)


def test_a_row_of_the_overview_says_its_numbers(html):
    overview = html.split('class="overview"')[1].split("</figure>")[0]

    (f1,) = [label for label in labels(overview) if label.startswith("f1: ")]
    assert re.sub(r"[\d.]+ % to [\d.]+ %", "…", f1) == "f1: aurora 25.0 %, …; borealis 75.0 %, …"


def test_every_gated_metric_with_scores_is_in_the_overview_and_leads_to_its_scores(html):
    overview = html.split('class="overview"')[1].split("</figure>")[0]

    assert [label.split(":")[0] for label in labels(overview)] == ["label", "f1", "semantic_similarity"]
    for target in re.findall(r'<a href="#(metric-[^"]*)"', overview):
        assert f'<tr class="metric" id="{target}">' in html


def test_without_a_pass_rate_there_is_no_overview_of_them(tmp_path):
    rows = [each | {"label": None} for each in ROWS]
    nothing = [None] * len(rows)
    scores = {}
    for family, name, key in (("lexical", "f1", "f1"), ("semantic", "semantic_similarity", "meaning")):
        table = score_table(rows, name, family, None, [each[key] for each in rows], nothing)
        facts = {fact: value for fact, value in column(name, family, None).items() if fact != "rate_signature"}
        scores[family] = describe(table, {"columns": {name: facts}})

    html = written(rows, tmp_path, extra=scores)[PAGE]

    assert 'class="overview"' not in html
    assert "Pass rates by every metric" not in html


def test_marks_stand_to_scale_in_the_order_and_shape_of_the_candidates(html):
    overview = html.split('class="overview"')[1].split("</figure>")[0]
    row_of_f1 = overview.split('aria-label="f1: ')[1].split("</div>")[0]

    assert re.findall(r'<svg x="([\d.]+%)" y="[\d.]+"><path d="([^"]*)"', row_of_f1) == [
        ("25%", SHAPES[0]),
        ("75%", SHAPES[1]),
    ]


def test_the_scores_draw_the_threshold_and_the_band_of_those_that_failed(html):
    block = section_of(html, "scores").split("<code>semantic_<wbr>similarity</code>")[1].split("</tbody>")[0]
    borealis = block.split("<bdi>borealis</bdi>")[1]

    assert '<rect class="band" x="45%" y="50%" width="25%"' in borealis
    assert '<line class="threshold" x1="70%" x2="70%"' in borealis
    assert block.count('class="band"') == 1


def test_an_axis_has_its_numbers(html):
    block = section_of(html, "scores").split("<code>f1</code>")[1].split("</tbody>")[0]

    ticks = re.findall(r'<span style="left:(\d+%)">([^<]*)</span>', block)
    assert ticks == [("0%", "0"), ("50%", "0.5"), ("100%", "1"), ("0%", "0%"), ("50%", "50%"), ("100%", "100%")]


def test_where_the_score_has_another_axis_than_the_pass_rate_each_row_has_both(tmp_path):
    grades = [1 + 4 * (each["meaning"] or 0) for each in ROWS]
    table = score_table(ROWS, "similarity", "semantic", 3, grades, [None] * len(ROWS))
    graded = describe(table, {"columns": {"similarity": column("similarity", "semantic", 3, (1.0, 5.0))}})

    scores = section_of(written(ROWS, tmp_path, extra={"semantic": graded})[PAGE], "scores")
    blocks = {words_of(each.split("</th>")[0]).split()[0]: each for each in scores.split('colspan="2">')[1:]}

    ticks = [words_of(each) for each in re.findall(r'<div class="ticks"[^>]*>(.*?)</div>', blocks["similarity"])]
    assert ticks == ["135", "0%50%100%"] * 3  # above all, and in each candidate's row
    assert blocks["f1"].count('class="ticks"') == 2


def test_a_score_that_is_no_mean_says_so(html, tmp_path):
    told = "corpus score, not the mean of the answers"
    table = score_table(ROWS, "gleu", "lexical", 0.5, [each["f1"] for each in ROWS], [None] * len(ROWS))
    stats = pa.array([[each["f1"], 1.0] for each in ROWS], pa.list_(pa.float64(), 2))
    corpus = {"gleu": column("gleu", "lexical", 0.5) | {"corpus_is_mean": False}}
    gleu = describe(table.append_column("gleu_stats", stats), {"columns": corpus})

    assert told in section_of(written(ROWS, tmp_path, extra={"lexical": gleu})[PAGE], "scores")
    assert told not in html


def test_people_who_gave_no_verdict_were_not_left_out_by_design(tmp_path):
    rows = [each if each["id"] != "q1" else each | {"label": None} for each in ROWS]

    label, *others = section_of(written(rows, tmp_path)[PAGE], "scores").split("<h3")[1:]

    assert label.count("1</data> without label") == 2
    assert "not asked" not in label
    assert "without label" not in "".join(others)


def test_cases_that_are_told_alike_are_not_told(tmp_path):
    rows = [each | {"id": f"{each['id']}-{n}"} for n in range(500) for each in ROWS]
    rows = [each | {"meaning": 0.6 if n else None} for n, each in enumerate(rows)]

    scores = words_of(section_of(written(rows, tmp_path, part_rows=5000)[PAGE], "scores"))

    assert "1 failed" in scores
    assert "1 failed:" not in scores


def test_a_slice_that_nobody_measured_says_so(tmp_path):
    rows = [each | {"label": None if each["topic"] == "words" else each["label"]} for each in ROWS]

    slices = section_of(written(rows, tmp_path)[PAGE], "slices")

    assert '<span class="quiet n">not measured</span>' in slices
    assert not [label for label in labels(slices) if label.endswith(": ")]


def test_a_confidence_is_told_as_it_was_set(html):
    assert "with the 95 % interval" in html
    assert "with 95 % confidence" in html
    assert "95.0 % interval" not in html
    assert "95.0 % confidence" not in html


def test_what_is_compared_is_told_by_its_kind(html):
    candidates = section_of(html, "candidates")

    assert '<th scope="col">Pass rate of</th>' in candidates
    assert "A name stands for its pass rate; .value, or a metric" in words_of(candidates)
    assert "on the pass rate of label" in words_of(candidates)


def test_the_first_lines_say_who_is_better(html):
    glance = section_of(html, "glance")

    assert "aurora and borealis cannot be told apart by human labels: 0.0 points [" in words_of(glance)


def test_few_rows_are_hollow_and_said(html):
    slices = section_of(html, "slices")

    assert slices.count('class="hollow"') == 3 * 2 * 2  # metrics, values, candidates
    assert all(label.count("few rows") == 2 for label in labels(slices))
    assert 'class="hollow"' not in section_of(html, "glance")


def test_few_rows_are_hollow_and_said_in_the_first_lines_too(tmp_path):
    html = written(ROWS, tmp_path, section={"small_n": 4})[PAGE]
    fewer = section_of(written(ROWS, tmp_path / "5", section={"small_n": 5})[PAGE], "glance")

    overview = section_of(html, "evidence").split("<figure")[1]
    assert 'class="hollow"' not in section_of(html, "glance")
    assert overview.count('class="hollow"') == 1  # semantic_similarity of borealis
    assert fewer.count('class="hollow"') == fewer.count('<span class="few">few</span>') == 2


def test_a_slice_column_has_a_large_panel_and_a_small_one_a_metric_the_primary_one_first(html):
    panels = re.findall(r'<figure class="(panel[^"]*)"><figcaption>(.*?) <span', section_of(html, "slices"))

    assert [(kind, words_of(name)) for kind, name in panels] == [
        ("panel large", "human label"),
        ("panel", "f1"),
        ("panel", "semantic_similarity"),
    ]


def test_metrics_agree_with_people_in_one_drawing_the_best_first(tmp_path):
    rows = [each | {"id": f"{each['id']}-{n}"} for each in ROWS for n in range(10)]

    found = labels(section_of(written(rows, tmp_path)[PAGE], "people"))

    assert [re.sub(r", [\d.]+ % to [\d.]+ %", "", label) for label in found] == [
        "semantic_similarity: aurora 75.0 %; borealis 66.7 %",
        "f1: aurora 75.0 %; borealis 75.0 %",
    ][::-1]


@pytest.mark.parametrize("size", [1, 5, 9])
def test_many_candidates_and_hostile_names_are_only_text(crowd, size):
    page = Page(crowd[size])

    assert page.open == []
    assert not [name for _, attributes in page.tags for name in attributes if name.startswith("on")]
    assert "\u202e" not in crowd[size]
    for label in labels(section_of(crowd[size], "glance"))[size:]:
        assert label.count("%; ") == size - 1


def test_three_candidates_or_more_have_a_matrix_and_two_a_sentence(crowd, html):
    assert crowd[9].count('class="against"') == crowd[5].count('class="against"') == 1
    assert 'class="against"' not in crowd[1]
    assert 'class="against"' not in html
    assert "All 36 pairs" in crowd[9]
    assert "All 10 pairs" not in crowd[5]


def first_lines(rows, folder):
    glance = section_of(written(rows, folder)[PAGE], "glance")
    folder.with_suffix(".html").write_text(glance, encoding="utf-8")
    return words_of(glance.split('class="conclusion">')[1].split("</h2>")[0]).strip()


def of_three(right, labelled, n=60):
    """Answers of a, b and c to n questions; right, labelled: candidate → whether, for the number of a question."""
    return [
        row(f"q{i:03}", name, "Paris", right[name](i) if labelled[name](i) else None, 0.9, 0.9)
        for i in range(n)
        for name in right
    ]


def test_who_leads_is_said_only_of_one_that_is_better_than_another(tmp_path):
    better = {"a": lambda i: i % 4 > 0, "b": lambda i: i % 4 == 1, "c": lambda i: i % 4 == 1}
    same = dict.fromkeys("abc", lambda i: i % 2 > 0)
    two = {"a": lambda i: i % 4 > 0, "b": lambda i: i % 4 > 0 or i == 4, "c": lambda i: i % 4 == 1}
    every = dict.fromkeys("abc", lambda _: True)

    said = first_lines(of_three(better, every), tmp_path / "1")
    assert said.startswith("a leads by human labels: +50.0 points [")
    said = first_lines(of_three(two, every), tmp_path / "3")
    assert said.startswith("b and a cannot be told apart by human labels: +1.7 points [")
    said = first_lines(of_three(same, every), tmp_path / "2")
    assert said == "a, b and c cannot be told apart by human labels."


def test_candidates_without_labels_are_named(tmp_path):
    right = {"a": lambda i: i % 4 > 0} | dict.fromkeys("bcd", lambda i: i % 4 == 1)
    some = {name: lambda _, known=name != "c": known for name in "abcd"}
    two = {name: lambda _, known=name in "ab": known for name in "abcd"}

    assert first_lines(of_three(right, some), tmp_path / "1").startswith("a leads by human labels")
    assert "Not measured: c." in words_of((tmp_path / "1.html").read_text(encoding="utf-8"))
    said = first_lines(of_three(right, two), tmp_path / "2")
    assert re.fullmatch(r"a is better than b by human labels: \+50\.0 points \[\+[\d.]+, \+[\d.]+\]\.", said)
    assert "Not measured: c, d." in words_of((tmp_path / "2.html").read_text(encoding="utf-8"))


def test_beside_a_sentence_about_a_measure_stand_the_rows_that_have_it(tmp_path):
    rows = of_three(dict.fromkeys("ab", lambda i: i % 2 > 0), dict.fromkeys("ab", lambda i: i < 20))

    section = words_of(section_of(written(rows, tmp_path)[PAGE], "candidates"))

    assert "b is the same as a on the pass rate of label 20 of 60 shared rows" in section


def test_eight_candidates_differ_by_shape_alone_and_64_by_colour_or_shape():
    assert len({shape(n) for n in range(8)}) == 8
    assert len({(colour(n), shape(n)) for n in range(COLOURS * len(SHAPES))}) == 64


def test_names_of_metrics_break_after_underscores_only(html):
    assert "<code>semantic_<wbr>similarity</code>" in html


def test_rows_to_look_at_are_folded_but_for_the_first(html):
    cards = re.findall(
        r'<article class="card" aria-labelledby="card-[^>]*>\s*<details( open)?>', section_of(html, "look")
    )

    assert cards[0] == " open"
    assert set(cards[1:]) == {""}
