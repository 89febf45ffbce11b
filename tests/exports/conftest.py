"""A run to export, in the current folder, and an earlier one in the folder v1."""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from goldmeter.exports import attestation
from goldmeter.pipeline.tables import write_part
from tasks.__main__ import main
from tests.reporting.made import inputs, row

RIGHT = [
    row(f"q{number}", candidate, "Paris", True, 1.0, 0.9)
    for number in range(20)
    for candidate in ("aurora", "borealis")
]


def put(rows: Sequence[dict[str, Any]], folder: Path = Path()) -> None:
    """Write the tables and numbers of a run."""
    shutil.rmtree(folder / "data", ignore_errors=True)
    (folder / "data").mkdir(parents=True)
    (folder / "reports").mkdir(exist_ok=True)
    (folder / "reports/metrics.json").write_text(
        json.dumps(inputs(rows, folder / "data", part_rows=12)[1]["reports/metrics.json"]), encoding="utf-8"
    )


@pytest.fixture(scope="session")
def exported_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the run, to be copied."""
    folder = tmp_path_factory.mktemp("run")
    put(RIGHT, folder / "v1")
    put([*RIGHT[:-1], row("q19", "borealis", None, False, 0.25, None)], folder)
    return folder


@pytest.fixture
def run(exported_run: Path, project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run of the current folder in which one answer of borealis has no vector, and v1, in which all were right."""
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(project.parent))
    shutil.copytree(exported_run, project, dirs_exist_ok=True)
    return project


def with_derived_numbers(run: Path) -> None:
    """Write the numbers that follow from the tables of a run."""
    (run / "data/preference").mkdir()
    write_part(pa.table({"id": pa.array([], pa.string())}), run / "data/preference", 0)
    (run / "reports/metrics.json").write_text(json.dumps(attestation._derived()), encoding="utf-8")


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Exit status, standard output and standard error of `python -m tasks export`."""
    status = main(["export", *arguments])
    out, err = capsys.readouterr()
    return status, out, err
