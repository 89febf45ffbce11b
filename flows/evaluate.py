"""Bring every stage up to date: each is a task of a Prefect flow, and DVC decides whether it runs."""

import atexit
import logging
import os
import re
import signal
import sys
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import BoundedSemaphore, Event, current_thread, main_thread
from typing import Any, NamedTuple, TypeVar

from prefect import State, Task, allow_failure, flow, get_run_logger, tags, task
from prefect.cache_policies import NO_CACHE
from prefect.client.schemas.objects import TaskRun
from prefect.futures import PrefectFuture, wait
from prefect.logging import get_logger
from prefect.states import Completed

from goldmeter.answering.preflight import require_keys
from goldmeter.asking.budget import SPENT_FILE
from goldmeter.asking.model_calls import RETRY_FAILED, SPENT
from goldmeter.console.arguments import Parser
from goldmeter.console.terminal import TRY_LATER, USER_ERROR, console, exit_status, say, write_no_more, write_rendered
from goldmeter.errors import BATCHES_AT_WORK, GoldmeterError
from goldmeter.history import labelled_answers, last_run
from goldmeter.judging.preflight import require_key
from goldmeter.pipeline import git, params, stage_server
from goldmeter.pipeline.cluster import DASHBOARD
from goldmeter.pipeline.credentials import without_credentials
from goldmeter.pipeline.dvc_yaml import stages, upstream
from goldmeter.pipeline.params import DEFAULT
from goldmeter.pipeline.run import Run
from goldmeter.reporting import summary
from goldmeter.serving import flow_runs, server
from goldmeter.serving.record import AtWork, Recorded, TryLater, kept_in_history, recorded
from goldmeter.system import locks, processes
from goldmeter.system.command_supervisor import GRACE, STOPPED, TIMED_OUT
from goldmeter.versions.version import LOCK, WORKSPACE, Version

# The stages that ask models, whose failed rows can be asked about again.
ASKING = ("answer", "judge")
# The state of a flow run which waits for batches, and of its stage.
AT_WORK = "AtWork"
# The state of a stage that did not run because one before it did not end.
SKIPPED = "Skipped"
# Prefix of the names of runs that are recorded by hand.
RUN = "run"

_BUSY = "is busy, it is being blocked by"
_BUSY_PAUSE = 2.0
_TRAILER = re.compile(r"ERROR: failed to reproduce '.*?': failed to run: .*, exited with (?P<status>-?\d+)$")
# DVC's advice after each stage. Repeated for every stage, it would be most of the log; FIRST_RUN says it once.
_HINT = re.compile(
    r"To track the changes with git, run:|\s+git add .+|"
    r"To enable auto staging, run:|\s+dvc config core\.autostage true|"
    r"Use `dvc push` to send your updates to remote storage\."
)
FIRST_RUN = "to keep this run: git add --all && git commit; `dvc push` sends its tables to a remote"
_MESSAGE_LINES = 60
# The last line of a message, and the indented ones after it.
_CAUSE = re.compile(r"^\S.*(?:\n\s.*)*\Z", re.MULTILINE)
Value = TypeVar("Value", int, float)


class StageError(GoldmeterError):
    """A stage failed; the text of this error ends with its cause, the last thing that the stage said.

    Args:
        stage: The stage's name.
        reason: How it ended.
        message: What the stage wrote to standard error.
        may_retry: Whether the same command may succeed soon.
        at_work: What a stage says whose batches are at work: it did not fail, and the next run goes on; else None.
    """

    def __init__(self, stage: str, reason: str, message: str, *, may_retry: bool, at_work: str | None = None) -> None:
        self.title = f"stage {stage}: {reason}"
        cause = _CAUSE.search(without_credentials(message.rstrip()))
        super().__init__(f"{self.title}: {' '.join(cause[0].split())}" if cause else self.title)
        self.message = message
        self.may_retry = may_retry
        self.at_work = at_work


class Unfinished(NamedTuple):
    """Why a stage did not end, for those that read from it; an object each: Prefect links stages that share one."""

    why: str


class EvaluationError(GoldmeterError):
    """Some stages failed, and those that read from them did not run."""

    def __init__(self, failures: Sequence[StageError]) -> None:
        super().__init__("; ".join(map(str, failures)))
        self.failures = failures


