"""What the first start of Prefect writes into PREFECT_HOME, made once in a run of pytest: it takes 12 s of CPU time."""

import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from filelock import FileLock

from tests.small_project import ROOT

START = [sys.executable, "-c", "from goldmeter.serving.server import for_one_run; for_one_run()"]
DATABASE = "prefect.db"
_shared: list[Path] = []


def share(factory: pytest.TempPathFactory) -> None:
    """Let all processes of this run of pytest share it."""
    base = factory.getbasetemp()
    _shared[:] = [base.parent if "PYTEST_XDIST_WORKER" in os.environ else base]


def put(home: Path) -> None:
    """Write a copy into a folder that is to be PREFECT_HOME, if it is not there."""
    if home.exists():
        return
    [shared] = _shared
    made = shared / "prefect home"
    with FileLock(shared / "prefect home.lock"):
        if not made.exists():
            _make(made)
    shutil.copytree(made, home)


def _make(made: Path) -> None:
    first = made.with_name("first prefect home")
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT")}
    environment = kept | {
        "PREFECT_HOME": str(first),
        "PYTHONPATH": str(ROOT),
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    }
    subprocess.run(START, cwd=first.parent, env=environment, check=True, capture_output=True)
    whole = first / "whole.db"
    with closing(sqlite3.connect(first / DATABASE)) as database:
        database.execute("VACUUM INTO ?", [str(whole)])
    for path in first.glob(f"{DATABASE}*"):
        path.unlink()
    whole.rename(first / DATABASE)
    first.rename(made)
