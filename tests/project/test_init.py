"""The command `goldmeter`: what a new project holds, where it is made, and what the command becomes."""

import hashlib
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from goldmeter.__main__ import main
from goldmeter.dataset.proposal.section import write_dataset
from goldmeter.pipeline import params
from goldmeter.pipeline.revisions import Library, revision_of
from goldmeter.pipeline.yaml import load_yaml, parse_yaml
from goldmeter.project.template import pinned, project_files
from tests.small_project import ROOT

FLOWS = [sys.executable, "-m", "flows"]


class BecomeError(Exception):
    """Raised in place of the process that would begin."""


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def become(_: str, command: list[str]) -> None:
        raise BecomeError(command)

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "execv", become)
    monkeypatch.setenv("PATH", os.environ["PATH"])


def became(*arguments: str) -> list[str]:
    with pytest.raises(BecomeError) as ended:
        main(arguments)
    [command] = ended.value.args
    assert os.environ["PATH"].split(os.pathsep)[0] == str(Path(sys.executable).parent)
    return list(command)


def status(*arguments: str) -> int | str | None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    return ended.value.code


def test_json_of_init_is_alone_on_standard_output_in_an_empty_folder(capsys: pytest.CaptureFixture[str]) -> None:
    became("init", "mine.csv", "--json")

    assert capsys.readouterr().out == ""


def test_a_project_is_small_and_has_all_that_git_tracks_of_the_pipeline() -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    tracked = {name for name in listed.stdout.split("\0") if (ROOT / name).is_file()}
    files = project_files()
    code = {name: content for name, content in files.items() if name.endswith(".py")}

    pipeline = {name for name in tracked if name.startswith(("tasks/", "flows/", "prompts/", "data/examples/"))}
    assert pipeline <= files.keys()
    own = {"AGENTS.md", "README.md", "pyproject.toml", "goldmeter.yaml", "tests/test_pipeline.py"}
    assert {"dvc.yaml", "params.yaml", ".dvc/config", ".dvcignore", ".gitignore", *own} <= files.keys()
    assert files.keys() - tracked == {"AGENTS.md", "tests/test_pipeline.py"}
    assert len(code) <= 30
    assert sum(content.count(b"\n") for content in code.values()) <= 3000
    assert not any(name.startswith(("goldmeter/", ".dvc/tmp", ".dvc/cache", ".dvc/config.local")) for name in files)


def test_a_stage_of_a_project_names_no_code_of_the_library_and_that_of_a_clone_differs_in_nothing_else() -> None:
    project = parse_yaml(project_files()["dvc.yaml"].decode())["stages"]
    clone = load_yaml(ROOT / "dvc.yaml")["stages"]

    for name, entry in clone.items():
        assert project[name] == entry | {"deps": [dep for dep in entry["deps"] if not dep.startswith("goldmeter/")]}
        own = [dep for dep in project[name]["deps"] if not dep.startswith(("data/", "reports/", "prompts", "$"))]
        assert own[0] == f"tasks/{name}.py"
        assert own[1:] in ([], ["tasks/metrics"])


def test_a_project_names_the_version_of_the_library_and_what_was_written() -> None:
    files = project_files()
    library = Library.model_validate(parse_yaml(files["goldmeter.yaml"].decode()))

    assert 'dependencies = ["goldmeter==0.1.0"]' in files["pyproject.toml"].decode()
    assert (library.version, library.revisions) == ("0.1.0", {stage: revision_of(stage) for stage in library.revisions})
    assert {"dvc.yaml", "tasks/judge.py", "flows/evaluate.py"} <= library.files.keys()
    assert not {"params.yaml", "prompts/rubric.txt", "data/aliases.csv", "README.md"} & library.files.keys()
    assert library.files["dvc.yaml"] == hashlib.sha256(files["dvc.yaml"]).hexdigest()[:12]


def test_the_source_distribution_has_all_that_the_wheel_is_made_of_and_nothing_else() -> None:
    targets = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]["targets"]

    in_wheel = targets["wheel"]["force-include"]
    assert targets["sdist"]["include"] == sorted({"/goldmeter", *(f"/{name}" for name in in_wheel)})
    assert in_wheel == {name: f"goldmeter/project/files/{name}" for name in in_wheel}


