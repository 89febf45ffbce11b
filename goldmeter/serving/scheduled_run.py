"""One scheduled run, in the schedule's worktree: refresh the data, run every stage, record and judge the result."""

import os
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from goldmeter.comparison.render import to_markdown
from goldmeter.console.arguments import Parser
from goldmeter.console.terminal import STOPPED_BY_GATE, USER_ERROR, print_error, say
from goldmeter.errors import DataError, GoldmeterError, ParamsError, VersionError
from goldmeter.history import decision
from goldmeter.history.decision import RunDecision, check_baseline
from goldmeter.pipeline import git, params
from goldmeter.pipeline.credentials import without_credentials
from goldmeter.pipeline.dvc_yaml import LABELS
from goldmeter.pipeline.files import replacing
from goldmeter.pipeline.overrides import override
from goldmeter.pipeline.params import DEFAULT
from goldmeter.pipeline.schedule import Schedule
from goldmeter.reporting import summary
from goldmeter.serving import worktree
from goldmeter.serving.notify import Outcome
from goldmeter.serving.record import AtWork, Recorded
from goldmeter.system import processes
from goldmeter.system.command_supervisor import TIMED_OUT
from goldmeter.versions.experiments import Experiment, Facts
from goldmeter.wording import comparison_lines

# alarms, and last lines of a failed command, that the outcome's sentence quotes; the log has all
QUOTED = 3
LONGEST_LINE = 300
_ADD = "`dvc add` it and commit the .dvc file, or have the schedule's refresh command do so"
RunAndRecord = Callable[[str], Recorded]


class StepError(GoldmeterError):
    """A command of a scheduled run failed; the message is the sentence of the outcome."""


def main(arguments: Sequence[str], run_and_record: RunAndRecord) -> int:
    """Run the schedule once and write its outcome, also that of a failure.

    Args:
        arguments: Of the command line.
        run_and_record: Runs every stage, and records the run under the name of the schedule.

    Returns:
        0 when the run succeeded, 1 with an alarm, 2 when it failed; outside of the schedule's worktree there is no
        outcome.
    """
    parser = Parser(prog="python -m flows.scheduled_run", description=__doc__)
    parser.add_argument("name", metavar="NAME", help="a schedule of params.yaml")
    parser.add_argument("--outcome", type=Path, required=True, metavar="FILE", help="output file, JSON")
    chosen = parser.parse_args(arguments)
    try:
        git.forget_surroundings()
        require_worktree(chosen.name)
    except GoldmeterError as error:
        print_error(error)
        return USER_ERROR
    outcome = run_schedule(chosen.name, run_and_record)
    say(outcome.sentence, sys.stdout if outcome.ok else sys.stderr)
    with replacing(chosen.outcome) as temporary:
        temporary.write_text(outcome.model_dump_json(), encoding="utf-8")
    failed = STOPPED_BY_GATE if outcome.alarms else USER_ERROR
    return 0 if outcome.ok else failed


def require_worktree(name: str) -> None:
    """Raise VersionError outside of the schedule's worktree: a run overwrites params.yaml and data in its folder."""
    common = git.answer("rev-parse", "--path-format=absolute", "--git-common-dir")
    if common is None or not Path.cwd().resolve().is_relative_to(Path(common, worktree.FOLDER, name).resolve()):
        raise VersionError(
            f"{Path.cwd()}: not the worktree of the schedule {name}, and a scheduled run overwrites params.yaml and "
            "data in its folder. `python -m flows.schedule` runs it there; here use `python -m flows.evaluate --record`"
        )


def run_schedule(name: str, run_and_record: RunAndRecord) -> Outcome:
    """Run the schedule once in the working folder, whose params and outputs are overwritten."""
    try:
        schedule = _schedule(name)
        if schedule.baseline is not None:
            check_baseline(name, schedule.baseline)
        if schedule.refresh is not None:
            _command(f"schedule.{name}.refresh", ["/bin/sh", "-c", schedule.refresh])
        override_params(name, schedule.set)
        require_versioned(params.option("dataset", "path"), params.option("dataset", "pattern"))
        labels = (params.option("dataset", "label_file") or {}).get("path", "")
        named = {"label_file.path": labels, "corrections": params.option("dataset", "corrections") or ""}
        for option, path in named.items():
            if Path(path).is_relative_to(LABELS):
                require_versioned(path, None, f"dataset.{option}")
        recorded = run_and_record(name)
    except Exception as error:  # noqa: BLE001  # the outcome reports every error
        return Outcome(ok=False, sentence=_described(error))
    if isinstance(recorded.failure, AtWork):
        return Outcome(ok=True, sentence=_line(recorded.failure))
    if recorded.experiment is None or recorded.facts is None:
        return Outcome(ok=False, sentence=_line((recorded.failure or "nothing was recorded").removeprefix("error: ")))
    return _judged(name, schedule, recorded.experiment, recorded.facts)


def override_params(name: str, overrides: Sequence[str]) -> None:
    """Write the schedule's overrides into params.yaml; raises ParamsError when one of them, or the result, is wrong."""
    try:
        override(params.PATH, overrides)
    except ParamsError as error:
        raise ParamsError(f"schedule.{name}.set: {error}") from error
    params.check()


def require_versioned(path: str, pattern: str | Sequence[str] | None, place: str = "dataset.path") -> None:
    """Raise DataError when neither git nor DVC could restore the data set, or its labels, as they are now.

    Args:
        path: `dataset.path`, or another file.
        pattern: `dataset.pattern`, which selects the files of a folder.
        place: Where params.yaml names the path.
    """
    if "://" in path:
        return  # DVC asks its server for a version
    outputs = _dvc_outputs(path, place)
    if any(output.by_stage for output in outputs):
        return
    if not Path(path).exists():
        raise DataError(_missing(path, place, in_dvc=bool(outputs)))
    for output in outputs:
        if output.changed:
            raise DataError(
                f"{output.path}: changed since `dvc add`; the command that brings it must `dvc add` it again"
            )
    for file in _untracked(path, pattern):
        if not any(file.is_relative_to(output.path) for output in outputs):
            raise DataError(f"{place}: {file} is in neither git nor DVC; {_ADD}")


