"""A project to run for real, and a guard that lets no process of it reach beyond this machine."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Self

import pytest
from filelock import FileLock

from goldmeter.pipeline.yaml import dump_yaml, load_yaml
from goldmeter.project.template import make_project
from tests import prefect_database
from tests.small_project import stated_in_full

ROOT = Path(__file__).parents[2]
# Not __pycache__: compiling hundreds of modules takes seconds.
LEFT_BEHIND = shutil.ignore_patterns(".git", ".venv", "tmp", "cache", ".*_cache", ".hypothesis", "tests")
GUARD = """
import os, sys

LOCAL = ("127.", "::1", "localhost", "0.0.0.0", "/", ".dvc/tmp/")


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
# The first commit of every copy is the same one: reports name it.
START = "2026-01-01T00:00:00Z"
# The data set that params.yaml names.
DATA = "data/examples/qa.jsonl"
EVALUATE = """
import sys
from goldmeter.pipeline.dvc_yaml import stages
from goldmeter.runner import run

for name in sys.argv[1:] or stages():
    run(name)
"""
Run = Callable[..., subprocess.CompletedProcess[str]]


class Project:
    """A scratch project with a git history, and commands run in it with the network guarded."""

    def __init__(self, folder: Path) -> None:
        """Use the project in `folder/project`; `empty`, `fresh`, `clone` and `copy` make one."""
        self.folder = folder / "project"
        self.log = folder / "connections"
        guard = folder / "guard"
        self.environment = {key: value for key, value in os.environ.items() if key not in {"CI", "PREFECT_API_URL"}}
        self.environment |= {
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": f"{guard}{os.pathsep}{ROOT}",
            "GUARD_LOG": str(self.log),
            "PREFECT_HOME": str(folder / "prefect"),
            "HOME": str(folder),
            "GIT_AUTHOR_NAME": "test",
            "GIT_AUTHOR_EMAIL": "test@localhost",
            "GIT_COMMITTER_NAME": "test",
            "GIT_COMMITTER_EMAIL": "test@localhost",
        }

    @classmethod
    def empty(cls, folder: Path) -> Self:
        """Guard the network for a folder `project` that is still to be made."""
        guard = folder / "guard"
        guard.mkdir(parents=True)
        (guard / "sitecustomize.py").write_text(GUARD, encoding="utf-8")
        prefect_database.put(folder / "prefect")
        return cls(folder)

    @classmethod
    def fresh(cls, folder: Path) -> Self:
        """Make a project, as `goldmeter init` does, but with every setting stated, and commit it."""
        project = cls.empty(folder)
        make_project(project.folder)
        (project.folder / "params.yaml").write_text(stated_in_full(), encoding="utf-8")
        return project._started()

    @classmethod
    def clone(cls, folder: Path) -> Self:
        """Copy the checkout, without its tables and with every setting stated, and commit it."""
        project = cls.empty(folder)
        shutil.copytree(ROOT, project.folder, ignore=LEFT_BEHIND)
        for written in ("data", "reports"):
            for path in (project.folder / written).iterdir():
                if path.is_dir() and path.name not in {"examples", "labels"}:
                    shutil.rmtree(path)
        (project.folder / "dvc.lock").unlink(missing_ok=True)
        (project.folder / "params.yaml").write_text(stated_in_full(), encoding="utf-8")
        return project._started()

    def _started(self) -> Self:
        self.run("git", "init", "--quiet", "--initial-branch=main")
        self.commit("start", GIT_AUTHOR_DATE=START, GIT_COMMITTER_DATE=START)
        return self

    def copy(self, folder: Path) -> "Project":
        """Copy this project with its history, its tables and the cache of DVC."""
        for name in ("guard", "project"):
            shutil.copytree(self.folder.parent / name, folder / name, symlinks=True)
        prefect_database.put(folder / "prefect")
        return Project(folder)

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

    def evaluate(self, *names: str) -> None:
        """Run stages, all by default, in one process, without DVC: imports take most of the time."""
        self.run("python", "-c", EVALUATE, *names)

    def commit(self, message: str, **environment: str) -> None:
        """Commit everything."""
        self.run("git", "add", "--all")
        self.run("git", "commit", "--quiet", "--message", message, **environment)

    def edit(self, name: str, old: str, new: str) -> None:
        """Replace a text that stands in a file."""
        path = self.folder / name
        content = path.read_text(encoding="utf-8")
        assert old in content
        path.write_text(content.replace(old, new), encoding="utf-8")

    def change_params(self, change: Callable[[dict[str, Any]], object]) -> None:
        """Change params.yaml, which loses its comments."""
        path = self.folder / "params.yaml"
        params = load_yaml(path)
        change(params)
        path.write_text(dump_yaml(params), encoding="utf-8")

    def experiments(self) -> list[str]:
        """Names of what is recorded, sorted."""
        listed = self.run("git", "for-each-ref", "--format=%(refname)", "refs/exps/").splitlines()
        return sorted(line.rpartition("/")[2] for line in listed if "/exec/" not in line)

    def require_stayed_here(self) -> None:
        """No process reached beyond this machine."""
        assert not self.log.exists(), self.log.read_text(encoding="utf-8")

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


def once(
    factory: pytest.TempPathFactory,
    name: str,
    prepare: Callable[[Project], object],
    make: Callable[[Path], Project] = Project.fresh,
) -> Project:
    """Prepare a project for all processes of this run of pytest: the first that asks makes it. Copy it before use."""
    base = factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / name
    with FileLock(folder.with_suffix(".lock")):
        if not (folder / "ready").exists():
            prepare(make(folder))
            (folder / "ready").touch()
    return Project(folder)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    """A new one for the tests of a module, which run in order."""
    project = Project.fresh(tmp_path_factory.mktemp("whole"))
    yield project
    project.require_stayed_here()


@pytest.fixture(scope="session")
def example(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A clone, in which the bundled example is evaluated; beside it what `dvc repro` printed, in the file `repro`."""

    def evaluate(project: Project) -> None:
        (project.folder.parent / "repro").write_text(project.run("dvc", "repro"), encoding="utf-8")

    return once(tmp_path_factory, "example", evaluate, Project.clone)


@pytest.fixture(scope="session")
def two_versions(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """ROWS questions in two evaluated versions: v1, where aurora is never wrong, and v2 (main), with 25 errors."""

    def evaluate(project: Project) -> None:
        for tag, wrong in (("v1", 0), ("v2", 25)):
            project.write_answers(DATA, wrong=wrong)
            project.repro()
            project.commit(tag)
            project.run("git", "tag", tag)

    return once(tmp_path_factory, "two versions", evaluate)


@pytest.fixture(scope="module")
def v2(two_versions: Project, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    """A copy of `two_versions` for the tests of a module, which run in order."""
    project = two_versions.copy(tmp_path_factory.mktemp("v2"))
    yield project
    project.require_stayed_here()


@pytest.fixture(scope="module")
def v1(two_versions: Project, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    """A copy of `two_versions` whose main is v1."""
    project = two_versions.copy(tmp_path_factory.mktemp("v1"))
    project.run("git", "reset", "--quiet", "--hard", "v1")
    project.run("dvc", "checkout", "--quiet")
    yield project
    project.require_stayed_here()
