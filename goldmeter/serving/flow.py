"""The Prefect flow `scheduled`: run what is committed in the schedule's worktree, and report the outcome."""

import logging
import re
import socket
import sys
import tempfile
import traceback
from collections.abc import Callable
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from prefect import Flow, State, flow, get_client, get_run_logger
from prefect.client.schemas.objects import FlowRun
from prefect.logging import get_logger
from prefect.runtime import flow_run as this_run
from prefect.states import Completed, Failed

from goldmeter import ledger
from goldmeter.errors import GoldmeterError, ParamsError, VersionError
from goldmeter.pipeline import git, params
from goldmeter.pipeline.credentials import given, without_credentials
from goldmeter.pipeline.defaults import defaults
from goldmeter.pipeline.schedule import Notify, Schedule
from goldmeter.serving import flow_runs, notify, served_schedule, worktree
from goldmeter.serving.notify import Outcome
from goldmeter.system import processes

# seconds for a run in all; its stages have limits of their own
LONGEST = 7 * 86400.0
# labels of a flow run: the machine, and the repository on it, that computes it
HOST, CHECKOUT = "goldmeter.host", "goldmeter.checkout"
_LAST_LINES = 5
# a line of Prefect's log in a run that is named like this one
_LOGGED = re.compile(r"\d\d:\d\d:\d\d\.\d{3} \| (?P<level>[A-Z]+) *\| (?:Flow run '[^']*' - )?(?P<text>.*)")
Hide = Callable[[str], str]


def _run_name() -> str:
    return _named(this_run.parameters["name"], this_run.scheduled_start_time)


def _named(name: str, due: datetime) -> str:
    return f"{name} {due:%Y-%m-%d %H:%M{':%S' if due.second else ''} %Z}"


@flow(name="scheduled", flow_run_name=_run_name, persist_result=False)
def scheduled(name: str) -> State[None]:
    """Run the schedule `name` at the checkout's commit; the message of the state is the outcome's sentence."""
    flow_runs.log_in_plain_words()
    hide = _hiding()
    try:
        git.forget_surroundings()
        schedule = committed(name)
    except Exception as error:  # noqa: BLE001  # the outcome reports every error
        receivers, outcome = _notify_as_served(name), _not_started(error, hide)
    else:
        _warn_of_changed_times(name, schedule)
        receivers, outcome = schedule.notify, _outcome(name, hide)
    outcome = _hidden(outcome, hide)
    notify.report(name, receivers, outcome, str(this_run.id), get_run_logger())
    return (Completed if outcome.ok else Failed)(message=outcome.sentence)


@scheduled.on_crashed
def lost(flow: Flow[..., Any], flow_run: FlowRun, state: State[Any]) -> None:  # noqa: ARG001  # Prefect passes them by name
    """Report a run whose process was killed; Prefect calls this in the process that serves."""
    name = flow_run.parameters["name"]
    try:
        receivers = committed(name).notify
    except Exception:  # noqa: BLE001  # as above
        receivers = _notify_as_served(name)
    # Not `flow_run.name`: what Prefect passes was read before the run was named.
    run = flow_run.name if flow_run.expected_start_time is None else _named(name, flow_run.expected_start_time)
    outcome = Outcome(ok=False, sentence=f"{run} did not end. {state.message}")
    notify.report(name, receivers, _hidden(outcome, _hiding()), str(flow_run.id), get_logger("goldmeter"))


def committed(name: str) -> Schedule:
    """The schedule in HEAD's params.yaml; raises ParamsError when it is missing or wrong. Others are not checked."""
    content = committed_params()
    entries = content.get("schedule")
    schedules = entries if isinstance(entries, dict) else defaults()["schedule"] if entries is None else {}
    if name not in schedules:
        allowed = ", ".join(map(str, schedules)) or "none"
        raise ParamsError(f"schedule.{name}: not in the params.yaml that is committed; allowed: {allowed}")
    return params.schedules({"schedule": {name: schedules[name]}})[name]


def committed_params() -> dict[str, object]:
    """HEAD's params.yaml; raises VersionError when there is none."""
    answer = git.run("show", "HEAD:./params.yaml")
    if answer.returncode:
        raise VersionError(
            "HEAD: no params.yaml is committed there; scheduled runs use what is committed: `git commit`"
        )
    with tempfile.TemporaryDirectory(prefix="goldmeter-") as folder:
        file = Path(folder, "params.yaml")
        file.write_text(answer.stdout, encoding="utf-8", errors="surrogateescape")
        return params.raw(file)


