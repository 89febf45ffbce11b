"""Propose which column of your data is what, write it to params.yaml, load, and show the result."""

import shlex
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow as pa

from goldmeter.console.arguments import Parser
from goldmeter.console.json_output import add_json, print_json, texts_to_stderr
from goldmeter.console.terminal import exit_status, say
from goldmeter.dataset.joined import questions
from goldmeter.dataset.normalized import normalized
from goldmeter.dataset.proposal import names, show
from goldmeter.dataset.proposal.given import Chosen
from goldmeter.dataset.proposal.inputs import propose_for
from goldmeter.dataset.proposal.proposal import Proposal
from goldmeter.dataset.proposal.section import (
    NAME,
    is_tracked,
    replaced,
    tables_in,
    with_value,
    write_dataset,
    write_params,
    written_section,
)
from goldmeter.dataset.readers import READERS
from goldmeter.dataset.settings import Dataset, Load, Params
from goldmeter.dataset.table import tables
from goldmeter.dataset.tasks import TASKS, Recognised, Task, Texts, classes, recognised, sections
from goldmeter.errors import GoldmeterError, ParamsError
from goldmeter.estimates import embedded_texts
from goldmeter.ledger import root
from goldmeter.ledger.vectors import Vectors
from goldmeter.models.embedding.distinct_texts import FEWEST_TO_TELL
from goldmeter.pipeline import params
from goldmeter.pipeline.dvc_yaml import LEDGER
from goldmeter.pipeline.tables import Parts
from goldmeter.pipeline.yaml import flow
from goldmeter.system import locks, processes
from goldmeter.system.command_supervisor import TIMED_OUT

STAGE = "load"
# DVC adds this line below the message of a stage.
_TRAILER = "ERROR: failed to reproduce"


class LoadError(GoldmeterError):
    """The records can't be loaded as proposed."""


def init(data: Sequence[str], pattern: str | None = None, chosen: Chosen | None = None) -> dict[str, Any]:
    """Propose section `dataset` for a file, a folder or several files, write it, load, and print the result.

    Returns the section, the reasons for some of its values, whether a run would stop on these records, and the next
    commands.

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
    if told := texts_to_embed():
        say(f"\n{told}")
    following = _next(path, stops=stops)
    say("\n".join(["", *following]))
    return {"dataset": proposal.options, "reasons": proposal.comments, "read": proposal.read, "stops": stops,
            "next": following}  # fmt: skip


def main(arguments: Sequence[str]) -> int:
    """Propose, write, load and show; returns the exit status: 0, or 2 for an error that the user can fix."""
    options = vars(parser().parse_args(arguments))
    data, pattern, is_json = options.pop("data"), options.pop("pattern"), options.pop("json")

    def body() -> None:
        with texts_to_stderr(is_json=is_json):
            result = init(data, pattern, Chosen(**options))
        if is_json:
            print_json(result)

    try:
        return exit_status(body)
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
    add_json(command_line)
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


def texts_to_embed() -> str | None:
    """A line about the texts in data/load that have no vector yet, or why they can't be embedded.

    None: embedding takes less than a minute.
    """
    try:
        with closing(Vectors(root() / "embed")) as ledger:
            ledger.take_in(Path(LEDGER, "embed"))
            ahead = embedded_texts.plan(_parts(), params.for_stage("embed"), ledger, FEWEST_TO_TELL)
    except GoldmeterError as error:
        return f"embed: {str(error).splitlines()[0]}"
    return f"embed: {ahead}" if ahead and ahead.is_long else None


def _parts() -> Iterator[pa.Table]:
    """The parts that data/normalize will have."""
    options = params.for_stage("normalize").normalize
    yield from (normalized(part, options) for part in Parts(Path("data/load")))


# Records that are looked at.
MOST_RECORDS = 1_000
NOT_JUDGED = "the offline judge was measured on questions with short answers"
CHANGE = "to change it: --task"
# Row by row, all that load may reject is of no interest here.
_LOAD = Load(part_rows=50_000, max_chars=100_000, max_rejected=1.0, require_references=False)
LOADED = Path("data/load")


def with_task(proposal: Proposal, chosen: Task | None) -> tuple[Proposal, Recognised | None]:
    """The proposal with its task, and what was recognised; None if the first records can't be loaded."""
    try:
        found = recognised(_texts(_sample(proposal), proposal))
    except GoldmeterError:
        return proposal, None  # load says it
    tool = proposal.options["format"]
    if tool and (always := READERS[tool].task):
        found = Recognised(always, f"as in all files of {tool}", {})
    if chosen is not None:
        found = found if found.task == chosen else Recognised(chosen, "as chosen", {})
    comment = f"{found.reason}; {CHANGE}"
    options = {**proposal.options, "task": found.task}
    return proposal._replace(options=options, comments={**proposal.comments, "task": comment}), found


