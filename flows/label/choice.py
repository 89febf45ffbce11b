"""Which answers to label, in the order in which they are shown, and the width that their labels will give."""

import re
from collections.abc import Iterator
from hashlib import sha256
from typing import NamedTuple, get_args

import numpy as np

from flows.label.run_rows import JUDGE, RunRows
from flows.label.weights import By, Design, Origin, Rows, mixed_share, squared_weights
from tasks.errors import DataError
from tasks.metrics.base import Floats
from tasks.pipeline.tables import Parts
from tasks.reporting.row_texts import hashed
from tasks.scores.offline_calibration import joined, labelled_probabilities, recalibration
from tasks.scores.score_parts import ScoreParts
from tasks.statistics.sampling_design import active_chances, draw, inclusion_probabilities, planned_half_width

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
        share: Of the earlier labels' estimate beside that of the new ones (`weights.mixed_share`).
        name: Of the sheet; it says the choice, and tells it from others.
        p: Each row's probability of being right that the choice went by, shape (rows,); NaN without one.
        labels: Number of labels on which the offline judge's probabilities were recalibrated; 0: they were not.
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

    If earlier labels are a sample and reject the offline judge's probabilities at this confidence, it goes by
    recalibrated ones.

    Raises:
        DataError: There are fewer such rows, or the judge has no probabilities to choose by.
    """
    frame = np.flatnonzero(run.answered & ~before.labelled)
    if size > frame.size:
        raise DataError(f"--rows {size:,}: only {frame.size:,} answers of the present run have no label")
    rng = np.random.default_rng(_seed(run, frame, size, by))
    probabilities, share = np.full(len(run.ids), np.nan), 0.0
    p, labels = probabilities, 0
    if by == "disagreement":
        rows = _most_disputed(run, frame, size, rng)
    else:
        p, labels = _being_right(run, before, confidence)
        probabilities[frame] = inclusion_probabilities(_chances(p[frame], by), size)
        share = mixed_share(before, probabilities)
        rows = frame[draw(probabilities[frame], rng)]
    shown = rng.permutation(rows)
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
    if choice.by == "disagreement":
        yield "Rows chosen by disagreement show what to improve; no rate can be estimated from their labels."
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
            f"the offline judge{recalibrated}, to about ±{100 * half:.1f} points{compared}"
        )
    if choice.labels:
        yield (
            f"at {100 * confidence:g} % confidence; {choice.labels:,} labels reject the offline judge's probabilities, "
            "which are recalibrated on them"
        )
    else:
        right = "where the offline judge's probabilities are right; wider elsewhere"
        yield f"at {100 * confidence:g} % confidence, {right}"


def _being_right(run: RunRows, before: Design, confidence: float) -> tuple[Floats, int]:
    """Return each row's probability of being right, and on how many labels it was recalibrated."""
    p = run.probabilities()
    if not before.is_sample:
        return p, 0
    judge = Parts(JUDGE)
    parts = ScoreParts(run.parts, (judge,), judge)
    found = recalibration(joined(labelled_probabilities(parts, number) for number in range(len(run.parts))), confidence)
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


def _seed(run: RunRows, frame: Rows, size: int, by: By) -> int:
    """Return a seed from what is chosen from, so that nobody can draw again until the choice suits."""
    content = sha256(f"{by} {size}".encode())
    for row in frame.tolist():
        content.update(f"\n{run.ids[row]}\t{run.candidates[row]}".encode())
    return int.from_bytes(content.digest()[:8], "big")
