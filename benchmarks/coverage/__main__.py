"""The command line: `python -m benchmarks.coverage [section …]` measures every target of the statistics, or some."""

import argparse
import sys
import time
from collections.abc import Sequence

from rich.console import Console

from benchmarks.command import parsed, progress
from benchmarks.coverage import record, workers
from benchmarks.coverage.cells import DRAWS
from benchmarks.data import ROOT
from benchmarks.pages import rewritten

REPORT, PAGE = ROOT / "reports/coverage.json", ROOT / "docs/explanation/intervals.md"
SCALE = "scale"
SECONDS, BYTES = 1.0, 1e9
"""What a million rows of fifteen metrics may take."""


def main(arguments: Sequence[str]) -> int:
    """Measure, print, and keep the report; returns the exit status, 1 when a target is missed."""
    options = _options(arguments)
    start = time.perf_counter()
    sections = [name for name in options.chosen if name != SCALE]
    found = workers.in_order(_watched(sections, options.draws, options.processes))
    lines = record.lines(cell for cells in found.values() for cell in cells)
    console = Console(width=None if sys.stdout.isatty() else 200)
    console.print(record.table(lines))
    if options.draws == DRAWS and found:
        content = record.keep(record.report(found, DRAWS), [*workers.SECTIONS], REPORT)
        page = rewritten(PAGE.read_text(encoding="utf-8"), record.markdown(content), record.MARK)
        PAGE.write_text(page, encoding="utf-8")
        console.print(f"{REPORT.relative_to(ROOT)} is written")
    met = [line.reached for line in lines]
    if SCALE in options.chosen:
        met.append(_scale(console))
    console.print(f"{time.perf_counter() - start:.0f} s")
    return 0 if all(met) else 1


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.coverage", description="Whether the statistics keep what they promise."
    )
    parser.add_argument("--draws", type=int, default=DRAWS, help=f"of a simulated cell; only {DRAWS} are kept")
    parser.add_argument("--processes", type=int, default=2, help="that share the work; the numbers stay the same")
    options = parsed(parser, "section", (*workers.SECTIONS, SCALE), arguments)
    if options.draws < 1 or options.processes < 1:
        parser.error("--draws and --processes: expected 1 or more")
    return options


def _watched(sections: Sequence[str], draws: int, processes: int) -> list[workers.Measured]:
    """Every study's cells; how many are done is shown on stderr."""
    studies, done = workers.listed(sections), []
    with progress() as bars:
        task = bars.add_task("studies", total=len(studies))
        for each in workers.measure(studies, draws, processes):
            done.append(each)
            bars.advance(task)
    return done


def _scale(console: Console) -> bool:
    """Print what many rows take; timings are not part of the report, which has the same bytes on every run."""
    from benchmarks.coverage.scale import scale

    seconds, memory = scale()
    met = bool(seconds <= SECONDS and memory < BYTES)
    console.print(
        f"1,000,000 rows × 15 metrics: {seconds:.2f} s (≤ {SECONDS:g}), {memory / 1e9:.2f} GB (< {BYTES / 1e9:g}): "
        + ("reached" if met else "[bold red]missed")
    )
    return met


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
