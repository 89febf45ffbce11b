"""`goldmeter upgrade`: from one version of the library to the next, with settings and files that were changed."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from goldmeter.errors import ParamsError
from goldmeter.pipeline import revisions
from goldmeter.pipeline.dvc_yaml import forget_stages
from goldmeter.pipeline.yaml import dump_yaml, load_yaml
from goldmeter.project import template
from goldmeter.project.template import make_project
from goldmeter.project.upgrade import main, upgrade
from tests.comparison.repository import git
from tests.small_project import stated_in_full, with_version

NEXT = {
    "reasons": [{"lexical": "METEOR counts a synonym once"}],
    "renamed": {"judge.retest": "asked_twice"},
    "removed": {"report.small_n": "slices mark themselves"},
    "signatures": ["meteor"],
}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A new project, committed."""
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    make_project(folder)
    (folder / "params.yaml").write_text(stated_in_full(), encoding="utf-8")
    git("init", "--quiet")
    git("config", "user.name", "test")
    git("config", "user.email", "test@localhost")
    git("add", "--all")
    git("commit", "--quiet", "--message", "start")
    forget_stages()
    return folder


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Let the next version be the one that is installed; `edits`: file of a new project → its content."""

    def next_version(edits: dict[str, str | None] | None = None) -> None:
        files = tmp_path / "installed"
        for name, content in template.project_files().items():
            (files / name).parent.mkdir(parents=True, exist_ok=True)
            (files / name).write_bytes(content)
        for name, edited in (edits or {}).items():
            (files / name).unlink() if edited is None else (files / name).write_text(edited, encoding="utf-8")
        monkeypatch.setattr(template, "ROOT", files)
        monkeypatch.setattr(template, "FILES", files)
        with_version(tmp_path, monkeypatch, "0.2.0", **NEXT)

    return next_version


def text(name: str) -> str:
    return Path(name).read_text(encoding="utf-8")


@pytest.mark.usefixtures("project")
def test_nothing_is_to_be_done_in_a_new_project() -> None:
    assert upgrade() == ["already at goldmeter 0.1.0"]
    assert git("status", "--porcelain") == ""


@pytest.mark.usefixtures("project")
def test_an_upgrade_says_what_differs_and_leaves_a_diff(install: Callable[..., None]) -> None:
    before = revisions.read().revisions
    install({"tasks/report.py": "REPORT = 2\n", "flows/label.py": None, "flows/later.py": "LATER = 1\n"})

    lines = upgrade()

    assert lines == [
        "goldmeter 0.1.0 → 0.2.0",
        "",
        "Numbers that differ; these stages run again",
        "  lexical: METEOR counts a synonym once",
        "",
        "Not comparable with versions from before, which `goldmeter compare` says, too",
        "  meteor",
        "",
        "Settings, in params.yaml",
        "  judge.retest: its name is asked_twice now",
        "  report.small_n: removed; slices mark themselves",
        "",
        "Files",
        "  flows/label.py: removed",
        "  flows/later.py: new",
        "  tasks/report.py: replaced",
        "",
        "written: flows/label.py, flows/later.py, goldmeter.yaml, params.yaml, pyproject.toml, tasks/report.py",
        "next: git diff, goldmeter run, git add --all, git commit --message 'goldmeter 0.2.0'",
    ]
    assert (text("tasks/report.py"), Path("flows/label.py").exists()) == ("REPORT = 2\n", False)
    assert 'dependencies = ["goldmeter==0.2.0"]' in text("pyproject.toml")
    library = revisions.read()
    assert (library.version, library.revisions) == ("0.2.0", before | {"lexical": before["lexical"] + 1})
    diff = git("diff", "--unified=0", "params.yaml")
    edits = [line for line in diff.splitlines() if line.startswith(("+", "-")) and line[:3] not in {"+++", "---"}]
    assert [edit.partition("   # share of")[0] for edit in edits] == [
        "-  retest: 0.0                ",
        "+  asked_twice: 0.0                ",
        "-  small_n: 30                   # slices with fewer rows are marked",
    ]


@pytest.mark.usefixtures("project")
def test_it_asks_nothing_twice(install: Callable[..., None]) -> None:
    install({"tasks/report.py": "REPORT = 2\n"})
    upgrade()
    git("commit", "--quiet", "--all", "--message", "upgrade")

    assert upgrade() == ["already at goldmeter 0.2.0"]


@pytest.mark.usefixtures("project")
def test_what_you_changed_stays_and_the_way_to_compare_it_is_named(install: Callable[..., None]) -> None:
    for name in ("tasks/report.py", "tasks/judge.py", "flows/label.py"):
        with Path(name).open("a", encoding="utf-8") as file:
            file.write("MINE = 1\n")
    Path("tasks/metrics/lexical/mine.py").write_text("MINE = 1\n", encoding="utf-8")
    git("add", "--all")
    git("commit", "--quiet", "--message", "mine")
    install({"tasks/report.py": "REPORT = 2\n", "flows/label.py": None})

    lines = upgrade()

    theirs = ".dvc/tmp/upgrade/tasks/report.py"
    assert f"  tasks/report.py: changed here and in the library; git diff --no-index tasks/report.py {theirs}" in lines
    assert text(theirs) == "REPORT = 2\n"
    assert lines[-2] == "written: goldmeter.yaml, params.yaml, pyproject.toml"
    assert "  flows/label.py: the library has no such file any more; yours was changed and stays" in lines
    assert not any("judge.py" in line or "mine.py" in line for line in lines)
    assert all(text(name).endswith("MINE = 1\n") for name in ("tasks/report.py", "tasks/judge.py", "flows/label.py"))
    git("commit", "--quiet", "--all", "--message", "upgrade")
    assert upgrade()[-1] == f"  git diff --no-index tasks/report.py {theirs}"
    Path(theirs).unlink()
    assert upgrade() == ["already at goldmeter 0.2.0"]


@pytest.mark.usefixtures("project")
def test_a_file_that_you_removed_stays_away(install: Callable[..., None]) -> None:
    git("rm", "--quiet", "flows/label.py")
    git("commit", "--quiet", "--message", "without")
    install({"flows/label.py": "LABEL = 2\n"})

    lines = upgrade()

    assert not Path("flows/label.py").exists()
    assert not any("label.py" in line for line in lines)


def test_no_file_outside_the_pipeline_is_touched_whatever_goldmeter_yaml_names(
    project: Path, install: Callable[..., None]
) -> None:
    outside, names = project.parent / "mine", ["../mine", "data/mine", "flows/../../mine", "params.yaml"]
    (project / "data/mine").write_text("mine", encoding="utf-8")
    outside.write_text("mine", encoding="utf-8")
    content = load_yaml(Path("goldmeter.yaml"))
    content["files"] |= dict.fromkeys(names, template.fingerprint(b"mine"))
    Path("goldmeter.yaml").write_text(dump_yaml(content), encoding="utf-8")
    git("commit", "--quiet", "--all", "--message", "hostile")
    install()

    upgrade()

    assert outside.exists()
    assert (project / "data/mine").exists()


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize("name", ["params.yaml", "tasks/report.py", "goldmeter.yaml"])
def test_nothing_is_overwritten_that_git_cannot_give_back(
    name: str, install: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    shipped = Path(name).read_bytes()
    install({"tasks/report.py": "REPORT = 2\n"})
    with Path(name).open("a", encoding="utf-8") as file:
        file.write("# an edit\n")
    if name == "tasks/report.py":  # as committed: yours; as it was: the library's, and not committed
        git("commit", "--quiet", "--all", "--message", "mine")
        Path(name).write_bytes(shipped)
    before = text("params.yaml")

    assert main([]) == 2

    problem = f"error: {name}: is not committed; `git commit` first, so that the upgrade is a diff of its own\n"
    assert capsys.readouterr().err == problem
    assert text("params.yaml") == before


@pytest.mark.usefixtures("project")
def test_a_lost_goldmeter_yaml_is_written_again() -> None:
    before = text("goldmeter.yaml")
    Path("goldmeter.yaml").unlink()

    assert upgrade()[0] == "goldmeter unknown → 0.1.0"

    assert text("goldmeter.yaml") == before


@pytest.mark.usefixtures("project")
def test_a_project_of_a_newer_library_is_refused() -> None:
    content = load_yaml(Path("goldmeter.yaml")) | {"version": "0.3.0"}
    Path("goldmeter.yaml").write_text(dump_yaml(content), encoding="utf-8")

    with pytest.raises(ParamsError, match=r"made for goldmeter 0\.3\.0, and 0\.1\.0 is installed; pip install"):
        upgrade()


@pytest.mark.usefixtures("project")
def test_a_setting_that_has_no_place_is_told(install: Callable[..., None]) -> None:
    Path("params.yaml").write_text("report: {small_n: 30}\n", encoding="utf-8")
    git("commit", "--quiet", "--all", "--message", "flow style")
    install()

    assert "  report.small_n: removed; slices mark themselves; change params.yaml by hand" in upgrade()


@pytest.mark.usefixtures("project")
def test_of_settings_that_are_not_stated_nothing_changes(install: Callable[..., None]) -> None:
    Path("params.yaml").write_text(template.project_files()["params.yaml"].decode(), encoding="utf-8")
    git("commit", "--quiet", "--all", "--message", "decisions only")
    before = text("params.yaml")
    install()

    lines = upgrade()

    assert "Settings, in params.yaml" not in lines
    assert text("params.yaml") == before


@pytest.mark.parametrize("text", [None, "- \x00[", "[]"])
def test_a_folder_without_settings_is_an_error(
    text: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    if text is not None:
        Path("params.yaml").write_text(text, encoding="utf-8")

    assert main([]) == 2
    assert capsys.readouterr().err.startswith("error: params.yaml")


def test_a_clone_gets_its_revisions_and_keeps_all_else(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = text("params.yaml")
    (project / "goldmeter/project").mkdir(parents=True)
    (project / "goldmeter/project/upgrade.py").touch()
    with_version(project.parent, monkeypatch, revisions.own_version(), reasons=[{"judge": "canaries"}])

    lines = upgrade()

    assert "  judge: canaries" in lines
    assert lines[-2] == "written: goldmeter.yaml"
    assert f"  judge: {revisions.revision_of('judge')}\n" in text("goldmeter.yaml")
    assert text("goldmeter.yaml").endswith("files: {}\n")
    assert text("params.yaml") == before


def test_what_git_does_not_know_is_not_overwritten(project: Path, install: Callable[..., None]) -> None:
    shutil.rmtree(project / ".git")
    git("init", "--quiet")
    git("config", "status.showUntrackedFiles", "no")
    install()

    with pytest.raises(ParamsError, match="is not committed"):
        upgrade()
