"""The table at the end of a run."""

import json
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from tasks import summary


def entry(value: float | None = 0.5, not_asked: int = 0, failed: int = 0) -> dict[str, Any]:
    limits = {"low": 0.25, "high": 0.75} if value is not None else {"low": None, "high": None}
    return {"value": value, "n": 40, "n_not_asked": not_asked, "n_failed": failed, **limits}


def written(folder: Path, candidates: dict[str, Any]) -> Path:
    path = folder / "metrics.json"
    path.write_text(json.dumps({"candidates": candidates}), encoding="utf-8")
    return path


def test_a_row_per_metric_with_interval_and_rows_of_each_candidate(tmp_path: Path) -> None:
    path = written(tmp_path, {"small": {"bleu": entry(), "exact": entry()}, "large": {"exact": entry(0.7)}})

    assert summary.rows(path) == [
        {"metric": "bleu", "small": "0.500 [0.250, 0.750] 40/40", "large": "–"},
        {"metric": "exact", "small": "0.500 [0.250, 0.750] 40/40", "large": "0.700 [0.250, 0.750] 40/40"},
    ]


def test_what_is_missing_is_counted_beside_what_is_measured(tmp_path: Path) -> None:
    path = written(tmp_path, {"small": {"judge": entry(None, not_asked=3), "bleu": entry(failed=2)}})

    judge, bleu = summary.rows(path)

    assert judge["small"] == "– 40/40, 3 not asked"
    assert bleu["small"] == "0.500 [0.250, 0.750] 40/42"


def test_without_a_run_there_are_no_rows(tmp_path: Path) -> None:
    assert summary.rows(tmp_path / "metrics.json") == []


def test_before_any_run_it_says_how_to_make_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)

    summary.show()

    assert "dvc repro" in capsys.readouterr().out


def test_the_table_has_a_column_per_candidate(tmp_path: Path) -> None:
    console = Console(width=80)

    with console.capture() as capture:
        console.print(summary.table(summary.rows(written(tmp_path, {"small": {"exact": entry()}}))))

    assert "  exact    0.500 [0.250, 0.750] 40/40  " in capture.get()
