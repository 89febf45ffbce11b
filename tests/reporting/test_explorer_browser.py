"""The row explorer in Chromium: search, filters, order, pages, an opened answer, what is saved."""

import csv
import io
import json
from random import Random

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from goldmeter.console.format import number
from goldmeter.pipeline.tables import describe
from goldmeter.reporting.page import FOLDER
from tests.browser import DESKTOP, PHONE, Screen, chromium, faults, too_wide, visit
from tests.reporting.made import load_table, row, score_table, with_score, written

__all__ = ["chromium", "visit"]
pytestmark = pytest.mark.long

ATTACK = "<img src=x onerror=alert(1)></script><script>alert(2)</script>"
FORMULA = ' ＝HYPERLINK("http://x","y")'
NAMES = ("aurora", "borealis")
ROWS = [
    row("q1", "aurora", "Paris", True, 1.0, 0.9),
    row("q1", "borealis", "It may be Paris", False, 0.8, 0.85),
    row("q2", "aurora", "The capital", True, 0.1, 0.3, topic="words"),
    row("q2", "borealis", "", False, 0.0, 0.0, topic="words"),
    row("q3", "aurora", FORMULA, False, 0.0, 0.4, topic="words", input="Who said that?", references=("Élan Vital",)),
    row(
        "q3", "borealis", "L" * 1000, True, 1.0, None, topic="words", input="Who said that?", references=("Élan Vital",)
    ),
    row("q10", "aurora", ATTACK, None, 0.25, 0.55, topic=ATTACK, input=ATTACK, references=(ATTACK,)),
    row("q10", "borealis", None, None, 0.05, 0.71, topic=ATTACK, input=ATTACK, references=(ATTACK,)),
]
WRITTEN = """() => {
  window.said = [];
  const seen = new MutationObserver((changes) => changes.forEach(({ target }) => said.push(target.id)));
  for (const name of ["rows-count", "rows-page"]) seen.observe(document.getElementById(name), { childList: true });
}"""
BROKEN = """() => [...document.querySelectorAll("#rows b")].filter((each) => {
  const range = document.createRange();
  range.selectNodeContents(each);
  return range.getClientRects().length > 1;
}).map((each) => each.textContent)"""
MANY = [row(f"m{i}", name, f"answer {i}", None, i / 40, i / 40) for i in range(20) for name in NAMES]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    table = with_score(load_table(ROWS))
    negative = table.set_column(table.num_columns - 1, "score_toxicity", pc.negate(table["score_toxicity"]))
    return saved(
        ROWS, tmp_path_factory.mktemp("few"), {"load": negative.replace_schema_metadata(table.schema.metadata)}
    )


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    return saved(MANY, tmp_path_factory.mktemp("many"))


def saved(rows, folder, extra=()):
    file = folder / "index.html"
    file.write_text(written(rows, folder / "tables", extra=extra)["reports/index.html"], encoding="utf-8")
    return file


@pytest.fixture
def page(visit, path):
    return opened(visit(path))


def opened(page):
    page.wait_for_selector("#rows-body .line")
    return page


def shown(page):
    """Id and candidate of each answer, in the order in which they stand."""
    lines = page.locator("#rows-body .line").all()
    return [(line.locator(".of-id").inner_text(), line.locator(".of-candidate").inner_text()) for line in lines]


def said(page):
    return page.locator("#rows-count").inner_text()


def test_search_finds_part_of_any_text_in_any_case(page):
    for words, found in (
        ("Q2", {("q2", "aurora"), ("q2", "borealis")}),
        ("MAY BE", {("q1", "borealis")}),
        ("élan vital", {("q3", "aurora"), ("q3", "borealis")}),
        ("who said", {("q3", "aurora"), ("q3", "borealis")}),
        ("=hyperlink(", {("q3", "aurora")}),
        ("[.*", set()),
        (" may be  ", {("q1", "borealis")}),
        ("may\u00a0be", {("q1", "borealis")}),
        ("e\u0301lan  vital", {("q3", "aurora"), ("q3", "borealis")}),
        ("what? paris", set()),  # nothing is found across two texts
        ("  ", {(each["id"], each["candidate"]) for each in ROWS}),
    ):
        page.get_by_role("searchbox", name="Search").fill(words)

        page.locator("#rows-count", has_text=f"{len(found)} of 8 answers").wait_for()
        assert (words, {*shown(page)}) == (words, found)


