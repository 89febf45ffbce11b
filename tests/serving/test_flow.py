"""What a scheduled run passes to the process in the worktree, and its outcome when there is none."""

import logging
import subprocess
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from textwrap import dedent
from types import SimpleNamespace

import pytest
from prefect import State

from goldmeter.pipeline.schedule import Notify, Schedule
from goldmeter.pipeline.yaml import dump_yaml
from goldmeter.serving import flow as module
from goldmeter.serving import notify, served_schedule
from goldmeter.serving.notify import Outcome
from tests.flows.served import params_with, schedule

SCRIPT = """
    import json, sys
    from pathlib import Path
    from goldmeter.ledger import root

    Path(sys.argv[3]).write_text(json.dumps({"ok": True, "sentence": str(root())}))
"""
LEAKING = """
    import sys

    print("fetching https://me:pa/ss@w0rd@example.org/x?part=1&sig=ab%2F", file=sys.stderr)
    sys.exit(print("the server does not take hook-secret-path", file=sys.stderr) or 3)
"""
TOLD = {"url": "$HOOK", "header": "Authorization", "secret_env": None, "always": False}
COMMIT = ("git", "-c", "user.name=T", "-c", "user.email=t@example.org", "commit", "-q", "-a", "-m", "params")


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A repository whose schedule `nightly` is committed and served, in a flow run."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOOK", "https://example.org/hook-secret-path")
    monkeypatch.setenv("PYTHONPATH", str(Path(module.__file__).parents[2]))
    monkeypatch.setattr(module, "get_run_logger", lambda: logging.getLogger("test"))
    monkeypatch.setattr(module, "this_run", SimpleNamespace(id="run-1", name="nightly 2026-11-22 02:00 UTC"))
    subprocess.run(["git", "init", "-q"], check=True)
    commit({"nightly": schedule(notify=TOLD)})
    served_schedule.save(tmp_path / ".git", "nightly", Schedule(**schedule(notify=TOLD)))
    return tmp_path


@pytest.fixture
def told(monkeypatch):
    """Who was told of what: (section `notify`, outcome)."""
    heard: list[tuple[Notify, Outcome]] = []
    monkeypatch.setattr(notify, "report", lambda _name, section, outcome, *_: heard.append((section, outcome)))
    return heard


def commit(schedules, **more) -> None:
    Path("params.yaml").write_text(dump_yaml(params_with(schedules) | more))
    subprocess.run(["git", "add", "params.yaml"], check=True)
    subprocess.run(COMMIT, check=True)


def run() -> State[None]:
    state = module.scheduled.fn("nightly")
    assert isinstance(state, State)
    return state


def stand_in(folder: Path, script: str) -> Path:
    """A worktree with this code in place of flows/scheduled_run.py."""
    (folder / "flows").mkdir(parents=True)
    (folder / "flows/__init__.py").touch()
    (folder / "flows/scheduled_run.py").write_text(dedent(script))
    return folder


def well(monkeypatch) -> None:
    monkeypatch.setattr(module, "_outcome", lambda *_: Outcome(ok=True, sentence="all is well"))


@pytest.mark.parametrize("ledger", ["../ours/ledger", "/shared/ledger", None])
def test_the_ledger_is_the_one_of_the_checkout(
    ledger: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkout, tree = tmp_path / "checkout", stand_in(tmp_path / "deep/inside/tree", SCRIPT)
    checkout.mkdir()
    monkeypatch.chdir(checkout)
    monkeypatch.setenv("PYTHONPATH", str(Path(module.__file__).parents[2]))
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    monkeypatch.delenv("GOLDMETER_LEDGER", raising=False)
    if ledger is not None:
        monkeypatch.setenv("GOLDMETER_LEDGER", ledger)
    monkeypatch.setattr(module, "get_run_logger", lambda: logging.getLogger("test"))

    outcome = module._compute("nightly", tree, str)

    assert Path(outcome.sentence).resolve() == (checkout / (ledger or ".goldmeter/ledger")).resolve()


@pytest.mark.usefixtures("repository")
def test_an_entry_that_was_committed_with_a_typo_is_told_to_whom_it_was_served_for(told):
    commit({"nightly": schedule(notify=TOLD, overlap="skp"), "weekly": schedule()})

    state = run()

    ((section, outcome),) = told
    assert section == Notify(**TOLD)
    assert state.is_failed()
    assert state.message == outcome.sentence
    assert outcome.sentence.startswith("schedule.nightly.overlap: ")


@pytest.mark.usefixtures("repository")
def test_another_branch_without_the_section_is_told(told):
    Path("params.yaml").write_text("run: {}\nschedule: {}\n")
    subprocess.run(COMMIT, check=True)

    assert run().message == "schedule.nightly: not in the params.yaml that is committed; allowed: none"
    assert told[0][0] == Notify(**TOLD)


@pytest.mark.usefixtures("repository")
def test_a_disk_that_is_full_is_told(told, monkeypatch):
    def full(**_more):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module.tempfile, "TemporaryDirectory", full)

    assert run().message == "the run could not be started: OSError: [Errno 28] No space left on device"
    assert told[0][0] == Notify(**TOLD)


