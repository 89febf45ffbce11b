"""The comparison in HEAD's report: there, whole, and harmless whatever its texts hold."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from tasks.comparison.document import rounded
from tasks.comparison.page import write_page
from tasks.comparison.run import Request, compare_versions
from tasks.errors import VersionError
from tasks.versions import Version
from tests.comparison.sample import GATE
from tests.comparison.test_comparison_show import HOSTILE
from tests.comparison.test_comparison_words import document as made_document
from tests.comparison.test_comparison_words import measure, pair
from tests.reporting.made import ROWS, inputs, row, written

PAGE = "reports/index.html"
VOID = {"meta", "br", "col", "link", "img", "input", "hr"}


class Tags(HTMLParser):
    """The names of all tags, the ids, and whether each tag is closed."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.ids: list[str] = []
        self.open: list[str] = []
        self.attributes: set[str] = set()
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.names.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.ids += [value for name, value in attrs if name == "id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def sides(tmp_path: Path) -> Any:
    """A comparison of two versions whose newer one gives hostile answers."""
    older = [row(f"q{n}", "aurora", "Paris", True, 1.0, 0.9) for n in range(21)]
    newer = [
        row(f"q{n}", "aurora", HOSTILE[n % len(HOSTILE)], False, 0.0, 0.1, topic="<b>[red]|\x1b[31m") for n in range(21)
    ]
    found = []
    for name, rows in (("<i>a\x1b[31m", older), ("b", newer)):
        folder = tmp_path / name
        inputs(rows, folder / "data")
        found.append(Version(name, folder, None))
    return compare_versions(*found, GATE, Request()), newer


def test_the_page_has_the_comparison_and_every_tag_of_it_is_closed(tmp_path: Path) -> None:
    found, newer = sides(tmp_path)

    (tmp_path / "page").mkdir()
    html = page(newer, tmp_path / "page", found)

    tags = Tags(html)
    assert tags.open == []
    assert sorted(set(tags.ids)) == sorted(tags.ids)
    assert {"comparison", "scores"} <= set(tags.ids)
    assert '<a href="#comparison">' in html
    assert "21 rows changed result" in html
    assert "wholly a loss" in html


def test_nothing_of_others_is_markup(tmp_path: Path) -> None:
    found, newer = sides(tmp_path)
    (tmp_path / "page").mkdir()

    html = page(newer, tmp_path / "page", found)

    tags = Tags(html)
    assert not tags.names & {"script", "img", "iframe", "link", "object"}
    assert not {name for name in tags.attributes if name.startswith("on")}
    assert "<b>[red]" not in html
    assert "<i>a" not in html
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f\u202e]", html)
    assert len(html) < 2_000_000


def test_a_number_that_is_unknown_is_a_dash(tmp_path: Path) -> None:
    split = {"base": None, "head": None, "shared": None, "composition": None}
    unknown = {"value": None, "low": None, "high": None, "p_value": 1.0, "method": "undefined score"}
    hollow = measure(base=None, head=None, difference=unknown, detectable=None, rows_needed=None, split=split)
    flips = {"rows": 0, "lost": {}, "gained": {}, "worst": []}
    gate = {"margin": 0.0, "confidence": 0.95}
    found = made_document(pairs=[pair({"bleu.value": hollow}, flips=flips)], gate=gate)

    section = page(ROWS, tmp_path, found).partition('id="comparison"')[2].partition("</section>")[0]

    assert "no interval" in section
    assert section.count('<td class="right-aligned">–</td>') == 3  # before, after, what could have been found


def test_without_a_comparison_there_is_no_word_of_it(tmp_path: Path) -> None:
    html = written(ROWS, tmp_path)[PAGE]

    assert 'id="comparison"' not in html
    assert 'id="candidates"' in html


def test_the_same_comparison_makes_the_same_bytes(tmp_path: Path) -> None:
    found, newer = sides(tmp_path)
    for name in "xy":
        (tmp_path / name).mkdir()

    assert page(newer, tmp_path / "x", found) == page(newer[::-1], tmp_path / "y", json.loads(json.dumps(found)))


def page(rows: Any, folder: Path, found: Any) -> str:
    """The page of these rows with a comparison."""
    from tasks.report import Params, Report, report
    from tests.reporting.made import SECTION

    made, documents = inputs(rows, folder)
    params = Params(report=Report(**SECTION))
    (files,) = report(*made, params, documents=documents, comparison=rounded(found))
    return files[PAGE]


def test_a_version_without_its_numbers_has_no_page(tmp_path: Path, project: Path) -> None:
    found, newer = sides(tmp_path)
    inputs(newer, project / "run/data")

    with pytest.raises(VersionError, match=r"run: no reports/metrics\.json there"):
        write_page(Version("run", project / "run", None), found, tmp_path / "page.html")
