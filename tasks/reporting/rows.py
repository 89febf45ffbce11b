"""The rows people should look at first: why a row is worth it, which are worst, and in which order they stand."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tasks.columns import Mask, ScoreColumn
from tasks.metrics.base import Floats
from tasks.reporting.words import number, rule
from tasks.tables import Parts

HALF = 0.5
DISAGREEMENT = 0.25
"""Metrics disagree on an answer when at least this share of them passes it and this share fails it."""


class Kind(NamedTuple):
    """A reason to look at an answer: which answers, how bad (larger first), and why in words; n answers."""

    title: str
    about: str
    rows: Mask
    severity: tuple[Floats, ...]
    why: Callable[[int], str]


@dataclass(frozen=True)
class Answers:
    """The numbers of all answers, aligned; n rows.

    ids, candidates: strings. label: people's verdict, 1, 0 or NaN. gated: columns with a threshold or a rate.
    blank: answers of white space only. lead: the column whose lowest answers are shown.
    """

    ids: pa.ChunkedArray
    candidates: pa.ChunkedArray
    label: Floats
    gated: list[ScoreColumn]
    blank: Mask
    lead: ScoreColumn | None


class Chosen(NamedTuple):
    """One id to look at, and where its answers stand; `kind` brought it here."""

    id: str
    kind: int
    positions: list[int]


def blank(load: Parts) -> Mask:
    """Which answers are empty or white space; shape (n,). Reads one part's answers at a time."""
    parts = (pc.equal(pc.utf8_trim_whitespace(part["response"]), "") for part in load.read(["response"]))
    return np.concatenate([pc.coalesce(part, pa.scalar(value=False)).to_numpy().astype(np.bool_) for part in parts])


def kinds(answers: Answers) -> list[Kind]:
    """Every kind of row worth a look, worst first."""
    measured = _stacked([~np.isnan(column.values) for column in answers.gated], answers)
    passed = _stacked([column.passed for column in answers.gated if column.passed is not None], answers)
    with np.errstate(invalid="ignore", divide="ignore"):
        share = passed.sum(0) / measured.sum(0)
    found = [*_against_people(answers, measured, passed, share), *_without_score(answers)]
    if np.isnan(answers.label).all():
        found.insert(0, _disagreeing(measured, passed, share))
    if answers.lead is not None:
        found.append(_lowest(answers, answers.lead))
    return [kind for kind in found if kind.rows.any()]


def _stacked(masks: Sequence[Mask], answers: Answers) -> Mask:
    """The masks below one another; shape (len(masks), n), also where there are none."""
    return np.array(masks, np.bool_).reshape(len(masks), len(answers.label))


def _against_people(answers: Answers, measured: Mask, passed: Mask, share: Floats) -> Iterator[Kind]:
    close = _mean_position(answers.gated, len(answers.label))

    def contradicted(verdict: str, contradiction: Mask, verb: str) -> Callable[[int], str]:
        def why(row: int) -> str:
            those, every = contradiction[:, row].sum(), measured[:, row].sum()
            return f"People say {verdict}, but {those} of {every} metrics {verb} it."

        return why

    yield Kind(
        "People say wrong, metrics say pass",
        "At least half of the metrics pass an answer that people call wrong: what such a gate lets through.",
        (answers.label == 0) & (share >= HALF),
        (share, close),
        contradicted("wrong", passed, "pass"),
    )
    yield Kind(
        "People say right, metrics say fail",
        "At least half of the metrics fail an answer that people call right: what such a gate stops for nothing.",
        (answers.label == 1) & (share <= HALF),
        (1 - share, 1 - close),
        contradicted("right", measured & ~passed, "fail"),
    )


def _disagreeing(measured: Mask, passed: Mask, share: Floats) -> Kind:
    split = np.minimum(share, 1 - share)
    return Kind(
        "Metrics disagree",
        "Some metrics pass the answer and others fail it; without labels, only a person can say who is right.",
        split >= DISAGREEMENT,
        (split,),
        lambda row: f"{passed[:, row].sum()} of {measured[:, row].sum()} metrics pass it, the others fail it.",
    )


