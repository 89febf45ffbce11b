"""Make docs/pictures from the bundled example and made rows: run copies, write what their pages and a terminal show.

Use: make pictures.
"""

import io
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, Literal

from rich.console import Console
from rich.text import Text

from benchmarks import browser, project
from benchmarks.data import ROOT, plain
from goldmeter.pipeline import params
from tests.judge_server import serving

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

FOLDER = ROOT / "docs/pictures"
WIDTH, HEIGHT = 1280, 900
COLUMNS = 100
MARGIN = 4
"""Pixels around an element."""
REPORT, COMPARISON = "reports/index.html", "reports/comparison.html"
VERSIONS = {"v1": "aurora", "v2": "borealis"}
PLANTED = ("sci-001", "geo-006", "tec-010")
"""Rows of the example that get the references of the next row."""
ALL = 50
"""Rows with a card, so that each of these has one."""
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
        _terminal("summary", _said(example, "-m", "tasks", "summary"))
        _two_versions(example)
        _said(example, "-m", "flows.compare", *VERSIONS, "--html")
        page = _opened(chromium, example.folder / COMPARISON, "light")
        _picture(page, "comparison", page.locator("body"))
        page = _opened(chromium, example.folder / COMPARISON, "light")
        page.locator("#comparison details").evaluate_all("every => every.forEach(each => each.open = true)")
        _picture(page, "robust", page.locator("#comparison details.robust").first)
    with browser.chromium() as chromium:
        _stop_early(chromium)
        _references(chromium)
    _noise()


def _stop_early(chromium: "Browser") -> None:
    """How the limits of two systems narrow until a target is decided, by a judge on loopback."""
    answers = _products(2_000, {"aurora": (97, 3), "borealis": (60, 40)})
    with project.copy() as made, serving() as server:
        asked = {"provider": "openai", "base_url": server.url, "model": "gpt-5-mini", "api_key_env": None}
        _run(made, answers, judge=asked | {"stop": {"meaning_match": 0.8}})
        page = _opened(chromium, made.folder / REPORT, "light", "#evidence")
        _picture(page, "stop-early", page.locator("#evidence figure").first)


def _references(chromium: "Browser") -> None:
    """The English rows of the example without labels, some with wrong references."""
    rows = [json.loads(line) for line in (ROOT / "data/examples/qa.jsonl").read_text(encoding="utf-8").splitlines()]
    wrong = {one["id"]: following["references"] for one, following in pairwise(rows) if one["id"] in PLANTED}
    english = [row | {"references": wrong.get(row["id"], row["references"])} for row in rows if row["language"] == "en"]
    with project.copy() as made:
        _run(made, english, report={"rows_to_look_at": ALL})
        page = _opened(chromium, made.folder / REPORT, "light", "#references")
        listed = page.locator("details:has(> summary #references)")
        listed.locator("details").first.evaluate("each => each.open = true")
        _picture(page, "references", listed)


def _noise() -> None:
    """Four answers to each question, of a system that varies and of one that does not."""
    rows = _products(200, {"aurora": (4, 1), "borealis": (0.003, 0.001)}, draws=4)
    with project.copy() as made:
        _run(made, rows, dataset={"draw": "draw"})
        _terminal("noise", _said(made, "-m", "tasks", "noise"))


def _products(count: int, systems: Mapping[str, tuple[float, float]], draws: int = 1) -> Iterable[dict[str, Any]]:
    """Questions for the products of numbers.

    systems: name → a, b of the Beta distribution of its chance to answer a question right.
    """
    rng = Random(0)  # noqa: S311 (no secret)
    for number in range(count):
        one, other = rng.randint(11, 99), rng.randint(11, 99)
        chances = {name: rng.betavariate(*ab) for name, ab in systems.items()}
        for draw in range(draws):
            answers = {name: f"{one * other + 10 * (rng.random() > right)}" for name, right in chances.items()}
            question = {"question": f"What is {one} × {other}?", "references": [f"{one * other}"]}
            yield {"id": f"q{number}", "draw": draw, **question, **answers}


def _run(made: project.Project, rows: Iterable[Mapping[str, Any]], **sections: Mapping[str, Any]) -> None:
    """Run the copy on rows of aurora and borealis, without labels; sections: what differs in params.yaml."""
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (made.folder / "data/examples/made.jsonl").write_text(text, encoding="utf-8")
    shipped = params.effective(params.raw(ROOT / "params.yaml"))
    candidates = {name: {"response": name} for name in VERSIONS.values()}
    dataset = plain(shipped["dataset"]) | {"path": "data/examples/made.jsonl", "id": "id", "candidates": candidates}
    settings = shipped | {"dataset": dataset, "lexical": {}, "semantic": {}}
    made.configure(settings | {name: settings[name] | changed for name, changed in sections.items()})
    made.dvc("repro")


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
    """An element of the page, over the whole width of a window and at most as high as one."""
    start.evaluate(f"each => scrollTo(0, each.getBoundingClientRect().top + scrollY - {MARGIN})")
    top, bottom = start.evaluate("each => (({top, bottom}) => [top, bottom])(each.getBoundingClientRect())")
    top = max(top - MARGIN, 0.0)
    height = min(bottom + MARGIN, HEIGHT) - top
    page.screenshot(path=FOLDER / f"{name}.png", clip={"x": 0.0, "y": top, "width": WIDTH, "height": height})
    page.close()


def _terminal(command: str, said: str) -> None:
    console = Console(record=True, width=COLUMNS, file=io.StringIO())
    console.print(Text.from_ansi(said))
    drawn = console.export_svg(title=f"python -m tasks {command}")
    local = re.sub(r"@font-face \{.*?\}", "", drawn, flags=re.DOTALL)  # a picture fetches no fonts
    (FOLDER / f"{command}.svg").write_text(local, encoding="utf-8")


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
