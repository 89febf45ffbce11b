"""The metrics of the last run, as people read them at its end."""

import json
from pathlib import Path
from typing import Any

from rich.table import Table

SUMMARY = Path("reports/summary.json")
REPORT = Path("reports/index.html")


def rows(path: Path = SUMMARY) -> list[dict[str, Any]]:
    """One row per metric: its name, then its value for each candidate; none when there is no summary yet."""
    if not path.exists():
        return []
    candidates: dict[str, dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    metrics = dict.fromkeys(metric for values in candidates.values() for metric in values)
    return [
        {"metric": metric} | {name: values.get(metric) for name, values in candidates.items()} for metric in metrics
    ]


def table(metrics: list[dict[str, Any]]) -> Table:
    """The rows for a terminal; an unmeasured value is a dash."""
    head, *candidates = metrics[0]
    drawn = Table(head)
    for name in candidates:
        drawn.add_column(name, justify="right")
    for row in metrics:
        drawn.add_row(*("–" if value is None else str(value) for value in row.values()))
    return drawn