@flow(name="evaluate", flow_run_name=flow_runs.evaluation_name, persist_result=False)
def evaluate(*, retry_failed: bool = False) -> State[None] | None:
    """Bring every stage up to date.

    Args:
        retry_failed: Ask models again about rows on which they failed.

    Returns:
        The state `AtWork` when all that is left to do waits for batches; the next run goes on.

    Raises:
        EvaluationError: If a stage fails.
    """
    logger = get_run_logger()
    flow_runs.log_in_plain_words()
    tmp = locks.dvc_tmp(Path.cwd())
    with locks.one_at_a_time(tmp, logger.info):
        locks.release_stale(tmp)
        with TemporaryDirectory(prefix="goldmeter-") as folder:
            states = _run_stages(Path(folder), retry_failed=retry_failed)
        results = [state.result(raise_on_failure=False) for state in states if state.is_failed()]
        if failures := [error for error in results if isinstance(error, StageError)]:
            raise EvaluationError(failures)
        if at_work := [state.message or "" for state in states if state.name == AT_WORK]:
            return Completed(name=AT_WORK, message="\n".join(at_work))
        _attempt(logger, flow_runs.keep_summary)
    return None


def _run_stages(folder: Path, *, retry_failed: bool) -> list[State[Any]]:
    """Run each stage after those that it reads from, some in parallel; returns their states.

    folder: Of files in which the attempts of each stage that asks models keep what they have used of the budget.
    """
    graph, run = _plan(retry_failed=retry_failed)
    slots, interrupted = BoundedSemaphore(run.parallel_stages), Event()
    futures: dict[str, PrefectFuture[State[Unfinished] | None]] = {}
    try:
        for name, before in graph.items():
            stage_task = run_stage.with_options(name=name, task_run_name=name, retries=_option(run.retries, name))
            futures[name] = stage_task.submit(
                name,
                {stage: allow_failure(futures[stage]) for stage in before},
                timeout=_option(run.timeouts, name),
                grace=GRACE + (run.judge.timeout if name in ASKING else 0),  # its calls under way are paid for
                slots=slots,
                interrupted=interrupted,
                environment={SPENT: str(folder / f"{name}{SPENT_FILE}")} if name in ASKING else {},
                retry_failed=retry_failed and name in ASKING,
                return_state=False,
            )
        wait(list(futures.values()))
    except BaseException:  # interrupted: a task's thread ends when its command does
        _hurry_at_ctrl_c()
        interrupted.set()  # else a stage that waits for a slot would still start
        processes.stop()
        raise
    return [future.state for future in futures.values()]


def _hurry_at_ctrl_c() -> None:
    """Let further Ctrl-C hurry the stages, and not interrupt Prefect's own clean-up."""
    if current_thread() is main_thread():
        signal.signal(signal.SIGINT, lambda *_: processes.hurry())


def _may_retry(_task: "Task[..., Any]", _run: TaskRun, state: State[Any]) -> bool:
    error = state.data
    return not isinstance(error, StageError) or error.may_retry


@task(cache_policy=NO_CACHE, persist_result=False, retry_condition_fn=_may_retry)
def run_stage(
    stage: str,
    before: Mapping[str, object],
    timeout: float,
    grace: float,
    slots: BoundedSemaphore,
    interrupted: Event,
    environment: Mapping[str, str],
    *,
    retry_failed: bool,
) -> State[Unfinished] | None:
    """Bring one stage up to date by DVC.

    Args:
        stage: The stage's name.
        before: Stage that this one reads from → None where it ended, else its error, or an Unfinished.
        timeout: Seconds after which it is stopped.
        grace: Seconds that it then has to end.
        slots: One is held while the stage runs.
        interrupted: Set when the flow ends early: then no command starts.
        environment: Variables that each attempt gets.
        retry_failed: Run the stage again even if it is up to date, for the rows that failed.

    Returns:
        The state `Skipped` when one before it did not end, `AtWork` when it waits for batches; their data say why.

    Raises:
        StageError: If the stage fails; with what it wrote to standard error.
    """
    for name, left in before.items():
        if left is not None:
            why = left.why if isinstance(left, Unfinished) else f"stage {name} failed"
            return Completed(name=SKIPPED, message=f"not run: {why}", data=Unfinished(why))
    with slots:
        deadline = time.monotonic() + timeout
        while True:
            left = deadline - time.monotonic()
            status, errors = _repro(stage, left, grace, interrupted, environment, retry_failed=retry_failed)
            if status == 0:
                return None
            if status == TIMED_OUT or not any(_BUSY in line for line in errors):
                failure = _failure(stage, status, errors, timeout)
                if failure.at_work:
                    return Completed(name=AT_WORK, message=failure.at_work, data=Unfinished(failure.title))
                raise failure
            time.sleep(_BUSY_PAUSE)  # a `dvc repro` outside of any flow uses the same paths


