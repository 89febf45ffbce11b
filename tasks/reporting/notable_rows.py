"""Rows to look at first: the kinds of notable rows, and which rows of a table each of them applies to."""

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
from tasks.scores.columns import Mask, ScoreColumn
from tasks.scores.failures import KINDS, Kinds

# Candidates that are compared row by row with the best one.
MOST_OTHERS = 3
NAME_CHARS = 40


class Kind(NamedTuple):
    """A reason to look at answers; n answers.

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

    @property
    def right(self) -> Mask:
        """Which rows it measured and does not call wrong; shape (n,)."""
        return np.asarray((self.failures < 0) & ~np.isnan(self.column.values))


@dataclass(frozen=True)
class Answers:
    """The numbers of some answers, aligned; n rows: those of a part, or those that the page shows.

    names: the candidates, the best first. label: shape (n,), the human label: 1, 0, or NaN without a label.
    gated: the columns with a pass rate. blank: shape (n,), answers of white space only. primary: None if the primary
    measure has no pass rate. closest: the metric that agrees best with human labels; without labels, the one nearest to
    meaning. graded: the same of the metrics that are not only right or wrong. Its worst answers come first.
    right_elsewhere: shape (n,), which of the first candidates of `names` answer the id of a row right in rows that are
    not here, a bit each.
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
    right_elsewhere: NDArray[np.uint8]

    @cached_property
    def distinct_ids(self) -> pa.Array:
        """The distinct ids, in order of their first row."""
        return self._encoded.dictionary

    @cached_property
    def id_codes(self) -> NDArray[np.int32]:
        """Which of the distinct ids each row has; shape (n,)."""
        return np.asarray(self._encoded.indices.to_numpy(), np.int32)

    @cached_property
    def _encoded(self) -> pa.DictionaryArray:
        return pa.concat_arrays(self.ids.chunks or [pa.array([], pa.string())]).dictionary_encode()

    @cached_property
    def candidate_ranks(self) -> NDArray[np.intp]:
        """The place of each row's candidate in `names`; shape (n,)."""
        places = pc.index_in(self.candidates, pa.array(self.names, pa.string()))
        return np.asarray(places.to_numpy(), np.intp)

    @cached_property
    def badness(self) -> Floats | None:
        """How bad each answer is by the graded metric, larger is worse; shape (n,)."""
        return None if self.graded is None else -self.graded.facts.sign * self.graded.values


def blank(responses: pa.ChunkedArray) -> Mask:
    """Return which answers are empty or white space, shape (n,)."""
    trimmed = pc.equal(pc.utf8_trim_whitespace(responses), "")
    return np.asarray(pc.coalesce(trimmed, pa.scalar(value=False)).to_numpy(), np.bool_)


def notable_kinds(answers: Answers) -> list[Kind]:
    """Return all kinds of notable rows, also those that no row is of: the same ones for every part of a run.

    First the answers that the primary measure calls wrong, by kind of failure; then the inputs on which one candidate
    is right and another one wrong, and the answers on which the labels contradict the closest metric. Other metrics
    name no row as wrong.
    """
    wrong = [*_empty_and_worst(answers)] if answers.primary is None else [*_failures(answers.primary, answers)]
    pairs = [] if answers.primary is None else [*_one_right(answers.primary, answers)]
    return [*wrong, *pairs, *_against_labels(answers), _unmeasured(answers)]


def in_order(counts: Sequence[int], *, by_failure: bool) -> list[int]:
    """Return the numbers of the kinds that the run has, in the order of the page.

    Args:
        counts: The rows of each of `notable_kinds` in the run.
        by_failure: Whether the first ones are the kinds of failure, of which the most frequent one comes first.
    """
    failures = len(KINDS) if by_failure else 0
    order = sorted(range(len(counts)), key=lambda kind: (kind >= failures, -counts[kind] if kind < failures else kind))
    return [kind for kind in order if counts[kind]]


def _failures(primary: Decisive, answers: Answers) -> Iterator[Kind]:
    for number_of_kind, (name, about) in enumerate(KINDS):
        why = f"Wrong by {primary.by}: {name}."
        rows = primary.failures == number_of_kind
        yield Kind(name.capitalize(), about, rows, answers.badness, _saying(why))


def _one_right(primary: Decisive, answers: Answers) -> Iterator[Kind]:
    """The inputs that only one of two candidates answers right; the best candidate with each of the next ones."""
    right = primary.right
    for other in range(1, min(len(answers.names), 1 + MOST_OTHERS)):
        for one, two in ((0, other), (other, 0)):
            here = np.isin(answers.id_codes, answers.id_codes[right & (answers.candidate_ranks == one)])
            good = here | (answers.right_elsewhere & (1 << one) > 0)
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
    if closest is None or closest.passed is None:
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
