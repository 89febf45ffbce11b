"""Verdicts of the offline judge: a probability that the response is right, and a reason, per row."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tasks.models.offline import domain
from tasks.models.offline.features import TextRows, row_features
from tasks.models.offline.reasons import reasons
from tasks.models.offline.texts import Texts
from tasks.models.offline.trees import shipped

if TYPE_CHECKING:
    import pyarrow as pa

# Part of signatures: raise it when the code changes a probability of an unchanged model file (tests: golden.json).
VERSION = 1
# Smallest probability of the verdict "right".
RIGHT = 0.5
BLANK = "the response is blank"


class Judged(NamedTuple):
    """Verdicts of n rows.

    Attributes:
        probabilities: Shape (n,), float64, in [0, 1]; NaN without a response or a reference, 0 for a blank response.
        reasons: The deciding fact in one sentence; None where the probability is NaN.
        outside: Why a row lies outside the judge's domain; None inside, without a probability, and for a blank
            response.
    """

    probabilities: NDArray[np.float64]
    reasons: list[str | None]
    outside: list[str | None]


def judge(inputs: Sequence[str | None], references: Sequence[Sequence[str]], responses: Sequence[str | None]) -> Judged:
    """Judge each row, independently of the others.

    Args:
        inputs: Question of each row, or None.
        references: Accepted answers of each row.
        responses: Response of each row, or None.

    Raises:
        ValueError: The lengths differ.
    """
    if not len(inputs) == len(references) == len(responses):
        raise ValueError(
            f"{len(inputs)} inputs, {len(references)} rows of references and {len(responses)} responses: "
            "there must be as many of each"
        )
    missing = np.array([response is None for response in responses], np.bool_)
    filled = ([text or "" for text in texts] for texts in (inputs, responses))
    accepted = [[text or "" for text in row] for row in references]
    questions, answers = filled
    return _judge_rows(TextRows.of(questions, accepted, answers), missing)


def judge_columns(
    inputs: "pa.Array | None", references: "pa.Array", offsets: NDArray[np.int64], responses: "pa.Array"
) -> Judged:
    """Judge each row of Arrow columns, independently of the others; a blank reference is none.

    Args:
        inputs: Question of each of n rows, or null; None: there are no questions.
        references: Accepted answers, row after row.
        offsets: Shape (n + 1,); row i has the references from `offsets[i]` to `offsets[i + 1]`.
        responses: Response of each row, or null.
    """
    questions = Texts.of([""] * len(responses)) if inputs is None else Texts.of_column(inputs)
    rows = TextRows(questions, Texts.of_column(references), offsets, Texts.of_column(responses))
    return _judge_rows(rows, np.array(responses.is_null().to_numpy(zero_copy_only=False), np.bool_))


def _judge_rows(rows: TextRows, missing: NDArray[np.bool_]) -> Judged:
    """Judge each row, independently of the others; a blank reference is none.

    Args:
        rows: n rows; the text of a missing question or response is empty.
        missing: Rows without a response, shape (n,).
    """
    n = len(missing)
    owners = np.repeat(np.arange(n), np.diff(rows.offsets))
    accepted = ~rows.references.are_blank()
    is_known = ~missing & (np.bincount(owners[accepted], minlength=n) > 0)
    blank = rows.responses.are_blank()
    which, is_judged = np.flatnonzero(is_known & ~blank), is_known & ~blank
    judged = Judged(np.where(is_known, 0.0, np.nan), [None] * n, [None] * n)
    for i in np.flatnonzero(is_known & blank).tolist():
        judged.reasons[i] = BLANK
    if not len(which):
        return judged
    kept = np.flatnonzero(accepted & is_judged[owners])
    counts = np.bincount(owners[kept], minlength=n)[which]
    offsets = np.concatenate([[0], np.cumsum(counts)])
    chosen = TextRows(rows.questions.take(which), rows.references.take(kept), offsets, rows.responses.take(which))
    features = row_features(chosen)
    judged.probabilities[which] = shipped().probabilities(features.features)
    row_reasons = reasons(features, judged.probabilities[which] >= RIGHT)
    for i, reason, outside in zip(which.tolist(), row_reasons, domain.reasons(features).tolist(), strict=True):
        judged.reasons[i] = reason
        judged.outside[i] = domain.REASONS[outside] if outside >= 0 else None
    return judged
