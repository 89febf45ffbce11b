"""Labels of other answers: a human label belongs to an input, its references and the response that was labelled."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tasks.metrics.base import Floats
from tasks.scores.columns import Mask


class LabelledAnswers(NamedTuple):
    """The labels of some rows; n rows.

    response: hash of the answer. label: NaN without one. confirmed: the label file states that the label is of this
    answer. Every array has shape (n,).
    """

    response: NDArray[np.uint64]
    label: Floats
    confirmed: Mask


def left_in_place(earlier: LabelledAnswers, later: LabelledAnswers) -> Mask:
    """Return the rows whose answer changed while its label was left as it was; shape (n,).

    A label that did not change may still be new: most answers keep their verdict. So the labels of all changed answers
    are looked at together: if not one of them differs, they were left in place; if one does, people labelled the new
    answers. Labels that the label file confirms are never left in place.

    Args:
        earlier: The rows as they were labelled.
        later: The same rows of one candidate, in the same order.
    """
    both = (earlier.response != later.response) & ~np.isnan(earlier.label) & ~np.isnan(later.label) & ~later.confirmed
    differs = both & (earlier.label != later.label)
    return np.asarray(both & ~differs.any(), np.bool_)