def _repro(
    stage: str, timeout: float, grace: float, interrupted: Event, added: Mapping[str, str], *, retry_failed: bool
) -> tuple[int, list[str]]:
    """Run `dvc repro`; returns its exit status, and the lines that it and the stage wrote to standard error."""
    logger, errors = get_run_logger(), list[str]()
    dashboards = set[str]()

    def log_line(stream: processes.Stream, line: str) -> None:
        if line.strip() and not _HINT.fullmatch(line):
            logger.info("%s", without_credentials(line))
        if stream == "stderr":
            errors.append(line)
        if (dashboard := DASHBOARD.search(line)) and dashboard[0] not in dashboards:
            dashboards.add(dashboard[0])
            _attempt(logger, partial(flow_runs.keep_dashboard, dashboard["link"]))

    locks.release_stale(locks.dvc_tmp(Path.cwd()))
    command = [sys.executable, "-m", "dvc", "--wait-for-lock", "repro", "--single-item", stage]
    environment = processes.environment() | {stage_server.RUN: str(os.getpid())} | dict(added)
    if retry_failed:
        command, environment = [*command, "--force"], environment | {RETRY_FAILED: "1"}
    return processes.run(command, environment, timeout, log_line, given_up=interrupted, grace=grace), errors


def _failure(stage: str, status: int, errors: Sequence[str], timeout: float) -> StageError:
    """The stage's failure, with the stage's own last lines and without DVC's trailer."""
    if status == TIMED_OUT:
        reason = f"stopped after {timeout:g} s (params.yaml: run.timeouts.{stage}, or {DEFAULT})"
        return StageError(stage, reason, "\n".join([*errors[-_MESSAGE_LINES:], f"{stage}: {reason}"]), may_retry=True)
    if status == STOPPED:
        return StageError(stage, "stopped with the flow", "", may_retry=False)
    trailers = [match for line in errors if (match := _TRAILER.match(line))]
    status = int(trailers[-1]["status"]) if trailers else status
    own = [line for line in errors if line.strip() and not _TRAILER.match(line)] or list(errors)
    message = "\n".join(own[-_MESSAGE_LINES:])
    if status == TRY_LATER and (said := [line for line in own if BATCHES_AT_WORK in line]):
        at_work = said[-1].removeprefix("error: ")
        return StageError(stage, BATCHES_AT_WORK, message, may_retry=False, at_work=at_work)
    return StageError(stage, f"exit status {status}", message, may_retry=status != USER_ERROR)


def _option(values: Mapping[str, Value], stage: str) -> Value:
    return values.get(stage, values[DEFAULT])


def _plan(*, retry_failed: bool) -> tuple[Mapping[str, Collection[str]], Run]:
    """Stage → the stages it waits for, and section `run`; raises GoldmeterError before anything starts.

    A dvc.lock that a kill cut short is restored first.
    """
    graph = upstream(stages())
    params.check()
    if restored := locks.restore_cut_lock(locks.dvc_tmp(Path.cwd()), Path(LOCK)):
        say(restored, sys.stderr)
    Version(WORKSPACE, Path(), None).hashes()  # reads dvc.lock, which DVC would refuse in each stage
    require_keys(retry_failed=retry_failed)
    require_key(retry_failed=retry_failed)
    return graph, params.run_params()


def run_and_record(prefix: str, name: str | None = None, *, retry_failed: bool = False) -> Recorded:
    """Run the flow, alone in this checkout, and record it as an experiment.

    Args:
        prefix: Of the experiment's name, if none is given.
        name: The experiment's name.
        retry_failed: Ask models again about rows on which they failed.

    Raises:
        GoldmeterError: If it is certain before the run that it can't be recorded.
    """
    with locks.one_at_a_time(locks.dvc_tmp(Path.cwd()), lambda line: say(line, sys.stderr)):
        _plan(retry_failed=retry_failed)
        run = recorded(prefix, name, partial(_run, retry_failed=retry_failed))
    if run.experiment and run.facts and run.facts.flow_run:
        _attempt(get_logger("goldmeter"), partial(flow_runs.keep_experiment, run.experiment, run.facts.flow_run))
    return run


