"""Pages in a real browser: opened from disk, offline, and watched."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import pytest

from benchmarks import browser

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

SERIOUS = {"serious", "critical"}
Theme = Literal["light", "dark"]


class Screen(NamedTuple):
    """Width and height in CSS pixels."""

    width: int
    height: int


DESKTOP, PHONE = Screen(1280, 900), Screen(390, 844)
LAPTOP = Screen(1440, 900)
PAPER = Screen(688, 1000)
"""A4 between the margins of the page."""
Visit = Callable[..., "Page"]
"""visit(path, screen=DESKTOP, theme="light", fragment="", folded=False, **options): the page.

fragment: of its address. folded: leave its sections as they are. options: of Playwright's new_context.
"""


@pytest.fixture(scope="module")
def chromium() -> Iterator["Browser"]:
    """A browser for the tests of a module; Playwright's event loop would fail asyncio in those of others."""
    try:
        browser.executable()
    except FileNotFoundError as error:
        pytest.skip(str(error))
    with browser.chromium() as found:
        yield found


@pytest.fixture
def visit(chromium: "Browser") -> Iterator[Visit]:
    """Opens a file; fails the test when its page wrote to the console, raised, asked for more, or opened a dialog."""
    said: list[str] = []

    def opened(
        path: Path,
        screen: Screen = DESKTOP,
        theme: Theme = "light",
        fragment: str = "",
        *,
        folded: bool = False,
        **options: Any,
    ) -> "Page":
        context = chromium.new_context(viewport=screen._asdict(), color_scheme=theme, offline=True, **options)
        page = context.new_page()
        page.set_default_timeout(20_000)
        _listen(page, path.as_uri(), said)
        page.goto(path.as_uri() + fragment, wait_until="load")
        if not folded:
            page.evaluate(UNFOLD)
        return page

    yield opened
    for context in chromium.contexts:
        context.close()
    if said:
        pytest.fail("\n".join(said), pytrace=False)


def faults(page: "Page") -> list[str]:
    """What axe-core finds of serious or critical faults, each with the first element that has it."""
    from axe_playwright_python.sync_playwright import Axe

    # Without this, axe-core describes each element that has no fault, too: that is half of its time.
    found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
    return [
        f"{each['id']} ({len(each['nodes'])}): {each['nodes'][0]['target']} {each['nodes'][0]['failureSummary']}"
        for each in found
        if each["impact"] in SERIOUS
    ]


def views_of_answers(page: "Page") -> Iterator[str]:
    """The row explorer with an answer opened in either view, with all filters, labelled, with the list of keys.

    All else leaves the page: axe-core takes half a minute to look through it each time.
    """
    page.evaluate("document.querySelectorAll('main > section:not(#rows)').forEach((each) => each.remove())")
    answers = page.locator("#rows")
    unfolds = answers.locator("#rows-body .unfolds").first
    if unfolds.get_attribute("aria-expanded") == "false":
        unfolds.click()
    yield "an opened answer"
    if answers.locator("#rows-fold").is_visible():
        answers.locator("#rows-fold").click()
    answers.get_by_label("View", exact=True).select_option("side by side")
    answers.locator("#rows-body .unfolds").first.click()
    answers.locator(".unfolded .answer").first.get_by_role("button", name="Right").click()
    yield "side by side"
    answers.get_by_role("button", name="Keys").click()
    yield "keys"
    page.keyboard.press("Escape")


def follow(page: "Page", click: Callable[[], object]) -> None:
    """Click a link to answers of the same page; the row explorer shows them then, not only the address."""
    page.evaluate("window.isThere = false; addEventListener('hashchange', () => { isThere = true; }, { once: true })")
    click()
    page.wait_for_function("isThere")


def on_two_pages(page: "Page") -> bool:
    """Whether paper takes at most two pages of A4 with nothing made smaller to fit the width."""
    page.emulate_media(media="print")
    page.set_viewport_size(PAPER._asdict())  # type: ignore[arg-type]
    wide = page.evaluate("document.scrollingElement.scrollWidth") > PAPER.width
    return not wide and pages_of_paper(page) <= 2


def pages_of_paper(page: "Page") -> int:
    """Pages of A4 that printing takes."""
    return len(re.findall(rb"/Type\s*/Page\b", page.pdf(format="A4")))


def too_wide(page: "Page") -> list[str]:
    """What reaches beyond the screen, if the page can be scrolled to the side; parts may scroll by themselves."""
    return page.evaluate(TOO_WIDE)  # type: ignore[no-any-return]


