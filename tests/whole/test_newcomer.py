"""A newcomer's path: what README and docs/ print is typed as it stands, in a fresh clone, page after page."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.documents import Block, Command, blocks, commands
from tests.whole.conftest import ROOT, Project, ran

pytestmark = pytest.mark.long
PATH = [
    "README.md",
    "docs/tutorial.md",
    "docs/how-to/own-data.md",
    "docs/how-to/own-metric.md",
    "docs/how-to/release-gate.md",
]
"""The pages, in the order in which they are read; the last ones suppose an active environment."""
READ = [PATH[0], *(pytest.param(page, marks=pytest.mark.exhaustive) for page in PATH[1:])]
"""Each page but the first one takes a minute or more."""
QUICK = ["dataset/proposal/test_proposal.py", "pipeline/test_params.py", "test_docs.py"]
"""Tests that look at the checkout's own params.yaml and metrics; all others take tests/params.yaml, by its path."""
ACTIVATE = ". .venv/bin/activate"
MARK = "newcomer: exit status"


class Newcomer:
    """Somebody who reads a page, writes the files it shows and types its commands."""

    def __init__(self, project: Project) -> None:
        self.folder = project.folder
        environment = Path(sys.prefix, "bin")
        outside = [each for each in project.environment["PATH"].split(os.pathsep) if Path(each) != environment]
        self.environment = project.environment | {"PATH": os.pathsep.join(outside)}
        self.environment.pop("VIRTUAL_ENV", None)
        self.active = False
        self.seen = ""

    def read(self, page: str) -> None:
        """Do all that a page says."""
        self.active = page.startswith("docs/how-to/")
        for block in blocks(ROOT / page):
            if block.mark.startswith("file: "):
                self._write(block.mark.removeprefix("file: "), block.text)
            elif block.mark.startswith("line: "):
                self._insert(*block.mark.removeprefix("line: ").split(": "), text=block.text)
            elif block.runs:
                self.type([*commands(block)])
                if block.mark.startswith("runs: "):
                    assert sorted(ran(self.seen)) == sorted(block.mark.removeprefix("runs: ").split())
            elif block.kind == "text" and not block.mark.startswith("shape: "):
                assert all(squeezed(line) in squeezed(self.seen) for line in block.text.splitlines()), self.seen

    def _write(self, path: str, text: str) -> None:
        (self.folder / path).write_text(text, encoding="utf-8")

    def _insert(self, path: str, section: str, text: str) -> None:
        content = (self.folder / path).read_text(encoding="utf-8")
        below = re.compile(rf"^{section}:.*\n", re.MULTILINE)
        assert below.search(content)
        self._write(path, below.sub(lambda line: line[0] + text, content, count=1))

    def type(self, lines: Sequence[Command]) -> None:
        """Type some commands into one shell; each must end as the page says."""
        script = [f"{line.line}\nprintf '\\n{MARK} %s\\n' $?" for line in lines]
        done = subprocess.run(
            ["bash", "-c", "\n".join([ACTIVATE if self.active else "", *script])],
            cwd=self.folder,
            env=self.environment,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            check=False,
        )
        self.active |= any(line.line == ACTIVATE for line in lines)
        self.seen = done.stdout
        statuses = [int(each) for each in re.findall(rf"^{MARK} (\d+)$", done.stdout, re.MULTILINE)]
        assert dict(zip(lines, statuses, strict=True)) == {line: line.status for line in lines}, done.stdout


def squeezed(text: str) -> str:
    return " ".join(text.split())


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    project = Project.clone(tmp_path_factory.mktemp("clone"))
    yield project
    project.require_stayed_here()


@pytest.fixture(scope="module")
def newcomer(project: Project, example: Project) -> Newcomer:
    """In a clone whose .venv is the one that runs the tests: `make setup-dev` has nothing to do.

    DVC has the tables of the bundled example already; that every stage makes them is tested in test_whole_run.py.
    """
    if not Path(sys.prefix, ".ready-dev").exists():
        pytest.skip("needs the environment of `make setup-dev`")
    shutil.copytree(ROOT / "tests", project.folder / "tests", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(example.folder / ".dvc/cache", project.folder / ".dvc/cache")
    project.commit("tests")
    (project.folder / ".venv").symlink_to(sys.prefix)
    (project.folder / ".git/info/exclude").write_text(".venv\n", encoding="utf-8")
    os.utime(project.folder / "requirements.lock", (0, 0))
    return Newcomer(project)


@pytest.mark.parametrize("page", READ)
def test_every_command_works_as_printed(newcomer: Newcomer, page: str) -> None:
    newcomer.read(page)


@pytest.mark.exhaustive
@pytest.mark.usefixtures("newcomer")
def test_what_the_path_led_to(project: Project) -> None:
    assert "word_recall" in project.read("reports/index.html")
    assert "What is the capital of Australia?" in project.read("reports/comparison.html")
    assert not project.log.exists(), project.log.read_text(encoding="utf-8")


@pytest.mark.exhaustive
def test_the_quick_tests_pass_with_own_data_and_an_own_metric(newcomer: Newcomer) -> None:
    files = " ".join(f"tests/{name}" for name in QUICK)

    newcomer.type([Command(f"pytest --quiet -m 'not long' {files}", 0)])


@pytest.mark.parametrize("page", PATH)
def test_little_of_the_path_is_left_out(page: str) -> None:
    left_out = [block for block in blocks(ROOT / page) if block.kind == "console" and not block.runs]

    assert len(left_out) == (1 if page == "README.md" else 0)


def test_a_block_is_read_with_its_mark(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "<!-- not run: why -->\n```console\n$ a\nout\n$ b  # exit status 2\n```\n\n```text\nc\n```\n", "utf-8"
    )

    first, second = blocks(page)

    assert (first, first.runs) == (Block("console", "$ a\nout\n$ b  # exit status 2\n", "not run: why"), False)
    assert [*commands(first)] == [Command("a", 0), Command("b  # exit status 2", 2)]
    assert second == Block("text", "c\n", "")
