"""Propose which column of your data is what, write it to params.yaml, load, and show the result."""

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from goldmeter.console.arguments import Parser
from goldmeter.console.terminal import exit_status, say
from goldmeter.dataset.proposal import cost, show
from goldmeter.dataset.proposal.dataset_section import is_tracked, tables_in, write_dataset, write_params
from goldmeter.dataset.proposal.given import Chosen
from goldmeter.dataset.proposal.inputs import propose_for
from goldmeter.dataset.proposal.proposal import Proposal
from goldmeter.dataset.proposal.section import NAME, with_value
from goldmeter.dataset.proposal.task import with_task, write_plan
from goldmeter.dataset.tasks import TASKS
from goldmeter.errors import GoldmeterError, ParamsError
from goldmeter.pipeline import params
from goldmeter.system import locks, processes
from goldmeter.system.command_supervisor import TIMED_OUT

STAGE = "load"
# DVC adds this line below the message of a stage.
_TRAILER = "ERROR: failed to reproduce"


class LoadError(GoldmeterError):
    """The records can't be loaded as proposed."""


def init(data: Sequence[str], pattern: str | None = None, chosen: Chosen | None = None) -> None:
    """Propose section `dataset` for a file, a folder or several files, write it, load, and print the result.

    Args:
        data: Path of the file or folder, or of several files that are joined; none: `chosen` names parallel text files.
        pattern: Of a folder: which files; None: find out.
        chosen: What the user said about columns.

    Raises:
        GoldmeterError: If nothing can be proposed: then params.yaml is unchanged. Or if the records can't be loaded.
    """
    paths, chosen = [_from_here(each) for each in data], chosen or Chosen()
    if not paths:
        chosen = chosen.renamed({file: _from_here(file) for file in chosen.files})
    with locks.one_at_a_time(locks.dvc_tmp(Path.cwd()), lambda line: say(line, sys.stderr)):
        proposal, found = with_task(propose_for(paths, pattern, chosen), chosen.task)
        path = str(proposal.options["path"])
        _require_own_folder(path, paths, chosen)
        before = params.raw().get(NAME) or {}
        kept = write_dataset(proposal.options, proposal.section)
        say(f"{params.PATH}: section {NAME} written, from {proposal.read}\n")
        show.mapping(proposal)
        if kept:
            restore = f"git cat-file -p {kept} > {params.PATH}"
            say(f"{params.PATH} had changes that were not committed; to get it back: {restore}")
        _allow_no_references(proposal)
        say(f"\ndvc repro {STAGE}")
        _load()
        for line in write_plan(found, proposal, before.get("task")):
            say(line)
    stops = show.loaded(proposal, params.for_stage("aggregate").aggregate.max_unmeasured)
    if told := cost.embedding():
        say(f"\n{told}")
    say("\n".join(["", *_next(path, stops=stops)]))


def main(arguments: Sequence[str]) -> int:
    """Propose, write, load and show; returns the exit status: 0, or 2 for an error that the user can fix."""
    options = vars(parser().parse_args(arguments))
    data, pattern = options.pop("data"), options.pop("pattern")
    try:
        return exit_status(lambda: init(data, pattern, Chosen(**options)))
    finally:
        processes.stop()


def parser() -> Parser:
    """The parser of the command line."""
    command_line = Parser(
        prog="python -m flows.init",
        description=__doc__,
        epilog="In params.yaml only section `dataset` changes, and what another task needs.",
        examples=[
            "python -m flows.init data/mine.csv",
            "python -m flows.init data/parts --pattern '*.parquet'",
            "python -m flows.init data/mine/questions.jsonl data/mine/gpt4.jsonl data/mine/human.tsv",
            "python -m flows.init --input data/mt/src.txt --references data/mt/ref.txt --candidate a=data/mt/a.txt",
            "python -m flows.init data/mine.jsonl --references gold --candidate gpt4=out_1 --candidate fid=out_2",
        ],
    )
    add = command_line.add_argument
    add("data", metavar="DATA", nargs="*", help="file, or folder; or files to join: questions, one per system, labels")
    add("--pattern", metavar="GLOB", help="which files of a folder are pieces of one table; default: find out")
    add("--id", metavar="COLUMN", help="column of the questions' ids; '' for none")
    add("--input", metavar="COLUMN", help="column of the questions; '' for none")
    several: dict[str, Any] = {"action": "append", "default": []}
    add("--references", metavar="COLUMN", **several, help="column of the right answers; repeat")
    add("--separator", metavar="TEXT", help="text between several references in one text; '' for none")
    add("--candidate", dest="candidates", metavar="[NAME=]COLUMN", **several, help="column of its answers; repeat")
    add("--systems", metavar="COLUMN", help="column that names the system of each record (long form); '' for none")
    add("--label", dest="labels", metavar="[NAME=]COLUMN", **several, help="column of human labels")
    add("--draw", metavar="COLUMN", help="column that numbers repeated answers to a question; '' for none")
    add("--group", metavar="COLUMN", help="column of conversations or documents; '' for none")
    about = "column to report value by value; repeat; '' for none"
    add("--slice", dest="slices", metavar="COLUMN", action="append", help=about)
    add("--contexts", metavar="COLUMN", help="column of the retrieved texts or their ids; '' for none")
    add("--task", choices=TASKS, help="what answers are asked for; default: find out")
    add("--relevant", metavar="COLUMN", help="column of those that should be retrieved; '' for none")
    return command_line


