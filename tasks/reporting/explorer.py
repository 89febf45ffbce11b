"""The row explorer: answers with their texts, scores and reasons, packed into the page."""

import json
from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tasks.console.format import Text, abridged, shown, visible
from tasks.pipeline.tables import Parts
from tasks.reporting.cards import REFERENCES_SHOWN
from tasks.reporting.drawing import colour, shape
from tasks.reporting.explanations import SUFFIXES, DetailLines, metric_of, reason_shown
from tasks.reporting.notable_rows import Answers, Kind, disagreeing
from tasks.reporting.score_tables import FAMILIES
from tasks.scores.columns import Mask, ScoreColumn

Rows = NDArray[np.intp]
Packed = str | list[str] | None
"""A text of the payload: as it is, or cut with a note that says so, or none."""
Reason = Packed | dict[str, Any]
"""What is said of a score: a text, or facts with a note."""
Made = TypeVar("Made")
PAGE = 9_950_000
"""Bytes of the page that the answers may fill up: with their section it stays below 10 MB."""
PAYLOAD = 7_500_000
"""Characters of base64 at most."""
LEAST = 2_000_000
"""Characters of base64 that the answers may take however long the other sections are."""
MOST_CHARACTERS = 32_000_000
"""Characters of text that are read at most; what then does not compress to the room there is, is left out."""
DIGITS = 6
"""Significant digits of a score."""
LEVEL = 6
"""Of gzip: 9 takes four times as long for 2% less."""
NAME_CHARS = 80
NOT_ASKED, UNMEASURED, UNGATED, PASS, FAIL = "nu-pf"
"""What became of an answer under a metric, a character each; UNGATED: a score without a threshold."""
LABELS = {1.0: "r", 0.0: "w"}
NO_LABEL = "-"


class Explorer(NamedTuple):
    """What the page holds of the answers.

    payload: base64 of gzip of JSON. answers: how many it holds; total: how many the run has.
    """

    payload: str
    answers: int
    total: int


class Asked(NamedTuple):
    """What was asked under an id; more: references that are not shown."""

    id: Packed
    input: Packed
    references: list[Packed]
    more: int
    slices: dict[str, str | None]


class Packing(NamedTuple):
    """What the payload is made of. metrics: the name of a table and a column of it; first: the one shown first.

    asked: position of the first answer to an id → what was asked. responses: position → text, and its real length.
    reasons: column → position → text.
    """

    answers: Answers
    kinds: Sequence[Kind]
    metrics: Sequence[tuple[str, ScoreColumn]]
    first: str | None
    asked: Mapping[int, Asked]
    responses: Mapping[int, tuple[Packed, int]]
    reasons: Mapping[str, Mapping[int, Reason]]


def explorer(
    rows: Rows,
    found: Sequence[Kind],
    answers: Answers,
    tables: Mapping[str, tuple[Parts, Sequence[ScoreColumn]]],
    first: str | None,
    max_chars: int,
    most: int = PAYLOAD,
) -> Explorer | None:
    """Pack the answers in `rows`, where those to an id stand together: as many whole ids as fit; None when none does.

    tables: name → a table with its columns, data/load first. first: the metric whose scores are shown first.
    most: characters of the payload.
    """
    parts = [each for each, _ in tables.values()]
    sizes = _sizes(parts, rows, answers, max_chars)
    rows = _whole_ids(rows, answers, int((sizes.cumsum() <= MOST_CHARACTERS).sum()))
    metrics = [(name, column) for name, (_, columns) in tables.items() for column in columns]
    packing = Packing(
        answers=answers,
        kinds=[*{kind.title: kind for kind in [*found, disagreeing(answers)]}.values()],
        metrics=[(name, each) for name, each in metrics if each.name != "label" and not each.not_asked.all()],
        first=first,
        asked=_made(parts[0], _asked_columns(parts[0]), _firsts(rows, answers), lambda row: _asked(row, max_chars)),
        responses=_made(parts[0], ["response"], rows, lambda row: _response(row["response"], max_chars)),
        reasons={name: told for each in parts[1:] for name, told in _reasons(each, rows, max_chars).items()},
    )
    while rows.size:
        payload = pack(document(packing, rows))
        if len(payload) <= most:
            return Explorer(payload, len(rows), len(answers.label))
        rows = _whole_ids(rows, answers, min(len(rows) - 1, int(len(rows) * 0.97 * most / len(payload))))
    return None


