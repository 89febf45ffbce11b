import json
import re
from html.parser import HTMLParser
from itertools import pairwise
from random import Random

import pyarrow as pa
import pytest
from pydantic import ValidationError

from goldmeter.pipeline.tables import about, describe
from goldmeter.reporting import summary
from goldmeter.reporting.assembly import report_files
from goldmeter.reporting.page import FOLDER, terms, unbroken
from goldmeter.reporting.settings import Report
from tests.reporting.made import (
    ROWS,
    SECTION,
    inputs,
    load_table,
    row,
    score_table,
    section_of,
    validation,
    with_score,
    written,
)
from tests.reporting.policy import policy, scripts

PAGE = "reports/index.html"
HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "</div></body><iframe src='https://evil.example'></iframe>",
    "{{ 7 * 7 }} {% for x in y %}",
    "\u202egnp.exe \u2066hidden\u2069",
    "nul \x00 bell \x07 escape \x1b[31m",
    "שלום עולם",
    "' onmouseover='alert(1)",
    '" autofocus onfocus="alert(1)',
    "<style>body{display:none}</style><svg onload=alert(1)>",
    "Z" * 10_000_000,
]


class Page(HTMLParser):
    """Every tag with its attributes, and the texts of each kind of tag."""

    VOID = frozenset({"meta", "br", "col", "link", "img", "input", "hr", "wbr"})

    def __init__(self, html):
        super().__init__()
        self.tags, self.open, self.texts = [], [], {}
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, f"</{tag}> closes nothing"

    def handle_data(self, data):
        for tag in self.open[-1:]:
            self.texts.setdefault(tag, []).append(data)

    def all(self, tag):
        return [attributes for name, attributes in self.tags if name == tag]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return written(ROWS, tmp_path_factory.mktemp("report"))


@pytest.fixture(scope="module")
def page(files):
    return Page(files[PAGE])


def words_of(html):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", "", html))


def test_it_writes_the_page_and_three_tables_for_plots(files):
    assert sorted(files) == [
        "reports/index.html",
        "reports/plots/distributions.json",
        "reports/plots/pass_rates.json",
        "reports/plots/scores.json",
    ]


def test_every_tag_is_closed_and_no_id_stands_twice(page):
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]

    assert page.open == []
    assert sorted(set(ids)) == sorted(ids)


def test_every_link_of_the_page_leads_to_a_place_in_it(page):
    ids = {f"#{attributes['id']}" for _, attributes in page.tags if "id" in attributes}

    assert {attributes["href"].partition("?")[0] for attributes in page.all("a")} <= ids


def test_nothing_is_fetched_and_only_its_own_scripts_run(files, page):
    html = re.sub(r'xmlns(:xlink)?="http://www\.w3\.org/[^"]*"', "", files[PAGE])
    allowed = policy(files[PAGE])

    assert allowed.pop("script-src")
    assert allowed == {
        "default-src": ["'none'"],
        "style-src": ["'unsafe-inline'"],
        "base-uri": ["'none'"],
        "form-action": ["'none'"],
    }
    assert len(scripts(files[PAGE])) == 2
    assert "http:" not in html
    assert "https:" not in html
    assert "url(" not in html
    assert "@import" not in html
    assert not {"link", "img", "iframe", "object", "foreignobject"} & {tag for tag, _ in page.tags}


def test_the_theme_is_chosen_before_anything_is_painted(files):
    head, body = files[PAGE].split("<body>")
    theme = (FOLDER / "theme.js").read_text(encoding="utf-8")

    assert scripts(files[PAGE])[0] == theme
    assert theme in head
    assert '<button id="theme" type="button" hidden>' in body


def test_each_colour_stands_once_for_the_light_and_once_for_the_dark(files):
    style = files[PAGE].split("<style>")[1].split("</style>")[0]
    colours = re.findall(r"(--[\w-]+): light-dark\((#\w+), (#\w+)\)", style)

    assert len(colours) >= 20
    assert sorted({name for name, *_ in colours}) == sorted(name for name, *_ in colours)
    assert "prefers-color-scheme" not in style


