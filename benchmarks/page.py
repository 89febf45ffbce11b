"""The report of 20,000 answers in Chromium: its size, how soon it shows, how fast it searches, filters and sorts."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks import browser
from benchmarks.data import generated_sections, real_rows, write_generated
from benchmarks.project import copy
from benchmarks.report import Floor, Result, Table, Value, paragraphs

if TYPE_CHECKING:
    from playwright.sync_api import Page

ROWS = 20_000
REPEATS = 5
MEGABYTES, FIRST_PAINT, RESPONSE = 10.0, 1_500.0, 100.0
MB = 10**6
ABOUT = """
    A file of answers made from real ones, as of section stage, through every stage by params.yaml as shipped. The
    report is opened from disk, five times, each time in a new browser; medians.

    A response is the time from an event on a control of "All answers" until the frame after it is painted. Each
    control is used five times, and the list is as it was at first before each.
"""
RESPONSES = (
    ("search a frequent word", "search", "the"),
    ("search a phrase", "search", "united states"),
    ("search what is nowhere", "search", "no such answer"),
    ("answers of one candidate", "candidate", "1"),
    ("answers that fail a metric", "result", "f"),
    ("sort by score", "sort", "score-"),
    ("sort by id", "sort", "id-"),
    ("sort by length of the answer", "sort", "length-"),
)
"""What is done, the control, its new value."""
OPENED = """() => {
  const [paint] = performance.getEntriesByName("first-contentful-paint");
  const [first] = performance.getEntriesByName("filter");
  return [paint.startTime, first.startTime + first.duration];
}"""
RESPOND = """async ([name, value]) => {
  const painted = () => new Promise((done) => requestAnimationFrame(() => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = done;
    port2.postMessage(0);
  }));
  document.getElementById("rows-form").reset();
  await new Promise((done) => setTimeout(done));
  await painted();
  const control = document.getElementById(`rows-${name}`);
  control.value = value;
  const start = performance.now();
  control.dispatchEvent(new Event("input", { bubbles: true }));
  await painted();
  return performance.now() - start;
}"""


class Measured(NamedTuple):
    """Milliseconds, a number each time: until something shows, until the list is there, until it responds."""

    first_paint: list[float]
    listed: list[float]
    responses: dict[str, list[float]]


def run() -> Result:
    """The section `page`."""
    with report() as path:
        size = path.stat().st_size / MB
        found = measured(path)
    responses = {name: median(times) for name, times in found.responses.items()}
    paint, listed = median(found.first_paint), median(found.listed)
    opening: dict[str, Value] = {"answers": ROWS, "MB": size, "first paint, ms": paint, "list there, ms": listed}
    lines: list[dict[str, Value]] = [
        {"done": name, "ms": responses[name], "slowest, ms": max(times)} for name, times in found.responses.items()
    ]
    return Result(
        "page",
        paragraphs(ABOUT),
        (Table("the report, opened", (opening,)), Table("responses", tuple(lines))),
        (
            Floor("report of 20,000 answers", "at most", MEGABYTES, "MB", size),
            Floor("its first paint", "at most", FIRST_PAINT, "ms", paint),
            Floor("its slowest response", "at most", RESPONSE, "ms", max(responses.values())),
        ),
    )


@contextmanager
def report() -> Iterator[Path]:
    """The page of a run on ROWS generated answers."""
    with copy() as project:
        write_generated(real_rows()[1], ROWS, project.folder / "answers.parquet")
        project.configure(generated_sections("answers.parquet"))
        project.dvc("repro")
        yield project.folder / "reports/index.html"


def measured(path: Path) -> Measured:
    """Open the page again and again, and use its controls the last time."""
    opened: list[list[float]] = []
    for last in [False] * (REPEATS - 1) + [True]:
        with browser.chromium() as chromium:
            page = chromium.new_page()
            page.goto(path.as_uri())
            page.locator("#rows-body tr").first.wait_for()
            opened.append(page.evaluate(OPENED))
            responses = _responses(page) if last else {}
    paint, listed = (list(each) for each in zip(*opened, strict=True))
    return Measured(paint, listed, responses)


def _responses(page: "Page") -> dict[str, list[float]]:
    def once(control: str, value: str) -> Any:
        return page.evaluate(RESPOND, [control, value])

    return {name: [once(control, value) for _ in range(REPEATS)] for name, control, value in RESPONSES}
