"""One run of a schedule, in the schedule's own worktree: new data, every stage, an experiment, and what it means."""

import os
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from flows.evaluate import run_and_record
from flows.serving import worktree
from flows.serving.notify import Outcome
from flows.system import processes
from flows.system.command_supervisor import TIMED_OUT
from tasks.comparison import wording
from tasks.comparison.document import ComparisonDocument
from tasks.comparison.render import to_markdown
from tasks.console.arguments import Parser
from tasks.console.terminal import USER_ERROR, print_error, say
from tasks.errors import DataError, GoldmeterError, ParamsError, VersionError
from tasks.monitoring import decision
from tasks.monitoring.baseline import check_baseline
from tasks.monitoring.decision import RunDecision
from tasks.pipeline import git, params
from tasks.pipeline.credentials import without_credentials
from tasks.pipeline.files import replacing
from tasks.pipeline.params import DEFAULT
from tasks.pipeline.schedule import Schedule
from tasks.reporting import summary
from tasks.versions.experiments import Experiment, Facts

TOLD = 3
"""Alarms, and last lines of a failed command, that stand in the sentence; the log has all."""
LONGEST_LINE = 300
_ADD = "`dvc add` it and commit the .dvc file, or have the schedule's refresh command do so"


class StepError(GoldmeterError):
    """A step did not end well; the message is the sentence that people are told."""


def main(arguments: Sequence[str]) -> int:
    """Run one night and write its outcome, however it ends; returns 0 when all is well, and else 1.

    Returns 2 without an outcome outside of the schedule's worktree.
    """
    parser = Parser(prog="python -m flows.serving.scheduled_run", description=__doc__)
    parser.add_argument("name", metavar="NAME", help="a schedule of params.yaml")
    parser.add_argument("--outcome", type=Path, required=True, metavar="FILE", help="gets the outcome as JSON")
    chosen = parser.parse_args(arguments)
    try:
        git.forget_surroundings()
        require_worktree(chosen.name)
    except GoldmeterError as error:
        print_error(error)
        return USER_ERROR
    outcome = night(chosen.name)
    say(outcome.sentence, sys.stdout if outcome.ok else sys.stderr)
    with replacing(chosen.outcome) as temporary:  # who reads the file never finds half of it
        temporary.write_text(outcome.model_dump_json(), encoding="utf-8")
    return 0 if outcome.ok else 1


def require_worktree(name: str) -> None:
    """Raise VersionError outside of the schedule's worktree: a night changes params.yaml and data where it runs."""
    common = git.answer("rev-parse", "--path-format=absolute", "--git-common-dir")
    if common is None or not Path.cwd().resolve().is_relative_to(Path(common, worktree.FOLDER, name).resolve()):
        raise VersionError(
            f"{Path.cwd()}: not the worktree of the schedule {name}, and a night overwrites params.yaml and data where "
            "it runs. `python -m flows.schedule` runs it there; here runs `python -m flows.evaluate --record`"
        )


def night(name: str) -> Outcome:
    """One run of the schedule in the working folder: its params are overridden there, and its outputs are written."""
    try:
        schedule = _schedule(name)
        if schedule.baseline is not None:
            check_baseline(name, schedule.baseline)
        if schedule.refresh is not None:
            _command(f"schedule.{name}.refresh", ["/bin/sh", "-c", schedule.refresh])
        override(name, schedule.set)
        dataset = params.raw()["dataset"]
        require_versioned(dataset["path"], dataset["pattern"])
        recorded = run_and_record(name)
    except Exception as error:  # noqa: BLE001 (nobody watches: whatever it is, it has to be told)
        return Outcome(ok=False, sentence=_told(error))
    if recorded.experiment is None or recorded.facts is None:
        return Outcome(ok=False, sentence=_line((recorded.failure or "nothing was recorded").removeprefix("error: ")))
    return _judged(name, schedule, recorded.experiment, recorded.facts)


def override(name: str, overrides: Sequence[str]) -> None:
    """Write the schedule's other params into params.yaml, and check all of it; raises ParamsError for a wrong one."""
    from dvc.exceptions import DvcException
    from dvc.utils.hydra import apply_overrides
    from omegaconf.errors import OmegaConfBaseException

    for each in overrides:
        try:
            apply_overrides(params.PATH, [each])
        except (DvcException, OmegaConfBaseException) as error:
            cause = error.__cause__ or error
            raise ParamsError(f"schedule.{name}.set: {each}: {_line(cause)}") from error
    params.check()


def require_versioned(path: str, pattern: str | None) -> None:
    """Raise DataError when the data set that lies here is not what git and DVC would bring back later."""
    if "://" in path:
        return  # DVC asks its server for a version
    known = _known_to_dvc(path)
    if any(each.made_by_stage for each in known):
        return
    if not Path(path).exists():
        raise DataError(_missing(path, known=bool(known)))
    for each in known:
        if each.changed:
            raise DataError(f"{each.path}: changed since `dvc add`; the command that brings it must `dvc add` it again")
    for file in _unknown_to_git(path, pattern):
        if not any(file.is_relative_to(each.path) for each in known):
            raise DataError(f"dataset.path: {file} is in neither git nor DVC; {_ADD}")


class _Known(NamedTuple):
    """Data that DVC has. changed: it lies there otherwise than its .dvc file says."""

    path: Path
    made_by_stage: bool
    changed: bool


