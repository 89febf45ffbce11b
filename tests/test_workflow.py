"""The workflow for pull requests: what it may do, and that what it calls is there."""

import re
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from goldmeter.pipeline.yaml import dump_yaml, load_yaml

ROOT = Path(__file__).parents[1]
PATH = ROOT / ".github/workflows/evaluate.yml"
WORKFLOW: dict[str, Any] = load_yaml(PATH)
JOBS: dict[str, Any] = WORKFLOW["jobs"]
STEPS = [(name, step) for name, job in JOBS.items() for step in job["steps"]]
COMMANDS = {f"{name}: {step['name']}": step["run"] for name, step in STEPS if "run" in step}
ON_GITHUB = {"gh"}


def steps(job: str, action: str) -> list[dict[str, Any]]:
    return [step for step in JOBS[job]["steps"] if step.get("uses", "").startswith(f"{action}@")]


def test_it_runs_on_pull_requests_without_others_secrets_and_on_main() -> None:
    assert WORKFLOW["on"] == {"pull_request": None, "push": {"branches": ["main"]}}


def test_only_the_job_that_runs_no_code_of_the_branch_may_write() -> None:
    assert WORKFLOW["permissions"] == {}
    assert {name: job["permissions"] for name, job in JOBS.items()} == {
        "test": {"contents": "read"},
        "evaluate": {"contents": "read"},
        "comment": {"pull-requests": "write"},
    }
    assert not steps("comment", "actions/checkout")
    assert all(step["with"]["persist-credentials"] is False for job in JOBS for step in steps(job, "actions/checkout"))


def test_secrets_reach_single_steps_of_a_job_that_skips_forks() -> None:
    holders = [(name, step["name"]) for name, step in STEPS if "{{ secrets." in dump_yaml(step)]

    assert holders == [("evaluate", "Pull"), ("evaluate", "Evaluate"), ("evaluate", "Compare")]
    assert PATH.read_text(encoding="utf-8").count("${{ secrets.") == 5
    assert "github.event.pull_request.head.repo.full_name == github.repository" in JOBS["evaluate"]["if"]
    assert "::notice" in COMMANDS["test: Say why there is no evaluation"]


def test_actions_are_githubs_own_of_a_named_version() -> None:
    assert all(re.fullmatch(r"actions/[\w-]+@(v\d+|[0-9a-f]{40})", step["uses"]) for _, step in STEPS if "uses" in step)


def test_one_run_a_pull_request_and_no_endless_one() -> None:
    assert "github.event.pull_request.number" in WORKFLOW["concurrency"]["group"]
    assert all(int(job["timeout-minutes"]) <= 180 for job in JOBS.values())


def test_the_base_is_where_the_branch_left() -> None:
    [checkout] = steps("evaluate", "actions/checkout")

    assert checkout["with"]["ref"] == "${{ github.event.pull_request.head.sha }}"
    assert checkout["with"]["fetch-depth"] == 0
    assert 'git merge-base "$BASE" HEAD' in COMMANDS["evaluate: Compare"]


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_a_command_is_bash_in_which_nobody_outside_writes(command: str) -> None:
    assert "${{" not in command
    subprocess.run(["bash", "-n", "-c", command], check=True)


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_what_a_command_calls_exists(command: str) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = [target for line in re.findall(r"^\s*make (.*)$", command, re.MULTILINE) for target in line.split()]
    called = set(re.findall(r"^\s*(?:if !? ?|\w+=\$\()?([a-z]+) ", command, re.MULTILINE)) - {"if"}

    assert all(f"\n{target}: " in makefile for target in targets)
    assert all(find_spec(module) for module in re.findall(r"python -m ([\w.]+)", command))
    assert called
    assert all(shutil.which(name) or name in {"printf", "exit", *ON_GITHUB} for name in called)
