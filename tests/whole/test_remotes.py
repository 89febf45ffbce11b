"""Two clones and one remote on S3: the second repeats the first's run without a key, a judge or a stage."""

import hashlib
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from goldmeter.judging.canaries import canaries
from tests import judge_server, s3_server
from tests.whole.conftest import ROWS, Project, answer, ran

pytestmark = pytest.mark.exhaustive

DATA = "data/mine.jsonl"
KEY, SECRET, BUCKET = "key-of-the-judge", "secret-of-the-storage", "team"
STORAGE_KEYS = {"AWS_ACCESS_KEY_ID": "id-of-the-storage", "AWS_SECRET_ACCESS_KEY": SECRET}

STRICTER = "gleu: {threshold: 0.5}", "gleu: {threshold: 0.6}"


class Remote(NamedTuple):
    """Where a DVC remote is, its options, the secrets that only the environment holds, and what cuts it off."""

    url: str
    options: dict[str, str]
    environment: dict[str, str]
    out_of_reach: tuple[str, str]

    def add(self, project: Project) -> None:
        """Make it the project's default remote."""
        project.run("dvc", "remote", "add", "--default", "shared", self.url)
        for name, value in self.options.items():
            project.run("dvc", "remote", "modify", "shared", name, value)
        project.environment |= self.environment


class Clone(Project):
    """A second clone, with a home of its own and no key."""

    def __init__(self, of: Project, folder: Path) -> None:
        self.folder, self.log = folder / "another place", of.log
        subprocess.run(["git", "clone", "--quiet", of.folder.parent / "origin.git", self.folder], check=True)
        kept = {name: value for name, value in of.environment.items() if name not in {"JUDGE_KEY", *STORAGE_KEYS}}
        self.environment = kept | {"HOME": str(folder), "PREFECT_HOME": str(folder / "prefect")}


class Team(NamedTuple):
    """A colleague who ran, and one who cloned after that, when the judge was gone; `asked`: calls of the judge."""

    first: Project
    second: Clone
    remote: Remote
    asked: int


