"""What a stage costs that has nothing to compute, its gate included, and what that consists of."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import Any, NamedTuple
from unittest.mock import patch

from benchmarks.data import ROOT, plain
from benchmarks.measure import MICROSECONDS, Cost, typical
from benchmarks.project import Project, copy
from benchmarks.report import Result, Table, paragraphs
from tasks.pipeline import params

STAGE = "normalize"
REPEATS = 5
SHOWN = 0.02
"""Seconds; packages that take less stand together."""
OURS = frozenset({"tasks", *sys.stdlib_module_names})
"""What is no package that somebody else made; the import of each of these is stated."""


def run() -> Result:
    """The section `overhead`."""
    with copy() as project:
        _one_row(project)
        project.repro("answer")
        project.repro("load")
        project.repro(STAGE)
        turns = [_turn(project) for _ in range(REPEATS)]
    costs = {name: typical([turn.costs[name] for turn in turns]) for name in turns[0].costs}
    imported = _medians([turn.imported for turn in turns])
    warm = _medians([turn.warm for turn in turns])
    tables = (
        Table("Whole commands", tuple(_cost_row(name, cost) for name, cost in costs.items())),
        Table(f"dvc repro --single-item {STAGE}, item by item", tuple(_items(costs, imported, warm))),
    )
    return Result("overhead", _about(), tables, ())


class Turn(NamedTuple):
    """What whole commands cost; seconds of imports by package; seconds of a second run in one process."""

    costs: dict[str, Cost]
    imported: dict[str, float]
    warm: dict[str, float]


def import_seconds(log: str) -> dict[str, float]:
    """Seconds of imports by package, from what `python -X importtime` says; ours and Python's own are "other".

    A module that a package is the first to import counts for that package.
    """
    seconds: dict[str, float] = {}
    owners: list[str] = []
    for line in reversed([line for line in log.splitlines() if line.startswith("import time:")]):  # parents come last
        own, _, name = line.removeprefix("import time:").split("|")
        if not own.strip().isdigit():
            continue
        depth = (len(name) - len(name.lstrip()) - 1) // 2
        above = owners[depth - 1] if depth else "other"
        package = name.strip().partition(".")[0]
        owner = package if above == "other" and package not in OURS else above
        owners[depth:] = [owner]
        seconds[owner] = seconds.get(owner, 0.0) + int(own) / MICROSECONDS
    return seconds


def second_run(stage: str) -> dict[str, float]:
    """Seconds of a stage that this process has run before: of the whole, and of its checks alone."""
    from tasks import runner
    from tasks.pipeline import validation

    runner.run(stage)
    checks, validate = 0.0, validation.validate

    def timed(*arguments: Any) -> Any:
        nonlocal checks
        start = time.perf_counter()
        results = validate(*arguments)
        checks += time.perf_counter() - start
        return results

    with patch.object(validation, "validate", timed):
        start = time.perf_counter()
        runner.run(stage)
        return {"whole": time.perf_counter() - start, "checks": checks}


def _one_row(project: Project) -> None:
    """A data set of one question and one candidate."""
    sections = params.raw(ROOT / "params.yaml")
    row = {"id": "1", "question": "Where?", "references": ["Paris"], "answer": "In Paris."}
    (project.folder / "data/one.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    mapping = {"path": "data/one.jsonl", "id": "id", "candidates": {"only": {"response": "answer"}}}
    project.configure({**sections, "dataset": plain(sections["dataset"]) | mapping})


def _turn(project: Project) -> Turn:
    costs = {
        "python -c pass": project.python("-c", "pass"),
        f"python -m tasks {STAGE}": project.python("-m", "tasks", STAGE),
        "dvc root": project.dvc("root"),
        f"dvc repro --single-item {STAGE}": project.repro(STAGE),
    }
    return Turn(costs, import_seconds(_import_log(project)), _second_run(project))


def _medians(turns: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The median of each item."""
    return {name: median(turn.get(name, 0.0) for turn in turns) for name in turns[0]}


def _import_log(project: Project) -> str:
    return _child(project, "-X", "importtime", "-m", "tasks", STAGE).stderr


def _second_run(project: Project) -> dict[str, float]:
    code = f"import json; from benchmarks.overhead import second_run; print(json.dumps(second_run({STAGE!r})))"
    found: dict[str, float] = json.loads(_child(project, "-c", code).stdout.splitlines()[-1])
    return found


def _child(project: Project, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *arguments]
    environment = project.environment
    return subprocess.run(command, cwd=project.folder, env=environment, check=True, capture_output=True, text=True)


def _items(
    costs: Mapping[str, Cost], imported: Mapping[str, float], warm: Mapping[str, float]
) -> Iterator[dict[str, Any]]:
    interpreter, alone, root, whole = (cost.wall for cost in costs.values())
    large = {name: seconds for name, seconds in imported.items() if name != "other" and seconds >= SHOWN}
    rest = sum(imported.values()) - sum(large.values())
    items = {
        "Python itself": interpreter,
        **{f"import {name}": large[name] for name in sorted(large, key=lambda name: -large[name])},
        "other imports": rest,
        "once a process": alone - interpreter - sum(imported.values()) - warm["whole"],
        "checks of Great Expectations": warm["checks"],
        "read, normalise one row, write, sync": warm["whole"] - warm["checks"],
        "DVC: start": root,
        "DVC: hash, compare, lock, cache": whole - alone - root,
    }
    for name, seconds in items.items():
        yield {"item": name, "seconds": seconds, "share": seconds / whole}


def _cost_row(name: str, cost: Cost) -> dict[str, Any]:
    return {"command": name, "seconds": cost.wall, "cpu seconds": cost.cpu, "peak memory, MB": cost.peak / 1e6}


def _about() -> tuple[str, ...]:
    return paragraphs(f"""
        The stage {STAGE} on a data set of one row, in a copy of the project; medians of {REPEATS} runs in turns.

        Imports as `python -X importtime` sees them (which makes them a little slower), each package with what it is
        the first to import; what a second run in the same process takes is the stage and its checks; the rest of the
        first run happens once a process: params, the contexts of libraries, the first of everything. A negative number
        is noise of the machine.
    """)
