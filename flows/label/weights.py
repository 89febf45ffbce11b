"""The probability by which each label counts, from the draws of the sheets that it came by."""

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from flows.label.run_rows import Mask
from tasks.metrics.base import Floats

By = Literal["active", "random", "disagreement"]
# How labelled rows came to be chosen: by flows.label, or on the page of the report by who reads it.
Origin = Literal[By, "page"]
NO_SAMPLE = ("disagreement", "page")
Rows = NDArray[np.intp]


class Drawn(NamedTuple):
    """The labelled rows of one sheet.

    Attributes:
        by: How they were chosen.
        size: Number of rows that were chosen.
        frame: Number of rows that they were chosen from.
        rows: The chosen rows that have a label, shape (m,).
        probabilities: Their inclusion probabilities, shape (m,).
        share: Of the earlier labels' estimate, as `mixed_share` when the rows were chosen.
    """

    by: Origin
    size: int
    frame: int
    rows: Rows
    probabilities: Floats
    share: float


class Design(NamedTuple):
    """How all labelled rows were chosen.

    Attributes:
        labels: The value of `dataset.labels`; None without labels.
        probabilities: Of the labelled rows, shape (rows,); NaN for the others.
        notes: What to know about it.
    """

    labels: str | None
    probabilities: Floats
    notes: tuple[str, ...] = ()

    @property
    def is_sample(self) -> bool:
        """Whether a mean can be estimated from the labels."""
        return self.labels in {"random", "designed"}

    @property
    def labelled(self) -> Mask:
        """The rows that have a label, shape (rows,)."""
        return ~np.isnan(self.probabilities)


def base_design(labelled: Mask, answered: Mask, labels: str) -> Design:
    """Return the design of the labels that came by no sheet; labels: as `dataset.labels`.

    They are a sample only where they are random. Otherwise each of them stands for itself alone.
    """
    is_random = labels == "random"
    probability = float(labelled.sum() / max(answered.sum(), 1)) if is_random else 1.0
    return Design(
        ("random" if is_random else "other") if labelled.any() else None,
        np.where(labelled, min(probability, 1.0), np.nan),
    )


def combined(before: Design, sheet: Drawn, answered: Mask) -> Design:
    """Return the design after the labels of one more sheet.

    The rows of the sheet were drawn from those without a label, so given the earlier labels, the mean of all rows is
    estimated by the earlier labels, each for itself, and the new ones by their probabilities. Where the earlier labels
    are a sample too, that estimate and theirs are both unbiased, and so is every mixture of them. The mixture's weight
    of a row is the inverse of the probability returned.

    A chosen row without a label counts as not drawn: rows are in random order, so that those before the last labelled
    one are a random part of the draw.
    """
    if not sheet.rows.size:
        return before
    labelled = before.labelled
    probabilities = before.probabilities.copy()
    left = int((answered & ~labelled).sum())
    if sheet.by in NO_SAMPLE or sheet.frame != left:
        probabilities[sheet.rows] = 1.0
        return Design("other", probabilities, (*before.notes, _no_sample(sheet, left)))
    own = sheet.probabilities * (sheet.rows.size / sheet.size)
    share = sheet.share if before.is_sample else 0.0
    probabilities[labelled] = 1.0 / (share / probabilities[labelled] + 1.0 - share)
    probabilities[sheet.rows] = np.minimum(own / (1.0 - share), 1.0)
    is_random = sheet.by == "random" and before.labels in {None, "random"}
    return Design("random" if is_random else "designed", probabilities, (*before.notes, *_incomplete(sheet)))


def mixed_share(before: Design, inclusion: Floats) -> float:
    """Return the share of the earlier labels' estimate in the mixture, at most so large that no probability exceeds 1.

    It is fixed before rows are drawn: if it depended on which were, the mixture would be biased.

    Args:
        before: The design of the labels that there are.
        inclusion: Inclusion probabilities of the draw, shape (rows,); NaN for rows that can't be drawn.
    """
    if not before.is_sample:
        return 0.0
    earlier = int(before.labelled.sum())
    return float(min(earlier / (earlier + np.nansum(inclusion)), 1.0 - np.nanmax(inclusion)))


def squared_weights(before: Design, inclusion: Floats) -> Floats:
    """Return the expected square of each row's weight once a draw is labelled; arguments as of `mixed_share`."""
    share = mixed_share(before, inclusion)
    earlier = (share / before.probabilities + 1.0 - share) ** 2
    return np.where(before.labelled, earlier, (1.0 - share) ** 2 / inclusion)


def _no_sample(sheet: Drawn, left: int) -> str:
    if sheet.by in NO_SAMPLE:
        how = "by disagreement" if sheet.by == "disagreement" else "on the page of the report"
        return f"rows chosen {how} are no sample: no rate is estimated from these labels"
    return (
        f"the sheet was chosen from {sheet.frame:,} answers without a label, and there were {left:,}: its inclusion "
        "probabilities do not hold, because data changed, or two sheets were chosen before either was taken back"
    )


def _incomplete(sheet: Drawn) -> tuple[str, ...]:
    missing = sheet.size - sheet.rows.size
    note = (
        f"{missing:,} of {sheet.size:,} chosen answers have no label; the others stand for them, which is right where "
        "labelling stopped early, and wrong where hard answers were left out"
    )
    return (note,) if missing else ()