def test_search_finds_what_looks_the_same(visit, tmp_path):
    pairs = [
        ("Mu\u0308nchen", "münchen"),
        ("Bern\nzwei\r\n drei", "bern zwei drei"),
        ("Wien", "WIEN"),
        ("one\u00a0\u2009 two", "one two"),
        ("\ufb01nal o\ufb03ce", "final office"),
        ("baffled", "ba\ufb04ed"),
        ("ＡＢＣ １２", "abc 12"),
        ("Köln", "KO\u0308LN"),
    ]
    rows = [row(f"s{n}", "aurora", text, None, 0.5, 0.5) for n, (text, _) in enumerate(pairs)]
    page = opened(visit(saved(rows, tmp_path)))
    for n, (_, words) in enumerate(pairs):
        page.get_by_role("searchbox", name="Search").fill(words)

        page.locator("#rows-count", has_text="1 of 8 answers").wait_for()
        assert (words, shown(page)) == (words, [(f"s{n}", "aurora")])


def test_filters_hold_together_and_are_cleared_together(page):
    page.get_by_label("Candidate", exact=True).select_option("aurora")
    page.get_by_label("Metric", exact=True).select_option("f1")
    page.get_by_label("Result", exact=True).select_option("fail")
    assert {*shown(page)} == {("q2", "aurora"), ("q3", "aurora"), ("q10", "aurora")}

    page.get_by_label("Label", exact=True).select_option("right")
    assert shown(page) == [("q2", "aurora")]

    page.get_by_role("button", name="Clear").click()
    page.locator("#rows-count", has_text="8 of 8").wait_for()  # a function would need eval, which the page forbids
    assert page.get_by_label("Metric", exact=True).locator("option:checked").inner_text() == "semantic_similarity"


def test_each_filter_keeps_what_it_says(page):
    for label, choice, found in (
        ("Result", "unmeasured", {("q3", "borealis")}),
        ("Label", "no label", {("q10", "aurora"), ("q10", "borealis")}),
        ("topic", "places", {("q1", "aurora"), ("q1", "borealis")}),
        ("topic", ATTACK, {("q10", "aurora"), ("q10", "borealis")}),
        ("Worth a look", "metric and label disagree", {("q1", "borealis"), ("q2", "aurora")}),
        ("Worth a look", "Empty (1)", {("q2", "borealis")}),
    ):
        page.get_by_label(label, exact=True).select_option(label=choice)
        page.locator("#rows-count", has_text=f"{len(found)} of 8 answers").wait_for()
        assert (choice, {*shown(page)}) == (choice, found)
        page.get_by_role("button", name="Clear").click()
        page.locator("#rows-count", has_text="8 of 8").wait_for()


def test_a_metric_can_disagree_with_the_judge_but_the_judge_not_with_itself(visit, tmp_path):
    judge = score_table(ROWS, "meaning_match", "judge", 0.5, [1.0, 1.0, 1.0, 0.0, 0.0, None, 0.0, 1.0], [None] * 8)
    judge = judge.append_column("judge_status", pa.array(["answered"] * 8, pa.string()))
    page = opened(visit(saved(ROWS, tmp_path, {"judge": judge})))
    disagree = page.locator("#rows-look [value=judge]")
    assert page.get_by_label("Metric", exact=True).locator("option:checked").inner_text() == "meaning_match"
    assert disagree.is_disabled()

    page.get_by_label("Metric", exact=True).select_option("f1")
    page.get_by_label("Worth a look").select_option("metric and judge disagree")
    assert {*shown(page)} == {("q2", "aurora"), ("q10", "borealis")}

    page.get_by_label("Metric", exact=True).select_option("meaning_match")
    assert disagree.is_disabled()
    assert page.get_by_label("Worth a look").locator("option:checked").inner_text() == "all"
    assert said(page) == "8 of 8 answers"


