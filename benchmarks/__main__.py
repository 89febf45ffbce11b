"""The command line: `python -m benchmarks [section …]` runs all sections or some, and keeps them in a report."""

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from types import ModuleType

from rich.console import Console

from benchmarks import (
    aggregate,
    cluster,
    compile,  # noqa: A004 (a section's name)
    embedding,
    judge,
    ledger,
    lexical,
    load,
    machine,
    nights,
    page,
    peers,
    scale,
    stage,
    verification,
)
from benchmarks.command import parsed
from benchmarks.data import ROOT
from benchmarks.report import Result, keep, name_of, show
from goldmeter.pipeline import params

REPORT = ROOT / "reports/benchmarks.json"


def sections(rows: int) -> dict[ModuleType, Callable[[], Result]]:
    """Every section in the order in which they run; those that fork come before torch starts its threads."""
    raw = params.effective(params.raw(ROOT / "params.yaml"))
    shipped = raw["lexical"]
    return {
        judge: lambda: judge.run(raw["judge"], raw["run"]["judge"]),
        lexical: lambda: lexical.run(shipped),
        peers: peers.run,
        stage: lambda: stage.run(shipped, rows),
        load: lambda: load.run(rows),
        scale: lambda: scale.run(rows),
        ledger: lambda: ledger.run(rows),
        cluster: lambda: cluster.run(rows),
        verification: lambda: verification.run(rows),
        aggregate: lambda: aggregate.run(raw),
        compile: compile.run,
        nights: nights.run,
        page: page.run,
        embedding: embedding.run,
    }


def main(arguments: Sequence[str]) -> int:
    """Run the sections; returns the exit status, 1 when a floor is not met."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="What goldmeter costs, side by side.")
    parser.add_argument(
        "--rows",
        type=int,
        default=stage.LARGEST,
        help="of the largest table of sections stage, load, scale, ledger, cluster and verification",
    )
    options = parsed(parser, "section", [*map(name_of, sections(0))], arguments)
    console, facts, met = Console(), machine.facts(), True
    for section, run in sections(options.rows).items():
        if name_of(section) not in options.chosen:
            continue
        start = time.perf_counter()
        result = run()
        keep(section, result, time.perf_counter() - start, facts, REPORT)
        show(section, result, console)
        met = met and all(floor.met for floor in result.floors)
    console.print(f"{REPORT.relative_to(ROOT)} is written")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
