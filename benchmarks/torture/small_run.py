"""A small project whose verdicts and vectors are paid for, run from load to report; its files, kept in memory."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

from benchmarks.data import PARAMS, ROOT
from benchmarks.project import Project, copy
from benchmarks.torture.paid_server import Paid, paid_server
from tasks.pipeline import params
from tasks.pipeline.dvc_yaml import stages

QUESTIONS, PART_ROWS = 12, 10
OUTPUTS, LEDGER, DATA = ("data", "reports"), "ledger", "data/examples/qa.jsonl"
Files = Mapping[str, bytes]


class SmallRun(NamedTuple):
    """project: a folder with all that a run has written. paid: the server that it asked. files: its outputs."""

    project: Project
    paid: Paid
    files: Files


@contextmanager
def small_project(**run: object) -> Iterator[tuple[Project, Paid]]:
    """A project that has not run; run: options of the section `run`."""
    # The code of this checkout runs in the copy: its kernels are compiled.
    code = {"PYTHONPATH": str(ROOT), "PYTHONSAFEPATH": "1"}
    with paid_server() as paid, copy() as project, patch.dict(os.environ, code):
        for old in (path for folder in OUTPUTS for path in (project.folder / folder).rglob("*.json")):
            old.unlink()
        data = project.folder / DATA
        data.write_bytes(b"".join(data.read_bytes().splitlines(keepends=True)[:QUESTIONS]))
        sections = params.raw(PARAMS)
        server = {"provider": "openai", "model": "m", "base_url": paid.url, "api_key_env": None}
        judge = {**sections["judge"], **server, "canaries": False}
        project.configure({
            **sections, "load": {**sections["load"], "part_rows": PART_ROWS}, "embed": {**sections["embed"], **server},
            "judge": judge, "run": {**sections["run"], "workers": 1, **run},
        })  # fmt: skip
        yield project, paid


@contextmanager
def small_run() -> Iterator[SmallRun]:
    """A project that has run, by one process, and whose outputs are in DVC's cache."""
    with small_project() as (project, paid):
        run_all(project)
        project.dvc("commit", "--force")
        yield SmallRun(project, paid, contents(project.folder))


def run_all(project: Project) -> None:
    """Run every stage, in one process: its imports take most of the time."""
    code = "import sys; from tasks.runner import run; [run(stage) for stage in sys.argv[1:]]"
    project.python("-c", code, *stages(project.folder / "dvc.yaml"))


def contents(folder: Path) -> dict[str, bytes]:
    """Return all that a run has written: tables, evidence, reports and the ledger, by path in the folder."""
    below = (path for name in (*OUTPUTS, LEDGER) for path in sorted((folder / name).rglob("*")))
    return {str(path.relative_to(folder)): path.read_bytes() for path in below if path.is_file()}


def restore(folder: Path, files: Files) -> None:
    """Bring back what a run had written, and nothing else."""
    now = contents(folder)
    for name in now.keys() - files.keys():
        (folder / name).unlink()
    for name in files:
        if now.get(name) != files[name]:
            (folder / name).unlink(missing_ok=True)  # it may be a link to DVC's cache
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(files[name])