def test_answers_that_no_metric_measured_can_be_read_too(visit, tmp_path):
    keys = load_table(ROWS).select(["id", "candidate"])
    judge = keys.append_column("judge_status", pa.array(["disabled"] * 8))
    nothing = {"lexical": keys, "semantic": keys, "judge": judge}
    page = opened(
        visit(saved(ROWS, tmp_path, {name: describe(each, {"columns": {}}) for name, each in nothing.items()}))
    )
    page.get_by_label("Label", exact=True).select_option("right")
    page.locator("#rows-body .line").first.click()

    assert said(page) == "3 of 8 answers"
    assert page.locator(".unfolded .answer").count() == 2
    assert page.locator("#rows-metric").is_hidden()


def test_scores_sort_both_ways_and_the_unmeasured_stand_last(page):
    page.get_by_label("Sort").select_option("score, lowest first")
    lowest = shown(page)
    page.get_by_role("button", name="semantic_similarity").click()
    highest = shown(page)

    assert lowest[:2] == [("q2", "borealis"), ("q2", "aurora")]
    assert highest[:2] == [("q1", "aurora"), ("q1", "borealis")]
    assert lowest[-1] == highest[-1] == ("q3", "borealis")
    assert page.locator("th[aria-sort=descending]").inner_text().startswith("semantic_similarity")
    assert page.locator("th[aria-sort]").count() == 1


def test_the_unmeasured_stand_last_wherever_they_stood(visit, tmp_path):
    rows = [row(f"s{i}", "aurora", "Paris", None, i / 9, None if i % 3 == 0 else i / 9) for i in range(9)]
    page = opened(visit(saved(rows, tmp_path)))
    first = {key for key, _ in shown(page)[-3:]}
    page.get_by_label("Sort").select_option("score, lowest first")
    lowest = [key for key, _ in shown(page)]
    page.get_by_label("Sort").select_option("score, highest first")
    highest = [key for key, _ in shown(page)]

    assert first != {"s0", "s3", "s6"}
    assert lowest[:6] == ["s1", "s2", "s4", "s5", "s7", "s8"]
    assert highest[:6] == lowest[:6][::-1]
    assert {*lowest[6:]} == {*highest[6:]} == {"s0", "s3", "s6"}


def test_small_scores_are_shown_and_saved_with_their_digits(visit, tmp_path):
    scores = [1.5e-9, -2.25e-8, 0.0000456, 0.0]
    rows = [row(f"s{i}", "aurora", "Paris", None, 0.5, 0.5) for i in range(4)]
    load = with_score(load_table(rows))
    toxic = load.set_column(load.num_columns - 1, "score_toxicity", pa.array(scores))
    page = opened(visit(saved(rows, tmp_path, {"load": toxic.replace_schema_metadata(load.schema.metadata)})))
    page.get_by_label("Metric", exact=True).select_option("score_toxicity")
    page.get_by_label("Sort").select_option("id")
    with page.expect_download() as download:
        page.get_by_role("button", name="Save what is shown as CSV").click()
    table = [*csv.DictReader(io.StringIO(download.value.path().read_text(encoding="utf-8-sig"), newline=""))]

    assert page.locator("#rows-body .of-score b").all_inner_texts() == ["1.5e−09", "−2.25e−08", "4.56e−05", "0"]
    assert [float(each["score_toxicity"]) for each in table] == scores


def test_answers_without_a_slice_value_are_not_those_whose_value_reads_so(visit, tmp_path):
    topics = ["(none)", None, "(none)"]
    rows = [row(f"s{i}", "aurora", "Paris", None, 0.5, 0.5, topic=topic) for i, topic in enumerate(topics)]
    page = opened(visit(saved(rows, tmp_path)))
    topic = page.get_by_label("topic", exact=True)

    assert topic.locator("option").all_inner_texts() == ["all", "(none)", "(none)"]
    topic.select_option("0")
    assert {key for key, _ in shown(page)} == {"s0", "s2"}
    topic.select_option("1")
    assert {key for key, _ in shown(page)} == {"s1"}


