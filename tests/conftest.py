"""A folder to run stages in."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tasks import pipeline
from tests.small_project import ROOT, ROWS, write


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with our params.yaml and dvc.yaml, and ten questions."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GOLDMETER_LEDGER", str(tmp_path / "ledger"))
    pipeline.stages.cache_clear()
    for name in ("params.yaml", "dvc.yaml"):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / "data/examples").mkdir(parents=True)
    write(tmp_path, ROWS)
    yield tmp_path
    pipeline.stages.cache_clear()
