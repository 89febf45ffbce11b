"""The rules of `tasks.dataset.mapping` for labels and scores, on columns; a row that a rule does not read is odd."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tasks.dataset import mapping
from tasks.dataset.columnar.piece import Piece, Texts
from tasks.dataset.labels import UnknownLabelError, label_of
from tasks.dataset.settings import Dataset, LabelMapping, ScoreMapping
from tasks.scores.label_status import CONFIRMED, STALE
from tasks.text.kernels import Flags

# Numbers that Arrow reads as Python does.
NUMBER = r"^-?[0-9]{1,18}(\.[0-9]{1,30})?([eE][-+]?[0-9]{1,2})?$"
# Characters of a sha256 in hexadecimal digits.
DIGITS = 64
NO_LABEL, UNREADABLE = -1, 2


def selected(piece: Piece, dataset: Dataset) -> Flags:
    """Return which of n records `exclude` does not match; shape (n,).

    Raises:
        Undivided: A record can't be read.
    """
    keep = np.ones(len(piece.lines), np.bool_)
    if not dataset.exclude:
        return keep
    is_odd = piece.is_odd.copy()
    for column, wanted in dataset.exclude.items():
        texts = piece.texts(column)
        is_odd |= texts.is_odd
        codes, values = _codes(texts.values)
        keep &= ~np.array([mapping.equals(value, wanted) for value in values], np.bool_)[codes]
    for row in np.flatnonzero(is_odd).tolist():
        keep[row] = any(True for _ in mapping.selected([piece.record(row)], dataset))
    return keep


class Labels(NamedTuple):
    """Labels of n answers: bool or null; their status; the ratings behind them; rows that no rule reads."""

    values: pa.Array
    status: pa.StringArray
    ratings: pa.ListArray
    is_odd: Flags


def labels(piece: Piece, given: LabelMapping, labelled: str | None, responses: pa.StringArray) -> Labels:
    """Return the labels of answers; labelled: column of the answers that were labelled."""
    right = np.zeros(len(responses), np.int64)
    ratings = np.empty((len(responses), len(given.all_columns)), np.int8)
    is_odd = np.zeros(len(responses), np.bool_)
    for rater, column in enumerate(given.all_columns):
        alone = given.model_copy(update={"column": column, "columns": ()})
        verdicts, is_unread = _of_rater(piece.texts(column), alone)
        ratings[:, rater] = verdicts
        right += np.where(verdicts == NO_LABEL, 0, 2 * verdicts - 1)
        is_odd |= is_unread
    none = right == 0
    values = pa.array(right > 0, pa.bool_(), mask=none)
    if labelled is None:
        return Labels(values, pa.nulls(len(none), pa.string()), _lists(ratings, np.zeros_like(none)), is_odd)
    other = piece.texts(labelled)
    answer, text = pc.fill_null(responses, ""), pc.fill_null(other.values, "")
    is_same = _flags(pc.equal(answer, text))
    # It may be the hash of the answer.
    may_be_hash = _flags(pc.greater_equal(pc.binary_length(text), DIGITS))
    is_odd |= (ratings != NO_LABEL).any(axis=1) & ~is_same & (may_be_hash | other.is_odd)
    status = pa.array(np.where(is_same, CONFIRMED, STALE), pa.string(), mask=none)
    return Labels(pa.array(right > 0, pa.bool_(), mask=none | ~is_same), status, _lists(ratings, ~is_same), is_odd)


def _lists(ratings: NDArray[np.int8], is_null: Flags) -> pa.ListArray:
    """Return the ratings of each answer as a list; null without any, and where `is_null` says so."""
    is_null = is_null | (ratings == NO_LABEL).all(axis=1)
    items = pa.array(ratings.ravel() > 0, pa.bool_(), mask=ratings.ravel() == NO_LABEL)
    offsets = np.arange(len(ratings) + 1, dtype=np.int32) * ratings.shape[1]
    return pa.ListArray.from_arrays(offsets, items, mask=pa.array(is_null))


def _of_rater(texts: Texts, given: LabelMapping) -> tuple[NDArray[np.int8], Flags]:
    """Return 1 for right, 0 for wrong, NO_LABEL for none, and which rows no rule reads."""
    codes, values = _codes(texts.values)
    verdicts = np.array([_verdict(text, given) for text in values], np.int8)[codes]
    return verdicts, texts.is_odd | (verdicts == UNREADABLE)


def _verdict(text: str | None, given: LabelMapping) -> int:
    try:
        label = label_of({str(given.column): text}, given, "", 0, "")
    except UnknownLabelError:
        return UNREADABLE
    return NO_LABEL if label is None else int(label)


def scores(columns: Sequence[Texts], given: ScoreMapping) -> tuple[pa.Array, Flags]:
    """Return the scores of n answers, the mean of their columns, and the rows that hold no number within the bounds."""
    found = [_scores(texts, given) for texts in columns]
    if len(found) == 1:
        return found[0]
    numbers = np.array([one.to_numpy(zero_copy_only=False) for one, _ in found])
    has_number = ~np.isnan(numbers)
    total, count = np.where(has_number, numbers, 0.0).sum(axis=0), has_number.sum(axis=0)
    means = pa.array(total / np.maximum(count, 1), pa.float64(), mask=count == 0)
    return means, np.logical_or.reduce([is_odd for _, is_odd in found])


def _scores(texts: Texts, given: ScoreMapping) -> tuple[pa.Array, Flags]:
    is_null = _flags(texts.values.is_null())
    numbers, is_number = _numbers(texts)
    is_odd = texts.is_odd | ~(is_null | is_number)
    if given.bounds is not None:
        values = numbers.to_numpy(zero_copy_only=False)
        is_odd |= is_number & ~((values >= given.bounds[0]) & (values <= given.bounds[1]))
    return numbers, is_odd


def weights(texts: Texts) -> tuple[pa.Array, Flags]:
    """Return the weights of n records, and the rows that hold no number of 0 or more."""
    numbers, is_number = _numbers(texts)
    values = numbers.to_numpy(zero_copy_only=False)
    return pc.add(numbers, 0.0), texts.is_odd | ~is_number | ~(values >= 0.0)  # -0 is 0


def amounts(columns: Sequence[Texts]) -> tuple[pa.Array, Flags]:
    """Return the sums of columns for n answers, null where one is, and the rows with anything else than 0 or more."""
    total, is_odd = None, np.zeros(len(columns[0].values), np.bool_)
    for texts in columns:
        numbers, is_number = _numbers(texts)
        is_odd |= texts.is_odd | ~(_flags(texts.values.is_null()) | is_number)
        is_odd |= _flags(pc.fill_null(pc.less(numbers, 0.0), fill_value=False))
        total = pc.add(numbers if total is None else pc.add(total, numbers), 0.0)  # -0 is 0
    return total, is_odd


def _numbers(texts: Texts) -> tuple[pa.Array, Flags]:
    """Return the numbers that texts state, and which of them do."""
    is_number = _flags(pc.fill_null(pc.match_substring_regex(texts.values, NUMBER), fill_value=False))
    return pc.if_else(pa.array(is_number), texts.values, None).cast(pa.float64()), is_number


def _codes(texts: pa.StringArray) -> tuple[NDArray[np.int64], list[str | None]]:
    """Return the number of each text among the distinct ones, and these; the last of them is null."""
    distinct = texts.dictionary_encode()
    values = distinct.dictionary.to_pylist()
    return pc.fill_null(distinct.indices, len(values)).to_numpy(), [*values, None]


def _flags(values: pa.Array) -> Flags:
    return np.array(values.to_numpy(zero_copy_only=False), np.bool_)
