"""The documentation as a site: hooks of MkDocs (mkdocs.yml) that read README and its like where they are."""

import html
import posixpath
import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
# Source outside docs/ → page of the site.
OUTSIDE = {
    "README.md": "index.md",
    ".github/CONTRIBUTING.md": "contributing.md",
    ".github/SECURITY.md": "security.md",
    "CHANGELOG.md": "changelog.md",
}
_SOURCES = {page: source for source, page in OUTSIDE.items()}
_FENCE = re.compile(r"(^```\w*\n.*?^```$)", re.DOTALL | re.MULTILINE)
_COMMENT = re.compile(r"<!-- .*? -->\n?", re.DOTALL)
# `name["label"]` or `name[(label)]`.
_LABEL = re.compile(r"(\w+)\[[(\"](.*?)[)\"]\]")
_LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")
_PICTURE = re.compile(r'<picture>\s*<source [^>]*srcset="([^"]+)">\s*<img alt="([^"]*)" src="([^"]+)">\s*</picture>')


def on_files(files: "Files", config: "MkDocsConfig") -> "Files":
    """Add the pages that lie outside docs/."""
    from mkdocs.structure.files import File

    for source, page in OUTSIDE.items():
        files.append(File.generated(config, page, content=(ROOT / source).read_text(encoding="utf-8")))
    return files


def on_page_markdown(markdown: str, page: "Page", **_: object) -> str:
    """A page for the site: without comments, its links led to pages of the site."""
    if page.file.src_uri == "changelog.md":
        page.meta["search"] = {"exclude": True}  # it names everything, and would come first
    return rewritten(markdown, page.file.src_uri)


def rewritten(markdown: str, page: str) -> str:
    """Markdown of a page as MkDocs reads it. page: its path in the site, such as `how-to/label.md`.

    >>> rewritten("[Labels](docs/how-to/label.md#choose), [CI](.ci/run)", "index.md")
    '[Labels](how-to/label.md#choose), CI'
    >>> rewritten("[Start](../../README.md)", "how-to/label.md")
    '[Start](../index.md)'
    """
    parts = _FENCE.split(markdown)  # at odd places: blocks of code
    for place in range(0, len(parts), 2):
        text = _PICTURE.sub(r"![\2](\3#only-light)\n![\2](\1#only-dark)", _COMMENT.sub("", parts[place]))
        parts[place] = _LINK.sub(lambda found: _link(found, page), text)
    for place in range(1, len(parts), 2):
        if parts[place].startswith("```mermaid\n"):
            parts[place] = chains(parts[place])
    return "".join(parts)


def chains(flowchart: str) -> str:
    """A flowchart of Mermaid as lines of boxes and arrows: the script that draws one would come from the network.

    >>> chains('flowchart LR\\n  a["your data"] --> b & c')
    '<div class="chains"><div><span>your data</span> → <span>b</span> <span>c</span></div></div>'
    """
    labels = dict(_LABEL.findall(flowchart))
    rows = [line.split("-->") for line in _LABEL.sub(r"\1", flowchart).splitlines() if "-->" in line]
    drawn: set[str] = set()
    lines = [" → ".join(_boxes(step, labels, drawn) for step in row) for row in rows]
    return f'<div class="chains">{"".join(f"<div>{line}</div>" for line in lines)}</div>'


def _boxes(step: str, labels: dict[str, str], drawn: set[str]) -> str:
    """The boxes of one step; drawn before, a box has the first line of its label."""
    boxes = []
    for name in map(str.strip, step.split("&")):
        text = [html.escape(line, quote=False) for line in html.unescape(labels.get(name, name)).split("<br>")]
        boxes.append(f"<span>{'<br>'.join(text[:1] if name in drawn else text)}</span>")
        drawn.add(name)
    return " ".join(boxes)


def _link(found: re.Match[str], page: str) -> str:
    """A link of the source as one of the site; its text alone if the site does not have what it leads to."""
    kind, text, target = found.groups()
    path, hash_sign, anchor = target.partition("#")
    if "://" in path or not path:
        return found[0]
    source = _SOURCES.get(page, f"docs/{page}")
    there = posixpath.normpath(posixpath.join(posixpath.dirname(source), path))
    there = OUTSIDE.get(there, there.removeprefix("docs/") if there.startswith("docs/") else "")
    if not there:
        return text
    return f"{kind}[{text}]({posixpath.relpath(there, posixpath.dirname(page) or '.')}{hash_sign}{anchor})"
