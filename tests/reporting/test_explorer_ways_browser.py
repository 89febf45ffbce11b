"""Ways through the answers in Chromium: addresses, keys, candidates beside each other, marked words, labels."""

import csv
import io
import json
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest

from tests.browser import DESKTOP, PHONE, chromium, faults, follow, too_wide, visit
from tests.reporting.made import row, written

__all__ = ["chromium", "visit"]
pytestmark = pytest.mark.long

ROWS = [
    row("q1", "aurora", "Paris", True, 1.0, 0.9),
    row("q1", "borealis", "It may be Paris", False, 0.2, 0.85),
    row("q2", "aurora", "The capital & more", True, 0.1, 0.3, topic="words"),
    row("q2", "borealis", "The city of Paris", False, 0.9, 0.0, topic="words"),
    row("q3", "aurora", "`code` and **bold** for $x^2$\n```\na  b\n```\n<b>no</b>", None, 0.9, 0.4, topic="a b&c=d"),
    row("q3", "borealis", None, None, 0.0, None, topic="a b&c=d"),
]
PAGE = "reports/index.html"


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ways")
    file = folder / "index.html"
    file.write_text(written(ROWS, folder / "tables")[PAGE], encoding="utf-8")
    return file


@pytest.fixture
def at(visit: Any, path: Path) -> Any:
    def opened(fragment: str = "", **options: Any) -> Any:
        page = visit(path, fragment=fragment, **options)
        page.wait_for_selector("#rows-count:not(:empty)")
        return page

    return opened


def keys(page: Any) -> list[str]:
    return [line.locator(".of-id").inner_text() for line in page.locator("#rows-body .line").all()]


def written_address(page: Any, wanted: str) -> dict[str, list[str]]:
    page.wait_for_url(f"**{wanted}**")
    return parse_qs(page.url.partition("#rows?")[2])


def test_what_is_chosen_stands_in_the_address_and_comes_back_from_it(at: Any) -> None:
    page = at()
    page.get_by_label("topic", exact=True).select_option("a b&c=d")
    page.get_by_label("Metric", exact=True).select_option("f1")
    page.get_by_label("Sort").select_option("score, lowest first")
    page.get_by_label("Score from").fill("0.5")
    page.locator("#rows-body .unfolds").click()
    address = written_address(page, "open=q3")

    assert address == {
        "slice.topic": ["a b&c=d"],
        "metric": ["f1"],
        "sort": ["score+"],
        "from": ["0.5"],
        "open": ["q3"],
        "of": ["aurora"],
    }
    again = at("#" + page.url.partition("#")[2])
    assert keys(again) == ["q3"]
    assert again.locator(".unfolded .answer").count() == 2
    assert again.get_by_label("Sort").input_value() == "score+"

    again.get_by_role("button", name="Clear").click()
    again.wait_for_url("**#rows")
    assert len(keys(again)) == 6


def test_a_link_to_what_the_page_does_not_have_says_so(at: Any) -> None:
    for fragment, missing in (
        ("candidate=nobody", "candidate nobody"),
        ("slice.colour=red", "slice.colour"),
        ("open=q9&of=aurora", "the answer to q9"),
        ("metric=%3Cscript%3E&sort=up", "metric <script>, sort up"),
    ):
        page = at(f"#rows?{fragment}")

        assert page.locator("#rows-hint").inner_text() == f"This page has nothing of what the link asks for: {missing}."
        assert len(keys(page)) == 6


def test_where_nothing_matches_the_page_says_what_to_clear(at: Any) -> None:
    page = at("#rows?search=nowhere&candidate=aurora&sort=id%2B")

    assert page.locator("#rows-hint").inner_text() == "No answer matches all of: Search, Candidate. Clear one of them."


