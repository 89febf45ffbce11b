"""Rows to look at first: the kinds of notable rows, and a choice of the worst of each kind."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tasks.console.format import abridged_apart, number, visible
from tasks.metrics.base import Floats
from tasks.pipeline.tables import Parts
from tasks.scores.columns import Mask, ScoreColumn, hashed
from tasks.scores.failure_kinds import KINDS
from tasks.scores.failures import Kinds

# Candidates that are compared row by row with the best one.
MOST_OTHERS = 3
NAME_CHARS = 40


class Kind(NamedTuple):
    """A reason to look at answers; n answers in the run.

    rows: shape (n,), which answers it applies to. severity: shape (n,), larger is worse, NaN is last.
    why: position of an answer → the reason as a sentence.
    """

    title: str
    about: str
    rows: Mask
    severity: Floats | None
    why: Callable[[int], str]


class Decisive(NamedTuple):
    """The primary measure; by: who says so, in words. failures: shape (n,), the kind of failure of each wrong row."""

    column: ScoreColumn
    by: str
    failures: Kinds


@dataclass(frozen=True)
class Answers:
    """The numbers of all answers, aligned; n rows.

    names: the candidates, the best first. label: shape (n,), the human label: 1, 0, or NaN without a label.
    gated: the columns with a pass rate. blank: shape (n,), answers of white space only. primary: None if the primary
    measure has no pass rate. closest: the metric that agrees best with human labels; without labels, the one nearest to
    meaning. graded: the same of the metrics that are not only right or wrong. Its worst answers come first.
    """

    ids: pa.ChunkedArray
    candidates: pa.ChunkedArray
    names: Sequence[str]
    label: Floats
    gated: list[ScoreColumn]
    blank: Mask
    primary: Decisive | None
    closest: ScoreColumn | None
    graded: ScoreColumn | None

    @cached_property
    def id_ranks(self) -> NDArray[np.intp]:
        """The rank of each row's id among the distinct ids; shape (n,)."""
        return _ranks(self.ids)

    @cached_property
    def candidate_ranks(self) -> NDArray[np.intp]:
        """The place of each row's candidate in `names`; shape (n,)."""
        places = pc.index_in(self.candidates, pa.array(self.names, pa.string()))
        return np.asarray(places.to_numpy(), np.intp)

    @cached_property
    def badness(self) -> Floats | None:
        """How bad each answer is by the graded metric, larger is worse; shape (n,)."""
        return None if self.graded is None else -self.graded.facts.sign * self.graded.values


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
    """Return the kinds of notable rows that the run has.

    First the answers that the primary measure calls wrong, by kind of failure, the most frequent one first; then the
    inputs on which one candidate is right and another one wrong, and the answers on which the labels contradict the
    closest metric. Other metrics name no row as wrong.
    """
    wrong = [*_empty_and_worst(answers)] if answers.primary is None else [*_failures(answers.primary, answers)]
    pairs = [] if answers.primary is None else [*_one_right(answers.primary, answers)]
    kinds = [*wrong, *pairs, *_against_labels(answers), _unmeasured(answers)]
    return [kind for kind in kinds if kind.rows.any()]


def _failures(primary: Decisive, answers: Answers) -> Iterator[Kind]:
    counts = np.bincount(primary.failures[primary.failures >= 0], minlength=len(KINDS))
    for number_of_kind in np.argsort(-counts, kind="stable").tolist():
        name, about = KINDS[number_of_kind]
        why = f"Wrong by {primary.by}: {name}."
        rows = primary.failures == number_of_kind
        yield Kind(name.capitalize(), about, rows, answers.badness, _saying(why))


def _one_right(primary: Decisive, answers: Answers) -> Iterator[Kind]:
    """The inputs that only one of two candidates answers right; the best candidate with each of the next ones."""
    right = (primary.failures < 0) & ~np.isnan(primary.column.values)
    for other in range(1, min(len(answers.names), 1 + MOST_OTHERS)):
        for one, two in ((0, other), (other, 0)):
            good = np.isin(answers.id_ranks, answers.id_ranks[right & (answers.candidate_ranks == one)])
            bad = (primary.failures >= 0) & (answers.candidate_ranks == two)
            names = answers.names[one], answers.names[two]
            shown = [visible(name) for name in abridged_apart(names, NAME_CHARS).values()]
            why = f"{shown[0]} answers it right."
            yield Kind(
                f"{shown[0]} right, {shown[1]} wrong",
                f"Inputs that {shown[0]} answers right by {primary.by}, and {shown[1]} wrong.",
                good & bad,
                answers.badness,
                _saying(why),
            )


def _against_labels(answers: Answers) -> Iterator[Kind]:
    """The answers on which the closest metric contradicts the human labels."""
    closest = answers.closest
    if closest is None or closest.passed is None or np.isnan(answers.label).all():
        return
    name, measured = closest.name, ~np.isnan(closest.values)
    most = f"{name} agrees best with the human labels; these are its errors."
    yield Kind(
        f"Labelled wrong, but {name} passes",
        f"{most} A release gate on it would let such answers through.",
        (answers.label == 0) & measured & closest.passed,
        closest.facts.sign * closest.values,
        _saying(f"Labelled wrong, but {name} passes it."),
    )
    yield Kind(
        f"Labelled right, but {name} fails",
        f"{most} A release gate on it would stop such answers for nothing.",
        (answers.label == 1) & measured & ~closest.passed,
        answers.badness,
        _saying(f"Labelled right, but {name} fails it."),
    )


def _saying(why: str) -> Callable[[int], str]:
    return lambda _: why


def _unmeasured(answers: Answers) -> Kind:
    n = len(answers.label)
    failed = _stacked([np.isnan(column.values) & ~column.not_asked for column in answers.gated], n)
    asked = len(failed) - _stacked([column.not_asked for column in answers.gated], n).sum(0)
    return Kind(
        "Could not be measured",
        "At least one metric failed on these answers. They count in the worst and best case, not in the scores.",
        np.asarray(failed.any(0)),
        failed.sum(0).astype(np.float64),
        lambda row: f"{failed[:, row].sum()} of {asked[row]} metrics could not measure it.",
    )


def _stacked(masks: Sequence[Mask], n: int) -> Mask:
    """Stack masks of shape (n,); shape (len(masks), n), also without masks."""
    return np.array(masks, np.bool_).reshape(len(masks), n)


def _empty_and_worst(answers: Answers) -> Iterator[Kind]:
    """What stands for wrong answers where the primary measure has no pass rate."""
    yield Kind(
        "Empty answers",
        "Only white space: a wrong answer, with the lowest score of every metric.",
        answers.blank,
        None,
        _saying("The answer is empty."),
    )
    column = answers.graded or answers.closest
    if column is None:
        return
    measured = ~np.isnan(column.values)
    passed = np.zeros_like(measured) if column.passed is None else column.passed
    yield Kind(
        f"Worst {column.name}",
        f"Answers that fail {column.name}, the worst scores first.",
        measured & ~passed & ~answers.blank,
        answers.badness,
        lambda row: f"Its {column.name} is {number(float(column.values[row]))}; it passes {column.facts.rule}.",
    )


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

    First the ids that the kinds choose in turns, then the worst scores of the graded metric, then by a hash of the id.
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
    """Return the worst score of the graded metric for each id, lower is worse; infinite without a score."""
    worst = np.full(int(answers.id_ranks.max(initial=-1)) + 1, np.inf)
    if answers.badness is not None:
        np.fmin.at(worst, answers.id_ranks, -answers.badness)
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
    severity = [] if kind.severity is None else [-kind.severity[rows]]
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