def room(rest: str) -> int:
    """The characters of a payload that the rest of a page leaves."""
    return max(LEAST, min(PAYLOAD, PAGE - len(rest.encode())))


def pack(document: Mapping[str, Any]) -> str:
    """JSON as the page holds it; the same document gives the same text."""
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return b64encode(pa.Codec("gzip", compression_level=LEVEL).compress(text.encode(), asbytes=True)).decode()


def document(packing: Packing, rows: Rows) -> dict[str, Any]:
    """What the page's script reads: lists aligned by candidate, metric, id or answer."""
    answers, firsts = packing.answers, _firsts(rows, packing.answers)
    asked = [packing.asked[position] for position in firsts.tolist()]
    responses = [packing.responses[position] for position in rows.tolist()]
    names = sorted(answers.candidates.unique().to_pylist())
    return {
        "candidates": [_candidate(name, number) for number, name in enumerate(names)],
        "metrics": [_metric(table, column, rows) for table, column in packing.metrics],
        "first": packing.first,
        "slices": [_slice(name, [each.slices[name] for each in asked]) for name in (asked[0].slices if asked else ())],
        "ids": [each.id for each in asked],
        "inputs": [each.input for each in asked],
        "references": [each.references for each in asked],
        "more": [each.more for each in asked],
        "asked": (np.searchsorted(np.flatnonzero(_starts(rows, answers)), np.arange(len(rows)), "right") - 1).tolist(),
        "candidate": answers.named[rows].tolist(),
        "responses": [text for text, _ in responses],
        "lengths": [length for _, length in responses],
        "labels": "".join(LABELS.get(value, NO_LABEL) for value in answers.label[rows].tolist()),
        "kinds": [_kind(kind, rows) for kind in packing.kinds],
        "reasons": [_told(name, texts, rows) for name, texts in packing.reasons.items()],
    }


def _candidate(name: str, number: int) -> dict[str, Any]:
    return {"name": _name(name), "colour": colour(number), "shape": shape(number)}


def _metric(table: str, column: ScoreColumn, rows: Rows) -> dict[str, Any]:
    values, gated = column.values[rows], column.passed is not None
    passed = column.passed[rows] if column.passed is not None else np.zeros(len(rows), np.bool_)
    became = np.select(
        [column.not_asked[rows], np.isnan(values), np.full(len(rows), not gated), passed],
        [NOT_ASKED, UNMEASURED, UNGATED, PASS],
        FAIL,
    )
    return {
        "name": column.name,
        "family": FAMILIES[table],
        "judge": table == "judge",
        "rule": f"passes {column.facts.rule}" if gated else "",
        "scores": [None if np.isnan(value) else _rounded(value) for value in values.tolist()],
        "results": "".join(became.tolist()),
    }


def _rounded(value: float) -> float:
    """Rounded once here and once where it is shown, it must read as if rounded once."""
    short = float(f"{value:.{DIGITS}g}")
    return (short if f"{short:.3g}" == f"{value:.3g}" else value) + 0.0  # no -0.0


def _slice(name: str, values: Sequence[str | None]) -> dict[str, Any]:
    """The values of a slice column, the commonest first, and which of them each id has; null: it has none."""
    counts = Counter(values)
    first = sorted(counts, key=lambda value: (-counts[value], value is not None, value or ""))
    order = {value: number for number, value in enumerate(first)}
    shown = [None if value is None else _name(value) for value in order]
    return {"name": _name(name), "values": shown, "codes": [order[value] for value in values]}


def _kind(kind: Kind, rows: Rows) -> dict[str, Any]:
    """A reason to look at answers, and what it says of each."""
    those = np.flatnonzero(kind.rows[rows])
    return {"title": kind.title, "answers": those.tolist(), "why": [kind.why(row) for row in rows[those].tolist()]}


def _told(name: str, texts: Mapping[int, Reason], rows: Rows) -> dict[str, Any]:
    those = [(number, texts[position]) for number, position in enumerate(rows.tolist()) if position in texts]
    return {"metric": metric_of(name), "answers": [each for each, _ in those], "texts": [text for _, text in those]}


