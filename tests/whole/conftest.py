"""A copy of the project to run for real, and a guard that lets no process of it reach beyond this machine."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# Not __pycache__: it holds the kernels' machine code, which takes 40 s to compile.
LEFT_BEHIND = shutil.ignore_patterns(".git", ".venv", "tmp", "cache", ".*_cache", ".hypothesis", "tests")
GUARD = """
import os, sys

LOCAL = ("127.", "::1", "localhost", "0.0.0.0", "/")


def watch(event, arguments):
    if event == "socket.connect":
        address = arguments[1]
    elif event == "socket.getaddrinfo":
        address = arguments[0]
    else:
        return
    host = address[0] if isinstance(address, tuple) else address
    host = host.decode() if isinstance(host, bytes) else str(host or "localhost")
    if not host.startswith(LOCAL) and host:
        with open(os.environ["GUARD_LOG"], "a") as log:
            log.write(f"{sys.argv[:3]} {event} {host}\\n")
        raise OSError(f"blocked: {host}")


sys.addaudithook(watch)
"""
ROWS = 60
Run = Callable[..., subprocess.CompletedProcess[str]]


class Project:
    """A scratch copy of the project with a git history, and commands run in it with the network guarded."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "project"
        self.log = folder / "connections"
        guard = folder / "guard"
        guard.mkdir(parents=True)
        (guard / "sitecustomize.py").write_text(GUARD, encoding="utf-8")
        shutil.copytree(ROOT, self.folder, ignore=LEFT_BEHIND)
        for made in ("data", "reports"):
            for path in (self.folder / made).iterdir():
                if path.is_dir() and path.name != "examples":
                    shutil.rmtree(path)
        (self.folder / "dvc.lock").unlink(missing_ok=True)
        self.environment = {key: value for key, value in os.environ.items() if key not in {"CI", "PREFECT_API_URL"}}
        self.environment |= {
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(guard),
            "GUARD_LOG": str(self.log),
            "PREFECT_HOME": str(folder / "prefect"),
            "HOME": str(folder),
            "GIT_AUTHOR_NAME": "test",
            "GIT_AUTHOR_EMAIL": "test@localhost",
            "GIT_COMMITTER_NAME": "test",
            "GIT_COMMITTER_EMAIL": "test@localhost",
        }
        self.run("git", "init", "--quiet", "--initial-branch=main")
        self.commit("start")

    def run(self, *command: str, status: int = 0, **environment: str) -> str:
        """Standard output and error of a command that must end with `status`."""
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=self.environment | environment,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            check=False,
        )
        assert done.returncode == status, done.stdout
        return done.stdout

    def repro(self) -> list[str]:
        """Run `dvc repro`; the stages that ran."""
        return ran(self.run("dvc", "repro"))

    def commit(self, message: str) -> None:
        """Commit everything."""
        self.run("git", "add", "--all")
        self.run("git", "commit", "--quiet", "--message", message)

    def edit(self, name: str, old: str, new: str) -> None:
        """Replace a text that stands in a file."""
        path = self.folder / name
        content = path.read_text(encoding="utf-8")
        assert old in content
        path.write_text(content.replace(old, new), encoding="utf-8")

    def write_answers(self, name: str, *, wrong: int) -> None:
        """Write a data set of ROWS questions; the first `wrong` answers of aurora are wrong."""
        lines = (answer(number, wrong=wrong) for number in range(ROWS))
        (self.folder / name).write_text("".join(lines), encoding="utf-8")

    def state(self) -> str:
        """All that a recorded run might disturb."""
        asked = ["status --porcelain=v2 --branch", "diff", "diff --cached", "rev-parse HEAD", "stash list", "branch -v"]
        return "\n".join(self.run("git", *question.split()) for question in asked)

    def read(self, name: str) -> str:
        """A file of the project."""
        return (self.folder / name).read_text(encoding="utf-8")


def answer(number: int, *, wrong: int) -> str:
    """A line of a data set with the columns of the bundled example; what is wrong would be markup if it could."""
    right = f"The answer is {number}"
    fields = {"id": f"q{number}", "question": f"Question {number}?", "references": [right], "thread": f"t{number}"}
    given = {"aurora": "<b>[red]Nobody knows" if number < wrong else right, "aurora_correct": number >= wrong}
    others = {"topic": "t", "language": "en", "borealis": "I cannot say", "borealis_correct": False}
    return json.dumps(fields | given | others) + "\n"


def ran(output: str) -> list[str]:
    """The stages that DVC says it ran."""
    return [line.split("'")[1] for line in output.splitlines() if "Running stage" in line]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """One copy for the tests of a module, which run in order."""
    return Project(tmp_path_factory.mktemp("whole"))
