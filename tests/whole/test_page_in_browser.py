"""The report as people use it, in Chromium: opened from disk, read, searched, printed, by mouse, keyboard and rules."""

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
    follow,
    on_drawings,
    on_two_pages,
    overlaps,
    pages_of_paper,
    too_wide,
    views_of_answers,
    visit,
)
from tests.flow_project import wait_until
from tests.whole.conftest import Project

__all__ = ["chromium", "visit"]
pytestmark = pytest.mark.long

PAGE = "reports/index.html"
SEEN = [(DESKTOP, "light"), (PHONE, "dark")]


@pytest.fixture(scope="module")
def report(example: Project) -> Path:
    """The page of a real run."""
    return example.folder / PAGE


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


def test_it_opens_from_disk_and_every_link_leads_to_a_part_of_it(report: Path, visit: Any) -> None:
    page = visit(report, LAPTOP)

    assert page.title().endswith(": goldmeter evaluation report")
    assert page.get_by_role("heading", level=1).inner_text() == "Evaluation report"
    links = page.eval_on_selector_all("a", "links => links.map(each => each.getAttribute('href'))")
    targets = [each.partition("?")[0] for each in links]
    there = page.evaluate("targets => targets.filter(each => document.querySelector(each))", targets)
    assert there == targets
    answers = {each for each in links if "?" in each}
    assert len(answers) > 50
    page.wait_for_selector("#rows-count:not(:empty)")
    assert page.evaluate(FOLLOWED, sorted(answers)[::4]) == []


def test_the_first_screen_has_few_words_and_the_page_few_screens(example: Project, visit: Any) -> None:
    page = visit(example.folder / PAGE, folded=True)

    assert len(" ".join(page.evaluate(ON_THE_FIRST_SCREEN)).split()) <= 90
    assert page.evaluate("document.body.scrollHeight") <= 6 * DESKTOP.height


def test_the_card_is_copied_as_markdown_or_shown_to_be_copied(example: Project, visit: Any) -> None:
    page = visit(example.folder / PAGE, folded=True)
    button, title = page.locator("button.copy"), page.locator("#glance-title").inner_text()
    page.evaluate(
        "() => { window.prompt = (_, text) => { window.shown = text; };"
        " navigator.clipboard.writeText = async () => { throw 1; }; }"
    )

    button.click()
    page.wait_for_function("window.shown")
    page.evaluate("() => { navigator.clipboard.writeText = async (text) => { window.copied = text; }; }")
    button.click()
    page.wait_for_selector("button.copy.done")

    assert page.evaluate("window.copied") == page.evaluate("window.shown")
    copied = page.evaluate("window.copied").replace("\\", "")
    assert copied.startswith(f"**{title}**\n\n| candidate | label | interval | by |")


@pytest.mark.parametrize("section", ["scores", "checks"])
def test_an_address_opens_the_section_that_it_leads_to(report: Path, visit: Any, section: str) -> None:
    page = visit(report, fragment=f"#{section}", folded=True)

    assert page.locator(f"#{section} > details").get_attribute("open") is not None
    assert page.evaluate(f"document.getElementById('{section}').getBoundingClientRect().top < innerHeight")


@pytest.mark.parametrize(("screen", "theme"), SEEN)
def test_all_fits_the_screen_and_no_text_covers_another(report: Path, visit: Any, screen: Screen, theme: str) -> None:
    page = visit(report, screen, theme)
    unfold(page)

    assert [too_wide(page), overlaps(page), on_drawings(page), broken_numbers(page)] == [[], [], [], []]


def test_no_serious_fault_of_accessibility(report: Path, visit: Any) -> None:
    page = visit(report)
    unfold(page, most=1)

    assert faults(page) == []
    for view in views_of_answers(page):
        assert (view, faults(page), too_wide(page)) == (view, [], [])


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
ON_THE_FIRST_SCREEN = """() => {
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), said = [];
  while (texts.nextNode()) {
    const range = document.createRange();
    range.selectNodeContents(texts.currentNode);
    const box = range.getBoundingClientRect();
    const seen = texts.currentNode.parentElement.checkVisibility({ contentVisibilityAuto: true });
    if (seen && box.width > 2 && box.right > 0 && box.top < innerHeight) said.push(texts.currentNode.data);
  }
  return said;
}"""
BACKGROUND = "getComputedStyle(document.body).backgroundColor"


def unfold(page: Any, most: int | None = None) -> None:
    """Open the first answer of the list and what is folded; at most so many in a section, where checking takes long."""
    page.locator("#rows tbody [aria-expanded]").first.click()
    for section in page.locator("section").all():
        folded = section.locator("details").element_handles()[:most]
        page.evaluate("folded => folded.forEach((each) => { each.open = true; })", folded)


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
    page = visit(example.folder / PAGE, screen, folded=True)
    page.get_by_role("heading", name="Slices", exact=True).click()
    follow(page, page.get_by_role("row", name=re.compile("^zh ")).first.locator("td a").first.click)
    chosen = {"candidate=borealis", "metric=label", "result=fail", "slice.language=zh"}
    assert {*page.url.partition("#rows?")[2].split("&")} == chosen
    first = page.locator("#rows-body .line").first

    assert first.evaluate("each => each.getBoundingClientRect().top < innerHeight")
    assert page.locator("#rows-count").inner_text() == "3 of 520 answers"
    first.locator("button").click()
    assert page.locator(".unfolded .answer").first.locator(".why").count() > 0


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
    again = visit(example.folder / PAGE, fragment=link[link.index("#") :], folded=True)

    assert again.locator(".unfolded .which code").inner_text() == opened
