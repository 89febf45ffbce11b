"""Two branches that each added a row, merged with a conflict in dvc.lock: nothing is asked twice."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import pytest

from goldmeter.pipeline.yaml import parse_yaml
from tests import judge_server
from tests.whole.conftest import DATA

pytestmark = [pytest.mark.long, pytest.mark.exhaustive]


@pytest.fixture(scope="module")
def server() -> Iterator[Any]:
    with judge_server.serving() as running:
        yield running


def row(name: str) -> str:
    fields = {"id": name, "question": f"{name}?", "references": [name], "thread": name, "topic": "t", "language": "en"}
    answers = {"aurora": name, "aurora_correct": True, "borealis": f"not {name}", "borealis_correct": False}
    return json.dumps(fields | answers) + "\n"


def add_row(project: Any, branch: str, name: str, *, first: bool) -> None:
    project.run("git", "checkout", "--quiet", "-b", branch, "main")
    before = project.read(DATA)
    (project.folder / DATA).write_text(row(name) + before if first else before + row(name), encoding="utf-8")
    project.run("dvc", "repro", "judge")
    project.commit(name)


def test_a_merge_of_two_versions_asks_nothing(project: Any, server: Any) -> None:
    (project.folder / DATA).write_text("".join(map(row, "abcdefgh")), encoding="utf-8")
    project.edit("params.yaml", "provider: offline ", "provider: openai ")
    project.edit("params.yaml", "https://api.openai.com/v1", server.url)
    project.edit("params.yaml", "canaries: true ", "canaries: false ")
    project.edit("params.yaml", "api_key_env: OPENAI_API_KEY", "api_key_env: null")
    project.run("dvc", "repro", "judge")
    project.commit("eight rows")
    assert len(server.calls) == 16

    add_row(project, "one", "first", first=True)
    add_row(project, "two", "last", first=False)
    assert len(server.calls) == 20

    colleague = {"GOLDMETER_LEDGER": str(project.folder.parent / "empty store")}
    assert "CONFLICT" in project.run("git", "merge", "one", status=1)
    project.run("git", "checkout", "--ours", "dvc.lock")
    assert "verdicts added" in project.run("python", "-m", "tasks", "ledger", "import", "one", "two", **colleague)
    project.run("dvc", "repro", "judge", **colleague)

    assert len(server.calls) == 20
    evidence = project.read("data/ledger/judge/verdicts.jsonl").splitlines()
    assert len(evidence) == 20


def test_a_second_worktree_asks_for_its_new_row_alone(project: Any, server: Any) -> None:
    before = len(server.calls)
    project.commit("so far")
    project.run("git", "worktree", "add", "--quiet", "-b", "three", "../worktree")
    other = project.folder.parent / "worktree"
    data = other / DATA
    data.write_text(data.read_text(encoding="utf-8") + row("worktree"), encoding="utf-8")

    project.run("dvc", "--cd", str(other), "repro", "judge")

    assert len(server.calls) == before + 2


def test_checked_out_again_after_a_kill_nothing_is_repeated(project: Any, server: Any) -> None:
    before, more = len(server.calls), [f"more {i}" for i in range(20)]
    content = project.read(DATA)
    (project.folder / DATA).write_text(content + "".join(map(row, more)), encoding="utf-8")
    project.run("dvc", "repro", "normalize")
    honest = server.script
    server.script = lambda body: judge_server.Reply(*honest(body), delay=0.05)
    command = [sys.executable, "-m", "tasks", "judge"]
    with subprocess.Popen(command, cwd=project.folder, env=project.environment) as killed:
        while killed.poll() is None and len(server.calls) < before + 20:
            time.sleep(0.005)
        killed.kill()
    server.script = honest
    in_flight = parse_yaml(project.read("params.yaml"))["run"]["judge"]["concurrency"]

    project.run("dvc", "checkout", "--force", "judge")
    project.run("dvc", "repro", "judge")

    assert before + 2 * len(more) <= len(server.calls) <= before + 2 * len(more) + in_flight
