"""Past runs in Chromium: which plots a screen shows, that they are readable, and what is printed."""

import pytest

from goldmeter.history.series import series
from tests.browser import DESKTOP, PHONE, Screen, chromium, faults, overlaps, too_wide, visit
from tests.reporting.made import ROWS, written
from tests.reporting.past import nights, past

__all__ = ["chromium", "visit"]
pytestmark = pytest.mark.long

SMALLEST, TABLET = Screen(320, 640), Screen(800, 1100)
PLOTS = "#history .chart svg >> visible=true"
LETTERS = """svgs => svgs.flatMap((svg) => [...svg.querySelectorAll("text")].map((text) =>
  parseFloat(getComputedStyle(text).fontSize) * svg.getBoundingClientRect().width / svg.viewBox.baseVal.width))"""
OUTSIDE = """svgs => svgs.flatMap((svg) => {
  const card = svg.closest("figure").getBoundingClientRect();
  return [...svg.querySelectorAll("text")].filter((text) => {
    const box = text.getBoundingClientRect();
    return box.left < card.left || box.right > card.right || box.left < 0 || box.right > innerWidth;
  }).map((text) => text.textContent);
})"""


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """Two schedules: four nights, and forty with an alarm; fifteen metrics each."""
    rows = [*nights(4), *(row | {"schedule": "weekly"} for row in nights(40, dropped=35))]
    folder = tmp_path_factory.mktemp("history")
    page = written(ROWS, folder / "tables", history=series(past(*rows)))["reports/index.html"]
    (folder / "index.html").write_text(page, encoding="utf-8")
    return folder / "index.html"


@pytest.mark.parametrize(
    ("screen", "theme"), [(SMALLEST, "dark"), (PHONE, "dark"), (TABLET, "light"), (DESKTOP, "light")]
)
def test_a_screen_shows_one_plot_of_each_measure_whole_and_readable(path, visit, screen, theme):
    page = visit(path, screen, theme)
    plots = page.locator(PLOTS)

    assert plots.count() == page.locator("#history .chart").count() == 30
    assert min(plots.evaluate_all(LETTERS)) > 10
    assert plots.evaluate_all(OUTSIDE) == []
    assert overlaps(page) == []
    assert too_wide(page) == []
    if screen in {DESKTOP, PHONE}:
        page.evaluate("document.querySelectorAll('#history details').forEach((each) => { each.open = true; })")
        assert faults(page) == []


def test_paper_has_the_wide_plots_and_the_numbers_that_are_folded_on_a_screen(path, visit):
    page = visit(path, Screen(688, 1000))
    page.emulate_media(media="print")

    assert page.locator(".narrow >> visible=true").count() == 0
    numbers = page.locator("#history table")
    assert numbers.count() == numbers.locator("visible=true").count() > 0
