"""What `python -m flows.compare` makes of mistakes, of versions that are out of date and of a poor terminal."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from flows.compare import main
from tasks.wording.verdicts import Decision
from tests.comparison import repository
from tests.comparison.repository import git
from tests.comparison.sample import answers, row, version
from tests.flows.test_compare import folders, put, told  # noqa: F401 (a fixture)
from tests.reporting.made import inputs
from tests.reporting.made import row as made_row
from tests.small_project import ROOT, edit

PIPELINE = """\
stages:
  score:
    cmd: echo
    deps: [questions.jsonl]
    params: [dataset, lexical]
    outs: [data/load, data/normalize, data/lexical]
"""
NEVER_RAN = """\
  embed:
    cmd: echo
    params: [embed]
    outs: [data/semantic]
"""


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("stale")
    (folder / "project").mkdir()
    (folder / "project/questions.jsonl").write_text("{}\n", encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(repository, "PIPELINE", PIPELINE)
        repository.make(folder)
    return folder


@pytest.fixture
def clone(template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project under git and DVC, which is the current folder; its workspace is up to date."""
    path = repository.copy(template, tmp_path / "clone")
    monkeypatch.chdir(path)
    run()
    return path


def run(tag: str | None = None) -> None:
    """As if the pipeline had been run, and with a tag committed."""
    from dvc.repo import Repo

    with Repo() as repo:
        repo.commit("score", force=True)
    if tag:
        git("commit", "-q", "-a", "-m", tag)
        git("tag", tag)


def commit(tag: str, change: Callable[[dict[str, Any]], object]) -> None:
    """Commit other params without a run."""
    edit(change)
    git("commit", "-q", "-a", "-m", tag)
    git("tag", tag)


# versions that are out of date


@pytest.mark.usefixtures("clone")
def test_a_commit_whose_params_are_not_those_of_its_run_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    commit("v3", lambda params: params["lexical"]["f1"].update(threshold=0.75))

    for names in (("v1", "v3"), ("v3", "v1")):
        status, out, err = told(capsys, *names)

        assert (status, out) == (2, "")
        assert err.startswith("error: v3: ")
        assert "dvc.lock is older than" in err
        assert "params.yaml" in err
        assert "lexical" in err
        assert "`dvc repro`" in err


