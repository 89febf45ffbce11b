"""The steps of a scheduled run, and the outcome of each way in which one can end."""

import contextlib
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from dvc.repo import Repo
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.errors import DataError, LedgerError, ParamsError, VersionError
from goldmeter.history import decision
from goldmeter.history.decision import RunDecision
from goldmeter.pipeline.yaml import dump_yaml, load_yaml, parse_yaml
from goldmeter.serving import scheduled_run
from goldmeter.serving.record import AtWork, Recorded
from goldmeter.serving.scheduled_run import LONGEST_LINE, QUOTED, Outcome, override_params, require_versioned
from goldmeter.versions.experiments import Experiment, Facts
from tests.small_project import edit, settings

NAME = "nightly-2026-11-21-020000"
FACTS = Facts(datetime(2026, 11, 21, 2, tzinfo=UTC), 12.5, "a" * 32, "b" * 40, "c" * 40, 0.25, "run-id")
WELL = RunDecision(document=None, look=None, level=None, alarms=[], status=0, over=[])
Schedule = Callable[..., None]


class Stages:
    """What runs and records the stages."""

    @staticmethod
    def run_and_record(_: str) -> Recorded:
        raise AssertionError("nothing is to run")


def main(arguments: list[str]) -> int:
    return scheduled_run.main(arguments, Stages.run_and_record)


def run_schedule(name: str) -> Outcome:
    return scheduled_run.run_schedule(name, Stages.run_and_record)


def git(*command: str) -> None:
    subprocess.run(["git", "-c", "user.name=n", "-c", "user.email=e@x", *command], check=True, capture_output=True)


@pytest.fixture
def worktree(project: Path) -> Path:
    """A committed project of ten questions, under git and DVC."""
    (project / ".dvc").mkdir()
    (project / ".dvc/config").write_text("[core]\n    analytics = false\n    check_update = false\n")
    (project / ".dvc/.gitignore").write_text("*\n")
    git("init", "--quiet", "--initial-branch=main")
    git("add", "--all")
    git("commit", "--quiet", "--message", "start")
    return project