def test_a_slice_value_without_a_name_is_called_empty_and_filters_by_itself(visit, tmp_path):
    topics = ["(empty)", "", "(empty)", "  "]
    rows = [row(f"s{i}", "aurora", "Paris", None, 0.5, 0.5, topic=topic) for i, topic in enumerate(topics)]
    rows[1]["input"] = " \n "
    page = opened(visit(saved(rows, tmp_path)))
    topic = page.get_by_label("topic", exact=True)
    assert topic.locator("option").all_inner_texts() == ["all", "(empty)", "(empty)", "(empty)"]

    topic.select_option("1")
    (one,) = shown(page)
    named = page.locator(".unfolds").inner_text()
    page.locator("#rows-body .line").click()

    assert one == ("s1", "aurora")
    assert named == "s1"  # not by its input, which is white space
    assert page.locator(".which .tag").inner_text() == "topic: (empty)"
    assert page.locator(".which .tag em").count() == 1


def test_ids_sort_as_people_count_and_answers_by_their_real_length(page):
    page.get_by_role("button", name="Id", exact=True).click()
    assert [key for key, _ in shown(page)][::2] == ["q1", "q2", "q3", "q10"]

    page.get_by_label("Sort").select_option("answer, longest first")
    assert shown(page)[0] == ("q3", "borealis")
    assert shown(page)[-1] == ("q10", "borealis")  # no response has no length


def test_an_answer_opens_and_closes_by_keyboard_beside_the_others_to_its_input(page):
    page.get_by_role("searchbox").fill("it may be")
    button = page.locator("#rows-body button")
    button.focus()
    page.keyboard.press("Enter")
    inside = page.locator(".unfolded")
    button = page.locator("#rows-body .unfolds")

    assert button.get_attribute("aria-expanded") == "true"
    assert inside.locator(".answer .name").all_inner_texts() == ["borealis", "aurora"]
    assert inside.locator(".answer .text").all_inner_texts() == ["It may be Paris", "Paris"]
    assert inside.locator(".asked .text").all_inner_texts() == ["What?", "Paris"]
    assert "label: wrong" in inside.locator(".answer").first.inner_text()
    assert "Labelled wrong, but semantic_similarity passes it." in inside.inner_text()
    assert inside.locator(".answer").first.locator("li").all_inner_texts() == [
        "score_toxicity\n−0.100",
        "f1\n0.800\npass",
        "semantic_similarity\n0.850\npass",
    ]
    page.keyboard.press("Enter")
    assert (inside.count(), button.get_attribute("aria-expanded")) == (0, "false")


def test_a_long_text_is_whole_on_demand_and_a_missing_score_says_why(page):
    page.get_by_role("searchbox").fill("lll")
    page.locator("#rows-body .line").click()
    first = page.locator(".unfolded .answer").first
    first.locator("summary").click()

    assert first.locator(".text").first.inner_text() == "L" * 200 + "…"
    first.get_by_role("button", name="Show all 1,000 characters").click()
    assert first.locator(".text").first.inner_text() == "L" * 1000
    assert first.get_by_role("button", name="Show all").count() == 0
    assert "unmeasured: no vector" in first.locator("details").inner_text()


def test_facts_keep_the_places_of_name_and_number_whichever_way_they_are_written(visit, tmp_path):
    names = ["برلين عاصمة", "English عربي", "שלום", "plain"]
    details = json.dumps({"similarities": {name: number / 10 for number, name in enumerate(names)}})
    f1 = score_table(ROWS, "f1", "lexical", 0.5, [each["f1"] for each in ROWS], [details] * len(ROWS))
    page = opened(visit(saved(ROWS, tmp_path, {"lexical": f1})))
    page.locator("#rows-body .line").first.click()
    page.locator(".unfolded summary").first.click()
    page.evaluate("document.querySelectorAll('#look details').forEach((each) => { each.open = true; })")

    for place in (".unfolded", "#look .answer"):
        facts = page.locator(f"{place} details .text").first.locator("div")
        across = "each => [...each.querySelectorAll('bdi')].map(part => part.getBoundingClientRect().left)"
        assert facts.all_inner_texts() == [f"similarities: {name}: {i / 10}" for i, name in enumerate(names)]
        for fact in facts.all():
            left = fact.evaluate(across)
            assert left == sorted(left)


