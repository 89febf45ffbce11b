"""The sheet in Chromium: labelled by keyboard, kept when the page is opened again, saved; texts are texts."""

from pathlib import Path
from typing import Any

import pytest

from goldmeter.labelling.sheet import as_page, read_sheet
from tests.browser import DESKTOP, PHONE, Screen, chromium, faults, overlaps, too_wide, visit
from tests.hostile_texts import TEXTS

__all__ = ["chromium", "visit"]
pytestmark = pytest.mark.long

NAME = "active-3-of-9-0f3a9c1d"
FORMULA = '=HYPERLINK("http://x","y")'


def row(number: int, **texts: Any) -> dict[str, Any]:
    facts = {"id": f"q{number}", "candidate": "aurora", "input": f"Question {number}?", "references": ["one", "two"]}
    design = {"label_probability": "0.25", "earlier_share": "0.0", "row": f"r{number}-x", "sheet": NAME}
    return facts | {"response": f"answer {number}"} | design | texts


ROWS = [row(1), row(2, response=FORMULA, input=None), row(3, response="", id=FORMULA)]


@pytest.fixture
def page(visit: Any, tmp_path: Path) -> Any:
    return visit(saved(tmp_path, ROWS))


def saved(folder: Path, rows: list[dict[str, Any]]) -> Path:
    file = folder / "sheet.html"
    file.write_text(as_page(NAME, rows), encoding="utf-8", newline="")
    return file


def download(page: Any, folder: Path) -> Path:
    with page.expect_download() as found:
        page.keyboard.press("s")
    file = folder / found.value.suggested_filename
    found.value.save_as(file)
    return file


def test_rows_are_labelled_and_saved_by_keyboard(page: Any, tmp_path: Path) -> None:
    page.get_by_label("Your name").fill("Anna =B")
    page.keyboard.press("Escape")
    for key in "1", "0", "c":
        page.keyboard.press(key)
    page.keyboard.type("=1 is not an answer, 0 neither")
    page.keyboard.press("Escape")
    page.keyboard.press("r")
    page.keyboard.press("Enter")
    page.get_by_label("Add a reference").fill("=three")
    page.keyboard.press("Escape")
    page.keyboard.press("u")

    assert page.locator("#progress").inner_text() == "3 of 3 labelled"
    file = download(page, tmp_path)
    found = read_sheet(file)
    assert file.name == f"{NAME}-Anna-B.csv"
    assert [(one.row, one.label, one.comment) for one in found] == [
        ("r1-x", True, None), ("r2-x", False, None), ("r3-x", "unsure", "=1 is not an answer, 0 neither"),
    ]  # fmt: skip
    assert [(one.reference, one.add) for one in found] == [(None, None), (None, None), ("wrong", "=three")]
    assert [one.id for one in found] == ["q1", "q2", FORMULA]
    assert {(one.probability, one.share, one.rater) for one in found} == {(0.25, 0.0, "Anna =B")}


def test_keys_move_and_the_same_key_takes_a_label_back(page: Any) -> None:
    def after(*keys: str) -> str:
        for key in keys:
            page.keyboard.press(key)
        return f"{page.locator('#place').inner_text()}, {page.locator('#progress').inner_text()}"

    assert after("k") == "1 of 3, 0 of 3 labelled"
    assert after("1") == "2 of 3, 1 of 3 labelled"
    assert after("j", "ArrowRight", "ArrowDown") == "3 of 3, 1 of 3 labelled"
    assert after("n") == "2 of 3, 1 of 3 labelled"
    assert after("ArrowLeft", "1") == "1 of 3, 0 of 3 labelled"
    assert after("0", "k") == "1 of 3, 1 of 3 labelled"
    assert page.get_by_role("button", name="Wrong").get_attribute("aria-pressed") == "true"


def test_labels_are_there_when_the_page_is_opened_again(page: Any) -> None:
    page.keyboard.press("1")
    page.reload()

    assert page.locator("#progress").inner_text() == "1 of 3 labelled"
    assert page.locator("#place").inner_text() == "2 of 3"


def test_hostile_texts_are_shown_as_text(visit: Any, tmp_path: Path) -> None:
    rows = [
        row(number, input=text, response=text, references=[text], id=text, candidate=text)
        for number, text in enumerate(TEXTS)
    ]

    page = visit(saved(tmp_path, rows))

    for text in TEXTS:
        shown = page.evaluate("['input', 'response'].map((id) => document.getElementById(id).textContent)")
        assert shown == [text, text]
        assert page.evaluate("window.breached") is None
        assert page.evaluate("document.querySelectorAll('article :is(script, img, iframe, a, svg)').length") == 0
        page.keyboard.press("j")
    assert too_wide(page) == []


@pytest.mark.parametrize(("screen", "theme"), [(DESKTOP, "light"), (PHONE, "dark"), (Screen(320, 600), "light")])
def test_it_fits_and_has_no_serious_fault_of_accessibility(
    visit: Any, tmp_path: Path, screen: Screen, theme: str
) -> None:
    long = "A long answer, of many words. " * 400
    page = visit(saved(tmp_path, [row(1, response=long, references=[long]), row(2)]), screen, theme)
    page.keyboard.press("1")
    page.keyboard.press("k")

    assert too_wide(page) == []
    assert overlaps(page) == []
    assert faults(page) == []