def _without_score(answers: Answers) -> Iterator[Kind]:
    failed = _stacked([np.isnan(column.values) & ~column.not_asked for column in answers.gated], answers)
    asked = len(failed) - _stacked([column.not_asked for column in answers.gated], answers).sum(0)
    yield Kind(
        "Could not be measured",
        "At least one metric failed on these answers; they count in the worst and best case, not in the scores.",
        np.asarray(failed.any(0)),
        (failed.sum(0).astype(np.float64),),
        lambda row: f"{failed[:, row].sum()} of {asked[row]} metrics could not measure it.",
    )
    yield Kind(
        "Empty answers",
        "Nothing but white space: a wrong answer, with the lowest score of every metric.",
        answers.blank,
        (),
        lambda _: "The answer is empty.",
    )


def _lowest(answers: Answers, column: ScoreColumn) -> Kind:
    measured = ~np.isnan(column.values)
    passed = np.zeros_like(measured) if column.passed is None else column.passed
    limit = rule(column.about)
    worse = -column.values if column.about["higher_is_better"] else column.values
    return Kind(
        f"Worst {column.name}",
        f"Answers that fail {column.name}, the worst scores first.",
        measured & ~passed & ~answers.blank,
        (worse,),
        lambda row: f"Its {column.name} is {number(float(column.values[row]))}; it passes {limit}.",
    )


def _mean_position(columns: Sequence[ScoreColumn], n: int) -> Floats:
    """Where the scores of each row stand between worst (0) and best (1), on average; shape (n,)."""
    total, seen = np.zeros(n), np.zeros(n)
    for column in columns:
        if not column.about["bounds"]:
            continue
        low, high = column.about["bounds"]
        position = (column.values - low) / (high - low)
        position = position if column.about["higher_is_better"] else 1 - position
        total += np.nan_to_num(position)
        seen += ~np.isnan(position)
    return total / np.maximum(seen, 1)


def choose(found: Sequence[Kind], answers: Answers, limit: int) -> list[Chosen]:
    """At most `limit` ids: the kinds take turns, each with its worst; an id stands under the first kind that took it.

    The order of rows does not matter: answers that are equally bad are ordered by id and candidate.
    """
    queues = [_worst_first(kind, answers) for kind in found]
    taken: dict[str, int] = {}
    while queues and len(taken) < limit:
        before = len(taken)
        for number_of, queue in enumerate(queues):
            new = next((each for each in queue if each not in taken), None)
            if new is not None and len(taken) < limit:
                taken[new] = number_of
        if len(taken) == before:
            break
    positions = _positions(answers, list(taken))
    return [Chosen(each, kind, positions[each]) for each, kind in sorted(taken.items(), key=lambda item: item[1])]


def _worst_first(kind: Kind, answers: Answers) -> Iterator[str]:
    rows = np.flatnonzero(kind.rows)
    ids, names = (
        answers.ids.take(pa.array(rows)).to_pylist(),
        answers.candidates.take(pa.array(rows)).to_pylist(),
    )
    keys = [tuple(-float(each[row]) for each in kind.severity) for row in rows]
    order = sorted(range(len(rows)), key=lambda i: (keys[i], ids[i], names[i]))
    return (ids[i] for i in order)


def _positions(answers: Answers, ids: list[str]) -> dict[str, list[int]]:
    """The rows of each id, by candidate."""
    rows = np.flatnonzero(pc.is_in(answers.ids, pa.array(ids, pa.string())).to_numpy())
    found: dict[str, list[int]] = {each: [] for each in ids}
    names = answers.candidates.take(pa.array(rows)).to_pylist()
    for _, row in sorted(zip(names, rows.tolist(), strict=True)):
        found[answers.ids[row].as_py()].append(row)
    return found