def claim() -> dict[str, str]:
    """The labels of runs that this machine computes for this repository; its linked worktrees share them."""
    common = git.answer("rev-parse", "--path-format=absolute", "--git-common-dir")
    if common is None:
        raise VersionError(f"{Path.cwd()}: not in a git repository; scheduled runs need a commit to run: `git init`")
    return {HOST: socket.gethostname(), CHECKOUT: common}


def _hiding() -> Hide:
    """A function that removes credentials from a text, also those that the committed params.yaml names."""
    try:
        return partial(without_credentials, secrets=given(committed_params()))
    except Exception:  # noqa: BLE001  # the code that needs the params reports what is wrong with them
        return without_credentials


def _hidden(outcome: Outcome, hide: Hide) -> Outcome:
    return outcome.model_copy(
        update={
            "sentence": hide(outcome.sentence),
            "alarms": tuple(map(hide, outcome.alarms)),
            "over": tuple(map(hide, outcome.over)),
        }
    )


def _notify_as_served(name: str) -> Notify:
    try:
        return served_schedule.notify(Path(claim()[CHECKOUT]), name)
    except GoldmeterError:
        return served_schedule.NOBODY


def _warn_of_changed_times(name: str, schedule: Schedule) -> None:
    for difference in served_schedule.differences(Path(claim()[CHECKOUT]), name, schedule):
        get_run_logger().warning(
            "schedule.%s.%s, is committed, but not yet served: start `python -m flows.schedule` again", name, difference
        )


def _not_started(error: Exception, hide: Hide) -> Outcome:
    if isinstance(error, GoldmeterError):
        return Outcome(ok=False, sentence=" · ".join(str(error).splitlines()))
    trace = "".join(traceback.format_exception(error))
    get_run_logger().error("The run could not be started\n%s", hide(trace))
    return Outcome(ok=False, sentence=f"the run could not be started: {type(error).__name__}: {error}")


def _outcome(name: str, hide: Hide) -> Outcome:
    try:
        with worktree.prepared(name, Path.cwd(), lambda line: get_run_logger().warning("%s", hide(line))) as tree:
            with get_client(sync_client=True) as client:
                client.update_flow_run_labels(this_run.id, {**claim()})
            return _compute(name, tree, hide)
    except Exception as error:  # noqa: BLE001  # as above
        return _not_started(error, hide)


def _compute(name: str, tree: Path, hide: Hide) -> Outcome:
    """Run `flows.scheduled_run` in the worktree, with the code, params and data of the commit."""
    log, errors = get_run_logger(), list[str]()

    def each_line(stream: processes.Stream, line: str) -> None:
        if line.strip():
            level, text = _without_log_prefix(hide(line))
            log.log(level, "%s", text)
            if stream == "stderr":
                errors.append(text.strip())

    with tempfile.TemporaryDirectory(prefix="goldmeter-") as folder:
        file = Path(folder, "outcome.json")
        command = [sys.executable, "-m", "flows.scheduled_run", name, "--outcome", str(file)]
        status = processes.run(command, _environment(), LONGEST, each_line, cwd=tree)
        outcome = Outcome.read(file.read_text(encoding="utf-8")) if file.exists() else None
    if outcome is None:
        last = " | ".join(errors[-_LAST_LINES:]) or "no output"
        return Outcome(ok=False, sentence=f"the run ended without an outcome, exit status {status}: {last}")
    return outcome


def _without_log_prefix(line: str) -> tuple[int, str]:
    """The level and the text of a line that the run logged: the log adds time, level and name itself."""
    logged = _LOGGED.fullmatch(line)
    if not logged:
        return logging.INFO, line
    return logging.getLevelNamesMapping().get(logged["level"], logging.INFO), logged["text"]


def _environment() -> dict[str, str]:
    """This environment with the checkout's ledger, and without Prefect's variables for the process of one flow run."""
    variables = {key: value for key, value in processes.environment().items() if not key.startswith("PREFECT__")}
    root = str(ledger.root())  # absolute: the run works in another folder
    return (
        variables | {ledger.ROOT_VARIABLE: root} | ({flow_runs.NAME_VARIABLE: this_run.name} if this_run.name else {})
    )
