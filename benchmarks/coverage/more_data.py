"""What a comparison says would decide it: how often it does, once so much was added."""

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

from benchmarks.coverage.cells import Measure, Rng, Simulation, Study
from benchmarks.coverage.people import OFFLINE, Answers, difference
from goldmeter.comparison.differences import Difference
from goldmeter.comparison.more_data import needed
from goldmeter.wording.verdicts import Verdict

TOPIC = "What would decide"
RIGHT, ERRS, MATTERS = 0.8, 0.08, 0.02
# So many runs as a share of the draws of other studies: each finds an undecided comparison first.
RUNS = 0.25
DECIDED = Measure("decided after so many more", "at least", 0.75)


class Design(NamedTuple):
    """Two systems on n rows; labels: on how many, None for all. truth: the difference. margin: the gate's.

    changed: the share of rows right in one system alone. group: rows in each group, whose rows change together.
    """

    n: int
    labels: int | None
    truth: float
    changed: float = 0.1
    margin: float = 0.0
    group: int = 1

    def __str__(self) -> str:
        labels = "labels on all" if self.labels is None else f"{self.labels} labels"
        groups = f" in groups of {self.group}" if self.group > 1 else ""
        return (
            f"{self.n} rows{groups}, {labels}, {self.changed:.0%} changed, "
            f"difference {100 * self.truth:+.0f} points, margin {100 * self.margin:.0f}"
        )


DESIGNS = (
    Design(300, None, -0.02),
    Design(1000, None, 0.02, 0.2),
    Design(300, None, 0.0, margin=MATTERS),
    Design(1000, None, -0.04, 0.2, margin=MATTERS),
    Design(600, None, -0.02, group=5),
    Design(1000, 50, 0.03),
    Design(1000, 100, -0.02),
    Design(1000, 0, -0.03),
    Design(1000, 200, -0.03, group=5),
)


def studies() -> Iterator[Study]:
    """Every study."""
    for design in DESIGNS:
        yield Simulation(TOPIC, str(design), ("more data", *design), partial(undecided_runs, design), (DECIDED,), RUNS)


def undecided_runs(design: Design, rng: Rng, runs: int) -> Iterator[bool]:
    """Of runs that are undecided and name what would decide: whether the middle of the range added decides."""
    found = 0
    while found < runs:
        first = _drawn(design, design.n, rng)
        labelled = design.n if design.labels is None else design.labels
        says = _compared(design, first, labelled)
        entry = needed(says) if says.verdict is Verdict.CANNOT_TELL else None
        if entry is None or entry["low"] is None or entry["high"] is None:
            continue
        found += 1
        more = (entry["low"] + entry["high"]) // 2 * (design.group if entry["unit"] == "group" else 1)
        labels = labelled + more
        extra = _drawn(design, max(labels - design.n, 0), rng)
        rows = Answers(*(np.concatenate(both, axis=-1) for both in zip(first, extra, strict=True)))
        yield _compared(design, rows, labels).verdict is not Verdict.CANNOT_TELL


def _drawn(design: Design, n: int, rng: Rng) -> Answers:
    """Rows whose judge errs on some answers, alike where both answers are equal."""
    groups = np.repeat(rng.random(-(-n // design.group)), design.group)[:n]
    won, lost = (design.changed + design.truth) / 2, design.changed
    base = np.where(groups < won, 0.0, np.where(groups < lost, 1.0, rng.random(n) < RIGHT))
    right = np.array([base, np.where(groups < lost, 1.0 - base, base)])
    changed = (groups < lost) | (rng.random(n) < design.changed)
    errs = rng.random((2, n)) < ERRS
    errs[1] = np.where(changed, errs[1], errs[0])
    verdicts = np.where(errs, 1.0 - right, right)
    return Answers(right, verdicts, verdicts, changed)


def _compared(design: Design, rows: Answers, labels: int) -> Difference:
    n = rows.changed.size
    clusters = np.arange(n) // design.group if design.group > 1 else None
    return difference(rows, np.arange(n) < labels, OFFLINE, margin=design.margin, clusters=clusters)
