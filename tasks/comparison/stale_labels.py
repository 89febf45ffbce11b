"""Labels of other answers: a human label belongs to an input, its references and the response that was labelled."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tasks.metrics.base import Floats
from tasks.pipeline.tables import Parts
from tasks.scores.columns import Mask, hashed
from tasks.scores.label_status import CONFIRMED


class LabelledAnswers(NamedTuple):
    """The labels of some rows; n rows.

    response: hash of the answer. label: NaN without one. confirmed: the label file states that the label is of this
    answer. Every array has shape (n,).
    """

    response: NDArray[np.uint64]
    label: Floats
    confirmed: Mask


def of_load(load: Parts) -> LabelledAnswers:
    """The labels of data/load, rows in the table's order; a table from before `label_status` confirms none."""
    stated = "label_status" in load.schema.names
    rows = load.whole(["label", "label_status"] if stated else ["label"])
    label = rows["label"].cast("float64").to_numpy(zero_copy_only=False)
    confirmed = np.zeros(len(label), np.bool_)
    if stated:
        confirmed |= rows["label_status"].to_numpy(zero_copy_only=False) == CONFIRMED
    answers = (part["response"].fill_null("\0") for part in load.read(["response"]))
    return LabelledAnswers(np.concatenate([hashed(part) for part in answers]), label, confirmed)


def left_in_place(
    earlier: LabelledAnswers, later: LabelledAnswers, candidate: NDArray[np.uint64] | None = None
) -> Mask:
    """Return the rows whose answer changed while its label was left as it was; shape (n,).

    A label that did not change may still be new: most answers keep their verdict. So the labels of all changed answers
    of a candidate are looked at together: if not one of them differs, they were left in place; if one does, people
    labelled the new answers. Labels that the label file confirms are never left in place.

    Args:
        earlier: The rows as they were labelled.
        later: The same rows, in the same order.
        candidate: Hash of each row's candidate, shape (n,); None: all rows are of one.
    """
    both = (earlier.response != later.response) & ~np.isnan(earlier.label) & ~np.isnan(later.label) & ~later.confirmed
    differs = both & (earlier.label != later.label)
    relabelled = differs.any() if candidate is None else np.isin(candidate, candidate[differs])
    return np.asarray(both & ~relabelled, np.bool_)
