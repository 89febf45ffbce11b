"""The command line: `python -m benchmarks.torture [campaign …]` runs all campaigns or some, and counts outcomes."""

import argparse
import sys
from collections.abc import Mapping, Sequence
from functools import partial

from rich.console import Console
from rich.table import Table

from benchmarks import machine, torture
from benchmarks.command import parsed, progress
from benchmarks.data import ROOT
from benchmarks.torture import (
    damaged_files,
    flipped_bits,
    hostile_replies,
    interrupted_judge,
    kills,
    schedule_kills,
    stores,
)
from benchmarks.torture.campaign import REPORT, Campaign, Counts, cells, counted
from goldmeter.pipeline.files import read_json, to_json

SEED = 0
# Failures that are printed of a campaign.
SHOWN = 10
CAMPAIGNS: Mapping[str, Campaign] = {
    campaign.name: campaign
    for campaign in (
        damaged_files.DATA_FILES, flipped_bits.CAMPAIGN, hostile_replies.CAMPAIGN, interrupted_judge.CAMPAIGN,
        kills.CAMPAIGN, damaged_files.PARAMS_FILES, schedule_kills.CAMPAIGN, stores.CAMPAIGN,
    )
}  # fmt: skip


def main(arguments: Sequence[str]) -> int:
    """Run the campaigns; returns the exit status, 1 when a promise was broken."""
    known, console = CAMPAIGNS, Console(width=None if sys.stdout.isatty() else 200)
    parser = argparse.ArgumentParser(prog="python -m benchmarks.torture", description=torture.__doc__)
    parser.add_argument("--seed", type=int, default=SEED, help="of the trials")
    parser.add_argument("--trials", type=int, help="of each campaign; only runs with each one's own number are kept")
    options = parsed(parser, "campaign", known, arguments)
    found: dict[str, Counts] = {}
    is_kept = options.trials is None and options.seed == SEED
    with progress() as bars:
        for name in options.chosen:
            trials = options.trials or known[name].trials
            task = bars.add_task(name, total=trials)
            found[name] = counted(known[name], options.seed, trials, partial(bars.advance, task))
            for failure in found[name].failures[:SHOWN]:
                console.print(f"{name}: {failure}", style="red", markup=False, highlight=False)
            if is_kept:
                _keep({name: found[name]}, known)
    console.print(_table(found))
    if is_kept:
        console.print(f"{REPORT.relative_to(ROOT)} is written; `make docs` shows it in docs/explanation/reliability.md")
    return 1 if any(counts.failures for counts in found.values()) else 0


def _keep(found: Mapping[str, Counts], known: Mapping[str, Campaign]) -> None:
    """Write what was found into the report, beside what it says of other campaigns."""
    facts = machine.facts()
    here = {"machine": f"{facts['cores']} cores of {facts['cpu']}, Python {facts['python']}"}
    rows = read_json(REPORT) if REPORT.exists() else {}
    rows |= {name: {**counts._asdict(), "promise": known[name].promise, **here} for name, counts in found.items()}
    REPORT.write_text(to_json({name: rows[name] for name in known if name in rows}), encoding="utf-8")


def _table(found: Mapping[str, Counts]) -> Table:
    table = Table("campaign", "trials", "outcomes", "failures")
    for name, counts in found.items():
        table.add_row(name, *cells(counts._asdict()))
    return table


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
