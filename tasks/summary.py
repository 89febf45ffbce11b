"""The metrics of the last run, as people read them on a terminal: one row per metric, one column per candidate."""

import json
import sys
from pathlib import Path
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from tasks.errors import DataError

METRICS = Path("reports/metrics.json")
REPORT = Path("reports/index.html")
NOT_MEASURED = "–"
PIPED_WIDTH = 120
"""Columns of the table where no terminal says how many it has."""


def rows(path: Path = METRICS) -> list[dict[str, str]]:
    """Each metric's name, then for each candidate its value, interval and counts; none when there was no run yet."""
    if not path.exists():
        return []
    try:
        candidates: dict[str, dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["candidates"]
    except (ValueError, LookupError, TypeError) as error:
        raise DataError(f"{path}: not what aggregate writes ({error!r}); remove it, and `dvc repro`") from None
    metrics = dict.fromkeys(metric for values in candidates.values() for metric in values)
    return [
        {"metric": metric} | {name: _cell(values.get(metric)) for name, values in candidates.items()}
        for metric in metrics
    ]


def table(metrics: list[dict[str, str]]) -> Table:
    """The rows for a terminal."""
    head, *candidates = metrics[0]
    drawn = Table(head, box=SIMPLE_HEAD, caption="value, interval, rows measured/asked", caption_justify="left")
    for name in candidates:
        drawn.add_column(name, justify="right")
    for row in metrics:
        drawn.add_row(*row.values())
    return drawn


def show() -> None:
    """Print the table, and where the report is."""
    console = Console(width=None if sys.stdout.isatty() else PIPED_WIDTH, markup=False)
    if metrics := rows():
        console.print(table(metrics))
    else:
        console.print("no numbers yet: `dvc repro` makes them")
    if REPORT.exists():
        console.print(f"report: {REPORT}")


def _cell(entry: dict[str, Any] | None) -> str:
    if entry is None:
        return NOT_MEASURED
    counts = f"{entry['n']}/{entry['n'] + entry['n_failed']}"
    if entry["n_not_asked"]:
        counts += f", {entry['n_not_asked']} not asked"
    if entry["value"] is None:
        return f"{NOT_MEASURED} {counts}"
    return f"{entry['value']:.3f} [{_limit(entry['low'])}, {_limit(entry['high'])}] {counts}"


def _limit(limit: float | None) -> str:
    return NOT_MEASURED if limit is None else f"{limit:.3f}"
