"""Row explorer: answers with their texts, scores and reasons, packed into the page for its script."""

import json
from base64 import b64encode
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from goldmeter.console.format import abridged, abridged_apart, visible
from goldmeter.estimates.class_estimates import reads_classes
from goldmeter.estimates.columns import Mask, ScoreColumn
from goldmeter.reporting.chosen_rows import ChosenRows, RowTexts, whole_chars
from goldmeter.reporting.drawing import colour, shape
from goldmeter.reporting.notable_rows import LABEL, Answers, Kind
from goldmeter.reporting.row_texts import COLUMNS, PAGE, hashed, metric_of, packed
from goldmeter.reporting.run_summary import RunSummary
from goldmeter.reporting.score_tables import family_title
from goldmeter.wording.classes import class_fields

# Bytes of the page without the explorer's section that answers may fill up: the whole page stays below 10 MB.
PAGE_BYTES = 9_950_000
# Characters of base64 at most.
PAYLOAD = 7_500_000
# Characters of base64 that answers may take, however long the rest of the page is.
LEAST = 2_000_000
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


class Packing(NamedTuple):
    """Everything that the payload is made of.

    rows: the answers with their texts. answers: their numbers. kinds: of notable rows. columns: name of a table and one
    of its columns. first: the metric that the page selects first. whole: characters of a text at most. max_chars:
    characters of a text that the page shows before it is asked for all of them. total: answers of the run.
    """

    rows: ChosenRows
    answers: Answers
    kinds: Sequence[Kind]
    columns: Sequence[tuple[str, ScoreColumn]]
    first: str | None
    whole: int
    max_chars: int
    total: int


def packing_of(summary: RunSummary, max_chars: int) -> Packing:
    """Return what the row explorer is made of, without the columns that no answer of the run was asked for."""
    rows = summary.rows.first_ids(summary.explored)
    answers, asked = rows.answers(summary.run), summary.survey.asked - {LABEL}
    columns = [(table, column) for table, column in rows.columns if column.name in asked]
    total = summary.survey.rows
    whole = whole_chars(max_chars, len(rows.places))
    return Packing(rows, answers, summary.kinds_of(answers), columns, summary.run.closest, whole, max_chars, total)


def explorer(packing: Packing, most: int = PAYLOAD) -> Explorer | None:
    """Pack all answers with whole texts if they fit, else as many answers as fit with texts that are cut.

    Args:
        packing: The answers, most worth reading first.
        most: Characters of the payload at most.

    Returns:
        The first ids with all their answers; None if not even one id fits.
    """
    n = len(packing.rows.places)
    while n:
        payload = pack(document(packing, n))
        if len(payload) <= most:
            return Explorer(payload, n, packing.total)
        if packing.whole > packing.max_chars:
            packing = packing._replace(whole=packing.max_chars)
            continue
        n = _whole_ids(packing.rows, min(n - 1, int(n * SHRINK * most / len(payload))))
    return None


def room(rest: str) -> int:
    """Return how many characters a payload may have beside the rest of the page."""
    return max(LEAST, min(PAYLOAD, PAGE_BYTES - len(rest.encode())))


def pack(document: Mapping[str, Any]) -> str:
    """Encode a document as base64 of gzip of JSON; the same document gives the same text."""
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return b64encode(pa.Codec("gzip", compression_level=LEVEL).compress(text.encode(), asbytes=True)).decode()


