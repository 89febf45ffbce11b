"""The report as people use it, in Chromium: opened from disk, read, searched, printed, by mouse, keyboard and rules."""

import csv
import re
from pathlib import Path
from typing import Any

import pytest

from tasks.pipeline.yaml import dump_yaml, load_yaml
from tests.browser import (
    DESKTOP,
    PHONE,
    Screen,
    broken_numbers,
    chromium,
    faults,
    on_drawings,
    overlaps,
    too_wide,
    visit,
)
from tests.flows.conftest import wait_until
from tests.whole.conftest import Project

__all__ = ["chromium", "visit"]
pytestmark = pytest.mark.long

SYSTEMS = ("fid", "gpt35", "chatgpt", "gpt4", "newbing")
SEEN = [(screen, theme) for screen in (DESKTOP, PHONE) for theme in ("light", "dark")]


@pytest.fixture(scope="module", params=["bundled example", "EVOUNA-NQ"])
def report(request: pytest.FixtureRequest, example: Project) -> Path:
    """The page of a real run."""
    if request.param == "bundled example":
        return example.folder / "reports/index.html"
    data, project = request.getfixturevalue("evouna"), request.getfixturevalue("project")
    _map_evouna(project, data)
    project.repro()
    return Path(project.folder, "reports/index.html")


def _map_evouna(project: Project, data: Path) -> None:
    path = project.folder / "params.yaml"
    params = load_yaml(path)
    params["dataset"] |= {
        "path": str(data),
        "exclude": {"improper": True},
        "id": None,
        "references": "golden_answer",
        "reference_separator": "/",
        "candidates": {name: {"response": f"answer_{name}", "label": f"judge_{name}"} for name in SYSTEMS},
        "group": None,
        "slices": [],
    }
    params["semantic"] = {}
    path.write_text(dump_yaml(params), encoding="utf-8")


def test_it_opens_from_disk_and_says_nothing(report: Path, visit: Any) -> None:
    page = visit(report)

    assert page.title().endswith(": goldmeter evaluation report")
    assert page.get_by_role("heading", level=1).inner_text() == "Evaluation report"


def test_every_link_leads_to_a_part_of_the_page(report: Path, visit: Any) -> None:
    page = visit(report)

    targets = page.eval_on_selector_all("a", "links => links.map(each => each.getAttribute('href'))")
    there = page.evaluate("targets => targets.filter(each => document.querySelector(each))", targets)
    assert {"#scores", "#slices", "#look", "#rows", "#data", "#checks", "#provenance"} <= {*targets}
    assert there == targets


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


@pytest.mark.parametrize(("screen", "theme"), [(DESKTOP, "light"), (PHONE, "dark")])
def test_no_serious_fault_of_accessibility(report: Path, visit: Any, screen: Screen, theme: str) -> None:
    page = visit(report, screen, theme)
    unfold(page, most=1)

    assert faults(page) == []


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
    scores = [float(each) for each in answers.locator("tbody .of-score b").all_inner_texts()]

    assert everything > of_one > found > failed > 0
    assert shown(answers) == failed
    assert set(answers.locator("tbody .of-score .verdict").all_inner_texts()) == {"fail"}
    assert scores == sorted(scores)
    answers.get_by_role("button", name="Clear", exact=True).click()
    control(answers, "Candidate").select_option(index=0)
    assert shown(answers) == everything


def test_pages_turn(report: Path, visit: Any) -> None:
    answers = visit(report).locator("#rows")
    assert shown(answers)
    first = answers.locator("tbody").inner_text()

    answers.get_by_role("button", name="Next", exact=True).click()
    second = answers.locator("tbody").inner_text()
    answers.get_by_role("button", name="Previous", exact=True).click()

    assert first != second
    assert answers.locator("tbody").inner_text() == first


def test_a_row_opens_to_all_candidates_answers_and_closes(report: Path, visit: Any) -> None:
    answers = visit(report).locator("#rows")
    assert shown(answers)
    candidates = control(answers, "Candidate").locator("option").all_inner_texts()[1:]
    row = answers.locator("tbody [aria-expanded]").first

    row.click()
    opened = answers.locator("tbody tr").nth(1)

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
    answers.locator("tbody tr").first.wait_for()
    return int(answers.get_by_role("status").inner_text().split()[0].replace(",", ""))