def test_bars_slices_kinds_and_pairs_lead_to_their_answers(at: Any) -> None:
    page = at()
    follow(page, page.locator("#distributions .chart a rect").first.click)
    chosen = written_address(page, "from=")
    assert (chosen["metric"], {*chosen}) == (["f1"], {"metric", "candidate", "from", "to"})
    assert len(keys(page)) == 1

    follow(page, page.locator("#slices .by-slice th a").first.click)
    assert {*written_address(page, "slice.topic")} == {"metric", "slice.topic"}
    assert page.locator("#rows-hint").inner_text() == ""

    follow(page, page.get_by_role("link", name="All of them").first.click)
    assert len(keys(page)) >= 1
    follow(page, page.go_back)
    assert "slice.topic" in page.url

    follow(page, page.get_by_role("link", name="that only borealis answers right").click)
    assert keys(page) == []  # of the labels, only aurora is ever alone right


def test_two_candidates_are_counted_by_their_results_and_a_click_filters(at: Any) -> None:
    page = at("#rows?metric=f1")
    table = page.locator("#rows-two")
    counts = {each.get_attribute("data-pair"): each.inner_text() for each in table.locator("[data-pair]").all()}
    page.get_by_label("First candidate").select_option("borealis")
    page.get_by_label("Second candidate").select_option("aurora")
    table.locator("[data-pair=pf]").click()

    assert sorted(counts.values()) == ["0", "0", "1", "2"]
    assert table.locator("[data-pair=pf]").get_attribute("aria-label") == "borealis passes, aurora fails: 1 inputs"
    assert keys(page) == ["q2", "q2"]
    assert written_address(page, "pair=first+passes")["pair"] == ["first passes"]
    table.locator("[data-pair=pf]").click()
    assert len(keys(page)) == 6


def test_candidates_stand_beside_each_other(at: Any) -> None:
    page = at("#rows?view=inputs&metric=f1")

    assert {*keys(page)} == {"q1", "q2", "q3"}
    assert page.locator("#rows-head .of-column").all_inner_texts() == ["aurora", "borealis"]
    second = page.locator("#rows-body .line", has_text="q2").locator("td.of-column").nth(1)
    assert second.inner_text().split("\n") == ["0.900 pass wrong", "The city of Paris"]
    assert page.locator("#rows-count").inner_text() == "6 of 6 answers to 3 inputs"


def test_words_that_the_other_text_lacks_are_marked(at: Any) -> None:
    page = at("#rows?open=q1&of=borealis")
    page.get_by_label("Mark words against").select_option("aurora")
    answers = page.locator(".unfolded .answer")
    assert answers.nth(0).locator("mark").all_inner_texts() == ["It", "may", "be"]
    assert answers.nth(1).locator("mark").all_inner_texts() == []

    page.get_by_label("Mark words against").select_option("the reference")
    assert answers.nth(0).locator("mark").all_inner_texts() == ["It", "may", "be"]
    assert answers.nth(0).locator(".text").first.inner_text() == "It may be Paris"


def test_code_is_set_apart_and_markup_stays_text(at: Any) -> None:
    page = at("#rows?open=q3&of=aurora")
    text = page.locator(".unfolded .answer .text").first

    assert text.locator("pre").all_inner_texts() == ["a  b"]
    assert text.locator("code").all_inner_texts() == ["code", "$x^2$"]
    assert text.locator("strong").all_inner_texts() == ["bold"]
    assert text.locator("b").count() == 0
    assert "<b>no</b>" in text.inner_text()
    page.get_by_label("Texts").select_option("as written")
    page.locator("#rows-body .line", has_text="q3").first.locator(".unfolds").click()
    assert page.locator(".unfolded .answer .text").first.inner_text() == ROWS[4]["response"]


def test_keys_move_open_label_and_leave(at: Any) -> None:
    page = at("#rows?sort=id%2B")
    page.locator("#rows-count").scroll_into_view_if_needed()
    for key in ("j", "j", "k", "Enter"):
        page.keyboard.press(key)
    assert page.locator(".unfolded").count() == 1
    page.keyboard.press("w")
    assert page.locator("#rows-body .line").first.locator(".of-people").inner_text() == "right you: wrong"
    page.keyboard.press("Escape")
    assert page.locator(".unfolded").count() == 0
    assert page.locator(":focus").get_attribute("class") == "unfolds"

    page.keyboard.press("/")
    page.keyboard.type("jk?")
    assert page.get_by_role("searchbox").input_value() == "jk?"
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    assert page.get_by_role("dialog").is_visible()
    page.keyboard.press("Escape")
    assert page.get_by_role("dialog").count() == 0