@pytest.mark.usefixtures("clone")
def test_only_params_of_a_stage_that_ran_and_is_compared_make_a_commit_stale(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("dvc.yaml").write_text(PIPELINE + NEVER_RAN, encoding="utf-8")
    commit("others", lambda params: (params["report"].update(small_n=7), params["embed"].update(batch_tokens=7)))
    commit("more", lambda params: params["lexical"].update(gleu=None))

    assert told(capsys, "others", "others")[0] == 0
    assert told(capsys, "others", "more")[0] == 2


@pytest.mark.usefixtures("clone")
def test_an_experiment_has_the_params_of_its_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert told(capsys, "try-1", "try-1")[0] == 0
    commit("v3", lambda params: params["lexical"]["f1"].update(threshold=0.75))
    assert told(capsys, "try-1", "v3")[0] == 2


@pytest.mark.usefixtures("clone")
def test_a_run_after_the_change_makes_a_version_current_again(capsys: pytest.CaptureFixture[str]) -> None:
    commit("v3", lambda params: params["lexical"]["f1"].update(threshold=0.75))
    run("v4")

    assert told(capsys, "v3", "v3")[0] == 2
    assert told(capsys, "v4", "v4")[0] == 0


@pytest.mark.usefixtures("clone")
@pytest.mark.parametrize(
    "change",
    [
        lambda params: params["lexical"]["f1"].update(threshold=0.00001),
        lambda params: params["dataset"].update(exclude={"improper": "no"}),
    ],
    ids=["a small number", "a word in quotes"],
)
def test_params_written_another_way_in_the_lock_are_the_same(
    capsys: pytest.CaptureFixture[str], change: Callable[[dict[str, Any]], object]
) -> None:
    edit(change)
    run("v3")
    commit("v4", lambda params: params["lexical"]["f1"].update(threshold=0.75))

    assert told(capsys, "v3", "v3")[0] == 0
    assert told(capsys, "v4", "v4")[0] == 2


@pytest.mark.usefixtures("clone")
def test_a_workspace_whose_params_are_not_those_of_its_run_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert told(capsys, "v1")[0] == 0
    edit(lambda params: params["lexical"]["f1"].update(threshold=0.75))

    status, out, err = told(capsys, "v1")

    assert (status, out) == (2, "")
    assert err.startswith("error: workspace: ")
    assert "`dvc repro`" in err


@pytest.mark.usefixtures("clone")
def test_a_workspace_whose_data_is_not_that_of_its_run_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert told(capsys, "v1")[0] == 0
    Path("questions.jsonl").write_text('{"id": "new"}\n', encoding="utf-8")

    status, out, err = told(capsys, "v1")

    assert (status, out) == (2, "")
    assert err.startswith("error: workspace: ")
    assert "`dvc repro`" in err


# candidates


@pytest.mark.usefixtures("folders")
def test_a_candidate_is_dropped_by_an_empty_name(capsys: pytest.CaptureFixture[str]) -> None:
    put(old=answers("++") + answers("++", "borealis"), new=answers("++"))

    status, out, _ = told(capsys, "old", "new")

    assert status == 2
    assert "--map" in out
    assert told(capsys, "old", "new", "--map", "borealis=")[0] == 0


# mistakes of our own, and of who asks


@pytest.mark.usefixtures("folders")
def test_a_mistake_of_our_own_is_no_verdict(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("a broken promise")

    put(old=answers("+"), new=answers("+"))
    monkeypatch.setattr("flows.compare.compare_versions", broken)

    status, out, err = told(capsys, "old", "new")

    assert (status, out) == (2, "")
    assert err.startswith("Traceback (most recent call last):")
    assert err.endswith("RuntimeError: a broken promise\n")


@pytest.mark.usefixtures("folders")
def test_two_forms_on_standard_output_are_a_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    put(old=answers("+"), new=answers("+"))

    with pytest.raises(SystemExit) as ended:
        main(["old", "new", "--json", "--markdown"])

    out, err = capsys.readouterr()
    assert (ended.value.code, out) == (2, "")
    assert "usage: python -m flows.compare" in err
    assert "--json and --markdown" in err


def test_a_report_from_before_thresholds_is_an_error_that_names_the_version(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("old", "new"):
        rows = [made_row(f"q{n}", "aurora", "Paris", None, 1.0, 0.9) for n in range(20)]
        _, documents = inputs(rows, project / name / "data")
        del documents["reports/metrics.json"]["thresholds"]
        every = documents | {f"reports/validation/{stage}.json": documents["reports/validation/load.json"]
                             for stage in ("normalize", "embed", "semantic", "judge", "aggregate")}  # fmt: skip
        for path, content in every.items():
            (project / name / path).parent.mkdir(parents=True, exist_ok=True)
            (project / name / path).write_text(json.dumps(content), encoding="utf-8")

    edit(lambda params: params["gate"].update(primary="f1"))
    status, _, err = told(capsys, "old", "new", "--html")

    assert status == 2
    assert err.startswith("error: new: ")
    assert "thresholds" in err
    assert "Traceback" not in err
    assert not (project / "reports/comparison.html").exists()


# a terminal with few signs

SPOKEN = "naïve 答え 😀 — ‘ok’"


def spoken(encoding: str, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    """The command by itself, on a terminal of this encoding."""
    version(Path("old"), [row(n, "right") for n in range(12)])
    version(Path("new"), [row(n, SPOKEN) for n in range(12)])
    environment = os.environ | {"PYTHONIOENCODING": encoding, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "flows.compare", "old", "new", *arguments]
    return subprocess.run(command, env=environment, capture_output=True, check=False)


@pytest.mark.long
@pytest.mark.usefixtures("folders")
@pytest.mark.parametrize(("encoding", "arguments"), [("ascii", ()), ("latin-1", ("--markdown",))])
def test_a_terminal_without_our_signs_shows_what_it_can(encoding: str, arguments: tuple[str, ...]) -> None:
    done = spoken(encoding, *arguments)

    assert (done.returncode, done.stderr) == (1, b"")
    shown = done.stdout.decode(encoding)
    assert "12 rows changed result" in shown
    assert f"{Decision.DO_NOT_SHIP.capitalize()}: worse by f1." in shown


@pytest.mark.usefixtures("folders")
def test_json_is_json_and_files_are_in_utf_8_on_any_terminal() -> None:
    done = spoken("ascii", "--json", "--markdown", "c.md")

    assert (done.returncode, done.stderr) == (1, b"")
    document = json.loads(done.stdout)
    assert document["pairs"][0]["flips"]["worst"][0]["head"] == SPOKEN
    assert "答え 😀" in Path("c.md").read_text(encoding="utf-8")
