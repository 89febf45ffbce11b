"""SIGKILL of the process that serves a schedule, or of one below it; served again, it records a run."""

import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from random import Random
from typing import Any

import psutil

from benchmarks.project import Project
from benchmarks.torture import kills
from benchmarks.torture.campaign import Campaign, Trial
from benchmarks.torture.kills import Work, end, finished_work, paid_again, said, start
from goldmeter.pipeline.yaml import dump_yaml, load_yaml, parse_yaml

SERVE = ("-m", "flows.schedule")
# Seconds between runs; latest moment of a kill, in processor seconds: a run has begun by then.
INTERVAL, LATEST = 15, 40.0
KILLS = 4
QUICK = {
    "PREFECT_RUNNER_POLL_FREQUENCY": "1", "PREFECT_SERVER_SERVICES_SCHEDULER_LOOP_SECONDS": "5",
    "GIT_AUTHOR_NAME": "T", "GIT_AUTHOR_EMAIL": "t@example.org", "GIT_COMMITTER_NAME": "T",
    "GIT_COMMITTER_EMAIL": "t@example.org",
}  # fmt: skip
Hashes = Mapping[str, str]


def _trials(seed: int, trials: int) -> Iterator[Trial]:
    with finished_work(QUICK) as work:
        work.project.dvc("commit", "--force")
        expected = _hashes((work.project.folder / "dvc.lock").read_text(encoding="utf-8"))
        _commit(work.project)
        for number in range(0, trials, KILLS):
            yield from _round(work, expected, f"{seed}-{number}", min(KILLS, trials - number))


def _commit(project: Project) -> None:
    """Commit a schedule and the project, before any of its stages ran."""
    path = project.folder / "params.yaml"
    params = load_yaml(path)
    path.write_text(dump_yaml({**params, "schedule": {"nightly": {"interval": INTERVAL}}}), encoding="utf-8")
    (project.folder / "dvc.lock").unlink()
    exclude = project.folder / ".git/info/exclude"
    exclude.write_text("/prefect\n/ledger\n/last.log\n/home\n", encoding="utf-8")
    for command in (["add", "--all"], ["commit", "--quiet", "--message", "A schedule"]):
        subprocess.run(["git", *command], cwd=project.folder, check=True)


def _round(work: Work, expected: Hashes, drawn: str, most: int) -> Iterator[Trial]:
    rng = Random(drawn)  # noqa: S311 (a seed repeats the round)
    work.paid.asked.clear()
    paying = 0
    for number in range(most):
        asked = work.paid.asked.total()
        process = start(work.project, SERVE)
        if not (members := kills.busy(process, rng.uniform(0, LATEST))):
            yield Trial("ended", f"{drawn}, start {number + 1}: it ended: {said(work.project)}")
            return
        victim = kills.kill_one(members, rng)
        problem = _stopped(process, members)
        paying += work.paid.asked.total() > asked
        problem = problem or (_last(work, expected, paying) if number == most - 1 else None)
        yield Trial(victim, problem and f"{drawn}, kill {number + 1}, of {victim}: {problem}")


def _last(work: Work, expected: Hashes, paying: int) -> str | None:
    """Serve until one more run is recorded; return what is wrong with it, or with what was paid."""
    before, process = _runs(work.project), start(work.project, SERVE)
    deadline = time.monotonic() + kills.LONGEST
    while not (new := _runs(work.project) - before) and time.monotonic() < deadline:
        with suppress(subprocess.TimeoutExpired):
            process.wait(1)
    if problem := _stopped(process, kills.family(process.pid)):
        return f"begun again: {problem}"
    if not new:
        return f"no run is recorded within {kills.LONGEST:g} s: {said(work.project)}"
    lock = subprocess.run(
        ["git", "show", f"{new.pop()}:dvc.lock"], cwd=work.project.folder, capture_output=True, text=True, check=True
    )
    found = _hashes(lock.stdout)
    wrong = sorted(out for out in {*found, *expected} if found.get(out) != expected.get(out))
    return f"other bytes: {', '.join(wrong)}" if wrong else paid_again(work, paying)


def _stopped(process: "subprocess.Popen[bytes]", members: Sequence[psutil.Process]) -> str | None:
    """End the process that serves, if it goes on, and see what it has started to its end."""
    process.send_signal(signal.SIGTERM)
    return end(process, members, kills.LONGEST)


def _runs(project: Project) -> set[str]:
    """Return the refs of recorded runs."""
    command = ["git", "for-each-ref", "--format=%(refname)", "refs/exps"]
    listed = subprocess.run(command, cwd=project.folder, capture_output=True, text=True, check=True).stdout.split()
    return {name for name in listed if "/nightly-" in name}


def _hashes(lock: str) -> dict[str, Any]:
    """Return the MD5 of each out in dvc.lock, but for those that hold how long a reply took."""
    outs = [out for stage in parse_yaml(lock)["stages"].values() for out in stage["outs"]]
    return {out["path"]: out["md5"] for out in outs if out["path"] != kills.EVIDENCE.rpartition("/")[0]}


CAMPAIGN = Campaign(
    "kills of the schedule",
    "After a SIGKILL of the process that serves a schedule, or of one below it, the schedule served again records a "
    "run with the same bytes, and pays again for nothing but the calls that were under way.",
    trials=16,
    few=0,  # tests/whole/test_one_night.py kills one
    run=_trials,
)
