"""Labels of other answers: a human label belongs to an input, its references and the response that was labelled."""

from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tasks.metrics.base import Floats
from tasks.pipeline.tables import Parts
from tasks.scores.column_facts import CONFIRMED
from tasks.scores.columns import Mask, hashed


class LabelledAnswers(NamedTuple):
    """The labels of some rows; n rows.

    response: hash of the answer. label: NaN without one. confirmed: the label file states that the label is of this
    answer. Every array has shape (n,).
    """

    response: NDArray[np.uint64]
    label: Floats
    confirmed: Mask

    def rows(self, chosen: NDArray[np.intp]) -> "LabelledAnswers":
        """Some of the rows, by their numbers."""
        return LabelledAnswers(self.response[chosen], self.label[chosen], self.confirmed[chosen])


def of_load(load: Parts) -> LabelledAnswers:
    """The labels of data/load, rows in the table's order; a table from before `label_status` confirms none."""
    names = [name for name in ("label", "label_status", "response") if name in load.schema.names]
    parts = [of_rows(part) for part in load.read(names)]
    return LabelledAnswers(*map(np.concatenate, zip(*parts, strict=True)))


def of_rows(rows: pa.Table) -> LabelledAnswers:
    """The labels of some rows of data/load, as of `of_load`."""
    label = rows["label"].cast("float64").to_numpy(zero_copy_only=False)
    confirmed = np.zeros(len(label), np.bool_)
    if "label_status" in rows.column_names:
        confirmed |= rows["label_status"].to_numpy(zero_copy_only=False) == CONFIRMED
    return LabelledAnswers(hashed(rows["response"].fill_null("\0")), label, confirmed)


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
    both = _both_labelled(earlier, later)
    differs = both & (earlier.label != later.label)
    labelled_anew = differs.any() if candidate is None else np.isin(candidate, candidate[differs])
    return np.asarray(both & ~labelled_anew, np.bool_)


def relabelled(earlier: LabelledAnswers, later: LabelledAnswers) -> bool:
    """Whether any changed answer has another label, so that people labelled the new answers."""
    return bool((_both_labelled(earlier, later) & (earlier.label != later.label)).any())


def _both_labelled(earlier: LabelledAnswers, later: LabelledAnswers) -> Mask:
    """Which answers changed and are labelled in both, the later label being confirmed by no label file."""
    labelled = ~np.isnan(earlier.label) & ~np.isnan(later.label) & ~later.confirmed
    return np.asarray((earlier.response != later.response) & labelled)
