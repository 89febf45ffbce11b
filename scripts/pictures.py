"""Make docs/pictures from the bundled example: run it in a copy, open its pages, write what they and a terminal show.

Use: make pictures.
"""

import io
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from rich.console import Console
from rich.text import Text

from benchmarks import browser, project
from benchmarks.data import ROOT
from goldmeter.pipeline import params

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

FOLDER = ROOT / "docs/pictures"
WIDTH, HEIGHT = 1280, 900
COLUMNS = 100
REPORT, COMPARISON = "reports/index.html", "reports/comparison.html"
VERSIONS = {"v1": "aurora", "v2": "borealis"}
WORSE = 1
"""Exit status of flows.compare that is no error."""


def main() -> None:
    """Picture the report, the terminal, and a comparison of two versions."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with project.copy() as example, browser.chromium() as chromium:
        example.dvc("repro")
        _report(chromium, example.folder / REPORT)
        _said(example, "-m", "tasks", "plan-study")
        shutil.copy(example.folder / "reports/study.svg", FOLDER)
        _terminal(_said(example, "-m", "tasks", "summary"))
        _two_versions(example)
        _said(example, "-m", "flows.compare", *VERSIONS, "--html")
        page = _opened(chromium, example.folder / COMPARISON, "light")
        _picture(page, "comparison", page.locator("#comparison"))
        page = _opened(chromium, example.folder / COMPARISON, "light")
        page.locator("#comparison details").evaluate_all("every => every.forEach(each => each.open = true)")
        _picture(page, "robust", page.locator("#comparison details.robust").first)


def _report(chromium: "Browser", path: Path) -> None:
    for theme in ("light", "dark"):
        page = _opened(chromium, path, theme)
        _picture(page, f"report-{theme}", page.locator("body"))
    page = _opened(chromium, path, "light", "#rows")
    answers = page.locator("#rows")
    answers.get_by_role("searchbox").fill("moon")
    answers.locator("#rows-body [aria-expanded]").first.click()
    _picture(page, "answers", answers)
    page = _opened(chromium, path, "light", "#slices")
    _picture(page, "slices", page.locator("#slices"))
    page = _opened(chromium, path, "dark", "#rows?metric=label&pair=first+passes&view=inputs")
    page.locator("#rows-body .line").first.wait_for()
    _picture(page, "side-by-side", page.locator("#rows"))


def _opened(chromium: "Browser", path: Path, theme: Literal["light", "dark"], fragment: str = "") -> "Page":
    page = chromium.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme=theme)
    page.goto(path.as_uri() + fragment, wait_until="load")
    return page


def _picture(page: "Page", name: str, start: "Locator") -> None:
    """A window of the page, from an element on."""
    start.evaluate("each => each.scrollIntoView()")
    page.screenshot(path=FOLDER / f"{name}.png")
    page.close()


def _terminal(said: str) -> None:
    console = Console(record=True, width=COLUMNS, file=io.StringIO())
    console.print(Text.from_ansi(said))
    drawn = console.export_svg(title="python -m tasks summary")
    local = re.sub(r"@font-face \{.*?\}", "", drawn, flags=re.DOTALL)  # a picture fetches no fonts
    (FOLDER / "summary.svg").write_text(local, encoding="utf-8")


def _two_versions(example: project.Project) -> None:
    """The candidates of the example as two versions of one assistant: tags of the copy."""
    sections = params.effective(params.raw(ROOT / "params.yaml"))
    for tag, answers in VERSIONS.items():
        assistant = {"response": answers, "label": f"{answers}_correct"}
        example.configure(sections | {"dataset": sections["dataset"] | {"candidates": {"assistant": assistant}}})
        example.dvc("repro")
        for command in ("add --all", f"commit --quiet --message {tag}", f"tag {tag}"):
            who = ("-c", "user.name=example", "-c", "user.email=example@localhost")
            subprocess.run(["git", *who, *command.split()], cwd=example.folder, check=True)


def _said(example: project.Project, *arguments: str) -> str:
    """What a command of Python's says; RuntimeError when it fails."""
    environment = example.environment | {"COLUMNS": str(COLUMNS), "FORCE_COLOR": "1"}
    done = subprocess.run(
        [sys.executable, *arguments], cwd=example.folder, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode > WORSE:
        raise RuntimeError(f"{' '.join(arguments)}: exit status {done.returncode}\n{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    main()
