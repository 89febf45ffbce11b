"""The section on classes in Chromium: a number of the confusion matrix opens its answers."""

import pytest

from tests.browser import DESKTOP, PHONE, chromium, faults, visit
from tests.reporting.made import written
from tests.reporting.made_classes import class_rows, lexical

__all__ = ["chromium", "visit"]
pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    folder, rows = tmp_path_factory.mktemp("classes"), class_rows()
    file = folder / "index.html"
    html = written(rows, folder / "tables", extra=lexical(rows))["reports/index.html"]
    file.write_text(html, encoding="utf-8")
    return file


def test_a_number_of_the_confusion_matrix_opens_its_answers(visit, path):
    page = visit(path, DESKTOP)
    page.locator("#classes .fold details", has_text="borealis").first.evaluate("(each) => { each.open = true; }")

    for label, column, ids in (("billing", 1, ["q02", "q03"]), ("login", 3, ["q05"]), ("other", 2, ["q07", "q08"])):
        row = page.locator("#classes .confusion tr", has=page.locator("th", has_text=label)).last
        page.evaluate("location.hash = ''")
        page.locator("#classes details:has(.confusion)").last.evaluate("(each) => { each.open = true; }")
        row.locator("td").nth(column).locator("a").click()
        page.locator("#rows-count", has_text=f"{len(ids)} of 20").wait_for()
        shown = page.locator("#rows-body .of-id").all_inner_texts()
        assert sorted(text.split()[0] for text in shown if text.strip()) == ids


def test_it_has_no_faults_and_fits(visit, path):
    page = visit(path, PHONE)
    page.evaluate("document.querySelectorAll('main > section:not(#classes, #rows)').forEach((each) => each.remove())")
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")

    assert not faults(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE.width
