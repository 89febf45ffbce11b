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
from goldmeter.wording.verdicts import Decision
from tests.comparison import repository
from tests.comparison.repository import git
from tests.comparison.sample import answers, row, version
from tests.flows.test_compare import folders, put, told, with_reports  # noqa: F401 (a fixture)
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
def test_a_commit_whose_params_are_not_those_of_its_run_is_refused_until_it_is_run(
    capsys: pytest.CaptureFixture[str],
) -> None:
    commit("v3", lambda params: params["lexical"]["f1"].update(threshold=0.75))

    for names in (("try-1", "v3"), ("v3", "try-1")):  # an experiment has the params of its run
        status, out, err = told(capsys, *names)

        assert (status, out) == (2, "")
        assert err.startswith("error: v3: ")
        assert all(said in err for said in ("dvc.lock is older than", "params.yaml", "lexical", "`dvc repro`"))
    # DVC writes these two in another way into the lock.
    edit(lambda params: params["lexical"]["f1"].update(threshold=0.00001))
    edit(lambda params: params["dataset"].update(exclude={"improper": "no"}))
    run("v4")
    assert told(capsys, "v4", "v4")[0] == 0


@pytest.mark.usefixtures("clone")
def test_a_workspace_whose_params_or_data_are_not_those_of_its_run_is_refused(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert told(capsys, "v1")[0] == 0
    params = Path("params.yaml").read_bytes()

    edit(lambda params: params["lexical"]["f1"].update(threshold=0.75))
    of_params = told(capsys, "v1")
    Path("params.yaml").write_bytes(params)
    Path("questions.jsonl").write_text('{"id": "new"}\n', encoding="utf-8")

    for status, out, err in (of_params, told(capsys, "v1")):
        assert (status, out) == (2, "")
        assert err.startswith("error: workspace: ")
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
    with_reports(project)
    report = project / "new/reports/metrics.json"
    content = json.loads(report.read_text(encoding="utf-8"))
    report.write_text(json.dumps({name: content[name] for name in content if name != "thresholds"}), encoding="utf-8")

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
def test_a_terminal_without_our_signs_shows_what_it_can_and_json_and_files_have_them_all() -> None:
    as_table, as_markdown = spoken("ascii"), spoken("latin-1", "--markdown")
    as_json = spoken("ascii", "--json", "--markdown", "c.md")

    assert {(done.returncode, done.stderr) for done in (as_table, as_markdown, as_json)} == {(1, b"")}
    for shown in (as_table.stdout.decode("ascii"), as_markdown.stdout.decode("latin-1")):
        assert "12 shared rows" in shown
        assert f"{Decision.DO_NOT_SHIP.capitalize()}: worse by f1, " in shown
    assert json.loads(as_json.stdout)["pairs"][0]["flips"]["worst"][0]["head"] == SPOKEN
    assert "答え 😀" in Path("c.md").read_text(encoding="utf-8")