@pytest.mark.usefixtures("repository")
def test_a_crash_is_told_to_whom_it_was_served_for_when_the_commit_does_not_say(told):
    commit({"weekly": schedule()})
    due = datetime(2026, 11, 22, 2, tzinfo=UTC)
    crashed = SimpleNamespace(parameters={"name": "nightly"}, name="economic-firefly", expected_start_time=due, id="2")

    module.lost(module.scheduled, crashed, SimpleNamespace(message="Its process is gone"))

    sentence = "nightly 2026-11-22 02:00 UTC did not end. Its process is gone"
    assert told == [(Notify(**TOLD), Outcome(ok=False, sentence=sentence))]


def test_the_run_of_the_stages_is_named_after_the_scheduled_run(monkeypatch):
    monkeypatch.setattr(module, "this_run", SimpleNamespace(name="nightly 2026-11-22 02:00 UTC"))

    assert module._environment()["GOLDMETER_FLOW_RUN"] == "nightly 2026-11-22 02:00 UTC"


@pytest.mark.usefixtures("repository")
def test_no_credential_of_a_run_is_logged_or_told(tmp_path, told, monkeypatch, caplog):
    @contextmanager
    def prepared(*_):
        yield stand_in(tmp_path / "tree", LEAKING)

    caplog.set_level(logging.INFO)
    monkeypatch.setenv("HOOK", "hook-secret-path")
    monkeypatch.setattr(module.worktree, "prepared", prepared)
    monkeypatch.setattr(module, "get_client", lambda **_: contextmanager(lambda: iter([FakeClient()]))())

    state = run()

    assert state.message == (
        "the run ended without an outcome, exit status 3: "
        "fetching https://***@example.org/x?part=1&sig=*** | the server does not take ***"
    )
    assert told[0][1].sentence == state.message
    assert "fetching" in caplog.text
    for secret in ("ss@w0rd", "ab%2F", "secret-path"):
        assert secret not in caplog.text


class FakeClient:
    def update_flow_run_labels(self, *_):
        """Labels are of no interest here."""


@pytest.mark.usefixtures("repository")
def test_an_outcome_of_older_code_is_told_without_credentials(told, monkeypatch):
    leaking = Outcome(ok=False, sentence="at https://me:x@h", alarms=("token=x",))
    monkeypatch.setattr(module, "_outcome", lambda *_: leaking)

    assert run().message == "at https://***@h"
    assert told[0][1] == Outcome(ok=False, sentence="at https://***@h", alarms=("token=***",))


@pytest.mark.usefixtures("repository", "told")
def test_times_that_are_committed_but_not_served_are_warned_of(monkeypatch, caplog):
    well(monkeypatch)
    assert run().is_completed()
    assert caplog.messages == []
    commit({"nightly": schedule(notify=TOLD, interval=90)})

    assert run().is_completed()

    (warning,) = caplog.messages
    assert warning == (
        "schedule.nightly.interval: 90.0, not 4.0, is committed, but not yet served: "
        "start `python -m flows.schedule` again"
    )


@pytest.mark.usefixtures("repository", "told")
def test_a_run_uses_the_repository_it_is_in_whatever_a_hook_left_in_the_environment(tmp_path, monkeypatch):
    well(monkeypatch)
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "another"))

    assert run().is_completed()
    assert "GIT_DIR" not in module.processes.environment()


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("06:33:31.731 | INFO    | Flow run 'nightly 2026-11-22 02:00 UTC' - Beginning", (logging.INFO, "Beginning")),
        ("06:33:31.731 | ERROR   | Task run 'load' - a | b", (logging.ERROR, "Task run 'load' - a | b")),
        ("06:33:31.731 | WARNING | prefect.events - away", (logging.WARNING, "prefect.events - away")),
        ("06:33 | INFO | said by a stage", (logging.INFO, "06:33 | INFO | said by a stage")),
    ],
)
def test_a_line_of_the_runs_log_has_one_time_one_level_and_one_name(line, told):
    assert module._without_log_prefix(line) == told
