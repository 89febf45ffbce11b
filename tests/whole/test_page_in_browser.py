"""The report as people use it, in Chromium: opened from disk, read, searched, printed, by mouse, keyboard and rules."""

import csv
import re
from pathlib import Path
from typing import Any

import pytest

from tests.browser import (
    DESKTOP,
    LAPTOP,
    PHONE,
    Screen,
    broken_numbers,
    chromium,
    faults,
    on_drawings,
    on_two_pages,
    overlaps,
    pages_of_paper,
    too_wide,
    views_of_answers,
    visit,
)
from tests.flows.conftest import wait_until
from tests.whole.conftest import Project

__all__ = ["chromium", "visit"]
pytestmark = pytest.mark.long

PAGE = "reports/index.html"
SEEN = [(screen, theme) for screen in (DESKTOP, PHONE) for theme in ("light", "dark")]


@pytest.fixture(scope="module")
def report(example: Project) -> Path:
    """The page of a real run."""
    return example.folder / PAGE


def test_it_opens_from_disk_and_says_nothing(report: Path, visit: Any) -> None:
    page = visit(report)

    assert page.title().endswith(": goldmeter evaluation report")
    assert page.get_by_role("heading", level=1).inner_text() == "Evaluation report"


FOLLOWED = """async (links) => {
  const strange = [];
  for (const each of links) {
    const changed = new Promise((done) => window.addEventListener("hashchange", done, { once: true }));
    location.hash = each;
    await changed;
    const hint = document.getElementById("rows-hint").textContent;
    if (hint) strange.push(`${each}: ${hint}`);
  }
  return strange;
}"""
"""Follows links to answers; returns those that find none, or ask for what the page does not have."""


def test_every_link_leads_to_a_part_of_the_page(report: Path, visit: Any) -> None:
    page = visit(report)

    links = page.eval_on_selector_all("a", "links => links.map(each => each.getAttribute('href'))")
    targets = [each.partition("?")[0] for each in links]
    there = page.evaluate("targets => targets.filter(each => document.querySelector(each))", targets)
    assert {"#scores", "#slices", "#look", "#rows", "#data", "#checks", "#provenance"} <= {*targets}
    assert there == targets
    answers = {each for each in links if "?" in each}
    assert len(answers) > 50
    page.wait_for_selector("#rows-count:not(:empty)")
    assert page.evaluate(FOLLOWED, sorted(answers)[::4]) == []


@pytest.mark.parametrize(("screen", "theme"), SEEN)
def test_all_fits_the_screen_and_no_text_covers_another(report: Path, visit: Any, screen: Screen, theme: str) -> None:
    page = visit(report, screen, theme)
    unfold(page)

    assert too_wide(page) == []
    assert overlaps(page) == []


@pytest.mark.parametrize("width", [1280, 1024, 900, 390])
def test_no_number_lies_on_a_drawing_or_is_broken(report: Path, visit: Any, width: int) -> None:
    page = visit(report, Screen(width, 900))
    unfold(page)

    assert on_drawings(page) == []
    assert broken_numbers(page) == []


def test_no_serious_fault_of_accessibility(report: Path, visit: Any) -> None:
    page = visit(report)
    unfold(page, most=1)

    assert faults(page) == []
    for view in views_of_answers(page):
        assert (view, faults(page), too_wide(page)) == (view, [], [])


def test_a_search_a_choice_and_a_sort_show_what_fulfils_them(report: Path, visit: Any) -> None:
    answers = visit(report).locator("#rows")
    everything = shown(answers)

    control(answers, "Candidate").select_option(index=1)
    of_one = shown(answers)
    answers.get_by_role("searchbox").fill("THE ")
    found = shown(answers)
    control(answers, "Result").select_option("fail")
    failed = shown(answers)
    control(answers, "Sort").select_option("score, lowest first")
    scores = [float(each) for each in answers.locator("#rows-body .of-score b").all_inner_texts()]

    assert everything > of_one > found > failed > 0
    assert shown(answers) == failed
    assert set(answers.locator("#rows-body .of-score .verdict").all_inner_texts()) == {"fail"}
    assert scores == sorted(scores)
    answers.get_by_role("button", name="Clear", exact=True).click()
    control(answers, "Candidate").select_option(index=0)
    assert shown(answers) == everything


