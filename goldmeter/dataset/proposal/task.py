"""The task of the proposed data set, and the sections of params.yaml that fit it."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from goldmeter.dataset.joined import questions
from goldmeter.dataset.proposal import names
from goldmeter.dataset.proposal.dataset_section import write_params
from goldmeter.dataset.proposal.proposal import Proposal
from goldmeter.dataset.proposal.section import replaced, with_value, written_section
from goldmeter.dataset.readers import READERS
from goldmeter.dataset.settings import Dataset, Load, Params
from goldmeter.dataset.table import tables
from goldmeter.dataset.tasks import Recognised, Task, Texts, classes, recognised, sections
from goldmeter.errors import GoldmeterError
from goldmeter.pipeline import params
from goldmeter.pipeline.tables import Parts
from goldmeter.pipeline.yaml import flow

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
    section = params.section(Dataset, {"dataset": {**proposal.options, **limit}}, "dataset")
    both = Params(dataset=section, load=_LOAD)
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
