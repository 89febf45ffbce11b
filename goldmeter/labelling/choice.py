"""Which answers to label, the width that their labels will give, and the probability by which each label counts."""

import re
from collections.abc import Iterator
from hashlib import sha256
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from goldmeter.errors import DataError
from goldmeter.estimates.judge_calibration import joined, labelled_probabilities, recalibration
from goldmeter.estimates.metrics_report import reading
from goldmeter.estimates.score_parts import ScoreParts
from goldmeter.labelling.run_rows import JUDGE, Key, Mask, RunRows
from goldmeter.metrics.base import Floats
from goldmeter.pipeline.tables import Parts
from goldmeter.reporting.row_texts import hashed
from goldmeter.statistics.sampling_design import active_chances, draw, inclusion_probabilities, planned_half_width

By = Literal["active", "random", "disagreement", "references"]
# How labelled rows came to be chosen: by flows.label, or on the page of the report by who reads it.
Origin = Literal[By, "page"]
# How rows of no sample were chosen, in words.
NO_SAMPLE = {
    "disagreement": "by disagreement", "references": "by suspicious references", "page": "on the page of the report",
}  # fmt: skip
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
    if how := NO_SAMPLE.get(sheet.by):
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


BY: tuple[By, ...] = get_args(By)
# The probability of a row that the offline judge has none for: the least is known of it.
UNKNOWN = 0.5
_NAME = re.compile(rf"({'|'.join(get_args(Origin))})-([1-9]\d{{0,11}})-of-([1-9]\d{{0,11}})-[0-9a-f]{{8}}")


class Choice(NamedTuple):
    """Rows to label.

    Attributes:
        by: How they were chosen.
        frame: Number of rows that they were chosen from.
        rows: Their numbers, in a random order, shape (n,).
        probabilities: Inclusion probability of every row, shape (rows,); NaN where it could not be chosen, or all NaN
            for a choice that is no sample.
        share: Of the earlier labels' estimate beside that of the new ones (`mixed_share`).
        name: Of the sheet; it says the choice, and tells it from others.
        p: Each row's probability of being right that the choice went by, shape (rows,); NaN without one.
        labels: Number of labels on which the judge's probabilities were recalibrated; 0: they were not.
    """

    by: By
    frame: int
    rows: Rows
    probabilities: Floats
    share: float
    name: str
    p: Floats
    labels: int


def choose(run: RunRows, before: Design, size: int, by: By, confidence: float) -> Choice:
    """Choose `size` rows that have a response and no label; the same run gives the same choice.

    If earlier labels are a sample and reject the judge's probabilities at this confidence, it goes by
    recalibrated ones.

    Raises:
        DataError: There are fewer such rows, or the judge has no probabilities to choose by.
    """
    suspicious = by == "references"
    frame = _suspicious(run) if suspicious else np.flatnonzero(run.answered & ~before.labelled)
    if size > frame.size:
        what = "references are to be looked at" if suspicious else "answers of the present run have no label"
        raise DataError(f"--rows {size:,}: only {frame.size:,} {what}")
    rng = np.random.default_rng(_seed(run, frame, size, by))
    probabilities, share = np.full(len(run.ids), np.nan), 0.0
    p, labels = probabilities, 0
    if suspicious:
        rows = frame[:size]
    elif by == "disagreement":
        rows = _most_disputed(run, frame, size, rng)
    else:
        p, labels = _being_right(run, before, confidence)
        probabilities[frame] = inclusion_probabilities(_chances(p[frame], by), size)
        share = mixed_share(before, probabilities)
        rows = frame[draw(probabilities[frame], rng)]
    shown = rows if suspicious else rng.permutation(rows)
    name = f"{by}-{size}-of-{frame.size}-{hashed([[*run.keys[row]] for row in rows])[:8]}"
    return Choice(by, int(frame.size), shown, probabilities, share, name, p, labels)


def read_name(name: str) -> tuple[Origin, int, int]:
    """Return what a sheet's name says: how its rows were chosen, how many, and from how many.

    Raises:
        DataError: It is no such name.
    """
    match = _NAME.fullmatch(name)
    if match is None:
        raise DataError(f"{name!r}: not the name of a sheet, such as active-100-of-480-0f3a9c1d")
    return next(by for by in get_args(Origin) if by == match[1]), int(match[2]), int(match[3])