def test_pages_turn(report: Path, visit: Any) -> None:
    answers = visit(report).locator("#rows")
    assert shown(answers)
    first = answers.locator("#rows-body").inner_text()

    answers.get_by_role("button", name="Next", exact=True).click()
    second = answers.locator("#rows-body").inner_text()
    answers.get_by_role("button", name="Previous", exact=True).click()

    assert first != second
    assert answers.locator("#rows-body").inner_text() == first


def test_a_row_opens_to_all_candidates_answers_and_closes(report: Path, visit: Any) -> None:
    answers = visit(report).locator("#rows")
    assert shown(answers)
    candidates = control(answers, "Candidate").locator("option").all_inner_texts()[1:]
    row = answers.locator("#rows-body [aria-expanded]").first

    row.click()
    opened = answers.locator("#rows-body tr").nth(1)

    assert row.get_attribute("aria-expanded") == "true"
    assert set(opened.locator(".answer .name").all_inner_texts()) == {*candidates}
    assert opened.get_by_role("heading", name="Input").count() == 1
    row.click()
    assert row.get_attribute("aria-expanded") == "false"
    assert not opened.locator(".answer").count()


def test_what_is_shown_can_be_saved(report: Path, visit: Any) -> None:
    page = visit(report)
    answers = page.locator("#rows")
    answers.get_by_role("searchbox").fill("who is ")

    with page.expect_download() as download:
        answers.get_by_role("button", name="Save what is shown as CSV").click()
    with Path(download.value.path()).open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))

    assert len(rows) == shown(answers) > 0
    assert all("who is" in " ".join(row.values()).lower() for row in rows)


def test_the_theme_follows_the_system_until_one_is_chosen_and_that_is_remembered(report: Path, visit: Any) -> None:
    page = visit(report, theme="dark")
    button = page.get_by_role("button", name=re.compile("theme", re.IGNORECASE))
    dark = page.evaluate(BACKGROUND)

    while page.locator("html").get_attribute("data-theme") != "light":
        button.click()
    light = page.evaluate(BACKGROUND)
    page.reload()

    assert light == "rgb(255, 255, 255)" != dark
    assert page.evaluate(BACKGROUND) == light
    assert "light" in button.inner_text()


def test_paper_is_white_and_has_no_controls(report: Path, visit: Any) -> None:
    page = visit(report, theme="dark")
    page.emulate_media(media="print")
    printed = page.pdf(format="A4")

    assert page.evaluate(BACKGROUND) == "rgb(255, 255, 255)"
    assert page.locator("nav, button, input, select, .skip").locator("visible=true").count() == 0
    assert printed.startswith(b"%PDF")
    assert len(re.findall(rb"/Type ?/Page\b", printed)) > 1
    assert b"/Font" in printed


def test_what_is_folded_is_printed_but_for_the_checks_whose_table_says_all(report: Path, visit: Any) -> None:
    page = visit(report)
    page.get_by_role("button", name="Print").click()
    folded = page.evaluate(FOLDED)
    page.emulate_media(media="print")

    assert {"look", "scores", "checks", "provenance"} <= {*folded}
    wait_until(
        lambda: {*page.evaluate(FOLDED)} == {"checks"}, "all but the checks unfolds"
    )  # with a frame of the browser


def test_the_keyboard_alone_skips_searches_and_opens(report: Path, visit: Any) -> None:
    page = visit(report)
    focused = page.locator(":focus")

    page.keyboard.press("Tab")
    assert focused.inner_text().startswith("Skip to")
    page.keyboard.press("Enter")
    assert page.evaluate("document.querySelector(location.hash).contains(document.activeElement)")
    page.locator("#rows").get_by_role("searchbox").focus()
    page.keyboard.type("who ")
    while focused.get_attribute("aria-expanded") is None:
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert focused.get_attribute("aria-expanded") == "true"
    assert page.locator("#rows tbody .answer").count() > 0


FOLDED = """() => [...document.querySelectorAll("section:not(#rows) details:not([open])")].filter(
  (each) => !each.lastElementChild.checkVisibility({ contentVisibilityAuto: true })
).map((each) => each.closest("section").id)"""
BACKGROUND = "getComputedStyle(document.body).backgroundColor"