def test_candidates_stand_by_the_primary_rate_and_the_primary_measure_first(tmp_path):
    rows = [each | {"label": each["candidate"] == "borealis"} for each in ROWS]

    html = written(rows, tmp_path)[PAGE]

    tables = section_of(html, "scores").split("<tbody")[1:]
    names = [re.findall(r"<bdi>(\w+)</bdi>", part) for part in tables]
    assert [order for order in names if order] == [["borealis", "aurora"]] * 3
    legend = section_of(html, "slices").split('class="legend"')[1].split("</p>")[0]
    assert re.findall(r"<bdi>(\w+)</bdi>", legend) == ["borealis", "aurora"]
    assert re.findall(r'style="color:var\(--c(\d)\)', legend) == ["1", "0"]  # colours do not change with ranks


def test_a_metric_that_passes_everything_is_not_the_one_whose_errors_are_shown(tmp_path):
    right = [n % 10 > 0 for n in range(40)]
    rows = [
        row(f"q{n}", "aurora", "Paris", label, 1.0, 0.9 if label == (n % 4 > 0) else 0.1)
        for n, label in enumerate(right)
    ]

    look = words_of(section_of(written(rows, tmp_path)[PAGE], "look"))

    assert "Labelled right, but semantic_similarity fails" in look  # f1 agrees on 90 %, with a kappa of 0
    assert "but f1" not in look


def test_headings_go_down_one_level_at_a_time(page):
    levels = [int(tag[1]) for tag, _ in page.tags if re.fullmatch("h[1-6]", tag)]

    assert levels.count(1) == 1
    assert all(deeper <= level + 1 for level, deeper in pairwise(levels))


def test_the_same_rows_make_the_same_bytes_whatever_their_order_and_parts(files, tmp_path):
    assert written(Random(8).sample(ROWS, len(ROWS)), tmp_path, part_rows=3) == files  # noqa: S311 (the same order each time)


def test_every_number_of_the_scores_is_one_of_metrics_json(page, tmp_path):
    _, documents = inputs(ROWS, tmp_path)
    known = set()

    def collect(node):
        if isinstance(node, int | float):
            known.add(float(node))
        for value in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
            collect(value)

    collect(documents["reports/metrics.json"])
    shown = {float(each["value"]) for each in page.all("data")}

    assert len(shown) > 20
    assert shown <= known


def test_labels_beyond_the_largest_number_are_said(tmp_path):
    tables, documents = inputs(ROWS, tmp_path)
    documents["reports/metrics.json"]["dataset"]["labels_left_out"] = 1234

    page = report_files(tables, Report(**SECTION), documents=documents)[PAGE]

    assert "Labels left out1,234 of agreement with the labels" in words_of(page.split('id="data"')[1])


def test_the_headline_has_the_value_the_interval_the_pass_rate_and_the_counts(files, tmp_path):
    _, documents = inputs(ROWS, tmp_path)
    entry = documents["reports/metrics.json"]["candidates"]["borealis"]["semantic_similarity"]
    table = files[PAGE].split('id="scores"')[1].split("<code>semantic_<wbr>similarity</code>")[1].split("</tbody>")[0]
    borealis = words_of(table.split("<bdi>borealis</bdi>")[1])

    assert (entry["value"], entry["pass_rate"]["value"], entry["n"], entry["n_failed"]) == (
        0.6,
        0.666667,
        3,
        1,
    )
    assert "0.600" in borealis
    assert "66.7 %" in borealis
    assert "3 of 4" in borealis
    assert "1 failed: 0.450–0.700" in borealis


def test_the_label_stands_first(files):
    label = files[PAGE].index("human <code>label</code>")

    assert label < files[PAGE].index("<code>f1</code>")
    assert "by the primary measure, human <code>label</code>" in files[PAGE]


def test_a_metric_nobody_measured_says_why(files):
    assert "not measured: judge disabled" in words_of(files[PAGE])


