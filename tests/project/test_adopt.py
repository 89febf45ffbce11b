"""`goldmeter adopt FOLDER` outside of a project: table, page, JSON, and a project that goes on from there."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from benchmarks import adopt as made
from benchmarks.adopt import Answer, Version
from goldmeter.pipeline import git
from goldmeter.project import adopt, template
from tests.hostile_texts import TEXTS


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    folder = tmp_path / "logs"
    folder.mkdir()
    for place, right in enumerate([False, True]):
        answers = [Answer(number, f"Question {number}?", right or number % 2 == 0) for number in range(60)]
        made.promptfoo(Version(place, f"model-{place}", answers), folder)
    return folder


def test_the_table_says_what_was_found_and_shown(logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (logs / "README.md").write_text("# Logs")

    assert adopt.main([str(logs)]) == 0

    said = capsys.readouterr().out
    assert "3 files: 2 runs of 1 tool, 120 rows; 1 file or folder gave no run" in said
    assert "1 pair of successive runs: real win 1" in said
    assert "not read: README.md" in said


def test_json_alone_is_on_standard_output(logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert adopt.main([str(logs), "--json"]) == 0

    written = json.loads(capsys.readouterr().out)
    assert (written["schema"], written["claims"][0]["verdict"]) == (1, "real win")


def test_the_page_shows_hostile_names_as_text(logs: Path, tmp_path: Path) -> None:
    for number, text in enumerate(TEXTS[:30]):
        file = logs / f"other_{number}.json"
        run = made.promptfoo(Version(5, f"{text[:200]} {number}", [Answer(1, text[:200], True)]), logs)
        run.rename(file)
    page = tmp_path / "page.html"

    assert adopt.main([str(logs), "--html", str(page)]) == 0

    assert "<script" not in page.read_text(encoding="utf-8").lower()
    assert "real win" in page.read_text(encoding="utf-8")


def test_nothing_is_written_into_the_folder(logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert adopt.main([str(logs), "--html", str(logs / "page.html")]) == 2

    assert "stays as it is" in capsys.readouterr().err
    assert len([*logs.iterdir()]) == 2


def test_a_line_break_in_a_name_begins_no_line_of_the_output(logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (logs / "x\n9 files: 9 runs").write_text("{}", encoding="utf-8")

    assert adopt.main([str(logs)]) == 0

    assert "\n9 files: 9 runs" not in (out := capsys.readouterr().out)
    assert "x⟨line break⟩9 files: 9 runs" in out


def test_a_folder_without_logs_is_an_error_that_names_what_is_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "plot.png").write_bytes(b"\x89PNG")

    assert adopt.main([str(tmp_path)]) == 2

    assert "not read: plot.png" in capsys.readouterr().out


def test_a_log_whose_name_is_no_text_goes_on_under_the_name_that_was_printed(
    logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    named = logs / os.fsdecode(b"\xff.json")
    (logs / "promptfoo_1.json").rename(named)
    for module in (subprocess, git):
        monkeypatch.setattr(module, "run", lambda *_, **__: subprocess.CompletedProcess([], 0))
    monkeypatch.setattr(template, "make_project", lambda _: None)

    assert adopt.main([str(logs), "--into", str(tmp_path / "project")]) == 0

    assert (tmp_path / "project/data/adopted/\\xff.json").read_bytes() == named.read_bytes()


@pytest.mark.long
def test_a_project_goes_on_from_the_newest_run_with_what_lies_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path.cwd()))
    logs, project = Path("tests/dataset/readers/logs/lm_eval"), tmp_path / "project"

    assert adopt.main([str(logs), "--into", str(project)]) == 0

    assert "format: lm_eval" in (project / "params.yaml").read_text()
    copied = {path.name for path in (project / "data/adopted").iterdir()} - {".gitignore"}
    assert len(copied) == 2
    assert all((project / "data/adopted" / name).read_bytes() == (logs / name).read_bytes() for name in copied)