def test_init_makes_a_project_under_git(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert status("init") is None

    assert {name: (tmp_path / name).read_bytes() for name in project_files()} == project_files()
    assert (tmp_path / ".git").is_dir()
    assert write_dataset(params.raw()["dataset"] | {"path": "x.csv"}, {"path": "  path: x.csv\n"}) is None
    assert params.raw()["dataset"]["path"] == "x.csv"
    assert capsys.readouterr().out.endswith("next: goldmeter run\n")
    assert became("init", "x.csv") == [*FLOWS, "init", "x.csv"]


def test_init_with_data_goes_on_to_map_it(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data/mine.csv").write_text("question\n", encoding="utf-8")

    assert became("init", "data/mine.csv") == [*FLOWS, "init", "data/mine.csv"]
    assert (tmp_path / "data/mine.csv").read_text(encoding="utf-8") == "question\n"
    assert (tmp_path / "dvc.yaml").is_file()


def test_init_in_a_repository_makes_no_other_one_and_keeps_its_gitignore(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "--quiet"], check=True)
    (tmp_path / ".gitignore").write_text("mine\n", encoding="utf-8")
    folder = tmp_path / "evaluation"
    folder.mkdir()
    os.chdir(folder)
    (folder / ".gitignore").write_text("mine\n", encoding="utf-8")

    assert status("init") is None

    assert not (folder / ".git").exists()
    assert (folder / ".gitignore").read_text(encoding="utf-8") == "mine\n"


def test_init_overwrites_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "params.yaml").write_text("mine", encoding="utf-8")

    assert status("init") == 2

    assert [path.name for path in tmp_path.iterdir()] == ["params.yaml"]
    assert capsys.readouterr().err.startswith("error: params.yaml: is there already; ")


@pytest.mark.parametrize("name", ["goldmeter/", "goldmeter.py", "tasks"])
def test_a_folder_with_a_file_or_a_module_in_the_way_is_refused(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / name).mkdir() if name.endswith("/") else (tmp_path / name).touch()

    assert status("init") == 2

    assert [path.name for path in tmp_path.iterdir()] == [name.strip("/")]
    assert capsys.readouterr().err.startswith(f"error: {name.strip('/')}: is there already; ")


def test_a_dangling_link_is_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "dvc.yaml").symlink_to("nowhere")

    assert status("init") == 2


def test_a_readme_and_a_pyproject_stay_as_they_are(tmp_path: Path) -> None:
    for name in ("README.md", "pyproject.toml"):
        (tmp_path / name).write_text("mine\n", encoding="utf-8")

    assert status("init") is None

    assert (tmp_path / "README.md").read_text(encoding="utf-8") == "mine\n"


def test_a_project_that_lacks_a_file_says_which(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "dvc.yaml").touch()

    assert status("run") == 2

    restored = "`git checkout flows/__main__.py` restores it"
    assert capsys.readouterr().err == f"error: {tmp_path}: flows/__main__.py is missing; {restored}\n"


@pytest.mark.parametrize(
    ("pin", "after"),
    [
        ("goldmeter==0.0.1", "goldmeter==0.1.0"),
        ("goldmeter[s3] == 0.0.*", "goldmeter[s3]==0.1.0"),
        ("goldmeter==0.0.1+local; extra", "goldmeter==0.1.0; extra"),
        ("company-goldmeter==3.1", "company-goldmeter==3.1"),
        ("goldmeter>=0.1\udcff", "goldmeter>=0.1\udcff"),
    ],
)
def test_the_pin_of_the_library_follows_and_no_other(pin: str, after: str) -> None:
    coded = [f'["{text}"]'.encode("utf-8", "surrogateescape") for text in (pin, after)]

    assert pinned(coded[0]) == coded[1]


def test_without_git_nothing_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    assert status("init") == 2

    assert [*tmp_path.iterdir()] == []
    assert capsys.readouterr().err.startswith("error: git: not found")


def test_a_command_without_a_project_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert status("run") == 2

    assert capsys.readouterr().err == f"error: {tmp_path}: holds no project; `goldmeter init` makes one\n"


@pytest.mark.parametrize("arguments", [[], ["--help"], ["init", "--help"], ["compare", "-h"]], ids=" ".join)
def test_help_needs_no_project_and_makes_none(arguments: list[str], tmp_path: Path) -> None:
    assert became(*arguments) == [*FLOWS, *arguments]

    assert Path.cwd() == ROOT
    assert [*tmp_path.iterdir()] == []


def test_in_a_project_a_command_is_that_of_its_flows(tmp_path: Path) -> None:
    for mark in ("dvc.yaml", "flows/__main__.py"):
        (tmp_path / mark).parent.mkdir(exist_ok=True)
        (tmp_path / mark).touch()

    assert became("judge", "--plan") == [*FLOWS, "judge", "--plan"]
    assert Path.cwd() == tmp_path


def test_a_misspelt_command_is_told_where_there_is_no_project(capsys: pytest.CaptureFixture[str]) -> None:
    assert status("evalute") == 2
    assert capsys.readouterr().err == "error: 'evalute': no such command; did you mean evaluate?\n"
