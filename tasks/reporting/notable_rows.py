"""Rows to look at first: the kinds of notable rows, and a choice of the worst of each kind."""

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
# Metrics disagree on an answer if at least this share of them passes it and at least this share fails it.
DISAGREEMENT = 0.25


class Kind(NamedTuple):
    """A reason to look at answers; n answers in the run.

    rows: shape (n,), which answers it applies to. severity: arrays of shape (n,), larger is worse; later ones
    break ties. why: position of an answer → the reason as a sentence.
    """

    title: str
    about: str
    rows: Mask
    severity: tuple[Floats, ...]
    why: Callable[[int], str]


@dataclass(frozen=True)
class Answers:
    """The numbers of all answers, aligned; n rows.

    label: shape (n,), the human label: 1, 0, or NaN without a label. gated: the columns with a pass rate.
    blank: shape (n,), answers of white space only. lead: the column whose worst answers are a kind of their own.
    """

    ids: pa.ChunkedArray
    candidates: pa.ChunkedArray
    label: Floats
    gated: list[ScoreColumn]
    blank: Mask
    lead: ScoreColumn | None

    @cached_property
    def id_ranks(self) -> NDArray[np.intp]:
        """The rank of each row's id among the distinct ids; shape (n,)."""
        return _ranks(self.ids)

    @cached_property
    def candidate_ranks(self) -> NDArray[np.intp]:
        """The rank of each row's candidate among the distinct candidates; shape (n,)."""
        return _ranks(self.candidates)


class ChosenId(NamedTuple):
    """One id to look at; kind: the number of the kind that chose it; positions: of its answers."""

    id: str
    kind: int
    positions: list[int]


def blank(load: Parts) -> Mask:
    """Return which answers are empty or white space, shape (n,); one part is in memory at a time."""
    parts = (pc.equal(pc.utf8_trim_whitespace(part["response"]), "") for part in load.read(["response"]))
    return np.concatenate([pc.coalesce(part, pa.scalar(value=False)).to_numpy().astype(np.bool_) for part in parts])


def notable_kinds(answers: Answers) -> list[Kind]:
    """Return the kinds of notable rows that the run has, worst first."""
    measured, passed = _verdicts(answers)
    share = _share(measured, passed)
    kinds = [*_against_labels(answers, measured, passed, share), *_without_score(answers)]
    if np.isnan(answers.label).all():
        kinds.insert(0, disagreeing(answers))
    if answers.lead is not None:
        kinds.append(_worst(answers, answers.lead))
    return [kind for kind in kinds if kind.rows.any()]


def disagreeing(answers: Answers) -> Kind:
    """Return the kind of answers that some metrics pass and others fail."""
    measured, passed = _verdicts(answers)
    share = _share(measured, passed)
    split = np.minimum(share, 1 - share)
    return Kind(
        "Metrics disagree",
        "Some metrics pass the answer and others fail it. Without a label, only a person can tell which are right.",
        split >= DISAGREEMENT,
        (split,),
        lambda row: f"{passed[:, row].sum()} of {measured[:, row].sum()} metrics pass it, the others fail it.",
    )


def _verdicts(answers: Answers) -> tuple[Mask, Mask]:
    """Return which metrics measured and which passed each answer; two masks of shape (metrics, n)."""
    measured = _stacked([~np.isnan(column.values) for column in answers.gated], answers)
    return measured, _stacked([column.passed for column in answers.gated if column.passed is not None], answers)


def _share(measured: Mask, passed: Mask) -> Floats:
    """Return the share of the metrics that pass each answer; shape (n,), NaN if none measured it."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(passed.sum(0) / measured.sum(0))


def _stacked(masks: Sequence[Mask], answers: Answers) -> Mask:
    """Stack masks of shape (n,); shape (len(masks), n), also without masks."""
    return np.array(masks, np.bool_).reshape(len(masks), len(answers.label))


def _against_labels(answers: Answers, measured: Mask, passed: Mask, share: Floats) -> Iterator[Kind]:
    close = _mean_position(answers.gated, len(answers.label))

    def contradicted(label: str, contradicting: Mask, verb: str) -> Callable[[int], str]:
        def why(row: int) -> str:
            return f"Labelled {label}, but {contradicting[:, row].sum()} of {measured[:, row].sum()} metrics {verb} it."

        return why

    yield Kind(
        "Labelled wrong, but metrics pass",
        "At least half of the metrics pass these answers: a release gate on them would let such answers through.",
        (answers.label == 0) & (share >= HALF),
        (share, close),
        contradicted("wrong", passed, "pass"),
    )
    yield Kind(
        "Labelled right, but metrics fail",
        "At least half of the metrics fail these answers: a release gate on them would stop them for nothing.",
        (answers.label == 1) & (share <= HALF),
        (1 - share, 1 - close),
        contradicted("right", measured & ~passed, "fail"),
    )


def _without_score(answers: Answers) -> Iterator[Kind]:
    failed = _stacked([np.isnan(column.values) & ~column.not_asked for column in answers.gated], answers)
    asked = len(failed) - _stacked([column.not_asked for column in answers.gated], answers).sum(0)
    yield Kind(
        "Could not be measured",
        "At least one metric failed on these answers. They count in the worst and best case, not in the scores.",
        np.asarray(failed.any(0)),
        (failed.sum(0).astype(np.float64),),
        lambda row: f"{failed[:, row].sum()} of {asked[row]} metrics could not measure it.",
    )
    yield Kind(
        "Empty answers",
        "Only white space: a wrong answer, with the lowest score of every metric.",
        answers.blank,
        (),
        lambda _: "The answer is empty.",
    )


def _worst(answers: Answers, column: ScoreColumn) -> Kind:
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
    """Return each row's mean score, scaled from worst (0) to best (1); shape (n,)."""
    total, count = np.zeros(n), np.zeros(n)
    for column in columns:
        if column.facts.bounds is None:
            continue
        low, high = column.facts.bounds
        position = (column.values - low) / (high - low)
        position = position if column.facts.higher_is_better else 1 - position
        total += np.nan_to_num(position)
        count += ~np.isnan(position)
    return total / np.maximum(count, 1)