def test_hostile_texts_are_text(page):
    page.get_by_role("searchbox").fill("q10")
    page.locator("#rows-body .line").first.click()

    assert page.locator("#rows img, #rows script").count() == 0
    assert page.locator(".unfolded .answer .text").inner_text() == ATTACK
    assert page.locator(".unfolded .tag bdi").inner_text() == ATTACK


def test_a_turned_page_is_announced_and_the_number_of_answers_not_again(visit, many):
    page = opened(visit(many))
    seen = shown(page)
    assert page.get_by_role("button", name="Previous").is_disabled()
    page.evaluate(WRITTEN)
    page.get_by_role("button", name="Next").click()
    assert page.locator("#rows-page").get_attribute("aria-live") == "polite"
    assert page.evaluate("new Promise((done) => setTimeout(() => done(said)))") == ["rows-page"]
    seen += shown(page)

    assert page.locator("#rows-page").inner_text() == "page 2 of 2"
    assert page.get_by_role("button", name="Next").is_disabled()
    assert len({*seen}) == 40
    assert page.get_by_label("Label", exact=True).count() == 0


@pytest.mark.parametrize(("turns", "end"), [(["Next"], "page 2 of 2"), (["Next", "Previous"], "page 1 of 2")])
def test_the_last_and_the_first_page_keep_the_focus_and_do_nothing_more(visit, many, turns, end):
    page = opened(visit(many))
    for name in turns:
        button = page.get_by_role("button", name=name)
        button.focus()
        page.keyboard.press("Enter")
        page.keyboard.press("Enter")

    assert page.locator("#rows-page").inner_text() == end
    assert page.locator("#rows-body .line").count() == {"page 2 of 2": 15, "page 1 of 2": 25}[end]
    assert page.locator(":focus").inner_text() == turns[-1]
    assert button.get_attribute("aria-disabled") == "true"


@pytest.mark.parametrize("width", [1280, 320])
def test_no_number_is_broken(visit, tmp_path, width):
    scores = [0.0047, 0.00000123, 0.123456, 0.0]
    rows = [row(f"s{i}", name, "Paris", None, score, None) for i, score in enumerate(scores) for name in "abcde"]
    page = opened(visit(saved(rows, tmp_path), Screen(width, 900)))
    for line in page.locator(".unfolds").all():
        line.click()

    assert page.evaluate(BROKEN) == []
    assert too_wide(page) == []


def test_numbers_are_written_as_in_the_rest_of_the_page(chromium):
    source = (FOLDER / "sections/explorer/elements.js").read_text(encoding="utf-8")
    function = source[source.index("function number(") :]
    chance = Random(3)  # noqa: S311 (the same texts each time)
    values = [sign * 10 ** chance.uniform(-12, 18) for sign in (1, -1) for _ in range(5000)]
    values += [n / 10**d for n in range(-1500, 1500, 7) for d in range(10)]
    values += [n / 2**d for n in range(1, 400) for d in range(24)]  # some lie halfway between two of three digits
    values += [9.994e-5, 9.995e-5, 9.996e-5, 1e-4, 999.4, 999.5, 9.99e14, 1e15, 5e-324, 1.7e308, 0.0, -0.0]
    page = chromium.new_page()

    written = page.evaluate(f"(values) => {{ {function}; return values.map(number); }}", values)

    assert [*zip(values, written, strict=True)] == [(value, number(value)) for value in values]