def files(project: Project, *folders: str) -> dict[str, str]:
    """The sha256 of every file below the folders."""
    paths = (path for folder in folders for path in (project.folder / folder).rglob("*") if path.is_file())
    return {str(path.relative_to(project.folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}


@pytest.fixture(scope="module")
def remote() -> Iterator[Remote]:
    with s3_server.serving(BUCKET) as address:
        gone = ("endpointurl", "http://127.0.0.1:9")
        yield Remote(f"s3://{BUCKET}/goldmeter", {"endpointurl": address}, STORAGE_KEYS, gone)


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> tuple[Project, int]:
    """A project evaluated by a judge on a server that is gone since, also stricter; how often that was called."""
    first = Project.fresh(tmp_path_factory.mktemp("evaluated"))
    first.environment |= {"JUDGE_KEY": KEY}
    rows = "".join(answer(number, wrong=5) for number in range(ROWS))
    (first.folder / DATA).write_text(rows, encoding="utf-8")
    first.run("dvc", "add", DATA)
    first.edit("params.yaml", "path: data/examples/qa.jsonl", f"path: {DATA}")
    with judge_server.serving() as judge:
        first.edit("params.yaml", "provider: offline ", "provider: openai ")
        first.edit("params.yaml", "https://api.openai.com/v1", judge.url)
        first.edit("params.yaml", "OPENAI_API_KEY", "JUDGE_KEY")
        first.repro()
        assert set(judge.keys) == {f"Bearer {KEY}"}
        asked = len(judge.calls)
    first.commit("a run")
    first.edit("params.yaml", *STRICTER)
    first.repro()
    first.run("git", "reset", "--quiet", "--hard", "main")
    first.run("dvc", "checkout", "--quiet")
    return first, asked


@pytest.fixture(scope="module")
def team(evaluated: tuple[Project, int], remote: Remote, tmp_path_factory: pytest.TempPathFactory) -> Team:
    project, asked = evaluated
    first = project.copy(tmp_path_factory.mktemp("first"))
    subprocess.run(["git", "clone", "--quiet", "--bare", first.folder, first.folder.parent / "origin.git"], check=True)
    first.run("git", "remote", "add", "origin", "../origin.git")
    first.environment |= {"JUDGE_KEY": KEY}
    remote.add(first)
    first.commit("a remote")
    first.run("git", "push", "--quiet", "origin", "main")
    first.run("dvc", "push")
    return Team(first, Clone(first, tmp_path_factory.mktemp("second")), remote, asked)


def test_the_second_clone_pulls_all_and_runs_nothing(team: Team) -> None:
    first, second, remote, asked = team
    for option, variable in (("access_key_id", "AWS_ACCESS_KEY_ID"), ("secret_access_key", "AWS_SECRET_ACCESS_KEY")):
        if variable in remote.environment:
            second.run("dvc", "remote", "modify", "--local", "shared", option, remote.environment[variable])

    assert ran(second.run("dvc", "repro", "--pull", "--allow-missing")) == []
    assert not (second.folder / "data/lexical").exists()
    second.run("dvc", "pull")

    assert asked == 2 * ROWS + len(canaries())
    assert ran(second.run("dvc", "repro")) == []
    assert files(second, "data", "reports") == files(first, "data", "reports")


def test_what_models_said_is_in_the_evidence(team: Team) -> None:
    first, second = team[:2]

    again = ran(second.run("dvc", "repro", "--force", "--single-item", "embed", "judge"))

    assert again == ["embed", "judge"]
    assert files(second, "data", "reports") == files(first, "data", "reports")


def test_a_remote_out_of_reach_is_a_message_and_costs_no_run(team: Team) -> None:
    first, _, remote, _ = team
    first.edit("params.yaml", *STRICTER)
    first.run("python", "-m", "flows.evaluate", "--record", "stricter")
    first.run("dvc", "remote", "modify", "--local", "shared", *remote.out_of_reach)

    for command in (["push"], ["exp", "push", "origin", "stricter"]):
        said = first.run("dvc", *command, status=255)
        assert "ERROR: " in said
        assert "Traceback" not in said

    first.run("dvc", "remote", "modify", "--local", "--unset", "shared", remote.out_of_reach[0])
    assert first.repro() == []


def test_the_experiment_is_shared_once_the_remote_is_back(team: Team) -> None:
    first, second = team[:2]
    first.run("dvc", "exp", "push", "origin", "stricter")

    second.run("dvc", "exp", "pull", "origin", "stricter")
    second.run("dvc", "exp", "apply", "stricter")

    assert second.repro() == []
    assert files(second, "data", "reports") == files(first, "data", "reports")


def test_no_secret_was_committed_pushed_or_written(team: Team) -> None:
    first, second = team[:2]
    history = subprocess.run(
        ["git", "-C", first.folder.parent / "origin.git", "log", "--all", "--patch", "--text"],
        check=True,
        capture_output=True,
    ).stdout
    written = [path for each in (first, second) for path in each.folder.rglob("*") if path.is_file()]
    places = {str(path): path.read_bytes() for path in written if path.name != "config.local"} | {"history": history}

    assert b"+    url = " in history
    for secret in (KEY, SECRET):
        assert [place for place, content in places.items() if secret.encode() in content] == []


def test_nothing_left_this_machine(team: Team) -> None:
    assert not team.first.log.exists(), team.first.log.read_text(encoding="utf-8")


def test_two_copies_that_know_nothing_of_each_other_make_the_same_reports(example: Project, tmp_path: Path) -> None:
    other = Project.clone(tmp_path / "the other, elsewhere")
    other.edit("params.yaml", "  workers:  ", "  workers: 1")

    other.run("dvc", "repro", PYTHONHASHSEED="2", TZ="Asia/Kolkata", LC_ALL="C.UTF-8")

    ours, theirs = files(example, "reports"), files(other, "reports")
    assert len(theirs) > 10
    assert {name for name in ours | theirs if ours.get(name) != theirs.get(name)} == {"reports/index.html"}
    edited = other.read("reports/index.html")
    assert example.read("reports/index.html") == edited.replace(" with uncommitted changes", "")
