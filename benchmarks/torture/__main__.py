"""The command line: `python -m benchmarks.torture [campaign …]` runs all campaigns or some, and counts outcomes."""

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module
from pkgutil import iter_modules

from rich.console import Console
from rich.table import Table

from benchmarks import torture
from benchmarks.data import ROOT
from benchmarks.torture.campaign import Campaign, Counts, counted
from tasks.pipeline.files import read_json, to_json

REPORT = ROOT / "reports/torture.json"
SEED = 0
# Failures that are printed of a campaign.
SHOWN = 10


def campaigns() -> dict[str, Campaign]:
    """Return every campaign by name, from the constant CAMPAIGN of the modules in this package."""
    names = [found.name for found in iter_modules(torture.__path__) if not found.name.startswith("_")]
    modules = (import_module(f"{torture.__name__}.{name}") for name in names)
    every = [module.CAMPAIGN for module in modules if hasattr(module, "CAMPAIGN")]
    return {campaign.name: campaign for campaign in every}


def main(arguments: Sequence[str]) -> int:
    """Run the campaigns; returns the exit status, 1 when a promise was broken."""
    known, console = campaigns(), Console(width=None if sys.stdout.isatty() else 200)
    parser = argparse.ArgumentParser(prog="python -m benchmarks.torture", description=torture.__doc__)
    parser.add_argument("campaign", nargs="*", help=f"all by default: {', '.join(known)}")
    parser.add_argument("--seed", type=int, default=SEED, help="of the trials")
    parser.add_argument("--trials", type=int, help="of each campaign; only runs with each one's own number are kept")
    options = parser.parse_args(arguments)
    if unknown := [name for name in options.campaign if name not in known]:
        parser.error(f"unknown campaign {', '.join(unknown)}; allowed: {', '.join(known)}")
    found: dict[str, Counts] = {}
    for name in options.campaign or known:
        found[name] = counted(known[name], options.seed, options.trials or known[name].trials)
        for failure in found[name].failures[:SHOWN]:
            console.print(f"{name}: {failure}", style="red", markup=False, highlight=False)
    console.print(_table(found))
    if options.trials is None and options.seed == SEED:
        before = read_json(REPORT) if REPORT.exists() else {}
        kept = {name: row for name, row in before.items() if name in known}
        kept |= {name: {**counts._asdict(), "promise": known[name].promise} for name, counts in found.items()}
        REPORT.write_text(to_json({name: kept[name] for name in known if name in kept}), encoding="utf-8")
        console.print(f"{REPORT.relative_to(ROOT)} is written")
    return 1 if any(counts.failures for counts in found.values()) else 0


def _table(found: dict[str, Counts]) -> Table:
    table = Table("campaign", "trials", "outcomes", "failures")
    for name, (trials, outcomes, failures) in found.items():
        shown = ", ".join(f"{number:,} {outcome}" for outcome, number in outcomes.most_common())
        table.add_row(name, f"{trials:,}", shown, f"{len(failures):,}")
    return table


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
