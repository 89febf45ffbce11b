"""The table at the end of a run."""

import json
from pathlib import Path

from rich.console import Console

from flows import summary


def test_a_row_per_metric_with_a_value_per_candidate(tmp_path: Path) -> None:
    path = tmp_path / "summary.json"
    path.write_text(json.dumps({"small": {"bleu": 0.12, "exact": 0.5}, "large": {"exact": None, "bleu": 0.3}}))

    assert summary.rows(path) == [
        {"metric": "bleu", "small": 0.12, "large": 0.3},
        {"metric": "exact", "small": 0.5, "large": None},
    ]


def test_without_a_summary_there_are_no_rows(tmp_path: Path) -> None:
    assert summary.rows(tmp_path / "summary.json") == []


def test_an_unmeasured_value_is_a_dash() -> None:
    console = Console(width=60)

    with console.capture() as capture:
        console.print(summary.table([{"metric": "exact", "small": 0.5, "large": None}]))

    assert "exact  │   0.5 │     – │" in capture.get()