def document(packing: Packing, n: int) -> dict[str, Any]:
    """Return the document that the script of the page reads: lists aligned by candidate, metric, id or answer.

    n: how many of the first answers it holds, all those to an id or none.
    """
    answers, texts, starts = packing.answers, packing.rows.texts[:n], _starts(packing.rows)[:n]
    inputs = [texts[row].input for row in np.flatnonzero(starts).tolist()]
    cut, every = partial(packed, limit=packing.whole), [one.name for one in packing.rows.texts]
    return {
        "fold": packing.max_chars,
        "sheet": f"{PAGE}-{packing.total}-of-{packing.total}-{hashed(every)[:8]}",
        "sheet_columns": COLUMNS,
        "names": every[:n],
        "candidates": _candidates(answers.names),
        "metrics": [_metric(table, column, n) for table, column in packing.columns],
        "first": packing.first,
        "slices": [_slice(name, [one.slices[name] for one in inputs]) for name in (inputs[0].slices if inputs else ())],
        "classes": [*_classes(packing, n)],
        "weights": [_rounded(one.weight) for one in inputs if one.weight is not None],
        "ids": [cut(one.id) for one in inputs],
        "inputs": [cut(one.input) for one in inputs],
        "references": [[*map(cut, one.references)] for one in inputs],
        "more": [one.more for one in inputs],
        "asked": (starts.cumsum() - 1).tolist(),
        "candidate": packing.rows.ranks[:n].tolist(),
        "responses": [cut(one.response) for one in texts],
        "lengths": [one.response.length if one.response else 0 for one in texts],
        "labels": "".join(LABELS.get(value, NO_LABEL) for value in answers.label[:n].tolist()),
        "kinds": [_kind(kind, n) for kind in packing.kinds],
        "reasons": [
            one for name in (texts[0].explanations if texts else ()) if (one := _explained(name, texts))["answers"]
        ],
    }


def _candidates(names: Sequence[str]) -> list[dict[str, Any]]:
    number = {name: i for i, name in enumerate(sorted(names))}
    shown = zip(names, _names(names), strict=True)
    return [{"name": text, "colour": colour(number[name]), "shape": shape(number[name])} for name, text in shown]


def _metric(table: str, column: ScoreColumn, n: int) -> dict[str, Any]:
    values, gated = column.values[:n], column.passed is not None
    passed = column.passed[:n] if column.passed is not None else np.zeros(n, np.bool_)
    results = np.select(
        [column.not_asked[:n], np.isnan(values), np.full(n, not gated), passed],
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
    return {"name": visible(abridged(name, NAME_CHARS)), "values": names, "codes": [codes[value] for value in values]}


def _classes(packing: Packing, n: int) -> Iterator[dict[str, Any]]:
    """Yield the class expected, and the class named, of each answer, in the form of a slice; null: none."""
    for _, column in packing.columns:
        name, texts = f"{column.name}_details", packing.rows.texts[:n]
        if reads_classes(column.facts) and texts and name in texts[0].explanations:
            explained = [one.explanations[name] for one in texts]
            facts = [dict(one["facts"]) if isinstance(one, dict) else {} for one in explained]
            for title, key in zip(class_fields(column.name), ("expected", "class"), strict=True):
                yield _slice(title, [fact.get(key) for fact in facts])


def _kind(kind: Kind, n: int) -> dict[str, Any]:
    chosen = np.flatnonzero(kind.rows[:n]).tolist()
    return {"title": kind.title, "answers": chosen, "why": [kind.why(row) for row in chosen]}


def _explained(column: str, texts: Sequence[RowTexts]) -> dict[str, Any]:
    explained = {number: text for number, one in enumerate(texts) if (text := one.explanations[column]) is not None}
    return {"metric": metric_of(column), "answers": [*explained], "texts": [*explained.values()]}


def _starts(rows: ChosenRows) -> Mask:
    """Return which rows begin the answers to another id; shape (n,)."""
    return np.asarray(np.diff(rows.places, prepend=-1) != 0)


def _whole_ids(rows: ChosenRows, most: int) -> int:
    """Return at most so many of the first rows, with all answers to each id."""
    ends = [*np.flatnonzero(_starts(rows))[1:].tolist(), len(rows.places)]
    return max((end for end in ends if end <= most), default=0)


def _names(names: Sequence[str]) -> list[str]:
    """Shorten long names, but not to equal ones."""
    return [visible(text) for text in abridged_apart(names, NAME_CHARS).values()]