def widths(run: RunRows, before: Design, choice: Choice, confidence: float) -> Iterator[str]:
    """Say for each candidate which half-width the labels are expected to give its rate of right answers."""
    if how := NO_SAMPLE.get(choice.by):
        yield f"Rows chosen {how} show what to improve; no rate can be estimated from their labels."
        return
    p = np.nan_to_num(choice.p, nan=UNKNOWN)
    recalibrated = ", recalibrated" if choice.labels else ""
    names = np.array(run.candidates)
    uniform = np.where(np.isnan(choice.probabilities), np.nan, len(choice.rows) / choice.frame)
    for name in dict.fromkeys(run.candidates):
        rows = run.answered & (names == name)
        labels = float(np.nansum(choice.probabilities[rows]) + before.labelled[rows].sum())
        half, other = (
            planned_half_width(p[rows], squared_weights(before, inclusion)[rows], labels, confidence)
            for inclusion in (choice.probabilities, uniform)
        )
        compared = f"; as many random ones ±{100 * other:.1f}" if choice.by == "active" else ""
        yield (
            f"{name}: about {labels:.0f} labels will give its rate of right answers, {100 * p[rows].mean():.1f} % by "
            f"{run.judge}{recalibrated}, to about ±{100 * half:.1f} points{compared}"
        )
    if choice.labels:
        yield (
            f"at {100 * confidence:g} % confidence; {choice.labels:,} labels reject {run.judge}'s "
            "probabilities, which are recalibrated on them"
        )
    else:
        right = f"where {run.judge}'s probabilities are right; wider elsewhere"
        yield f"at {100 * confidence:g} % confidence, {right}"


def _being_right(run: RunRows, before: Design, confidence: float) -> tuple[Floats, int]:
    """Return each row's probability of being right, and on how many labels it was recalibrated."""
    p = run.probabilities()
    if not before.is_sample:
        return p, 0
    judge = Parts(JUDGE)
    parts = ScoreParts(run.parts, (judge,), judge)
    labelled = (labelled_probabilities(parts, number, run.probability_column) for number in range(len(run.parts)))
    found = recalibration(joined(labelled), confidence)
    return (p, 0) if found is None else (found.of(p), found.entry["n"])


def _chances(p: Floats, by: By) -> Floats:
    """Return the relative chance of each row of the frame."""
    if by == "random":
        return np.ones(p.size)
    if np.isnan(p).all():
        raise DataError(
            "data/judge: no offline_match, by whose probabilities rows are chosen; set judge.provider: offline and run "
            "`dvc repro judge`, or choose --by random"
        )
    return active_chances(np.nan_to_num(p, nan=UNKNOWN))


def _most_disputed(run: RunRows, frame: Rows, size: int, rng: np.random.Generator) -> Rows:
    """Return the rows on which measures differ most, and on whose input the judge's verdicts on candidates do."""
    share, judged = run.results()
    _, inputs = np.unique(run.ids, return_inverse=True)
    right = np.bincount(inputs, judged)[inputs] / np.bincount(inputs)[inputs]
    measures = np.nan_to_num(share)
    disputed = measures * (1.0 - measures) + right * (1.0 - right)
    order = rng.permutation(frame)
    return order[np.argsort(-disputed[order], kind="stable")][:size]


def _suspicious(run: RunRows) -> Rows:
    """Return an answer to each question whose references are to be looked at, the most suspicious question first."""
    with reading() as document:
        found = document["suspects"]["rows"] if "suspects" in document else []
    numbers = {key: number for number, key in enumerate(run.keys)}
    chosen = [numbers.get(Key(one["id"], one["candidate"])) for one in found]
    return np.array([number for number in chosen if number is not None], np.intp)


def _seed(run: RunRows, frame: Rows, size: int, by: By) -> int:
    """Return a seed from what is chosen from, so that nobody can draw again until the choice suits."""
    content = sha256(f"{by} {size}".encode())
    for row in frame.tolist():
        content.update(f"\n{run.ids[row]}\t{run.candidates[row]}".encode())
    return int.from_bytes(content.digest()[:8], "big")
