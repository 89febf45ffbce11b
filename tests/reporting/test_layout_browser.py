"""Scores and comparisons in Chromium at every width and on paper: long names, long numbers, many candidates."""

import pytest

from goldmeter.pipeline.tables import describe
from tests.browser import (
    DESKTOP,
    PAPER,
    PHONE,
    Screen,
    broken_numbers,
    chromium,
    on_drawings,
    overlaps,
    too_wide,
    visit,
)
from tests.reporting.made import column, row, score_table, written
from tests.reporting.test_version_page import of_one
from tests.wording.test_release import LOSS, measure

__all__ = ["chromium", "visit"]
pytestmark = pytest.mark.long

NAMES = [f"{'candidate' * 11}{n}" for n in range(12)]
ROWS = [
    row(f"q{n:02}", name, "Paris", (n + place) % 13 > place, 1e-3 * (n % 3), (n + place) % 7 / 7)
    for n in range(40)
    for place, name in enumerate(NAMES)
]
LEFT = {"not_asked": 0, "failed_base": 1, "failed_head": 1, "worst": -0.01234, "best": 0.01234}


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """Grades from 1 to 5, tiny scores, twelve candidates, and another version."""
    folder = tmp_path_factory.mktemp("layout")
    grades = [1 + 4 * each["meaning"] for each in ROWS]
    table = score_table(ROWS, "similarity", "semantic", 3, grades, [None] * len(ROWS))
    graded = describe(table, {"columns": {"similarity": column("similarity", "semantic", 3, (1.0, 5.0))}})
    other = of_one({f"{name}_1": measure("worse", difference=LOSS, unmeasured=LEFT) for name in ("f1", "x" * 40)})
    html = written(ROWS, folder, part_rows=1000, extra={"semantic": graded}, comparison=other)
    file = folder / "index.html"
    file.write_text(html["reports/index.html"], encoding="utf-8")
    return file


def opened(page):
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    return page


@pytest.mark.parametrize("width", [1280, 900, 320])
def test_no_number_lies_on_a_drawing_or_is_broken(visit, path, width):
    page = opened(visit(path, Screen(width, 900)))

    assert on_drawings(page) == []
    assert broken_numbers(page) == []
    assert overlaps(page) == []
    assert too_wide(page) == []


def test_no_number_is_broken_on_paper(visit, path):
    page = opened(visit(path, PAPER))
    page.get_by_role("button", name="Print").click()
    page.emulate_media(media="print")

    assert broken_numbers(page) == []
    assert on_drawings(page) == []


def test_a_long_name_takes_a_few_lines_and_is_there_in_full(visit, path):
    page = visit(path)
    names = page.locator(".estimates tbody th .name bdi, .pair summary bdi")
    lines = "all => all.map((each) => each.offsetHeight / parseFloat(getComputedStyle(each).lineHeight))"

    assert max(names.evaluate_all(lines)) < 3.1
    assert {*names.evaluate_all("all => all.map((each) => each.textContent)")} == {*NAMES}
    assert {*page.locator(".pair summary bdi").evaluate_all("all => all.map((each) => each.title)")} <= {*NAMES}


@pytest.mark.parametrize("screen", [DESKTOP, PHONE])
def test_the_names_of_the_matrix_stay_where_it_is_scrolled(visit, path, screen):
    scroll = visit(path, screen).locator(".scroll:has(.against)")

    left = "all => all.map((each) => each.getBoundingClientRect().left)"
    before = scroll.locator("tbody th").evaluate_all(left)
    moved = scroll.evaluate("each => { each.scrollLeft = 200; return each.scrollLeft; }")

    assert moved == 200
    assert scroll.locator("tbody th").evaluate_all(left) == before


def test_on_a_phone_a_pass_rate_stands_below_an_axis_of_its_own(visit, path):
    def axes(page):
        return page.locator("tbody.apart").first.locator(".ticks").locator("visible=true").all_text_contents()

    assert axes(opened(visit(path))) == ["135", "0%50%100%"]
    assert axes(opened(visit(path, PHONE))) == ["135", "0%50%100%"] * len(NAMES)
