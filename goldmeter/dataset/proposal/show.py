"""Prints the proposal, and the records as `load` read them; no text of the data can control the terminal."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby, islice
from operator import itemgetter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from rich.table import Table
from rich.text import Text

from goldmeter.console.format import counted, rate, visible
from goldmeter.console.terminal import console, say
from goldmeter.dataset.proposal.columns import CHECK
from goldmeter.dataset.proposal.proposal import UNSET, Proposal
from goldmeter.estimates.column_facts import stated
from goldmeter.pipeline.tables import Parts
from goldmeter.pipeline.yaml import flow, scalar

DATA = Path("data")
CUT = 240
RECORDS = REJECTED = 3
MOST_LINES = 5
# Options that are not printed: those that the user named, or that no column can suggest.
NOT_PRINTED = ("path", "pattern", "limit", "exclude", "missing_response", "thoughts", "phrases")
# Options that are printed even if they are unset.
ALWAYS = ("id", "input", "references", "group", "slices")
STANDS_OUT = "yellow"
SCORE = "score_"


def mapping(proposal: Proposal) -> None:
    """Print the role of each column, and the options that the user should check."""
    table = _grid()
    for name, value, comment in _lines(proposal):
        table.add_row(
            _text(name), _text(value or "–"), _text(comment), style=STANDS_OUT if comment.startswith(CHECK) else ""
        )
    console().print(table)
    for note in proposal.notes:
        say(note)
    if proposal.unsure:
        say(f"check in params.yaml: {', '.join(f'dataset.{option}' for option in proposal.unsure)}")


def loaded(proposal: Proposal, max_unmeasured: float) -> bool:
    """Print what is in data/load: the number of rows, the rejected rows, and the first records.

    Returns whether answers or scores are missing so often that the run stops.

    Args:
        proposal: What the rows were loaded by.
        max_unmeasured: Option aggregate.max_unmeasured: with a larger share of missing answers the run stops.
    """
    load, rejected = Parts(DATA / "load"), Parts(DATA / "load_rejected")
    gaps = [
        *_gaps(load, max_unmeasured, proposal.comments.get("exclude", "")),
        *_score_gaps(load, max_unmeasured, proposal),
    ]
    for line in [*_counts(load, rejected), *gaps]:
        say(line)
    for record in _first(load):
        say("")
        console().print(_record(record))
    return bool(gaps)


def _lines(proposal: Proposal) -> Iterator[tuple[str, str, str]]:
    """Name, columns and comment of each role and each system."""
    for option, unset in UNSET.items():
        value, comment = proposal.options[option], proposal.comments.get(option, "")
        are_systems = option == "candidates" and all(isinstance(columns, Mapping) for columns in value.values())
        if are_systems:
            for name, columns in value.items():
                yield name, _system(columns), proposal.comments.get(f"{option}.{name}", "")
        is_said = comment or option in ALWAYS or (value != unset and not are_systems)
        if option not in NOT_PRINTED and is_said:
            yield option, _columns(option, value), comment


def _system(columns: Mapping[str, Any]) -> str:
    """The columns of a system, and the file of its own."""
    labels = f", label {flow(columns['label'])}" if "label" in columns else ""
    file = f" of {scalar(columns['path'])}" if "path" in columns else ""
    return f"{scalar(columns['response'])}{labels}{file}"


def _columns(option: str, value: Any) -> str:
    """The columns of an option; those of the candidates are listed with each of them."""
    if option == "candidates" and all(isinstance(columns, Mapping) for columns in value.values()):
        return counted(len(value), "system")
    return flow(value) if value else ""


def _counts(load: Parts, rejected: Parts) -> Iterator[str]:
    rows = load.whole(["candidate", "label"])
    systems = load.about["candidates"]
    labelled = len(rows) - rows["label"].null_count
    yield f"{counted(len(rows), 'row')}: {counted(len(systems), 'system')}, {labelled:,} labelled"
    if refused := rejected.rows:
        yield f"{refused:,} rejected, all in data/load_rejected; the first:"
        for row in rejected.whole().slice(0, REJECTED).to_pylist():
            place = f"{row['file']}, line {row['line']}, {row['candidate'] or '–'}"
            yield f"  {_text(': '.join([place, row['reason']]))}"
    else:
        yield "none rejected"


def _gaps(load: Parts, most: float, leaving_out: str) -> Iterator[str]:
    """Systems with so many missing answers that the run stops, and what to do."""
    over = _lacking(load.read(["candidate", "response"]), "response", most)
    yield from (f"{CHECK}{line}" for line in _stopping(over, "answer", most))
    if over:
        yield "  dataset.missing_response: wrong counts them as wrong; or raise aggregate.max_unmeasured"
        yield f"  or leave records out by dataset.exclude{': ' if leaving_out else ''}{leaving_out}"


def _score_gaps(load: Parts, most: float, proposal: Proposal) -> Iterator[str]:
    """Scores from elsewhere that so many answers lack that the run stops, and what to do."""
    scores = [name for name in load.schema.names if name.startswith(SCORE) and name in stated(load.about)]
    mapped = {f"{SCORE}{name}" for name in proposal.options["scores"]}
    ways: dict[str, None] = {}
    for score in scores:
        details = f"{score}_details"
        named = [details] if details in load.schema.names else []
        rows = load.read(["candidate", "response", score, *named])
        over = _lacking((_asked(part, details) for part in rows), score, most)
        yield from (f"{CHECK}{line}" for line in _stopping(over, score.removeprefix(SCORE), most))
        if over:
            what = "it out of dataset.scores" if score in mapped else "its label out of dataset.candidates"
            ways[f"leave {what}"] = None
    if ways:
        yield f"  {'; '.join([*ways, 'or raise aggregate.max_unmeasured'])}"


def _asked(part: pa.Table, details: str) -> pa.Table:
    """The rows with an answer that the score is asked of."""
    answered = pc.is_valid(part["response"])
    return part.filter(pc.and_(answered, pc.is_null(part[details])) if details in part.column_names else answered)


def _lacking(parts: Iterable[pa.Table], column: str, most: float) -> dict[str, tuple[int, int]]:
    """Systems without a value in more than this share of their rows, with the number of these rows and of all."""
    of, null = Counter[str](), Counter[str]()
    for part in parts:
        of.update(part["candidate"].to_pylist())
        null.update(part.filter(pc.is_null(part[column]))["candidate"].to_pylist())
    return {name: (null[name], of[name]) for name in of if null[name] > most * of[name]}


def _stopping(over: Mapping[str, tuple[int, int]], what: str, most: float) -> Iterator[str]:
    for name, (null, of) in over.items():
        share = f"{null:,} of {counted(of, 'row')} ({rate(null / of)})"
        yield f"{_text(name)} has no {what} in {share}: above aggregate.max_unmeasured {most:g} the run stops"


def _first(load: Parts) -> Iterator[list[Mapping[str, Any]]]:
    """The rows of each of the first records: at most one per system."""
    rows = load.part(0).slice(0, RECORDS * len(load.about["candidates"])).to_pylist()
    for _, record in islice(groupby(rows, itemgetter("id")), RECORDS):
        yield list(record)


def _record(rows: Sequence[Mapping[str, Any]]) -> Table:
    table, first = _grid(), rows[0]
    for name in ("id", "input", "references", "group", "slices"):
        if first.get(name) not in (None, {}):
            table.add_row(name, _value(first[name]))
    for row in rows:
        verdict = {True: "label: right", False: "label: wrong", None: ""}[row["label"]]
        response = "no answer" if row["response"] is None else row["response"]
        table.add_row(_text(row["candidate"]), _text(response), verdict)
    return table


def _value(value: Any) -> Text:
    """A cell: references on a line each, slices on one line."""
    if isinstance(value, list):
        more = [Text(f"and {len(value) - MOST_LINES:,} more")] if len(value) > MOST_LINES else []
        return Text("\n").join([*map(_text, value[:MOST_LINES]), *more])
    if isinstance(value, dict):
        return _text(", ".join(f"{name}: {'–' if each is None else each}" for name, each in value.items()))
    return _text(str(value))


def _grid() -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True, style="bold")
    table.add_column(overflow="fold")
    table.add_column(overflow="fold", style="dim")
    return table


def _text(text: str, most: int = CUT) -> Text:
    """On one line, cut, and without a terminal's commands."""
    cut = f"{text[:most]}…" if len(text) > most else text
    return Text(" ".join(visible(cut).split()))
