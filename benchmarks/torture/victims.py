"""Processes of a small project: started, killed, and seen to their end."""

import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from random import Random

import psutil

from benchmarks.project import Project

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