def test_what_is_shown_is_saved_and_no_text_becomes_a_formula(page):
    page.get_by_label("Metric", exact=True).select_option("f1")
    page.get_by_label("Sort").select_option("score, lowest first")
    with page.expect_download() as download:
        page.get_by_role("button", name="Save what is shown as CSV").click()
    raw = download.value.path().read_bytes()
    table = [*csv.DictReader(io.StringIO(raw.decode("utf-8-sig"), newline=""))]
    formula = next(each for each in table if each["id"] == "q3" and each["candidate"] == "aurora")

    assert download.value.suggested_filename == "answers.csv"
    assert raw.startswith(
        b'\xef\xbb\xbf"id","candidate","input","references","response","label","answered","cut","topic",'
        b'"score_toxicity"'
    )
    assert [(each["id"], each["candidate"]) for each in table] == shown(page)
    assert formula["response"] == "'" + FORMULA
    assert (formula["f1"], formula["f1_result"], formula["semantic_similarity"]) == ("0", "fail", "0.4")
    assert b',-0.4,"",0,"fail",0.4,"fail"' in raw  # a number stays one
    assert {each["response"] for each in table if each["id"] == "q10"} == {ATTACK, ""}


def test_no_response_and_cut_texts_are_told_from_others_where_they_are_saved(visit, tmp_path):
    long = "L" * 30_000
    rows = [
        row("empty", "aurora", "", None, 0.5, 0.5),
        row("none", "aurora", None, None, 0.5, 0.5),
        row("long", "aurora", long, None, 0.5, 0.5, input=long, references=("Paris", long)),
        row("many", "aurora", "Paris", None, 0.5, 0.5, references=[f"r{i}" for i in range(11)]),
    ]
    page = opened(visit(saved(rows, tmp_path)))
    with page.expect_download() as download:
        page.get_by_role("button", name="Save what is shown as CSV").click()
    table = [*csv.DictReader(io.StringIO(download.value.path().read_text(encoding="utf-8-sig"), newline=""))]

    assert {each["id"]: (each["answered"], each["cut"]) for each in table} == {
        "empty": ("yes", ""),
        "none": ("no", ""),
        "long": ("yes", "input response references"),
        "many": ("yes", "references"),
    }


def test_weights_are_saved_beside_the_answers(visit, tmp_path):
    rows = [row(f"q{i}", "aurora", "Paris", None, 0.5, 0.5, weight=i / 4) for i in range(3)]
    page = opened(visit(saved(rows, tmp_path)))
    with page.expect_download() as download:
        page.get_by_role("button", name="Save what is shown as CSV").click()
    table = [*csv.DictReader(io.StringIO(download.value.path().read_text(encoding="utf-8-sig"), newline=""))]

    assert {each["id"]: each["weight"] for each in table} == {"q0": "0", "q1": "0.25", "q2": "0.5"}
    assert {each["f1"] for each in table} == {"0.5"}


def test_a_browser_that_cannot_unpack_says_where_the_answers_are(chromium, path):
    with chromium.new_context(offline=True) as context:
        page = context.new_page()
        page.add_init_script("delete window.DecompressionStream")
        page.goto(f"{path.as_uri()}#rows")
        page.get_by_text("This browser can't unpack the answers.").wait_for()

        assert "data/load" in page.locator("#rows-failed").inner_text()
        assert page.locator("#rows-form").is_hidden()


def test_without_scripts_a_sentence_says_where_the_answers_are(visit, path):
    page = visit(path, java_script_enabled=False)

    assert "takes JavaScript" in page.locator("#rows noscript").inner_text()
    assert page.locator("#rows-form").is_hidden()


def test_on_paper_one_line_stands_for_the_answers(page):
    page.get_by_role("button", name="Print").click()
    page.emulate_media(media="print")

    assert page.get_by_text("Search and sort them on a screen.").is_visible()
    assert page.locator("#rows-form").is_hidden()
    assert page.locator("#rows-table").is_hidden()


@pytest.mark.parametrize(("screen", "theme"), [(DESKTOP, "light"), (PHONE, "dark")])
def test_it_has_no_serious_fault_with_an_answer_open(visit, path, screen, theme):
    page = opened(visit(path, screen, theme))
    for line in page.locator("#rows-body .unfolds").all():
        line.click()

    assert [each for each in faults(page) if "rows" in each or "unfold" in each or "line" in each] == []
    assert too_wide(page) == []


def test_a_filter_is_measured(page):
    page.get_by_role("searchbox").fill("paris")

    assert page.evaluate("performance.getEntriesByName('filter', 'measure').length") >= 2