def _attempt(logger: "logging.Logger | logging.LoggerAdapter[Any]", keep: Callable[[], None]) -> None:
    """Store an artifact in Prefect; a failure is only logged, since the tables are already written."""
    try:
        keep()
    except Exception:
        logger.exception("artifact: not delivered")


def main(arguments: Sequence[str]) -> int:
    """Run the flow; returns the exit status. The outcome is printed last, at the exit of the process."""
    chosen = parser().parse_args(arguments)
    done, shown = list[Recorded](), list[str]()
    atexit.register(_print_outcome, done, shown)  # registered first, called last: after Prefect's own messages

    def body() -> int:
        _plan(retry_failed=chosen.retry_failed)
        if chosen.record is None:
            done.append(Recorded(_run(retry_failed=chosen.retry_failed)[0], None, None))
        else:  # "" names the experiment by its start
            done.append(run_and_record(RUN, chosen.record or None, retry_failed=chosen.retry_failed))
        done[0] = run = kept_in_history(done[0])
        shown.append(_numbers(run))  # read now: at the exit no thread can be started
        if run.failure is None:
            return 0
        return TRY_LATER if isinstance(run.failure, AtWork | TryLater) else USER_ERROR

    return exit_status(body, "interrupted; the running stages changed no table")


def parser() -> Parser:
    """The parser of the command line."""
    command_line = Parser(
        prog="python -m flows.evaluate",
        description=__doc__,
        epilog="`dvc repro` does the same without retries, timeouts and logs.",
    )
    add = command_line.add_argument
    add("--retry-failed", action="store_true", help="ask models again where they failed")
    record = "record the run as a DVC experiment and in the history; default: run-<UTC time>"
    add("--record", nargs="?", const="", metavar="NAME", help=record)
    return command_line


def _run(*, retry_failed: bool) -> tuple[str | None, str]:
    """Run the flow; returns why it failed, or None, and the id of the flow run."""
    server.for_one_run()
    name = os.environ.get(flow_runs.NAME_VARIABLE)
    named_flow = evaluate.with_options(flow_run_name=name) if name else evaluate
    with tags(flow_runs.TAG, flow_runs.data_set()):
        state: State[Any] = named_flow(retry_failed=retry_failed, return_state=True)
    return _failure_of(state), str(state.state_details.flow_run_id)


def _failure_of(state: State[Any]) -> str | None:
    """The messages of a failed run; None if it did not fail."""
    if state.is_completed():
        return AtWork(state.message) if state.name == AT_WORK else None
    error = state.result(raise_on_failure=False)
    if isinstance(error, EvaluationError):
        said = "\n\n".join(f"{failure.title}\n\n{failure.message}" for failure in error.failures)
        return TryLater(said) if all(failure.may_retry for failure in error.failures) else said
    return f"error: {error if isinstance(error, BaseException) else state.message}"


def _numbers(run: Recorded) -> str:
    """What the terminal shows of the numbers of a run; empty if it made none."""
    out = console()
    with out.capture() as captured:
        if run.facts or not run.failure:
            summary.show(out)
            labelled_answers.warn(out)
            last_run.show(out)
    return captured.get()


def _is_first() -> bool:
    """Whether no run was committed yet: git does not know dvc.lock, and there is a repository."""
    inside = git.answer("rev-parse", "--is-inside-work-tree") is not None
    return inside and git.answer("ls-files", "--error-unmatch", "--", LOCK) is None


def _print_outcome(done: Sequence[Recorded], shown: Sequence[str]) -> None:
    try:
        if any(not run.failure and not run.experiment for run in done) and _is_first():
            say(FIRST_RUN)
        for text in shown:
            write_rendered(text)
        for run in done:
            if run.experiment:
                say(f"experiment: {run.experiment.name} (dvc exp show, flows.compare {run.experiment.name})")
    except BrokenPipeError:
        write_no_more()
    for run in done:
        if run.failure:
            say(f"\n{run.failure}", sys.stderr)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