def _require_own_folder(path: str, paths: Sequence[str], chosen: Chosen) -> None:
    """Raise ParamsError if the folder also holds tables of the pipeline, which DVC would then watch."""
    if inside := tables_in(path):
        folder = f"{path}/mine" if path != "." else "data/mine"
        data = paths or chosen.files
        files = " ".join(map(shlex.quote, data)) if len(data) > 1 else "…"
        moved = chosen.renamed({file: f"{folder}/{Path(file).name}" for file in data})
        named = [("--input", moved.input or ""), *(("--references", file) for file in moved.references)]
        named += [("--candidate", text) for text in moved.candidates]
        again = [folder] if paths else [part for pair in named for part in pair]
        raise ParamsError(
            f"{path}: this folder also holds tables of the pipeline, such as {inside[0]}; put the files into a folder "
            f"of their own:\n  mkdir {folder} && mv {files} {folder}\n  python -m flows.init {shlex.join(again)}"
        )


def _allow_no_references(proposal: Proposal) -> None:
    """Let load take rows without a reference, and say so, if a tool's log has none at all."""
    required = params.for_stage("load").load.require_references
    if required and proposal.options["format"] and proposal.options["references"] is None:
        write_params(with_value(params.PATH.read_bytes().decode(), ("load", "require_references"), value=False))
        say(f"{params.PATH}: load.require_references is now false, as no record has a reference")


def _from_here(data: str) -> str:
    """The path for params.yaml: relative if it is below the project's folder."""
    if not data.strip():
        raise ParamsError("DATA is empty; name a file, or a folder of them")
    path, here = Path(data), Path.cwd()
    if path.is_absolute() and path.is_relative_to(here):
        path = path.relative_to(here)
    try:
        str(path).encode()
    except UnicodeEncodeError:
        raise ParamsError(f"{str(path)!r}: not UTF-8, so params.yaml can't name it; rename it") from None
    return path.as_posix()


def _load() -> None:
    """Run the stage by DVC, and print what it writes to standard error; raises LoadError if it fails."""

    def print_line(stream: processes.Stream, line: str) -> None:
        if stream == "stderr" and line.strip() and not line.startswith(_TRAILER):
            say(line, sys.stderr)

    run = params.run_params()
    timeout = run.timeouts.get(STAGE, run.timeouts[params.DEFAULT])
    locks.release_stale(locks.dvc_tmp(Path.cwd()))
    command = [sys.executable, "-m", "dvc", "--wait-for-lock", "repro", STAGE]
    if status := processes.run(command, processes.environment(), timeout, print_line):
        late = f" after {timeout:g} s (params.yaml: run.timeouts)" if status == TIMED_OUT else ""
        advice = f"{params.PATH} holds the proposal: correct its section {NAME}, or the data, then `dvc repro {STAGE}`"
        raise LoadError(f"{STAGE} failed{late}; {advice}")


def _next(path: str, *, stops: bool) -> list[str]:
    """The lines that say what to do next; stops: whether the run would stop on these records."""
    if stops:
        first = f"first: correct what is marked check, in {params.PATH} or the data; then dvc repro {STAGE}"
        return [first, *_next(path, stops=False)]
    evaluate = "next: python -m flows.evaluate"
    if Path(path).is_absolute() or Path(path).parts[:1] == ("..",):
        copy = f"data/{Path(path).name}"
        return [
            f"{path}: outside of the project, where no other machine has it. Better: copy it to data/, then",
            f"  dvc add {shlex.quote(copy)} && python -m flows.init {shlex.quote(copy)}",
            evaluate,
        ]
    if is_tracked(path):
        return [evaluate]
    return [
        f"{path}: not tracked by git or DVC yet",
        f"next: dvc add {shlex.quote(path)}",
        evaluate.replace("next:", "     "),
    ]