def test_labels_stay_and_are_saved_as_a_sheet(at: Any) -> None:
    page = at("#rows?open=q2&of=aurora")
    answer = page.locator(".unfolded .answer").first
    answer.get_by_role("button", name="Wrong").click()
    answer.get_by_label("Comment").fill("=not the city")
    page.get_by_label("Your name").fill("anna")
    page.reload()
    page.wait_for_selector(".unfolded")
    agrees = "semantic_similarity agrees with 1 of 1."
    assert page.locator("#rows-given").inner_text() == f"1 label given on this page; {agrees}"
    assert page.locator(".labelling [aria-pressed=true]").all_inner_texts() == ["Wrong"]
    with page.expect_download() as download:
        page.get_by_role("button", name="Save the labels").click()
    [saved] = csv.DictReader(io.StringIO(download.value.path().read_text(encoding="utf-8-sig"), newline=""))

    assert download.value.suggested_filename.startswith("page-6-of-6-")
    assert download.value.suggested_filename.endswith("-anna.csv")
    assert (saved["id"], saved["candidate"], saved["label"], saved["rater"]) == ("q2", "aurora", "wrong", "anna")
    assert (saved["comment"], saved["response"]) == ("'=not the city", "The capital & more")
    page.locator(".labelling [aria-pressed=true]").click()
    assert page.locator("#rows-labels").is_hidden()


def test_a_row_and_its_link_are_copied_and_the_rows_are_saved_as_json(at: Any) -> None:
    page = at("#rows?search=city&open=q2&of=borealis", permissions=["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy as JSON").click()
    page.get_by_text("The answer is copied.").wait_for()
    copied = json.loads(page.evaluate("navigator.clipboard.readText()"))
    page.get_by_role("button", name="Copy link").click()
    page.get_by_text("The link is copied.").wait_for()
    link = page.evaluate("navigator.clipboard.readText()")
    with page.expect_download() as download:
        page.get_by_role("button", name="as JSON", exact=True).click()

    assert json.loads(download.value.path().read_text(encoding="utf-8")) == [copied]
    assert (copied["id"], copied["candidate"], copied["response"]) == ("q2", "borealis", "The city of Paris")
    assert copied["scores"]["f1"] == {"score": 0.9, "result": "pass"}
    assert (copied["label"], copied["slices"], copied["cut"]) == ("wrong", {"topic": "words"}, [])
    assert link.endswith("#rows?search=city&open=q2&of=borealis")


@pytest.mark.parametrize(("screen", "theme"), [(DESKTOP, "dark"), (PHONE, "light")])
def test_the_candidates_beside_each_other_have_no_serious_fault(at: Any, screen: Any, theme: Any) -> None:
    page = at("#rows?view=inputs&metric=f1&open=q1", screen=screen, theme=theme)

    assert faults(page) == []
    assert too_wide(page) == []


def test_a_circle_of_the_scatter_leads_to_its_inputs(at: Any) -> None:
    page = at()
    page.get_by_label("Metric", exact=True).select_option("f1")

    assert page.locator("#rows-scatter circle").count() == 3
    higher = "aurora scores higher on 2, borealis on 1; about equal on 0."
    said = f"→ aurora, ↑ borealis. {higher} A circle leads to its inputs."
    assert page.locator("#rows-scatter-said").inner_text() == said
    page.locator("#rows-scatter circle[data-cell='2.18']").click()
    assert keys(page) == ["q2", "q2"]
    address = written_address(page, "cell=")
    assert address == {"metric": ["f1"], "cell": ["2.18"]}
    assert keys(at("#" + page.url.partition("#")[2])) == ["q2", "q2"]

    page.locator("#rows-scatter .is-chosen").click()
    assert len(keys(page)) == 6
    page.get_by_label("Metric", exact=True).select_option("label")
    assert not page.locator("#rows-scatter").is_visible()