def choose(kinds: Sequence[Kind], answers: Answers, limit: int) -> list[ChosenId]:
    """Choose at most `limit` ids, sorted by kind: the kinds choose in turns, each its worst id that is not chosen yet.

    The order of rows does not matter: answers that are equally bad are ordered by id and candidate.
    """
    kind_of = _in_turns(kinds, answers, limit)
    rows = _rows_of(answers, [*kind_of])
    ends = np.flatnonzero(np.diff(answers.id_ranks[rows])) + 1
    by_id = [positions for positions in np.split(rows, ends) if positions.size]
    chosen = [
        ChosenId(answers.ids[int(positions[0])].as_py(), kind, positions.tolist())
        for positions, kind in zip(by_id, kind_of.values(), strict=True)
    ]
    return sorted(chosen, key=lambda choice: choice.kind)


def worth_reading(kinds: Sequence[Kind], answers: Answers, limit: int) -> NDArray[np.intp]:
    """Return the positions of all answers to the ids most worth reading, id after id; at most `limit` positions.

    First the ids that the kinds choose in turns, then the worst scores of the lead, then by a hash of the id.
    """
    first = np.array([*_in_turns(kinds, answers, limit)], np.intp)
    others = np.setdiff1d(answers.id_ranks, first)
    _, once = np.unique(answers.id_ranks, return_index=True)
    score = _worst_of_each_id(answers)[others]
    order = np.lexsort((hashed(answers.ids.take(pa.array(once[others]))), score))
    ids = np.concatenate([first, others[order]])
    fitting = np.bincount(answers.id_ranks)[ids].cumsum() <= limit
    return _rows_of(answers, ids[fitting])


def _worst_of_each_id(answers: Answers) -> Floats:
    """Return the worst score of the lead for each id, lower is worse; infinite without a score."""
    worst = np.full(int(answers.id_ranks.max(initial=-1)) + 1, np.inf)
    if answers.lead is not None:
        score = answers.lead.values * answers.lead.facts.sign
        np.fmin.at(worst, answers.id_ranks, score)
    return worst


def _in_turns(kinds: Sequence[Kind], answers: Answers, limit: int) -> dict[int, int]:
    """Let the kinds choose ids in turns; return rank of an id → number of its kind, at most `limit`, in that order."""
    queues = [iter(_worst_first(kind, answers)[:limit].tolist()) for kind in kinds]
    kind_of: dict[int, int] = {}
    while len(kind_of) < limit:
        before = len(kind_of)
        for kind, queue in enumerate(queues):
            new = next((rank for rank in queue if rank not in kind_of), None)
            if new is not None and len(kind_of) < limit:
                kind_of[new] = kind
        if len(kind_of) == before:
            break
    return kind_of


def _worst_first(kind: Kind, answers: Answers) -> NDArray[np.intp]:
    """Return the ranks of the ids of a kind, worst first, each once."""
    rows = np.flatnonzero(kind.rows)
    severity = [-values[rows] for values in reversed(kind.severity)]
    ids = answers.id_ranks[rows][np.lexsort((answers.candidate_ranks[rows], answers.id_ranks[rows], *severity))]
    _, first = np.unique(ids, return_index=True)
    return ids[np.sort(first)]


def _rows_of(answers: Answers, ids: Sequence[int] | NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the positions of all answers to some ids, given as ranks, in the order of the ids, then by candidate."""
    place = np.full(int(answers.id_ranks.max(initial=-1)) + 1, -1)
    place[np.asarray(ids, np.intp)] = np.arange(len(ids))
    rows = np.flatnonzero(place[answers.id_ranks] >= 0)
    return rows[np.lexsort((answers.candidate_ranks[rows], place[answers.id_ranks[rows]]))]


def _ranks(texts: pa.ChunkedArray) -> NDArray[np.intp]:
    """Return the rank of each text among the distinct texts; shape (n,)."""
    ranks = pc.rank(texts, sort_keys="ascending", tiebreaker="dense")
    return np.asarray(ranks.to_numpy(), np.intp) - 1