def unfold(page: Any, most: int | None = None) -> None:
    """Open the first answer of the list and what is folded; at most so many in a section, where checking takes long."""
    page.locator("#rows tbody [aria-expanded]").first.click()
    for section in page.locator("section").all():
        folded = section.locator("details").element_handles()[:most]
        page.evaluate("folded => folded.forEach((each) => { each.open = true; })", folded)


def control(answers: Any, label: str) -> Any:
    """The control of that label, which a browser takes to go on with the control's own options."""
    return answers.get_by_label(re.compile(f"^{label}"))


def shown(answers: Any) -> int:
    """How many answers the list says it has found, once it is there."""
    answers.locator("#rows-body tr").first.wait_for()
    return int(answers.get_by_role("status").inner_text().split()[0].replace(",", ""))


def test_all_answers_begin_within_six_screens(report: Path, visit: Any) -> None:
    page = visit(report, Screen(1440, 900))

    assert page.evaluate("document.getElementById('rows').offsetTop") <= 6 * 900


def test_two_pages_of_paper_say_the_conclusion_and_everything_is_printed_on_demand(report: Path, visit: Any) -> None:
    page = visit(report)
    assert on_two_pages(page)
    page.emulate_media(media="screen")
    page.get_by_role("button", name="Print: two pages").click()
    page.emulate_media(media="print")

    assert page.locator("#scores").is_visible()
    assert pages_of_paper(page) > 10
    page.reload()
    assert page.locator("#paper").inner_text() == "Print: everything"


@pytest.mark.parametrize("screen", [LAPTOP, PHONE])
def test_why_a_candidate_loses_on_a_slice_takes_three_clicks(example: Project, visit: Any, screen: Screen) -> None:
    page = visit(example.folder / PAGE, screen)
    page.get_by_role("link", name="Slices", exact=True).click()
    page.get_by_role("row", name=re.compile("^zh ")).first.locator("td a").first.click()
    page.wait_for_url("**candidate=borealis&metric=label&result=fail&slice.language=zh")
    first = page.locator("#rows-body .line").first

    assert first.evaluate("each => each.getBoundingClientRect().top < innerHeight")
    assert page.locator("#rows-count").inner_text() == "3 of 520 answers"
    first.locator("button").click()
    assert page.locator(".unfolded .answer").first.locator(".why").count() > 0


def test_what_one_has_right_and_another_wrong_about_years_takes_a_word_and_two_clicks(
    example: Project, visit: Any
) -> None:
    page = visit(example.folder / PAGE)
    page.get_by_role("link", name="All answers", exact=True).click()
    page.get_by_role("searchbox").fill("year")
    page.locator("[data-pair=pf]").click()
    lines = page.locator("#rows-body .line")

    assert lines.count() > 1
    assert [each for each in lines.all_inner_texts() if ("borealis" in each) != ("pass" in each)] == []


def test_labels_say_at_once_how_far_the_metric_agrees(example: Project, visit: Any) -> None:
    page = visit(example.folder / PAGE, LAPTOP, fragment="#rows?candidate=borealis&result=pass&sort=id%2B")
    page.wait_for_selector("#rows-body .line")
    for key in ("j", "l", "j", "l", "j", "w"):
        page.keyboard.press(key)
    page.get_by_label("Worth a look").select_option("metric and your label disagree")

    given = "3 labels given on this page; meaning_match agrees with 2 of 3."
    assert page.locator("#rows-given").inner_text() == given
    assert page.locator("#rows-count").inner_text() == "1 of 520 answers"


def test_a_link_to_a_row_opens_it_and_says_that_the_file_goes_with_it(example: Project, visit: Any) -> None:
    page = visit(example.folder / PAGE, permissions=["clipboard-read", "clipboard-write"])
    page.locator("#rows-body .unfolds").nth(3).click()
    opened = page.locator(".unfolded .which code").inner_text()
    page.get_by_role("button", name="Copy link").click()
    page.get_by_text("The link is copied. It leads to a file on this computer: send the file, too.").wait_for()
    link = page.evaluate("navigator.clipboard.readText()")
    again = visit(example.folder / PAGE, fragment=link[link.index("#") :])

    assert again.locator(".unfolded .which code").inner_text() == opened
