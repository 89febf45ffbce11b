"""SIGKILL at random moments: of stages and their workers, of the flow and its helpers; then the run is begun again."""

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random
from typing import Any, NamedTuple
from unittest.mock import patch

import psutil

from benchmarks.project import Project, shipped
from benchmarks.torture.campaign import Campaign, Trial
from benchmarks.torture.small_run import OUTPUTS, Files, Paid, contents, restore, run_all, small_project
from goldmeter.pipeline.dvc_yaml import StageEntry, stages
from goldmeter.pipeline.yaml import load_yaml

# Seconds within which what a killed process has started ends as well.
LEFT = 60.0
# Seconds between two looks at processor times.
POLL = 0.02
# Part of a command line → what the process is called.
NAMES = {
    "-m flows.evaluate": "flow", "-m flows.schedule": "schedule", "flow_reaper": "reaper",
    "scheduled_run": "scheduled run", "command_supervisor": "supervisor", "uvicorn": "server",
    "prefect server": "server", "prefect": "run of Prefect", "-m dvc": "dvc", "-m tasks": "stage",
    "spawn_main": "worker", "forkserver": "worker", "resource_tracker": "worker",
}  # fmt: skip


def start(project: Project, arguments: Sequence[str]) -> "subprocess.Popen[bytes]":
    """Start Python in the project's folder."""
    with (project.folder / "last.log").open("ab") as log:
        return subprocess.Popen(
            [sys.executable, *arguments], cwd=project.folder, env=project.environment, stdin=subprocess.DEVNULL,
            stdout=log, stderr=log, start_new_session=True,
        )  # fmt: skip


def said(project: Project) -> str:
    """Return the end of what the processes of a project wrote."""
    return (project.folder / "last.log").read_text(encoding="utf-8", errors="replace")[-1500:]


def family(pid: int) -> list[psutil.Process]:
    """Return a process that runs, and all that it has started; none if it has ended."""
    with suppress(psutil.NoSuchProcess):
        process = psutil.Process(pid)
        if process.status() != psutil.STATUS_ZOMBIE:
            return [process, *process.children(recursive=True)]
    return []


def busy(process: "subprocess.Popen[bytes]", seconds: float) -> list[psutil.Process]:
    """Wait until a process and what it has started took so much processor time; return them, none if it has ended.

    Processor time, because a busy machine would let a process do less in so many seconds.
    """
    while (members := family(process.pid)) and sum(map(_spent, members)) < seconds:
        with suppress(subprocess.TimeoutExpired):
            process.wait(POLL)
    return members


def kill_one(members: Sequence[psutil.Process], rng: Random) -> str:
    """Kill the first of these processes, or in half of the draws one of the others; return what it was."""
    victim = rng.choice(members[1:]) if members[1:] and rng.randrange(2) else members[0]
    name = _name(victim)
    with suppress(psutil.NoSuchProcess):
        victim.kill()
    return name


def end(process: "subprocess.Popen[bytes]", members: Sequence[psutil.Process], seconds: float) -> str | None:
    """Wait for the end of a process, and of what it has started; return what goes on, which is killed then."""
    problem = None
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        problem = f"goes on after {seconds:g} s"
    left = psutil.wait_procs(members[1:], timeout=LEFT)[1]
    if left and not problem:
        problem = f"{', '.join(map(_name, left))} go on after {LEFT:g} s"
    for each in [*left, *family(process.pid)]:
        with suppress(psutil.NoSuchProcess):
            each.kill()
    process.wait()
    return problem


def _spent(process: psutil.Process) -> float:
    """Return the processor seconds of a process, and of those below it that have ended."""
    try:
        return float(sum(process.cpu_times()[:4]))
    except psutil.Error:
        return 0.0


def _name(process: psutil.Process) -> str:
    try:
        command = " ".join(process.cmdline())
    except psutil.Error:
        return "helper"
    return next((name for part, name in NAMES.items() if part in command), "helper")


# One of so many rounds is of the flow, the others are of single stages; kills in a round of each.
ROUNDS, OF_A_STAGE, OF_THE_FLOW = 6, 7, 5
# Latest moments of a kill, in processor seconds: about what each takes. Only a cluster has workers for few rows.
ENGINES, FLOW_SECONDS = {"local": 3.5, "dask": 9.0}, 30.0
# Limits in seconds: of a run; of a flow whose server is gone.
LONGEST, WITHOUT_SERVER = 300.0, 60.0
# Calls under way at once, which a kill may lose: of the judge by `run.judge.concurrency`, of embeddings one request.
CONCURRENCY = 8
EVIDENCE = "data/ledger/judge/verdicts.jsonl"
MEASURED = ("latency", "sha256")


class Work(NamedTuple):
    """The project, its server, its stages, and what an undisturbed run wrote."""

    project: Project
    paid: Paid
    entries: Mapping[str, StageEntry]
    files: Files


