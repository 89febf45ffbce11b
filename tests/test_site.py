"""The documentation as a site: all pages, nothing from the network, a search that works from disk."""

import doctest
import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from scripts import documentation
from tests.browser import chromium
from tests.documents import PAGES
from tests.small_project import ROOT

if TYPE_CHECKING:
    from playwright.sync_api import Browser

__all__ = ["chromium"]
NAMED = re.findall(r"^ *- (?:[\w ]+: )?(\S+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE)


class Loaded(HTMLParser):
    """The addresses that a page loads when it opens; those of links are followed by people only."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = ("src", "srcset", "data", "poster", *(["href"] if tag != "a" else []))
        self.addresses += [value for name, value in attrs if name in names and value]


def test_every_page_is_in_the_navigation_once() -> None:
    pages = {str(page.relative_to(ROOT)) for page in PAGES} | {*documentation.OUTSIDE}

    assert sorted(NAMED) == sorted(documentation.OUTSIDE.get(page, page.removeprefix("docs/")) for page in pages)


def test_examples_of_its_hooks() -> None:
    assert doctest.testmod(documentation).failed == 0


def test_blocks_of_code_stay_as_they_are() -> None:
    code = "```python\nlinks = table[row](docs/tutorial.md)  # <!-- stays -->\n```"

    assert (
        documentation.rewritten(f"<!-- goes -->\n{code}\n[a](docs/tutorial.md)", "index.md")
        == f"{code}\n[a](tutorial.md)"
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the site: `mkdocs build --strict` follows every link and anchor."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", folder]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    return folder


@pytest.mark.long
def test_no_page_loads_anything_from_the_network(site: Path) -> None:
    pages = sorted(site.rglob("*.html"))
    loaded = {page.name: Loaded() for page in pages}
    for page in pages:
        loaded[page.name].feed(page.read_text(encoding="utf-8"))
    styles = "".join(path.read_text(encoding="utf-8") for path in site.rglob("*.css"))

    assert len(pages) > len(NAMED)
    assert [(name, each) for name, page in loaded.items() for each in page.addresses if "//" in each] == []
    assert re.findall(r"url\([\"']?(?:https?:)?//[^)]*|@import[^;]*", styles) == []


@pytest.mark.long
def test_the_search_index_has_the_words_of_the_pages(site: Path) -> None:
    found = json.loads((site / "search/search_index.json").read_text(encoding="utf-8"))["docs"]

    assert any("prediction-powered" in each["text"] and each["location"].startswith("explanation/") for each in found)
    assert not any("cog" in each["text"] and "outl(" in each["text"] for each in found)


@pytest.mark.long
def test_the_search_works_from_disk(site: Path, chromium: "Browser") -> None:
    page = chromium.new_page(offline=True)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto((site / "how-to/label.html").as_uri())
    page.click("input.md-search__input")
    page.keyboard.type("kappa")  # the search listens to keys
    page.wait_for_selector(".md-search-result__item")

    assert "Read the report" in page.inner_text(".md-search-result__list")
    assert [url for url in asked if not url.startswith(("file:", "data:", "about:"))] == []