def overlaps(page: "Page") -> list[str]:
    """Texts that are drawn over each other."""
    return page.evaluate(OVERLAPS)  # type: ignore[no-any-return]


def on_drawings(page: "Page") -> list[str]:
    """Numbers of a table that lie on a drawing of their row."""
    found: list[str] = page.evaluate(ON_DRAWINGS)
    return found


def broken_numbers(page: "Page") -> list[str]:
    """Numbers that go on in a second line."""
    found: list[str] = page.evaluate(BROKEN_NUMBERS)
    return found


UNFOLD = "document.querySelectorAll('details.fold').forEach((each) => { each.open = true; })"
TOO_WIDE = """() => {
  const width = document.documentElement.clientWidth;
  if (document.scrollingElement.scrollWidth <= width) return [];
  const right = (each) => each.getBoundingClientRect().right;
  const wide = [...document.body.querySelectorAll("*")].filter((each) => right(each) > width + 1);
  return wide.slice(0, 20).map((each) => `${each.tagName}.${each.className} to ${right(each)}`);
}"""
ON_DRAWINGS = """() => {
  const meet = (one, other) => one.width && other.width && one.left < other.right - 1
    && other.left < one.right - 1 && one.top < other.bottom - 1 && other.top < one.bottom - 1;
  return [...document.querySelectorAll("tr:has(.plot)")].flatMap((row) => {
    const drawings = [...row.querySelectorAll(".plot")].map((each) => each.getBoundingClientRect());
    const numbers = [...row.querySelectorAll("data, b, .ticks span")];
    const on = (number) => [...number.getClientRects()].some((box) => drawings.some((each) => meet(box, each)));
    return numbers.filter(on).map((each) => `${row.cells[0].textContent.trim()}: ${each.textContent}`);
  });
}"""
BROKEN_NUMBERS = """() => {
  const lines = (each) => new Set([...each.getClientRects()].map((box) => Math.round(box.top))).size;
  return [...document.querySelectorAll("data, td b")].filter((each) => lines(each) > 1).map((each) => each.textContent);
}"""
OVERLAPS = """() => {
  const moves = (each) => ["sticky", "fixed"].includes(getComputedStyle(each).position);
  const seen = (box, element) => {
    for (let each = element; each && each !== document.body; each = each.parentElement) {
      const style = getComputedStyle(each);
      if (moves(each) || style.clipPath !== "none") return null;
      if (style.overflowX === "visible" && style.overflowY === "visible") continue;
      const clip = each.getBoundingClientRect();
      box = { left: Math.max(box.left, clip.left), right: Math.min(box.right, clip.right),
              top: Math.max(box.top, clip.top), bottom: Math.min(box.bottom, clip.bottom) };
    }
    return box.right - box.left > 2 && box.bottom - box.top > 4 ? box : null;
  };
  const boxes = [];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const text = texts.currentNode, range = document.createRange();
    const seeable = text.parentElement.checkVisibility({ opacityProperty: true, visibilityProperty: true });
    if (!text.data.trim() || !seeable || text.parentElement.closest("title, select")) continue;
    range.selectNodeContents(text);
    for (const { left, right, top, bottom } of range.getClientRects()) {
      const air = (bottom - top) / 4;  // lines may stand closer than their letters are high
      const box = seen({ left: left + 1, right: right - 1, top: top + air, bottom: bottom - air }, text.parentElement);
      if (box) boxes.push({ ...box, text });
    }
  }
  boxes.sort((one, other) => one.top - other.top);
  const found = [];
  for (let i = 0; i < boxes.length; i += 1) {
    for (let j = i + 1; j < boxes.length && boxes[j].top < boxes[i].bottom; j += 1) {
      const [one, other] = [boxes[i], boxes[j]];
      if (one.text !== other.text && one.left < other.right && other.left < one.right) {
        found.push(`${one.text.data.trim().slice(0, 40)} × ${other.text.data.trim().slice(0, 40)}`);
      }
    }
  }
  return found;
}"""


def _listen(page: "Page", address: str, said: list[str]) -> None:
    page.on("console", lambda message: said.append(f"console: {message.text}"))
    page.on("pageerror", lambda error: said.append(f"error: {error}"))
    page.on(
        "request", lambda request: said.append(f"request: {request.url}") if _page(request.url) != address else None
    )
    page.on("dialog", lambda dialog: (said.append(f"dialog: {dialog.message}"), dialog.dismiss()))
    page.on("popup", lambda popup: said.append(f"popup: {popup.url}"))


def _page(url: str) -> str:
    """An address without the part for the page itself."""
    return url.partition("#")[0]