@contextmanager
def finished_work(environment: Mapping[str, str], **run: object) -> Iterator[Work]:
    """A project whose run was not disturbed. environment: variables to set instead of those for us and Prefect."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith(("PREFECT", "GOLDMETER", "CI"))}
    with patch.dict(os.environ, {**ours, **environment}, clear=True), small_project(**run) as (project, paid):
        os.environ["PREFECT_HOME"] = str(project.folder / "prefect")
        entries = stages(project.folder / "dvc.yaml")
        run_all(project)
        yield Work(project, paid, entries, contents(project.folder))


class _Command(NamedTuple):
    """What is killed. latest: moment of a kill, in processor seconds. outs: folders that appear at once."""

    arguments: Sequence[str]
    latest: float
    outs: Sequence[str] = ()


def _trials(seed: int, trials: int) -> Iterator[Trial]:
    with finished_work({}, workers=2) as work:
        left, number = trials, 0
        while left:
            round_of, most = (_flow_round, OF_THE_FLOW) if number % ROUNDS == 1 else (_stage_round, OF_A_STAGE)
            yield from round_of(work, f"{seed}-{number}", min(left, most))
            left, number = left - min(left, most), number + 1


def _stage_round(work: Work, drawn: str, kills: int) -> Iterator[Trial]:
    """Kill one stage again and again, then let it end; its outputs, and what was paid for them, are gone before."""
    rng = Random(drawn)  # noqa: S311 (a seed repeats the round)
    name = rng.choice([*work.entries])
    entry, engine = work.entries[name], rng.choice([*ENGINES])
    _set_engine(work.project, engine)
    restore(work.project.folder, work.files)
    for out in [*entry.outs, *([f"ledger/{entry.ledger_written}"] if entry.ledger_written else [])]:
        _remove(work.project.folder / out)
    work.paid.asked.clear()
    command = _Command(["-m", "tasks", name], ENGINES[engine], entry.outs)
    yield from _round(work, f"{drawn} {name}, {engine}", command, rng, kills)


def _set_engine(project: Project, engine: str) -> None:
    sections = load_yaml(project.folder / "params.yaml")
    project.configure({**sections, "run": {**(sections.get("run") or {}), "engine": engine}})


def _flow_round(work: Work, drawn: str, kills: int) -> Iterator[Trial]:
    """Kill the flow, or a process that it started, again and again, then let it end; nothing has run before."""
    rng = Random(drawn)  # noqa: S311 (a seed repeats the round)
    _set_engine(work.project, "local")
    for name in contents(work.project.folder).keys() - {*shipped()}:
        if not name.endswith(".gitignore"):
            (work.project.folder / name).unlink()
    for name in ("dvc.lock", ".dvc/cache", ".dvc/tmp"):
        _remove(work.project.folder / name)
    work.paid.asked.clear()
    yield from _round(work, f"{drawn} flow", _Command(["-m", "flows.evaluate"], FLOW_SECONDS), rng, kills)


def _round(work: Work, drawn: str, command: _Command, rng: Random, kills: int) -> Iterator[Trial]:
    paying = 0
    for number in range(kills):
        asked = work.paid.asked.total()
        killed, problem = _killed(work, command, rng)
        paying += work.paid.asked.total() > asked
        problem = problem or _half_published(work, command.outs)
        if number == kills - 1:
            problem = problem or _end(work, command, paying)
        yield Trial(killed, problem and f"{drawn}, kill {number + 1}, of {killed}: {problem}")


def _killed(work: Work, command: _Command, rng: Random) -> tuple[str, str | None]:
    """Start a command and kill it, or a process that it has started, after a while; return which, and what is wrong."""
    process = start(work.project, command.arguments)
    if not (members := busy(process, rng.uniform(0, command.latest))):  # it had ended: kill it earlier
        return _killed(work, command._replace(latest=command.latest / 2), rng)
    victim = kill_one(members, rng)
    return victim, end(process, members, WITHOUT_SERVER if victim == "server" else LONGEST)


def _end(work: Work, command: _Command, paying: int) -> str | None:
    """Run to the end; return what is wrong with what is written then, or was paid.

    paying: the killed runs that had asked for something.
    """
    process = start(work.project, command.arguments)
    if problem := end(process, family(process.pid), LONGEST):
        return problem
    if process.returncode:
        return f"begun again: exit {process.returncode}: {said(work.project)}"
    written, expected = comparable(contents(work.project.folder)), comparable(work.files)
    if wrong := sorted(name for name in {*written, *expected} if written.get(name) != expected.get(name)):
        return f"other bytes: {', '.join(wrong)}"
    return paid_again(work, paying)


def paid_again(work: Work, paying: int) -> str | None:
    """Return what was asked for again beyond the calls under way when a process was killed."""
    verdicts = Counter({text: n for text, n in work.paid.asked.items() if text.startswith("<data")})
    again = verdicts.total() - len(verdicts)
    if again > paying * CONCURRENCY:
        return f"{again} verdicts paid again"
    most = max((n for text, n in work.paid.asked.items() if text not in verdicts), default=0)
    return f"a vector was paid {most} times" if most > paying + 1 else None


def _half_published(work: Work, outs: Sequence[str]) -> str | None:
    """Name outputs that are neither gone nor whole."""
    written, expected = comparable(contents(work.project.folder)), comparable(work.files)
    wrong = [name for name in written if "/." not in name and written[name] != expected.get(name)]
    for out in outs:
        there, whole = ({name for name in files if name.startswith(f"{out}/")} for files in (written, expected))
        wrong += [out] if there and there != whole else []
    return f"half written: {', '.join(wrong)}" if wrong else None


def comparable(files: Files) -> dict[str, Any]:
    """Outputs, without the seconds that replies took and without what depends on them."""
    chosen: dict[str, Any] = {name: content for name, content in files.items() if name.startswith(OUTPUTS)}
    if EVIDENCE in chosen:
        entries = [json.loads(line) for line in chosen[EVIDENCE].splitlines()]
        chosen[EVIDENCE] = [{key: entry[key] for key in entry if key not in MEASURED} for entry in entries]
    return chosen


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)


CAMPAIGN = Campaign(
    "kills",
    "After a SIGKILL of a stage, a worker, the flow or one of its helpers, the run begun again writes the same bytes, "
    "and pays again for nothing but the calls that were under way.",
    trials=200,
    few=3,
    run=_trials,
)