def _starts(rows: Rows, answers: Answers) -> Mask:
    """Where the answers to another id begin; shape (n,)."""
    return np.asarray(np.diff(answers.asked[rows], prepend=-1) != 0)


def _whole_ids(rows: Rows, answers: Answers, most: int) -> Rows:
    """The first rows, at most so many and no id in parts."""
    ends = [*np.flatnonzero(_starts(rows, answers))[1:].tolist(), len(rows)]
    return rows[: max((end for end in ends if end <= most), default=0)]


def _firsts(rows: Rows, answers: Answers) -> Rows:
    return rows[_starts(rows, answers)]


def _sizes(tables: Sequence[Parts], rows: Rows, answers: Answers, max_chars: int) -> NDArray[np.int64]:
    """The characters of text of each row as they will be packed, about; shape (n,). One part in memory at a time."""
    load, *others = tables
    sizes = np.zeros(len(answers.label), np.int64)
    wanted = [(load, ["id", "input", "references"], _firsts(rows, answers)), (load, ["response"], rows)]
    wanted += [(parts, _reason_columns(parts), rows) for parts in others]
    for parts, columns, positions in wanted:
        for here, part in parts.picked(columns, positions):
            for column in part.columns:
                texts = REFERENCES_SHOWN if pa.types.is_list(column.type) else 1
                sizes[here] += np.minimum(_characters(column), texts * max_chars)
    return sizes[rows]


def _characters(texts: pa.ChunkedArray) -> NDArray[np.int64]:
    flat = pc.binary_join(texts, "") if pa.types.is_list(texts.type) else texts
    return np.asarray(pc.fill_null(pc.utf8_length(flat), 0).to_numpy(), np.int64)


def _reason_columns(parts: Parts) -> list[str]:
    return [name for name in parts.schema.names if name.endswith(SUFFIXES)]


def _asked_columns(load: Parts) -> list[str]:
    return [name for name in ("id", "input", "references", "slices") if name in load.schema.names]


def _made(parts: Parts, columns: Sequence[str], rows: Rows, make: Callable[[dict[str, Any]], Made]) -> dict[int, Made]:
    """Position → what is made of the row there, part by part: the whole texts are not kept."""
    picked = parts.picked(columns, rows)
    return {
        position: make(row)
        for here, part in picked
        for position, row in zip(here.tolist(), part.to_pylist(), strict=True)
    }


def _asked(row: Mapping[str, Any], max_chars: int) -> Asked:
    references = row["references"] or []
    return Asked(
        _packed(row["id"], max_chars),
        _packed(row["input"], max_chars),
        [_packed(text or "", max_chars) for text in references[:REFERENCES_SHOWN]],
        max(0, len(references) - REFERENCES_SHOWN),
        {name: value and value[:max_chars] for name, value in (row.get("slices") or {}).items()},
    )


def _response(text: str | None, max_chars: int) -> tuple[Packed, int]:
    return _packed(text, max_chars), len(text or "")


def _reasons(parts: Parts, rows: Rows, max_chars: int) -> dict[str, dict[int, Reason]]:
    """Column → position → what it says of the score there."""
    columns = _reason_columns(parts)
    found: dict[str, dict[int, Reason]] = {name: {} for name in columns}
    for here, part in parts.picked(columns, rows):
        for name in columns:
            there = part[name].is_valid().to_numpy().astype(np.bool_)
            texts = (_reason(reason_shown(name, text, max_chars)) for text in part[name].drop_null().to_pylist())
            found[name].update(zip(here[there].tolist(), texts, strict=True))
    return {name: told for name, told in found.items() if told}


def _reason(said: Text | DetailLines) -> Reason:
    return {"facts": said.lines, "note": said.note} if isinstance(said, DetailLines) else _with_note(said)


def _packed(text: str | None, max_chars: int) -> Packed:
    return None if text is None else _with_note(shown(text, max_chars))


def _with_note(text: Text) -> Packed:
    return [text.shown, text.note] if text.note else text.shown


def _name(text: str) -> str:
    return visible(abridged(text, NAME_CHARS))