def write_plan(found: Recognised | None, proposal: Proposal, before: Task | None) -> Iterator[str]:
    """Write the sections for a task that is another than before, and yield a line on each.

    Args:
        found: The task.
        proposal: That was loaded.
        before: The task that params.yaml named before; None, as of older projects, counts as qa.
    """
    if found is None or found.task == (before or "qa"):
        return
    if "classes" in found.options or found.task in {"choice", "classification"}:
        found = found._replace(options={"classes": classes(_texts(_loaded(), proposal))})
    plan = sections(found)
    labelled = params.section(Dataset, {"dataset": dict(proposal.options)}, "dataset").all_have_labels
    primary = None if labelled else plan.primary
    provider = params.option("judge", "provider")
    wanted = "offline" if plan.judged else "none"
    content = params.PATH.read_bytes().decode()
    for name, metrics in (("lexical", plan.lexical), ("semantic", plan.semantic)):
        content = replaced(content, written_section(name, metrics, f"for dataset.task: {found.task}"), name)
    content = with_value(content, ("gate", "primary"), primary)
    if provider in {"offline", "none"}:
        content = with_value(content, ("judge", "provider"), wanted)
        provider = wanted
    write_params(content)
    yield f"for task {found.task}, {params.PATH} now has:"
    yield f"  lexical: {', '.join(plan.lexical)}; semantic: {', '.join(plan.semantic) or 'none'}"
    yield f"  gate.primary: {primary or ('none: human labels decide' if labelled else 'none: the judge decides')}"
    yield f"  judge.provider: {provider}{'' if plan.judged or provider != 'none' else f'; {NOT_JUDGED}'}"


def _sample(proposal: Proposal) -> list[Mapping[str, Any]]:
    """The rows of the first records, as load reads them."""
    limit: Mapping[str, Any] = {"limit": MOST_RECORDS, "label_file": None, "labels": "all", "scores": {}}
    limited = params.section(Dataset, {"dataset": {**proposal.options, **limit}}, "dataset")
    both = Params(dataset=limited, load=_LOAD)
    return [row for part in tables(questions(both), both) for row in part["load"].to_pylist()]


def _loaded() -> Iterator[Mapping[str, Any]]:
    for part in Parts(LOADED):
        yield from part.select(["id", "input", "references"]).to_pylist()


def _texts(rows: Iterable[Mapping[str, Any]], proposal: Proposal) -> Texts:
    """The texts of each question, and the words of the columns' names."""
    by_id = {row["id"]: (row["input"], row["references"]) for row in rows}
    both = [pair for pair in by_id.values() if pair[1]]
    most = 1 if proposal.options["choices"] else None  # the letter, before the text
    return Texts([input_ for input_, _ in both], [references[:most] for _, references in both], _words(proposal))


def _words(proposal: Proposal) -> set[str]:
    options = proposal.options
    candidates = options["candidates"]
    systems = [candidates] if isinstance(candidates.get("column"), str) else [*candidates.values()]
    columns = [options["input"], options["choices"], flow(options["references"])]
    columns += [one.get("response", "") for one in systems]
    columns += [column.name for column in proposal.unused]
    return {word for column in columns if column for word in names.words(column)}
