"""README and docs/ as text, and what stands in their blocks."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.small_project import ROOT

README = ROOT / "README.md"
PAGES = [README, ROOT / ".github/CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
_BLOCK = re.compile(r"(?:<!-- (?P<mark>[^\n]*?) -->\n)?^```(?P<kind>\w+)\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE)
_STATUS = re.compile(r"# exit status (\d)$")


class Block(NamedTuple):
    """A fenced block. mark: the comment right above it, such as `file: data/mine.csv` or `not run: why`."""

    kind: str
    text: str
    mark: str

    @property
    def runs(self) -> bool:
        """Whether its commands are meant to be run where nothing but the clone is there."""
        return self.kind == "console" and not self.mark.startswith("not run")


class Command(NamedTuple):
    """A line behind `$ `, and the exit status it ends with."""

    line: str
    status: int


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page, in order."""
    return [Block(each["kind"], each["text"], each["mark"] or "") for each in _BLOCK.finditer(page.read_text("utf-8"))]


def commands(block: Block) -> Iterator[Command]:
    """The commands of a console block."""
    for line in block.text.splitlines():
        if line.startswith("$ "):
            status = _STATUS.search(line)
            yield Command(line.removeprefix("$ "), int(status[1]) if status else 0)


def without_blocks(page: Path) -> str:
    """A page without its fenced blocks and what cog makes it of."""
    text = re.sub(r"<!-- \[\[\[cog.*?\]\]\] -->", "", page.read_text("utf-8"), flags=re.DOTALL)
    return _BLOCK.sub("", text)


def anchors(page: Path) -> set[str]:
    """The anchors that GitHub gives a page's headings."""
    headings = re.findall(r"^#+ (.*)$", without_blocks(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def links(page: Path) -> list[tuple[str, str]]:
    """Path and anchor of each link and picture that leads into the project; within a page the path is empty."""
    found = re.findall(r"\]\(([^)\s]+)\)|(?:src|srcset)=\"([^\"]+)\"", without_blocks(page))
    return [
        (path, anchor) for path, _, anchor in (("".join(each)).partition("#") for each in found) if "://" not in path
    ]