class _DvcOutput(NamedTuple):
    """A file or folder that DVC tracks; `changed` means that it differs from its .dvc file."""

    path: Path
    by_stage: bool
    changed: bool


def _dvc_outputs(path: str, place: str) -> list[_DvcOutput]:
    from dvc.exceptions import DvcException, OutputNotFoundError
    from dvc.repo import Repo

    try:
        with Repo() as repo:
            outs = repo.find_outs_by_path(path, recursive=True, strict=False)
            return [
                _DvcOutput(
                    path=Path(os.path.relpath(out.fs_path)),
                    by_stage=not out.stage.is_data_source,
                    changed=bool(out.workspace_status()),
                )
                for out in outs
            ]
    except OutputNotFoundError:
        return []
    except DvcException as error:
        raise DataError(f"{place}: {path}: DVC failed to look it up: {_line(error)}") from error


def _missing(path: str, place: str, *, in_dvc: bool) -> str:
    if in_dvc:
        return f"{place}: {path} is not in DVC's cache: `dvc pull {path}` in the checkout, or as refresh"
    return f"{place}: {path} is in neither git nor DVC, so a scheduled run does not have it; {_ADD}"


def _untracked(path: str, pattern: str | Sequence[str] | None) -> list[Path]:
    """The files of the data set that git does not track; the path itself when it is outside of the repository."""
    listed = git.run("ls-files", "-z", "--others", "--", path)
    if listed.returncode:
        return [Path(path)]
    files = [Path(name) for name in listed.stdout.split("\0") if name]
    patterns = [pattern or "*"] if pattern is None or isinstance(pattern, str) else pattern
    return [file for file in files if not Path(path).is_dir() or any(map(file.match, patterns))]


def _schedule(name: str) -> Schedule:
    schedules = params.schedules()
    if name not in schedules:
        allowed = ", ".join(schedules) or "none"
        raise ParamsError(f"schedule.{name}: not in the committed params.yaml; allowed: {allowed}")
    return schedules[name]


def _command(what: str, command: Sequence[str]) -> None:
    """Run a command and print its output; raises StepError, with the last lines of it, when it fails."""
    lines: dict[processes.Stream, list[str]] = {"stdout": [], "stderr": []}

    def print_line(stream: processes.Stream, line: str) -> None:
        print(line, file=getattr(sys, stream), flush=True)
        if line.strip():
            lines[stream] = [*lines[stream][1 - QUOTED :], line.strip()]

    timeout = params.run_params().timeouts[DEFAULT]
    status = processes.run(command, processes.environment(), timeout, print_line)
    if status == TIMED_OUT:
        raise StepError(f"{what}: not done after {timeout:g} s, ended (params.yaml: run.timeouts.{DEFAULT})")
    if status:
        last = "\n".join(lines["stderr"] or lines["stdout"]) or "no output"
        raise StepError(f"{what}: exit status {status}\n{last}")


def _judged(name: str, schedule: Schedule, experiment: Experiment, facts: Facts) -> Outcome:
    """Compare the recorded run with its baseline, add it to the history, and push it; each of these may fail alone."""
    result: RunDecision | None = None
    problems: list[str] = []
    try:
        result = decision.decide(name, schedule, experiment, facts)
        problems += _first(result.alarms)
    except Exception as error:  # noqa: BLE001  # as above
        problems.append(f"{experiment.name} is recorded, but not judged: {_described(error)}")
    try:
        if schedule.push is not None:
            push = [sys.executable, "-m", "dvc", "exp", "push", schedule.push, experiment.name]
            _command("dvc exp push", push)
    except GoldmeterError as error:
        problems.append(f"{experiment.name} is recorded, but not pushed: {_line(error)}")
    document, markdown = result.document if result else None, None
    try:
        last = summary.of_last_run()
        texts = [summary.to_markdown(last) if last else None, to_markdown(document) if document else None]
        markdown = "\n".join(filter(None, texts)) or None
    except GoldmeterError as error:
        problems.append(f"{experiment.name} is recorded, but there is no summary: {_line(error)}")
    compared = f" {comparison_lines.outcome(document).sentence}" if document else ""
    return Outcome(
        ok=not problems and (result is None or result.status == 0),
        sentence="; ".join(problems) or f"{experiment.name} is recorded.{compared}",
        experiment=experiment.name,
        commit=experiment.commit,
        alarms=tuple(result.alarms) if result else (),
        over=tuple(result.over) if result else (),
        markdown=markdown,
        facts=facts._asdict() | {"started": facts.started.isoformat()},
    )


def _first(alarms: Sequence[str]) -> list[str]:
    more = len(alarms) - QUOTED
    return [*alarms[:QUOTED], *([f"and {more} more"] if more > 0 else [])]


def _described(error: Exception) -> str:
    """The error in one line; of an unexpected one, the log gets the traceback."""
    if isinstance(error, GoldmeterError):
        return _line(error)
    traceback.print_exception(error)
    return f"{type(error).__name__}: {_line(error)} (the run's log has more)"


def _line(text: object) -> str:
    """The first and the last lines of a text, joined into one and without credentials."""
    lines = [line.strip()[:LONGEST_LINE] for line in without_credentials(str(text)).splitlines() if line.strip()]
    if len(lines) > QUOTED + 1:
        lines[1:-QUOTED] = ["…"]
    return " · ".join(lines)
