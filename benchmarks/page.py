"""The report of 20,000 answers, and that of the real ones, in Chromium: size, first paint, time of a response.

The real answers, and a file of 20,000 made from them, as of section stage, through every stage by params.yaml as
shipped. A report is opened from disk, five times, each time in a new browser; medians. The floors are of the
20,000.

A response is the time from an event on a control of "All answers" until the frame after it is painted. Each
control is used five times, and the list is as it was at first before each.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks import browser
from benchmarks.data import ROOT, generated_sections, real_rows, real_sections, write_generated
from benchmarks.project import copy
from benchmarks.report import Floor, Result, Table, Value

if TYPE_CHECKING:
    import pyarrow as pa
    from playwright.sync_api import Page

ROWS = 20_000
GENERATED = "answers.parquet"
REPEATS = 5
MEGABYTES, FIRST_PAINT, RESPONSE = 6.0, 300.0, 50.0
MB = 10**6
RESPONSES = (
    ("search a frequent word", "search", "the"),
    ("search a phrase", "search", "united states"),
    ("search what is nowhere", "search", "no such answer"),
    ("answers of one candidate", "candidate", "1"),
    ("answers that fail a metric", "result", "f"),
    ("inputs where one candidate passes and another fails", "pair", "pf"),
    ("candidates side by side", "view", "inputs"),
    ("sort by score", "sort", "score-"),
    ("sort by id", "sort", "id-"),
    ("sort by length of the answer", "sort", "length-"),
)
"""What is done, the control, its new value."""
SCRIPT = (ROOT / "benchmarks/page.js").read_text(encoding="utf-8")


class Measured(NamedTuple):
    """A report: its answers and size; milliseconds, each time, until it shows, until it has its list, to respond."""

    answers: int
    megabytes: float
    first_paint: list[float]
    listed: list[float]
    responses: dict[str, list[float]]


def run() -> Result:
    """The section `page`."""
    name, real = real_rows()
    with report(generated_sections(GENERATED), real) as path:
        generated = measured(path)
    with report(real_sections()) as path:
        pages = {f"{ROWS:,} answers made of real ones": generated, name: measured(path)}
    opened: list[Mapping[str, Value]] = [
        {
            "report": title,
            "answers in it": page.answers,
            "MB": page.megabytes,
            "first paint, ms": median(page.first_paint),
            "list there, ms": median(page.listed),
        }
        for title, page in pages.items()
    ]
    responses: list[Mapping[str, Value]] = [
        {
            "done": done,
            "ms": median(generated.responses[done]),
            "slowest, ms": max(generated.responses[done]),
            f"{name}, ms": median(pages[name].responses[done]),
        }
        for done, *_ in RESPONSES
    ]
    slowest = max(map(median, generated.responses.values()))
    return Result(
        (Table("reports, opened", tuple(opened)), Table("responses", tuple(responses))),
        (
            Floor("report of 20,000 answers", "at most", MEGABYTES, "MB", generated.megabytes),
            Floor("its first paint", "at most", FIRST_PAINT, "ms", median(generated.first_paint)),
            Floor("its slowest response", "at most", RESPONSE, "ms", slowest),
        ),
    )


@contextmanager
def report(sections: dict[str, Any], real: "pa.Table | None" = None) -> Iterator[Path]:
    """The page of a run by these settings; on ROWS answers made of real ones, if some are given."""
    with copy() as project:
        if real is not None:
            write_generated(real, ROWS, project.folder / GENERATED)
        project.configure(sections)
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
            opened.append(page.evaluate(f"() => {SCRIPT}.opened()"))
            if last:
                answers = int(page.locator("#rows-count").inner_text().split()[0].replace(",", ""))
                responses = _responses(page)
    paint, listed = (list(each) for each in zip(*opened, strict=True))
    return Measured(answers, path.stat().st_size / MB, paint, listed, responses)


def _responses(page: "Page") -> dict[str, list[float]]:
    def once(control: str, value: str) -> Any:
        return page.evaluate(f"(change) => {SCRIPT}.respond(change)", [control, value])

    return {name: [once(control, value) for _ in range(REPEATS)] for name, control, value in RESPONSES}
