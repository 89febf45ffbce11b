"""Why a row is judged or not: its status before any verdict, by column."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tasks.judging.sampling import sampled
from tasks.judging.settings import Judge
from tasks.metrics.base import (
    DISABLED,
    EMPTY_RESPONSE,
    FILTERED,
    NO_REFERENCE,
    NO_RESPONSE,
    NOT_APPLICABLE,
    NOT_SAMPLED,
)
from tasks.models.offline.texts import Texts
from tasks.scores.tables import pairs_of

Mask = NDArray[np.bool_]

ANSWERED, FAILED = "answered", "failed"
BY_DESIGN = (NOT_SAMPLED, FILTERED, DISABLED, NO_REFERENCE, NOT_APPLICABLE)
STATUSES = (ANSWERED, FAILED, EMPTY_RESPONSE, NO_RESPONSE, *BY_DESIGN)


def statuses(part: pa.Table, options: Judge) -> NDArray[np.int8]:
    """Return the status of each row of data/normalize, `answered` for those to judge, as an index of `STATUSES`."""
    if options.provider == "none":
        return np.full(part.num_rows, STATUSES.index(DISABLED), np.int8)
    names = options.variables
    output, truths = (part[name].combine_chunks() for name in (names.output, names.ground_truth))
    # The first that holds counts; the sample follows the filters because it represents the rows that they let through.
    reasons = {
        NOT_APPLICABLE: ~_applies(part, options),
        FILTERED: ~_filtered(part, options),
        NOT_SAMPLED: ~sampled_rows(part, options),
        NO_RESPONSE: np.asarray(output.is_null().to_numpy(zero_copy_only=False), np.bool_),
        NO_REFERENCE: ~has_text(truths),
        EMPTY_RESPONSE: ~has_text(output),
    }
    return np.select([*reasons.values()], [np.int8(STATUSES.index(name)) for name in reasons], np.int8(0))


def sampled_rows(part: pa.Table, options: Judge) -> Mask:
    """Return which rows are in the sample; shape (n,)."""
    if options.provider == "none" or options.sampling_rate == 1:
        return np.full(part.num_rows, options.provider != "none")
    return np.array(sampled(part["id"].to_pylist(), options.seed, options.sampling_rate), np.bool_)


def has_text(column: pa.Array) -> Mask:
    """Return which rows have a text that is not blank, of a column of texts or of lists of texts; shape (n,)."""
    texts, offsets = text_lists(column)
    rows = np.repeat(np.arange(len(column)), np.diff(offsets))
    counts = np.bincount(rows[~Texts.of_column(texts).are_blank()], minlength=len(column))
    return np.asarray(counts > 0, np.bool_)


def text_lists(column: pa.Array) -> tuple[pa.Array, NDArray[np.int64]]:
    """Return the texts of a column of texts or of lists of texts, and the offset of each row's; shape (n + 1,)."""
    if not pa.types.is_list(column.type):
        return column, np.arange(len(column) + 1)
    counts = pc.fill_null(pc.list_value_length(column), 0).to_numpy(zero_copy_only=False)
    return column.flatten(), np.concatenate([np.zeros(1, np.int64), np.cumsum(counts, dtype=np.int64)])


def _applies(part: pa.Table, options: Judge) -> Mask:
    pairs = pairs_of(part)
    applies = np.ones(len(pairs), np.bool_)
    for metric in options.metrics:
        applies &= metric.applies(pairs)
    return applies


def _filtered(part: pa.Table, options: Judge) -> Mask:
    holds = np.ones(part.num_rows, np.bool_)
    for condition in options.filters:
        field = condition.field
        holds &= np.array([condition.holds({field: cell}) for cell in part[field].to_pylist()], np.bool_)
    return holds
