"""The table of campaigns that docs/explanation/reliability.md holds, made from reports/torture.json."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.data import ROOT
from tasks.console.markdown import table
from tasks.pipeline.files import read_json

REPORT = ROOT / "reports/torture.json"
HEADS = ("campaign", "trials", "outcomes", "failures", "machine")


def markdown(report: Path = REPORT) -> str:
    """Return the lines of the table; one row per campaign whose own number of trials was run."""
    rows = ((name, *cells(row), str(row["machine"])) for name, row in read_json(report).items())
    return "\n".join(table(HEADS, rows))


def cells(row: Mapping[str, Any]) -> tuple[str, str, str]:
    """Return trials, outcomes with the most frequent first, and the number of failures, as text."""
    outcomes = sorted(row["outcomes"].items(), key=lambda found: (-found[1], found[0]))
    shown = ", ".join(f"{number:,} {outcome}" for outcome, number in outcomes)
    return f"{row['trials']:,}", shown, f"{len(row['failures']):,}"
