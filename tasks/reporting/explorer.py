"""Row explorer: answers with their texts, scores and reasons, packed into the page for its script."""

import json
from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tasks.console.format import Text, abridged, abridged_apart, shown, visible
from tasks.pipeline.tables import Parts
from tasks.reporting.cards import REFERENCES_SHOWN, references_shown
from tasks.reporting.drawing import colour, shape
from tasks.reporting.explanations import DetailLines, explanation, explanation_columns, metric_of
from tasks.reporting.notable_rows import Answers, Kind
from tasks.reporting.score_tables import family_title
from tasks.scores.columns import Mask, ScoreColumn

Rows = NDArray[np.intp]
# A text of the payload: as it is, or cut and with a note that says so, or none.
PackedText = str | list[str] | None
# What is said about a score: a text, or facts with a note.
PackedExplanation = PackedText | dict[str, Any]
Value = TypeVar("Value")
# Bytes of the page without the explorer's section that answers may fill up: the whole page stays below 10 MB.
PAGE = 9_950_000
# Characters of base64 at most.
PAYLOAD = 7_500_000
# Characters of base64 that answers may take, however long the rest of the page is.
LEAST = 2_000_000
# Characters of text that are read at most. Of these, answers that do not fit when compressed are left out.
MOST_CHARACTERS = 32_000_000
# After a payload that is too long, try this share of the rows that would fit at the same compression.
SHRINK = 0.97
# Significant digits of a score.
DIGITS = 6
# Level of gzip: level 9 takes four times as long for 2 % less.
LEVEL = 6
NAME_CHARS = 80
# The result of an answer under a metric, one character each. UNGATED: a score without a threshold.
NOT_ASKED, UNMEASURED, UNGATED, PASS, FAIL = "nu-pf"
LABELS = {1.0: "r", 0.0: "w"}
NO_LABEL = "-"


class Explorer(NamedTuple):
    """The packed answers of a page.

    payload: base64 of gzip of JSON. answers: how many it holds. total: how many the run has.
    """

    payload: str
    answers: int
    total: int


class PackedInput(NamedTuple):
    """The input of an id; more: how many references are not shown."""

    id: PackedText
    input: PackedText
    references: list[PackedText]
    more: int
    slices: dict[str, str | None]


class Packing(NamedTuple):
    """Everything that the payload is made of.

    metrics: name of a table and one of its columns. first: the metric that the page selects first.
    inputs: position of the first answer to an id → its input. responses: position → text and its full length.
    explanations: column → position → explanation.
    """

    answers: Answers
    kinds: Sequence[Kind]
    metrics: Sequence[tuple[str, ScoreColumn]]
    first: str | None
    inputs: Mapping[int, PackedInput]
    responses: Mapping[int, tuple[PackedText, int]]
    explanations: Mapping[str, Mapping[int, PackedExplanation]]


def explorer(
    rows: Rows,
    kinds: Sequence[Kind],
    answers: Answers,
    tables: Mapping[str, tuple[Parts, Sequence[ScoreColumn]]],
    first: str | None,
    max_chars: int,
    most: int = PAYLOAD,
) -> Explorer | None:
    """Pack as many answers as fit.

    Args:
        rows: Positions of answers, most worth reading first; answers to the same id follow one another.
        kinds: Kinds of notable rows.
        answers: The numbers of all answers.
        tables: Name → a table with its columns, data/load first.
        first: The metric that the page selects first.
        max_chars: Characters of a text at most.
        most: Characters of the payload at most.

    Returns:
        The first ids with all their answers; None if not even one id fits.
    """
    load, *score_tables = parts = [table for table, _ in tables.values()]
    sizes = _sizes(parts, rows, answers, max_chars)
    rows = _whole_ids(rows, answers, int((sizes.cumsum() <= MOST_CHARACTERS).sum()))
    input_columns = [name for name in ("id", "input", "references", "slices") if name in load.schema.names]
    metrics = [(name, column) for name, (_, columns) in tables.items() for column in columns]
    packing = Packing(
        answers=answers,
        kinds=kinds,
        metrics=[(name, column) for name, column in metrics if column.name != "label" and not column.not_asked.all()],
        first=first,
        inputs=_converted(load, input_columns, _firsts(rows, answers), lambda row: _input(row, max_chars)),
        responses=_converted(load, ["response"], rows, lambda row: _response(row["response"], max_chars)),
        explanations={
            name: texts for table in score_tables for name, texts in _explanations(table, rows, max_chars).items()
        },
    )
    while rows.size:
        payload = pack(document(packing, rows))
        if len(payload) <= most:
            return Explorer(payload, len(rows), len(answers.label))
        rows = _whole_ids(rows, answers, min(len(rows) - 1, int(len(rows) * SHRINK * most / len(payload))))
    return None