@pytest.fixture
def schedule(worktree: Path) -> Schedule:
    """Changes options of the schedule `nightly`."""
    assert (worktree / "params.yaml").exists()
    return lambda **options: edit(lambda content: content["schedule"]["nightly"].update(options))


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Runs are recorded at once, and found to be well; the prefixes of their names."""
    prefixes: list[str] = []

    def run_and_record(prefix: str) -> Recorded:
        prefixes.append(prefix)
        return Recorded(None, Experiment(NAME, "d" * 40), FACTS)

    monkeypatch.setattr(Stages, "run_and_record", run_and_record)
    monkeypatch.setattr(decision, "decide", lambda *_: WELL)
    return prefixes


def found(monkeypatch: pytest.MonkeyPatch, what: RunDecision | Exception) -> None:
    """What the history makes of the run."""

    def answer(*_: Any) -> RunDecision:
        if isinstance(what, Exception):
            raise what
        return what

    monkeypatch.setattr(decision, "decide", answer)


def written_outcome(folder: Path, status: int) -> Any:
    tree = Path(".git/goldmeter/worktrees/nightly")
    git("worktree", "add", "--quiet", "--detach", str(tree))
    shutil.copytree(".dvc", tree / ".dvc")
    with contextlib.chdir(tree):
        assert main(["nightly", "--outcome", str(folder / "outcome.json")]) == status
    assert not list(folder.glob("*.tmp"))
    return json.loads((folder / "outcome.json").read_text(encoding="utf-8"))


@pytest.mark.usefixtures("worktree")
def test_a_run_that_is_well(recorded: list[str], tmp_path: Path) -> None:
    assert written_outcome(tmp_path, 0) == {
        "ok": True,
        "sentence": f"{NAME} is recorded.",
        "experiment": NAME,
        "commit": "d" * 40,
        "alarms": [],
        "over": [],
        "markdown": None,
        "facts": {
            "started": "2026-11-21T02:00:00+00:00",
            "seconds": 12.5,
            "data": "a" * 32,
            "params": "b" * 40,
            "code": "c" * 40,
            "cost": 0.25,
            "flow_run": "run-id",
        },
    }
    assert recorded == ["nightly"]


@pytest.mark.usefixtures("worktree", "recorded")
def test_a_worse_run_says_what_is_worse(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    alarms = [f"aurora {name}: worse than v1 by 0.153" for name in ("f1", "bleu", "gleu", "rouge", "meteor")]
    found(monkeypatch, WELL._replace(alarms=alarms, status=1))

    outcome = written_outcome(tmp_path, 1)

    assert not outcome["ok"]
    assert outcome["sentence"] == f"{'; '.join(alarms[:3])}; and 2 more"
    assert outcome["alarms"] == alarms
    assert outcome["experiment"] == NAME


def test_nothing_runs_in_a_checkout_that_a_person_works_in(
    schedule: Schedule, recorded: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    schedule(refresh="touch refreshed", set=["dataset.limit=5"])
    before = Path("params.yaml").read_bytes()
    Path(".git/goldmeter/worktrees/nightly").mkdir(parents=True)

    assert main(["nightly", "--outcome", str(tmp_path / "outcome.json")]) == 2

    assert "not the worktree of the schedule nightly" in capsys.readouterr().err
    assert Path("params.yaml").read_bytes() == before
    assert not Path("refreshed").exists()
    assert not (tmp_path / "outcome.json").exists()
    assert recorded == []


@pytest.mark.usefixtures("recorded")
def test_a_run_of_one_schedule_does_not_run_in_the_worktree_of_another(worktree: Path) -> None:
    tree = worktree / ".git/goldmeter/worktrees/weekly"
    git("worktree", "add", "--quiet", "--detach", str(tree))
    with contextlib.chdir(tree):
        scheduled_run.require_worktree("weekly")
        with pytest.raises(VersionError):
            scheduled_run.require_worktree("nightly")


def test_nothing_runs_outside_of_a_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))

    with pytest.raises(VersionError, match="not the worktree of the schedule nightly"):
        scheduled_run.require_worktree("nightly")


@pytest.mark.usefixtures("worktree")
def test_an_error_that_names_a_file_which_is_no_utf8_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def changed(_prefix: str) -> Recorded:
        raise LedgerError("caf\udce9.py: changed while the run went on")

    monkeypatch.setattr(Stages, "run_and_record", changed)

    assert written_outcome(tmp_path, 2)["sentence"] == "caf\\udce9.py: changed while the run went on"


@pytest.mark.usefixtures("worktree", "recorded")
def test_a_gate_that_fails_without_an_alarm_is_not_well(monkeypatch: pytest.MonkeyPatch) -> None:
    found(monkeypatch, WELL._replace(status=2))

    assert not run_schedule("nightly").ok


@pytest.mark.usefixtures("worktree", "recorded")
@pytest.mark.parametrize(
    ("error", "said"),
    [
        (LedgerError("history.parquet: torn"), "history.parquet: torn"),
        (RuntimeError("a\nb"), "RuntimeError: a · b (the run's log has more)"),
    ],
)
def test_a_run_that_cannot_be_judged_stays_recorded(
    monkeypatch: pytest.MonkeyPatch, error: Exception, said: str
) -> None:
    found(monkeypatch, error)

    outcome = run_schedule("nightly")

    assert (outcome.ok, outcome.experiment) == (False, NAME)
    assert outcome.sentence == f"{NAME} is recorded, but not judged: {said}"


@pytest.mark.usefixtures("recorded")
def test_a_failed_push_is_told_and_the_run_stays_recorded(schedule: Schedule) -> None:
    schedule(push="nowhere")

    outcome = run_schedule("nightly")

    assert (outcome.ok, outcome.experiment) == (False, NAME)
    assert outcome.sentence.startswith(f"{NAME} is recorded, but not pushed: dvc exp push: exit status 255 · ")


@pytest.mark.usefixtures("worktree")
def test_stages_that_fail_are_told_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    failure = "stage load: exit status 2\n\nload: first\n  second\n  third\n  fourth\n"
    monkeypatch.setattr(Stages, "run_and_record", lambda _: Recorded(failure, None, None))

    outcome = run_schedule("nightly")

    assert outcome == scheduled_run.Outcome(
        ok=False, sentence="stage load: exit status 2 · … · second · third · fourth"
    )


@pytest.mark.usefixtures("worktree")
def test_batches_that_are_at_work_are_no_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    message = AtWork("judge: batches are at work at http://h/v1: 0 of 9 requests are answered")
    monkeypatch.setattr(Stages, "run_and_record", lambda _: Recorded(message, None, None))

    assert run_schedule("nightly") == scheduled_run.Outcome(ok=True, sentence=str(message))


@pytest.mark.usefixtures("worktree", "recorded")
def test_a_schedule_that_is_not_committed_is_named() -> None:
    assert run_schedule("weekly").sentence == "schedule.weekly: not in the committed params.yaml; allowed: nightly"


def test_a_baseline_that_nobody_knows_fails_before_anything_runs(schedule: Schedule, recorded: list[str]) -> None:
    schedule(baseline="v9", refresh="touch refreshed")

    assert run_schedule("nightly").sentence.startswith("schedule.nightly.baseline: v9: neither git nor DVC knows")
    assert not Path("refreshed").exists()
    assert recorded == []


def test_a_baseline_goes_with_a_judge_that_stops_early(schedule: Schedule, recorded: list[str]) -> None:
    git("tag", "v1")
    schedule(baseline="v1", set=["judge.stop={meaning_match: 0.8}", "judge.provider=openai"])

    assert run_schedule("nightly").ok
    assert recorded == ["nightly"]


@pytest.mark.usefixtures("recorded")
def test_refresh_runs_first_with_this_python_and_its_output_is_told(
    schedule: Schedule, capfd: pytest.CaptureFixture[str]
) -> None:
    schedule(refresh="python -c 'import sys; print(sys.executable)' && echo aside >&2 && rm -r data")

    outcome = run_schedule("nightly")

    told = capfd.readouterr()
    assert Path(told.out.splitlines()[0]).parent == Path(sys.executable).parent
    assert "aside" in told.err
    assert outcome.sentence.startswith("dataset.path: data/examples/qa.jsonl is in neither")


@pytest.mark.parametrize(
    ("refresh", "said"),
    [
        (
            "for i in 1 2 3 4; do echo line $i of https://me:secret@host/x >&2; done; exit 3",
            "exit status 3 · line 2 of https://***@host/x · line 3 of https://***@host/x · line 4 of https://***@host/x",
        ),
        ("exit 1", "exit status 1 · no output"),
    ],
)
def test_a_failed_refresh_says_its_last_lines(schedule: Schedule, recorded: list[str], refresh: str, said: str) -> None:
    schedule(refresh=refresh)

    assert run_schedule("nightly").sentence == f"schedule.nightly.refresh: {said}"
    assert recorded == []


@pytest.mark.usefixtures("recorded")
def test_a_refresh_that_hangs_is_ended(schedule: Schedule) -> None:
    schedule(refresh="sleep 600")
    edit(lambda content: content["run"]["timeouts"].update(default=1))

    assert run_schedule("nightly").sentence == (
        "schedule.nightly.refresh: not done after 1 s, ended (params.yaml: run.timeouts.default)"
    )


@pytest.mark.usefixtures("recorded")
def test_params_are_overridden_and_comments_stay(worktree: Path) -> None:
    override_params(
        "nightly",
        ["dataset.limit=5", "lexical.bleu={threshold: 0.25}", "~lexical.gleu", "+semantic.similarity.with_query=true"],
    )

    text = (worktree / "params.yaml").read_text()
    content = parse_yaml(text)
    assert content["dataset"]["limit"] == 5
    assert content["lexical"]["bleu"] == {"threshold": 0.25}
    assert "gleu" not in content["lexical"]
    assert content["semantic"]["similarity"] == {"threshold": 3.0, "with_query": True}
    assert [*content["lexical"]] == [name for name in settings()["lexical"] if name != "gleu"]
    assert "# names that mean the same" in text


@pytest.mark.usefixtures("worktree")
@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("dataset.pth=x", r"dataset\.pth: unknown option; did you mean path.*"),
        ("no equals sign", r"schedule\.nightly\.set: no equals sign: .*"),
        ("dataset.limit=1,2", r"schedule\.nightly\.set: dataset\.limit=1,2: .*"),
        ("dataset.path=${nothing}", r"schedule\.nightly\.set: .*nothing.*"),
        ("dataset.limit=many", r"dataset\.limit: .*"),
        ("+dataset.limt=3", r"dataset\.limt: .*"),
        ("dataset=3", r"dataset: expected options.*"),
    ],
)
def test_a_wrong_override_is_named(wrong: str, said: str) -> None:
    with pytest.raises(ParamsError) as raised:
        override_params("nightly", [wrong])

    assert re.match(said, str(raised.value))


@pytest.mark.usefixtures("recorded")
def test_labels_in_neither_git_nor_dvc_are_named(schedule: Schedule) -> None:
    label_file = {"path": "data/labels/labels.jsonl", "id": "id", "candidate": "candidate", "label": "rater_anna"}

    def change(content: dict[str, Any]) -> None:
        content["dataset"]["label_file"] = label_file
        for candidate in content["dataset"]["candidates"].values():
            candidate.pop("label")

    edit(change)
    schedule()

    assert run_schedule("nightly").sentence.startswith(
        "dataset.label_file.path: data/labels/labels.jsonl is in neither git nor DVC, so a scheduled run"
    )


def test_a_data_set_of_git_is_versioned(worktree: Path) -> None:
    require_versioned("data/examples/qa.jsonl", "*")
    require_versioned("data/examples", "*.jsonl")
    (worktree / "data/examples/qa.jsonl").write_text("changed by refresh, and recorded")
    require_versioned("data/examples/qa.jsonl", "*")


@pytest.mark.parametrize(
    ("path", "pattern", "named"),
    [
        ("data/mine.csv", "*", r"dataset\.path: data/mine\.csv is in neither git nor DVC; `dvc add` it"),
        ("data/ignored.csv", "*", r"dataset\.path: data/ignored\.csv is in neither git nor DVC; `dvc add` it"),
        ("data/examples", "*.jsonl", r"data/examples/new\.jsonl is in neither git nor DVC"),
        ("data/gone.csv", "*", r"data/gone\.csv is in neither git nor DVC, so a scheduled run does not"),
        ("../outside.csv", "*", r"outside\.csv is in neither git nor DVC"),
    ],
)
def test_data_that_are_in_neither_git_nor_dvc_are_named(worktree: Path, path: str, pattern: str, named: str) -> None:
    for name in (
        "mine.csv",
        "ignored.csv",
        "examples/new.jsonl",
        "examples/matches-no-pattern.txt",
        "../../outside.csv",
    ):
        (worktree / "data" / name).write_text("a")
    (worktree / ".gitignore").write_text("data/ignored.csv\n")

    with pytest.raises(DataError, match=named):
        require_versioned(path, pattern)


@pytest.mark.usefixtures("worktree")
def test_a_data_set_with_an_address_is_for_dvc_to_check() -> None:
    require_versioned("s3://bucket/data.csv", "*")


def test_a_data_set_of_dvc_is_versioned_until_it_changes_or_is_lost(worktree: Path) -> None:
    (worktree / "data/mine.csv").write_text("a")
    with Repo() as repo:
        repo.add("data/mine.csv")
    require_versioned("data/mine.csv", "*")

    (worktree / "data/mine.csv").write_text("fetched, but not added")
    with pytest.raises(DataError, match=r"data/mine\.csv: changed since `dvc add`"):
        require_versioned("data/mine.csv", "*")

    (worktree / "data/mine.csv").unlink()
    with pytest.raises(DataError, match=r"data/mine\.csv is not in DVC's cache: `dvc pull data/mine\.csv`"):
        require_versioned("data/mine.csv", "*")


def test_a_file_in_a_folder_of_dvc_is_versioned(worktree: Path) -> None:
    (worktree / "data/answers").mkdir()
    (worktree / "data/answers/one.csv").write_text("a")
    with Repo() as repo:
        repo.add("data/answers")

    require_versioned("data/answers/one.csv", "*")
    require_versioned("data/answers", "*")
    (worktree / "data/answers/two.csv").write_text("b")
    with pytest.raises(DataError, match="data/answers: changed since"):
        require_versioned("data/answers", "*")


def test_a_data_set_that_a_stage_makes_is_left_to_it(worktree: Path) -> None:
    stages = load_yaml(worktree / "dvc.yaml")
    stages["stages"]["fetch"] = {"cmd": "true", "outs": ["data/made.csv"]}
    (worktree / "dvc.yaml").write_text(dump_yaml(stages))

    require_versioned("data/made.csv", "*")


def test_a_password_that_a_long_line_is_cut_in_is_not_told() -> None:
    line = f"https://me:{'pass' * LONGEST_LINE}@host/x"

    assert scheduled_run._line(line) == "https://***@host/x"


@given(st.text())
def test_every_text_becomes_one_line_of_bounded_length(text: str) -> None:
    line = scheduled_run._line(text)

    assert len(line.splitlines()) <= 1
    assert len(line) <= (QUOTED + 1) * (LONGEST_LINE + len(" · ")) + len("… · ")