def test_no_labels_no_row_for_them(tmp_path):
    rows = [each | {"label": None} for each in ROWS]

    html = written(rows, tmp_path)[PAGE]

    assert "human <code>" not in html.split("<main")[1].split('id="look"')[0]
    assert "by the primary measure, <code>f1</code>" in html


def test_verdicts_that_too_few_labels_check_say_so(tmp_path):
    rows = [each | {"id": f"{each['id']}-{n}", "label": None} for n in range(10) for each in ROWS]
    judge = score_table(rows, "meaning_match", "judge", 0.5, [1.0, 0.0] * (len(rows) // 2), [None] * len(rows))

    html = written(rows, tmp_path, extra={"judge": judge})[PAGE]

    assert "Too few human labels check these verdicts" in section_of(html, "scores")


def test_stale_labels_and_corrections_are_counted_on_the_page(files, tmp_path):
    rows = [each | {"label": None} if number < 2 else each for number, each in enumerate(ROWS)]
    status = pa.array(["stale", "stale", *[None] * (len(rows) - 2)])

    load = load_table(rows).append_column("label_status", status)
    facts = about(load.schema) | {"stale_corrections": {"questions": 1, "first": ["q<1>"]}}

    html = written(rows, tmp_path, extra={"load": describe(load, facts)})[PAGE]

    assert "1 question has corrections that do not apply" in section_of(html, "data")
    assert "have changed since: q&lt;1&gt;. Mark" in section_of(html, "data")
    assert "Stale labels" not in section_of(files[PAGE], "data")
    assert '<dt>Stale labels</dt><dd><data value="2">2</data>: of another answer' in section_of(html, "data")


def test_the_page_says_that_truncated_texts_are_unknown_where_only_the_server_has_the_tokenizer(tmp_path):
    embed = describe(pa.table({"key": pa.array([], pa.string())}), {"truncated": None})

    html = written(ROWS, tmp_path, extra={"embed": embed})[PAGE]

    assert "<dt>Truncated texts</dt><dd>unknown: only the embedding server" in section_of(html, "data")


@pytest.mark.parametrize(("labelled", "scored"), [(True, False), (False, True)])
def test_without_any_gated_metric_there_still_is_a_page(tmp_path, labelled, scored):
    rows = [each if labelled else each | {"label": None} for each in ROWS]
    keys = load_table(rows).select(["id", "candidate"])
    statuses = pa.array(["disabled"] * len(rows))
    nothing = {"lexical": keys, "semantic": keys, "judge": keys.append_column("judge_status", statuses)}
    extra = {name: describe(table, {"columns": {}}) for name, table in nothing.items()}
    if scored:
        extra["load"] = with_score(load_table(rows))

    html = written(rows, tmp_path, extra=extra)[PAGE]

    assert Page(html).open == []
    assert ("human <code>label</code>" in html) == labelled
    assert ("<code>score_toxicity</code>" in html) == scored
    assert f"<h3>{'Empty' if labelled else 'Empty answers'} <span" in html


def test_slices_show_the_largest_values_and_count_the_others(files):
    slices = section_of(files[PAGE], "slices")

    assert "<bdi>words</bdi>" in slices
    assert "<bdi>names</bdi>" in slices
    assert "<bdi>places</bdi>" not in slices
    assert "1 more values in data/aggregate" in slices
    assert slices.count('class="few"') == 1 + 3 * 2 * 2 + 2


def test_of_very_many_slices_the_leading_metric_gets_the_room(tmp_path, monkeypatch):
    shown = {}
    for most in (12, 4):
        monkeypatch.setattr("goldmeter.reporting.score_tables.MOST_IN_SLICES", most)
        html = written(ROWS, tmp_path / str(most), section={"slice_values": 10**9})[PAGE]
        slices = section_of(html, "slices")
        panels = re.findall(r"<figcaption>(.*?) <span", slices)
        shown[most] = [words_of(each) for each in panels], slices.count('class="value"') // max(1, len(panels))
        assert ("In data/aggregate only" in slices) == (len(panels) < 3)

    assert shown == {12: (["human label", "f1"], 3), 4: (["human label"], 2)}


def test_the_numbers_of_slices_hold_the_measured_rate_its_limits_and_how_many(files):
    cells = [words_of(each) for each in re.findall(r"<td>(.*?)</td>", section_of(files[PAGE], "slices"))]

    assert len(cells) == 3 * 2 * 2
    assert "0 % 0 % to 95.0 % n 1 few" in cells  # the other of two failed
    assert all(re.fullmatch(r"\S+ % \S+ % to \S+ % n \d+( few)?", each) for each in cells)


def test_people_are_compared_with_each_other_and_metrics_with_one_of_them(tmp_path):
    said = [[True, True], [False, False, None], [True, False], None]
    labels = [True, False, None, None]
    rows = [row(f"q{n}", "aurora", "Paris", labels[n % 4], 1.0 - n % 2, 0.9, ratings=said[n % 4]) for n in range(48)]

    files = written(rows, tmp_path, section={"small_n": 0})
    people = words_of(section_of(files[PAGE], "people"))

    assert re.search(r"auroraanother person66\.7 %", people)
    assert re.search(r"f183\.3 % \S+ % to \S+ %\+16\.7 points \[", people)  # right of 24, and half of 12
    assert "Mean label" in people


def test_a_judge_stands_beside_itself_and_beside_grades_of_people(tmp_path):
    tables, documents = inputs(ROWS, tmp_path)
    found = documents["reports/metrics.json"]
    limits = {"low": 0.5, "high": 0.9, "method": "cr2"}
    again = {"n": 40, "pairs": 40, "equal": {"value": 0.85, **limits}, "distance": {"value": 0.75, **limits}}
    found["self_agreement"] = {"aurora": {"f1": again | {"noise": 0.1, "share": 0.123}}}
    graded = {"n": 123, "kappa": {"value": 0.61, **limits}, "spearman": {"value": 0.72, **limits}}
    found["graded"] = {"borealis": {"score_quality": {"f1": graded}}}

    page = report_files(tables, Report(**SECTION), documents=documents)[PAGE]

    itself, grades = words_of(section_of(page, "itself")), words_of(section_of(page, "grades"))
    assert re.search(r"f1aurora85\.0 % .*0\.75.*12\.3 %4040", itself)
    assert re.search(r"score_qualityf1borealis0\.61.*0\.72.*123", grades)


def test_a_broken_check_is_named_with_its_first_rows(tmp_path):
    html = written(ROWS, tmp_path, documents={"reports/validation/judge.json": validation(success=False)})[PAGE]

    assert "data checks failed" in html
    assert "column values to be between" in html
    assert "first: q1/aurora, q2/aurora" in html
    assert "rows load 1,234,567" in html


def test_all_checks_hold(files):
    assert "data checks failed" not in files[PAGE]


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    rows = [
        row(
            f"{text[:40]}",
            """<b onclick=x>aurora&"'""",
            text,
            False,
            1.0,
            0.9,
            input=text,
            references=(text,),
            topic=text[:100],
        )
        for text in HOSTILE
    ]
    section = {"rows_to_look_at": 50, "slice_values": 50}
    return written(rows, tmp_path_factory.mktemp("hostile"), section=section)[PAGE]


def test_hostile_texts_are_only_text(hostile):
    page = Page(hostile)

    assert page.open == []
    assert not {"img", "iframe", "b onclick=x"} & {tag for tag, _ in page.tags}
    assert len(scripts(hostile)) == 2
    assert not [name for _, attributes in page.tags for name in attributes if name.startswith("on")]
    assert hostile.count("<style>") == 1
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in hostile
    assert "{{ 7 * 7 }}" in hostile


def test_what_hides_or_reorders_is_spelled_out(hostile):
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069]", hostile)
    assert "⟨U+202E⟩gnp.exe ⟨U+2066⟩hidden⟨U+2069⟩" in hostile
    assert "nul ⟨U+0000⟩ bell ⟨U+0007⟩" in hostile
    assert "שלום עולם" in hostile


def test_a_text_of_ten_million_characters_is_cut_with_a_note(hostile):
    assert len(hostile) < 500_000
    assert "cut: the first 200 of 10,000,000 characters" in hostile


def test_no_rows_to_look_at_when_none_are_wanted(tmp_path):
    html = written(ROWS, tmp_path, section={"rows_to_look_at": 0})[PAGE]

    assert '<article class="card"' not in html


@pytest.mark.parametrize("missing", SECTION)
def test_every_value_of_the_section_is_required(missing):
    with pytest.raises(ValidationError, match=missing):
        Report(**{name: value for name, value in SECTION.items() if name != missing})


def test_the_conclusion_is_that_of_the_terminal(files, tmp_path):
    _, documents = inputs(ROWS, tmp_path / "again")
    (tmp_path / "metrics.json").write_text(json.dumps(documents["reports/metrics.json"]), encoding="utf-8")

    found = summary.of_last_run(tmp_path / "metrics.json", tmp_path / "none")

    assert found is not None
    assert found.conclusion is not None
    assert found.conclusion.measure == "label"
    assert f'class="conclusion">{terms(unbroken(found.conclusion.sentence))}</h2>' in files[PAGE]


def test_where_the_judges_error_is_not_known_the_page_claims_nothing(tmp_path):
    _, documents = inputs(ROWS, tmp_path / "measured")
    document = documents["reports/metrics.json"]
    for entry in document["headlines"].values():
        entry |= {"by": "gpt", "status": "unknown", "low": None, "high": None, "note": "by gpt; its error is not known"}

    html = written(ROWS, tmp_path, documents={"reports/metrics.json": document})[PAGE]
    glance, evidence = words_of(section_of(html, "glance")), section_of(html, "evidence")

    assert "No conclusion: which candidate is better is not known. No claim" in glance
    assert "By gpt; its error is not known" in glance
    assert glance.count("unknown gpt says 50.0 %") == 2
    assert "Worst slices" not in evidence
    assert "%" not in evidence.split("<tbody>")[1].split("</tbody>")[0]
    assert "they do not show which candidate is better" in section_of(html, "candidates")


def test_the_title_and_the_head_name_the_data_set_and_the_version(tmp_path):
    html = written(ROWS, tmp_path, version="v1-2-gabc1234")[PAGE]
    _, documents = inputs(ROWS, tmp_path / "again")
    hash_of_data = documents["reports/metrics.json"]["dataset"]["hash"]

    for tag in ("title", "header"):
        part = html.split(f"<{tag}")[1].split(f"</{tag}>")[0]
        assert f"data set {hash_of_data[:12]}" in part
        assert "version v1-2-gabc1234" in part


def test_all_but_the_first_screen_and_the_rows_to_look_at_is_folded(files):
    sections = dict(re.findall(r'<section id="([a-z]+)".*?>\n(<[^>]*>)', files[PAGE]))

    assert [name for name, first in sections.items() if first != '<details class="fold">'] == ["glance", "look"]
    assert [*sections][-4:] == ["data", "checks", "provenance", "glossary"]


def test_weighted_numbers_have_a_column_of_the_scores_beside_those_of_the_rows(files, tmp_path):
    rows = [one | {"weight": 3.0 if one["id"] == "q1" else 1.0} for one in ROWS]

    html = written(rows, tmp_path)[PAGE]

    label = words_of(section_of(html, "scores").split("<tbody")[1])
    assert re.search(r"– 50\.0 % [\d. %]+ to [\d. %]+ 66\.7 %", label)  # aurora is right on q1 and q2: (3 + 1)/6
    assert "worth 3 rows" in label  # 6²/12
    assert "Weighted" in section_of(html, "scores")
    assert "by dataset.weight; 50.0 % of the rows as they are" in words_of(section_of(html, "glance"))
    assert "Weighted" not in section_of(files[PAGE], "scores")
