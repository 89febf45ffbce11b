"""Logs of other tools, which `tasks.dataset.readers` turns into records with the same columns for all tools."""

import re
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from flows.init.proposal import names
from flows.init.proposal.columns import CHECK, Column, columns
from flows.init.proposal.proposal import Proposal, in_order
from flows.init.proposal.repeats import keys
from flows.init.proposal.retrieval import ABOUT
from flows.init.proposal.roles import is_slice
from flows.init.proposal.section import quoted, shown
from tasks.console.format import counted
from tasks.dataset.readers import detect
from tasks.dataset.sources import Record, records
from tasks.scores.column_facts import RESOURCES

MOST_RECORDS = 50_000
# Files of a log's folder, at any depth.
ALL = "**/*"
SCORE, METADATA = "score_", "metadata."
NAMED = 3
DRAWN = "the log numbers several answers to a question; intervals are by question"


def tool_of(path: str, pattern: str | None) -> str | None:
    """The tool whose logs are at the path; None if it is none of those that are known."""
    return detect(path) if pattern is None and Path(path).exists() else None


def propose_log(path: str, tool: str) -> Proposal:
    """Propose the mapping of a tool's logs.

    Raises:
        DataError: A log can't be read.
    """
    pattern = ALL if Path(path).is_dir() else "*"
    found = list(islice(records(path, pattern, tool), MOST_RECORDS))
    by_name = {column.name: column for column in columns(found)}
    questions = len({str(record.values.get("group") or record.values.get("id")) for record in found})
    slices = [column for name, column in by_name.items() if name.startswith(METADATA) and is_slice(column, questions)]
    slices = [column for column in slices if _is_of_questions(column, by_name["candidate"])]
    options = {
        "path": path,
        "pattern": pattern,
        "format": tool,
        "id": "id",
        "draw": _draw(by_name),
        "input": _if_filled(by_name, "input"),
        "references": _if_filled(by_name, "references"),
        "candidates": {"column": "candidate", "response": "response", **_taken(by_name)},
        "group": _if_filled(by_name, "group"),
        "slices": [column.name for column in slices],
        "contexts": _if_filled(by_name, "contexts"),
        "scores": _scores(by_name),
    }
    comments = {
        "format": f"recognised by its content: logs of {tool}",
        "draw": DRAWN if options["draw"] else "",
        "id": "the columns below are those of every tool's log, as the reader names them",
        "references": "" if options["references"] else f"{CHECK}no record has one; see load.require_references",
        "candidates": _about(by_name, found),
        "slices": ", ".join(f"{shown(column.name)}: {column.distinct} values" for column in slices),
        "contexts": ABOUT if options["contexts"] else "",
        "scores": _about_scores(_scores(by_name), tool, complete=len(found) < MOST_RECORDS),
    }
    used = {*_flat(options), "error"}
    unused = [column for name, column in by_name.items() if name not in used and not column.leaf]
    read = f"its {counted(len(found), 'record')}"
    return Proposal(in_order(options), {name: text for name, text in comments.items() if text}, unused, read)


def _is_of_questions(column: Column, systems: Column) -> bool:
    """Whether the column is neither the question itself, nor one value for each system, such as its prompt."""
    of_systems = len(set(keys(systems, column))) == systems.distinct == column.distinct > 1
    return not of_systems and not names.as_input(column.name.removeprefix(METADATA))


def _draw(by_name: Mapping[str, Column]) -> str | bool | None:
    """The column of draws; true if only some systems have it, so that the others' answers are numbered too."""
    column = by_name.get("draw")
    if column is None or not column.values:
        return None
    return True if column.blank else column.name


def _if_filled(by_name: Mapping[str, Column], name: str) -> str | None:
    return name if name in by_name and by_name[name].values else None


def _taken(by_name: Mapping[str, Column]) -> dict[str, str]:
    """The columns of what answers took; a tool may write 0 where it does not know."""
    return {
        name: name for name in RESOURCES if name in by_name and any(float(text) > 0.0 for text in by_name[name].texts)
    }


def _flat(options: Mapping[str, object]) -> set[str]:
    """The columns that are used."""
    used: set[str] = set()
    for value in options.values():
        if isinstance(value, Mapping):
            used |= _flat(value)
        elif isinstance(value, list):
            used.update(value)
        else:
            used.add(str(value))
    return used


def _scores(by_name: Mapping[str, Column]) -> dict[str, Any]:
    """Name → column of each score with a value, with bounds if it is binary; a name has letters, digits and _ only."""
    scores: dict[str, Any] = {}
    for column in by_name.values():
        if column.name.startswith(SCORE) and column.kind in {"number", "boolean"}:
            plain = re.sub(r"\W+", "_", column.name.removeprefix(SCORE), flags=re.ASCII).strip("_")
            name = plain if plain[:1].isalpha() else f"score_{plain}"
            scores.setdefault(name, {"column": column.name, "bounds": [0, 1]} if _is_binary(column) else column.name)
    return scores


def _is_binary(column: Column) -> bool:
    return {text.strip() for text in column.texts} <= {"0", "1", "0.0", "1.0"}


def _about_scores(scores: Mapping[str, Any], tool: str, *, complete: bool) -> str:
    binary = [name for name, score in scores.items() if isinstance(score, Mapping)]
    of = "" if complete else f" of the first {MOST_RECORDS:,}"
    bounds = f"; bounds [0, 1], as all values of {', '.join(binary)}{of} are 0 or 1" if binary else ""
    return f"the scores of {tool}{bounds}" if scores else ""


def _about(by_name: Mapping[str, Column], found: Sequence[Record]) -> str:
    """The systems, and the answers that are missing."""
    values = list(dict.fromkeys(by_name["candidate"].texts))
    listed = ", ".join(map(quoted, values[:NAMED])) + (", …" if len(values) > NAMED else "")
    lacking = sum(record.values.get("response") is None for record in found)
    gaps = f"; {lacking:,} of {len(found):,} answers are missing or failed, and count as unmeasured" if lacking else ""
    return f"{counted(len(values), 'system')} ({listed}){gaps}"
