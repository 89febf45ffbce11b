"""Whether a cluster writes the bytes of one process: part sizes, numbers of workers, killed workers, storage.

{name} with embedding, then generated rows without: every stage from load to aggregate, by one process, then by
a Dask cluster of 1, 2 and 3 workers of this machine, then with `run.storage`, for {sizes} sizes of parts.
`true`: every part of every table, reports/metrics.json and reports/summary.json have the same bytes. Vectors
are made in the first run, and come from the ledger after that.

{KILLS} times one of the workers is killed (SIGKILL) at a random moment of a random stage.
"""

import hashlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from threading import Timer
from typing import Any

import numpy as np
import psutil

from benchmarks.data import SEED, generated_sections, real_rows, real_sections, write_generated
from benchmarks.project import Project, copy
from benchmarks.report import Floor, Result, Table, Value
from goldmeter.pipeline.storage import manifest_of

STAGES = ("load", "normalize", "lexical", "embed", "semantic", "judge", "aggregate")
PARTS = (2, 5, 11, 24)
"""How many parts the rows make."""
WORKERS = (1, 2, 3)
KILLS = 10
LATEST_KILL = 8.0
"""Seconds after the start of a stage: from before its workers start to after most have ended."""
ANSWERS, STORAGE = "data/answers.parquet", "storage"
Bytes = Mapping[str, str]


def run(rows: int) -> Result:
    """The section `cluster`; rows: of the generated table."""
    name, real = real_rows()
    tables, same, runs, kills = [], 0, 0, 0
    with copy() as project:
        answers = project.folder / ANSWERS
        (project.folder / STORAGE).mkdir()
        write_generated(real, rows, answers)
        for title, sections, number in (
            (name, real_sections(), real.num_rows),
            (f"{rows:,} generated rows", generated_sections(ANSWERS) | {"semantic": {}}, rows),
        ):
            found = [*_over_sizes(project, sections, number)]
            tables.append(Table(title, tuple(found)))
            same += sum(value is True for row in found for value in row.values())
            runs += sum(isinstance(value, bool) for row in found for value in row.values())
        kills = _killed(project, real_sections(), real.num_rows)
    floors = (
        Floor("runs with the bytes of one process", "at least", runs, "runs", same),
        Floor("runs with a killed worker and the same bytes", "at least", KILLS, "runs", kills),
    )
    return Result(tables, floors, {"name": name, "sizes": len(PARTS)})


def _over_sizes(project: Project, sections: dict[str, Any], rows: int) -> Iterator[Mapping[str, Value]]:
    for parts in PARTS:
        size = -(-rows // parts)
        expected = _written(project, sections, size, {"workers": 1})
        cluster = {
            f"cluster, {workers} workers": _written(project, sections, size, {"engine": "dask", "workers": workers})
            == expected
            for workers in WORKERS
        }
        in_storage = {"engine": "dask", "workers": WORKERS[-1], "storage": str(project.folder / STORAGE)}
        stored = _written(project, sections, size, in_storage) == expected
        found = {"rows a part": size, **cluster, "cluster and storage": stored}
        print(found, file=sys.stderr)  # the next size takes minutes
        yield found


def _written(
    project: Project,
    sections: dict[str, Any],
    part_rows: int,
    run: Mapping[str, Any],
    start: Callable[[Project, str], object] = lambda project, stage: project.python("-m", "tasks", stage),
) -> Bytes:
    """File → hash of its content, after every stage ran so; a part in storage under the name it has as a file."""
    changed = {"load": sections["load"] | {"part_rows": part_rows}, "run": sections["run"] | dict(run)}
    project.configure(sections | changed)
    for stage in STAGES:
        start(project, stage)
    found: dict[str, str] = {}
    for table in sorted(path for path in (project.folder / "data").iterdir() if path.is_dir()):
        if manifest := manifest_of(table):
            found |= {f"{table.name}/part-{n:05d}.parquet": part.md5 for n, part in enumerate(manifest.parts)}
        else:
            found |= {f"{table.name}/{path.name}": _hash(path) for path in table.glob("part-*")}
    reports = (project.folder / "reports").glob("*.json")
    return found | {path.name: _hash(path) for path in reports}


def _hash(path: Path) -> str:
    return hashlib.md5(path.read_bytes(), usedforsecurity=False).hexdigest()


def _killed(project: Project, sections: dict[str, Any], rows: int) -> int:
    """How many of KILLS runs, in each of which a worker is killed at a random moment, write the same."""
    rng, size = np.random.default_rng(SEED), -(-rows // PARTS[-1])
    expected = _written(project, sections, size, {"workers": 1})
    cluster = {"engine": "dask", "workers": WORKERS[-1]}
    same = 0
    for _ in range(KILLS):
        chosen, moment = rng.choice(["normalize", "lexical", "judge", "aggregate"]), rng.uniform(1, LATEST_KILL)

        def start(project: Project, stage: str, chosen: str = chosen, moment: float = moment) -> None:
            _start(project, stage, moment if stage == chosen else None)

        try:
            same += _written(project, sections, size, cluster, start) == expected
        except subprocess.CalledProcessError as error:
            print(f"{chosen}, a worker killed after {moment:.1f} s: {error}", file=sys.stderr)
    return same


def _start(project: Project, stage: str, moment: float | None) -> None:
    """Run a stage; kill one of its workers after so many seconds."""
    command = [sys.executable, "-m", "tasks", stage]
    process = subprocess.Popen(command, cwd=project.folder, env=project.environment, stderr=subprocess.DEVNULL)
    timer = Timer(moment, _kill_worker, [process.pid]) if moment is not None else None
    if timer:
        timer.start()
    status = process.wait()
    if timer:
        timer.cancel()
    if status:
        raise subprocess.CalledProcessError(status, command)


def _kill_worker(driver: int) -> None:
    """Kill a worker of a stage, if it has any now."""
    try:
        family = psutil.Process(driver).children(recursive=True)
        workers = [each for each in family if "spawn_main" in " ".join(each.cmdline())]
    except psutil.Error:
        return
    if workers:
        os.kill(workers[-1].pid, 9)
