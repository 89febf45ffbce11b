"""Eight candidates and 25 values of a slice column in Chromium: tables, ways to the answers, paper, accessibility."""

from pathlib import Path
from typing import Any

import pytest

from tests.browser import (
    LAPTOP,
    PHONE,
    broken_numbers,
    chromium,
    faults,
    follow,
    on_drawings,
    on_two_pages,
    overlaps,
    too_wide,
    views_of_answers,
    visit,
)
from tests.reporting.made import row, written

__all__ = ["chromium", "visit"]
pytestmark = pytest.mark.long

NAMES = (
    "gpt-4.1-mini-2026-03-15",
    "claude-haiku-4.5-temperature-0",
    "qwen3-235b-a22b-instruct",
    "mistral-large",
    "llama-4-scout",
    "aurora",
    "borealis",
    "our-finetune-v17",
)
CUSTOMERS = [f"customer {n:02}{' of a rather long name, GmbH & Co. KG' * (n % 5 == 0)}" for n in range(25)]
ROWS = [
    row(
        f"ticket-{n:03}",
        name,
        "Paris, as everybody knows." if (n + place) % 9 > place else "I would guess Lyon, but I may be wrong.",
        (n + place) % 9 > place,
        (n * 7 + place) % 10 / 10,
        (n + place * 3) % 7 / 7,
        topic=CUSTOMERS[n % 25],
        input=f"What is the capital of the country in ticket {n}?",
    )
    for n in range(50)
    for place, name in enumerate(NAMES)
]
HEAT = "#slices .by-slice"


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("many")
    html = written(ROWS, folder / "tables", part_rows=1000, section={"slice_values": 25})["reports/index.html"]
    file = folder / "index.html"
    file.write_text(html, encoding="utf-8")
    return file


@pytest.fixture
def at(visit: Any, path: Path) -> Any:
    def opened(*arguments: Any, **options: Any) -> Any:
        page = visit(path, *arguments, **options)
        page.wait_for_selector("#rows-count:not(:empty)")
        return page

    return opened


@pytest.mark.parametrize(("screen", "theme"), [(LAPTOP, "light"), (PHONE, "dark")])
def test_all_fits_and_no_view_has_a_serious_fault(at: Any, screen: Any, theme: Any) -> None:
    page = at(screen, theme)
    assert faults(page) == []
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    assert [too_wide(page), overlaps(page), on_drawings(page), broken_numbers(page)] == [[], [], [], []]

    for view in views_of_answers(page):
        assert (view, faults(page), too_wide(page)) == (view, [], [])


def test_rates_by_slice_are_on_the_screen_the_lowest_first_and_a_click_shows_what_fails(at: Any) -> None:
    page = at(LAPTOP)
    heat = page.locator(HEAT)
    lines = heat.locator("tbody tr")
    lowest = [min(float(rate.split()[0]) for rate in line.locator("td a").all_inner_texts()) for line in lines.all()]

    assert heat.evaluate("each => each.parentElement.scrollWidth <= each.parentElement.clientWidth")
    assert len(lowest) == 25
    assert lowest == sorted(lowest)
    value, name = lines.first.locator("th").inner_text(), heat.locator("thead th").nth(8).inner_text()
    follow(page, lines.first.locator("td a").nth(7).click)
    assert page.get_by_label("topic", exact=True).locator("option:checked").inner_text() == value
    assert {*page.locator("#rows-body .of-candidate").all_inner_texts()} == {name}


def test_on_a_phone_the_names_stay_where_tables_are_scrolled_and_filters_are_folded(at: Any) -> None:
    page = at(PHONE)
    left = "each => each.getBoundingClientRect().left"
    for part, name in ((HEAT, "tbody th"), ("#rows-table", ".line .of-input")):
        if part != HEAT:
            page.locator("#rows-fold").click()
            page.get_by_label("View", exact=True).select_option("side by side")
        first = page.locator(f"{part} {name}").first
        moved = page.locator(part).evaluate(
            "each => { each.parentElement.scrollLeft = 300; return each.parentElement.scrollLeft; }"
        )
        assert (moved, first.evaluate(left)) == (
            300,
            page.locator(part).evaluate("each => each.parentElement.getBoundingClientRect().left"),
        )

    fold = page.locator("#rows-fold")
    assert (fold.inner_text(), fold.get_attribute("aria-expanded")) == ("Filters: side by side", "true")
    fold.click()
    assert page.get_by_label("Metric", exact=True).is_hidden()


def test_any_two_candidates_are_counted_against_each_other(at: Any) -> None:
    page = at(LAPTOP)
    page.get_by_label("Metric", exact=True).select_option("label")
    page.get_by_label("First candidate").select_option(NAMES[4])
    page.get_by_label("Second candidate").select_option(NAMES[7])
    numbers = {each.get_attribute("data-pair"): int(each.inner_text()) for each in page.locator("[data-pair]").all()}
    page.locator("[data-pair=pf]").click()

    right = {(each["id"], each["candidate"]): each["label"] for each in ROWS}
    pairs = ["".join("pf"[not right[f"ticket-{n:03}", NAMES[place]]] for place in (4, 7)) for n in range(50)]
    assert numbers == {pair: pairs.count(pair) for pair in ("pp", "pf", "fp", "ff")}
    assert page.locator("#rows-by").inner_text() == "by label"
    assert page.locator("#rows-count").inner_text() == f"{2 * pairs.count('pf')} of 400 answers"
    assert page.locator("#rows-body .of-score").locator("visible=true").count() == 0


def test_each_candidate_has_a_colour_and_a_mark_of_its_own(at: Any) -> None:
    swatches = at(LAPTOP).locator(f"{HEAT} thead .swatch")

    assert len({*swatches.evaluate_all("all => all.map((each) => each.style.color)")}) == 8
    assert len({*swatches.evaluate_all("all => all.map((each) => each.firstElementChild.getAttribute('d'))")}) == 8


def test_two_pages_of_paper_hold_the_lowest_slices_and_say_of_how_many(at: Any) -> None:
    page = at(LAPTOP)

    assert on_two_pages(page)
    assert page.locator(f"{HEAT} tbody tr").locator("visible=true").count() == 10
    assert page.get_by_text("The 10 lowest of 25.").is_visible()
    page.emulate_media(media="screen")
    page.get_by_role("button", name="Print: two pages").click()
    page.emulate_media(media="print")
    assert page.locator(f"{HEAT} tbody tr").locator("visible=true").count() == 25
