"""The rows people should look at first: why a row is worth it, which are worst, and in which order they stand."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tasks.console.format import number
from tasks.metrics.base import Floats
from tasks.pipeline.tables import Parts
from tasks.scores.columns import Mask, ScoreColumn, hashed

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

    @cached_property
    def asked(self) -> NDArray[np.intp]:
        """The number of each row's id in the order of the ids; shape (n,)."""
        return _ranks(self.ids)

    @cached_property
    def named(self) -> NDArray[np.intp]:
        """The number of each row's candidate in the order of their names; shape (n,)."""
        return _ranks(self.candidates)


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
    measured, passed = _verdicts(answers)
    share = _share(measured, passed)
    found = [*_against_people(answers, measured, passed, share), *_without_score(answers)]
    if np.isnan(answers.label).all():
        found.insert(0, disagreeing(answers))
    if answers.lead is not None:
        found.append(_lowest(answers, answers.lead))
    return [kind for kind in found if kind.rows.any()]


def disagreeing(answers: Answers) -> Kind:
    """Answers that some metrics pass and others fail."""
    measured, passed = _verdicts(answers)
    share = _share(measured, passed)
    split = np.minimum(share, 1 - share)
    return Kind(
        "Metrics disagree",
        "Some metrics pass the answer and others fail it; without labels, only a person can say who is right.",
        split >= DISAGREEMENT,
        (split,),
        lambda row: f"{passed[:, row].sum()} of {measured[:, row].sum()} metrics pass it, the others fail it.",
    )


def _verdicts(answers: Answers) -> tuple[Mask, Mask]:
    """Which metrics measured which answers, and which passed them; shape (metrics, n) each."""
    measured = _stacked([~np.isnan(column.values) for column in answers.gated], answers)
    return measured, _stacked([column.passed for column in answers.gated if column.passed is not None], answers)


def _share(measured: Mask, passed: Mask) -> Floats:
    """The share of the metrics that pass each answer; shape (n,), NaN where none measured it."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(passed.sum(0) / measured.sum(0))


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
    limit = column.facts.rule
    worse = -column.facts.sign * column.values
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
        if column.facts.bounds is None:
            continue
        low, high = column.facts.bounds
        position = (column.values - low) / (high - low)
        position = position if column.facts.higher_is_better else 1 - position
        total += np.nan_to_num(position)
        seen += ~np.isnan(position)
    return total / np.maximum(seen, 1)


def choose(found: Sequence[Kind], answers: Answers, limit: int) -> list[Chosen]:
    """At most `limit` ids: the kinds take turns, each with its worst; an id stands under the first kind that took it.

    The order of rows does not matter: answers that are equally bad are ordered by id and candidate.
    """
    taken = _in_turns(found, answers, limit)
    rows = _by_place(answers, [*taken])
    ends = np.flatnonzero(np.diff(answers.asked[rows])) + 1
    by_id = [each for each in np.split(rows, ends) if each.size]
    chosen = [
        Chosen(answers.ids[int(those[0])].as_py(), kind, those.tolist())
        for those, kind in zip(by_id, taken.values(), strict=True)
    ]
    return sorted(chosen, key=lambda each: each.kind)


def worth_reading(found: Sequence[Kind], answers: Answers, limit: int) -> NDArray[np.intp]:
    """All answers to the ids most worth reading, id after id; at most `limit` rows.

    First the kinds in turns, each with its worst; then the worst scores of the lead; then by a hash of the id.
    """
    first = np.array([*_in_turns(found, answers, limit)], np.intp)
    others = np.setdiff1d(answers.asked, first)
    _, once = np.unique(answers.asked, return_index=True)
    score = _worst_of_each_id(answers)[others]
    order = np.lexsort((hashed(answers.ids.take(pa.array(once[others]))), score))
    ids = np.concatenate([first, others[order]])
    fitting = np.bincount(answers.asked)[ids].cumsum() <= limit
    return _by_place(answers, ids[fitting])


def _worst_of_each_id(answers: Answers) -> Floats:
    """The worst score of the lead among the answers to each id, lower is worse; infinite where there is none."""
    worst = np.full(int(answers.asked.max(initial=-1)) + 1, np.inf)
    if answers.lead is not None:
        score = answers.lead.values * answers.lead.facts.sign
        np.fmin.at(worst, answers.asked, score)
    return worst


def _in_turns(found: Sequence[Kind], answers: Answers, limit: int) -> dict[int, int]:
    """At most `limit` ids, as numbers, in the order in which the kinds took them → the kind that did."""
    queues = [iter(_worst_first(kind, answers)[:limit].tolist()) for kind in found]
    taken: dict[int, int] = {}
    while len(taken) < limit:
        before = len(taken)
        for kind, queue in enumerate(queues):
            new = next((each for each in queue if each not in taken), None)
            if new is not None and len(taken) < limit:
                taken[new] = kind
        if len(taken) == before:
            break
    return taken


def _worst_first(kind: Kind, answers: Answers) -> NDArray[np.intp]:
    """The ids of a kind, as numbers, each once."""
    rows = np.flatnonzero(kind.rows)
    severity = [-each[rows] for each in reversed(kind.severity)]
    ids = answers.asked[rows][np.lexsort((answers.named[rows], answers.asked[rows], *severity))]
    _, first = np.unique(ids, return_index=True)
    return ids[np.sort(first)]


def _by_place(answers: Answers, ids: Sequence[int] | NDArray[np.intp]) -> NDArray[np.intp]:
    """The rows of some ids, given as numbers, in the order of the ids, then by candidate."""
    place = np.full(int(answers.asked.max(initial=-1)) + 1, -1)
    place[np.asarray(ids, np.intp)] = np.arange(len(ids))
    rows = np.flatnonzero(place[answers.asked] >= 0)
    return rows[np.lexsort((answers.named[rows], place[answers.asked[rows]]))]


def _ranks(texts: pa.ChunkedArray) -> NDArray[np.intp]:
    """Where each text stands among the distinct texts in their order; shape (n,)."""
    ranks = pc.rank(texts, sort_keys="ascending", tiebreaker="dense")
    return np.asarray(ranks.to_numpy(), np.intp) - 1