def room(rest: str) -> int:
    """Return how many characters a payload may have beside the rest of the page."""
    return max(LEAST, min(PAYLOAD, PAGE - len(rest.encode())))


def pack(document: Mapping[str, Any]) -> str:
    """Encode a document as base64 of gzip of JSON; the same document gives the same text."""
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return b64encode(pa.Codec("gzip", compression_level=LEVEL).compress(text.encode(), asbytes=True)).decode()


def document(packing: Packing, rows: Rows) -> dict[str, Any]:
    """Return the document that the script of the page reads: lists aligned by candidate, metric, id or answer."""
    answers, firsts = packing.answers, _firsts(rows, packing.answers)
    inputs = [packing.inputs[position] for position in firsts.tolist()]
    responses = [packing.responses[position] for position in rows.tolist()]
    return {
        "candidates": _candidates(answers.names),
        "metrics": [_metric(table, column, rows) for table, column in packing.metrics],
        "first": packing.first,
        "slices": [_slice(name, [one.slices[name] for one in inputs]) for name in (inputs[0].slices if inputs else ())],
        "ids": [one.id for one in inputs],
        "inputs": [one.input for one in inputs],
        "references": [one.references for one in inputs],
        "more": [one.more for one in inputs],
        "asked": (np.searchsorted(np.flatnonzero(_starts(rows, answers)), np.arange(len(rows)), "right") - 1).tolist(),
        "candidate": answers.candidate_ranks[rows].tolist(),
        "responses": [text for text, _ in responses],
        "lengths": [length for _, length in responses],
        "labels": "".join(LABELS.get(value, NO_LABEL) for value in answers.label[rows].tolist()),
        "kinds": [_kind(kind, rows) for kind in packing.kinds],
        "reasons": [_explained(name, texts, rows) for name, texts in packing.explanations.items()],
    }


def _candidates(names: Sequence[str]) -> list[dict[str, Any]]:
    number = {name: i for i, name in enumerate(sorted(names))}
    shown = zip(names, _names(names), strict=True)
    return [{"name": text, "colour": colour(number[name]), "shape": shape(number[name])} for name, text in shown]


def _metric(table: str, column: ScoreColumn, rows: Rows) -> dict[str, Any]:
    values, gated = column.values[rows], column.passed is not None
    passed = column.passed[rows] if column.passed is not None else np.zeros(len(rows), np.bool_)
    results = np.select(
        [column.not_asked[rows], np.isnan(values), np.full(len(rows), not gated), passed],
        [NOT_ASKED, UNMEASURED, UNGATED, PASS],
        FAIL,
    )
    return {
        "name": column.name,
        "family": family_title(table),
        "judge": table == "judge",
        "rule": f"passes {column.facts.rule}" if gated else "",
        "scores": [None if np.isnan(value) else _rounded(value) for value in values.tolist()],
        "results": "".join(results.tolist()),
    }


def _rounded(value: float) -> float:
    """Round a score to DIGITS, unless the page's rounding to three digits would then differ from that of the score."""
    short = float(f"{value:.{DIGITS}g}")
    return (short if f"{short:.3g}" == f"{value:.3g}" else value) + 0.0  # no -0.0


def _slice(name: str, values: Sequence[str | None]) -> dict[str, Any]:
    """Return the values of a slice column, most frequent first, and each id's value as its number; null: no value."""
    counts = Counter(values)
    ordered = sorted(counts, key=lambda value: (-counts[value], value is not None, value or ""))
    codes = {value: code for code, value in enumerate(ordered)}
    short = iter(_names([value for value in ordered if value is not None]))
    names = [None if value is None else next(short) for value in ordered]
    return {"name": _name(name), "values": names, "codes": [codes[value] for value in values]}


def _kind(kind: Kind, rows: Rows) -> dict[str, Any]:
    chosen = np.flatnonzero(kind.rows[rows])
    return {"title": kind.title, "answers": chosen.tolist(), "why": [kind.why(row) for row in rows[chosen].tolist()]}