def _known_to_dvc(path: str) -> list[_Known]:
    from dvc.exceptions import DvcException, OutputNotFoundError
    from dvc.repo import Repo

    try:
        with Repo() as repo:
            outs = repo.find_outs_by_path(path, recursive=True, strict=False)
            return [
                _Known(Path(os.path.relpath(out.fs_path)), not out.stage.is_data_source, bool(out.workspace_status()))
                for out in outs
            ]
    except OutputNotFoundError:
        return []
    except DvcException as error:
        raise DataError(f"dataset.path: {path}: DVC can't say whether it has it: {_line(error)}") from error


def _missing(path: str, *, known: bool) -> str:
    if known:
        return f"dataset.path: {path} is not in DVC's cache: `dvc pull {path}` in the checkout, or as refresh"
    return f"dataset.path: {path} is in neither git nor DVC, so that a scheduled run has no such file; {_ADD}"


def _unknown_to_git(path: str, pattern: str | None) -> list[Path]:
    """The files of the data set that git does not track; the path itself where it lies outside of the repository."""
    listed = git.run("ls-files", "-z", "--others", "--", path)
    if listed.returncode:
        return [Path(path)]
    files = [Path(name) for name in listed.stdout.split("\0") if name]
    return [file for file in files if not Path(path).is_dir() or file.match(pattern or "*")]


def _schedule(name: str) -> Schedule:
    known = params.schedules()
    if name not in known:
        raise ParamsError(f"schedule.{name}: not in the committed params.yaml; there is {', '.join(known) or 'none'}")
    return known[name]


def _command(what: str, command: Sequence[str]) -> None:
    """Run a command with its output told; raises StepError with the last lines of it when it does not end well."""
    lines: dict[processes.Stream, list[str]] = {"stdout": [], "stderr": []}

    def told(stream: processes.Stream, line: str) -> None:
        print(line, file=getattr(sys, stream), flush=True)
        if line.strip():
            lines[stream] = [*lines[stream][1 - TOLD :], line.strip()]

    timeout = params.run_params().timeouts[DEFAULT]
    status = processes.run(command, processes.environment(), timeout, told)
    if status == TIMED_OUT:
        raise StepError(f"{what}: not done after {timeout:g} s, ended (params.yaml: run.timeouts.{DEFAULT})")
    if status:
        last = "\n".join(lines["stderr"] or lines["stdout"]) or "it said nothing"
        raise StepError(f"{what}: exit status {status}\n{last}")


def _judged(name: str, schedule: Schedule, experiment: Experiment, facts: Facts) -> Outcome:
    """Compare the recorded run, keep it in the history, and share it: whatever fails, it stays recorded."""
    found: RunDecision | None = None
    problems: list[str] = []
    try:
        found = decision.decide(name, schedule, experiment, facts)
        problems += _first(found.alarms)
    except Exception as error:  # noqa: BLE001 (as above)
        problems.append(f"{experiment.name} is recorded, but what it means is not known: {_told(error)}")
    try:
        _push(schedule.push, experiment)
    except GoldmeterError as error:
        problems.append(f"{experiment.name} is recorded, but not pushed: {_line(error)}")
    document, markdown = found.document if found else None, None
    try:
        markdown = _in_full(document)
    except GoldmeterError as error:
        problems.append(f"{experiment.name} is recorded, but there is no summary: {_line(error)}")
    return Outcome(
        ok=not problems and (found is None or found.status == 0),
        sentence="; ".join(problems) or _all_is_well(experiment, document),
        experiment=experiment.name,
        commit=experiment.commit,
        alarms=tuple(found.alarms) if found else (),
        markdown=markdown,
        facts=facts._asdict() | {"started": facts.started.isoformat()},
    )


def _in_full(document: ComparisonDocument | None) -> str | None:
    """The summary of the run, and the comparison with its baseline."""
    found = summary.of_last_run()
    texts = [summary.to_markdown(found) if found else None, to_markdown(document) if document else None]
    return "\n".join(filter(None, texts)) or None


def _all_is_well(experiment: Experiment, document: ComparisonDocument | None) -> str:
    compared = f" {wording.outcome(document).sentence}" if document else ""
    return f"{experiment.name} is recorded.{compared}"


def _first(alarms: Sequence[str]) -> list[str]:
    more = len(alarms) - TOLD
    return [*alarms[:TOLD], *([f"and {more} more"] if more > 0 else [])]


def _push(remote: str | None, experiment: Experiment) -> None:
    if remote is not None:
        _command("dvc exp push", [sys.executable, "-m", "dvc", "exp", "push", remote, experiment.name])


def _told(error: Exception) -> str:
    """An error in one line; the log gets all of one that we did not foresee."""
    if isinstance(error, GoldmeterError):
        return _line(error)
    traceback.print_exception(error)
    return f"{type(error).__name__}: {_line(error)} (the run's log has more)"


def _line(text: object) -> str:
    """A text of several lines in one: the first and the last ones, without credentials."""
    lines = [line.strip()[:LONGEST_LINE] for line in without_credentials(str(text)).splitlines() if line.strip()]
    if len(lines) > TOLD + 1:
        lines[1:-TOLD] = ["…"]
    return " · ".join(lines)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