def _explained(column: str, texts: Mapping[int, PackedExplanation], rows: Rows) -> dict[str, Any]:
    explained = [number for number, position in enumerate(rows.tolist()) if position in texts]
    return {"metric": metric_of(column), "answers": explained, "texts": [texts[int(rows[n])] for n in explained]}


def _starts(rows: Rows, answers: Answers) -> Mask:
    """Return which rows begin the answers to another id; shape (n,)."""
    return np.asarray(np.diff(answers.id_ranks[rows], prepend=-1) != 0)


def _whole_ids(rows: Rows, answers: Answers, most: int) -> Rows:
    """Return at most so many of the first rows, with all answers to each id."""
    ends = [*np.flatnonzero(_starts(rows, answers))[1:].tolist(), len(rows)]
    return rows[: max((end for end in ends if end <= most), default=0)]


def _firsts(rows: Rows, answers: Answers) -> Rows:
    return rows[_starts(rows, answers)]


def _sizes(tables: Sequence[Parts], rows: Rows, answers: Answers, max_chars: int) -> NDArray[np.int64]:
    """Estimate the characters of text that each row will take; shape (n,). One part is in memory at a time."""
    load, *score_tables = tables
    sizes = np.zeros(len(answers.label), np.int64)
    wanted = [(load, ["id", "input", "references"], _firsts(rows, answers)), (load, ["response"], rows)]
    wanted += [(table, explanation_columns(table), rows) for table in score_tables]
    for table, columns, positions in wanted:
        for picked, part in table.picked(columns, positions):
            for column in part.columns:
                texts = REFERENCES_SHOWN if pa.types.is_list(column.type) else 1
                sizes[picked] += np.minimum(_characters(column), texts * max_chars)
    return sizes[rows]


def _characters(texts: pa.ChunkedArray) -> NDArray[np.int64]:
    flat = pc.binary_join(texts, "") if pa.types.is_list(texts.type) else texts
    return np.asarray(pc.fill_null(pc.utf8_length(flat), 0).to_numpy(), np.int64)


def _converted(
    table: Parts, columns: Sequence[str], rows: Rows, convert: Callable[[dict[str, Any]], Value]
) -> dict[int, Value]:
    """Return position → converted row, part by part, so that uncut texts are not all in memory."""
    return {
        position: convert(row)
        for picked, part in table.picked(columns, rows)
        for position, row in zip(picked.tolist(), part.to_pylist(), strict=True)
    }


def _input(row: Mapping[str, Any], max_chars: int) -> PackedInput:
    references, more = references_shown(row, max_chars)
    return PackedInput(
        _cut(row["id"], max_chars),
        _cut(row["input"], max_chars),
        [*map(_packed, references)],
        more,
        {name: value and value[:max_chars] for name, value in (row.get("slices") or {}).items()},
    )


def _response(text: str | None, max_chars: int) -> tuple[PackedText, int]:
    return _cut(text, max_chars), len(text or "")


def _explanations(table: Parts, rows: Rows, max_chars: int) -> dict[str, dict[int, PackedExplanation]]:
    """Return column → position → its explanation of the score there."""
    columns = explanation_columns(table)
    packed: dict[str, dict[int, PackedExplanation]] = {name: {} for name in columns}
    for picked, part in table.picked(columns, rows):
        for name in columns:
            present = part[name].is_valid().to_numpy().astype(np.bool_)
            texts = (_packed(explanation(name, text, max_chars)) for text in part[name].drop_null().to_pylist())
            packed[name].update(zip(picked[present].tolist(), texts, strict=True))
    return {name: texts for name, texts in packed.items() if texts}


def _packed(text: Text | DetailLines) -> Any:
    if isinstance(text, DetailLines):
        return {"facts": text.lines, "note": text.note}
    return [text.shown, text.note] if text.note else text.shown


def _cut(text: str | None, max_chars: int) -> PackedText:
    return None if text is None else _packed(shown(text, max_chars))


def _names(names: Sequence[str]) -> list[str]:
    """Shorten long names, but not to equal ones."""
    return [visible(text) for text in abridged_apart(names, NAME_CHARS).values()]


def _name(text: str) -> str:
    return visible(abridged(text, NAME_CHARS))
