"""What a judge's probability is worth beside its verdict: `python -m benchmarks.judge_probability NQ.json`.

NQ.json is of EVOUNA: real answers of five systems with people's verdicts. The judge is simulated and calibrated: it
sees a normal signal whose mean depends on people's verdict, and states the posterior probability of a right answer.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit
from scipy.stats import norm

from benchmarks.data import SYSTEMS
from goldmeter.dataset.description import LABEL
from goldmeter.estimates.column_facts import ColumnFacts
from goldmeter.estimates.columns import Candidate, ScoreColumn
from goldmeter.estimates.labelled_rate import prediction_powered
from goldmeter.estimates.primary import VERDICT
from goldmeter.metrics.base import Floats
from goldmeter.statistics.sampling_design import active_chances, draw, inclusion_probabilities

CONFIDENCE, LABELS, DRAWS = 0.95, 200, 400
# Verdicts that agree with people's, of all; groups of the expected calibration error.
AGREEMENTS, GROUPS = (0.85, 0.9, 0.95), 10
SIGNATURE = f"{VERDICT}|provider:decisions|model:simulated|v:1"
FACTS = ColumnFacts(VERDICT, "judge", SIGNATURE, (0.0, 1.0), rate_signature=f"{SIGNATURE}|pass:>0.5")


class Judged(NamedTuple):
    """Answers of one system: people's verdicts (1 right, 0 wrong) and the judge's probabilities, of shape (n,)."""

    right: Floats
    p: Floats

    @property
    def verdicts(self) -> Floats:
        """The judge's verdicts."""
        return (self.p >= 0.5).astype(np.float64)  # noqa: PLR2004 (a coin)


class Measured(NamedTuple):
    """Of one system and agreement: errors of verdicts and probabilities, and how wide and right intervals are.

    agreement: how often the verdict is people's. ece, brier: of verdicts taken as probabilities, and of probabilities.
    random, chosen: the mean width of intervals with probabilities, divided by that with verdicts and random labels;
    of random labels, and of labels that the probabilities chose. covered: of all three, the share that contain the
    truth, that with verdicts first.
    """

    system: str
    agreement: float
    ece: tuple[float, float]
    brier: tuple[float, float]
    random: float
    chosen: float
    covered: tuple[float, float, float]


def study(path: Path, draws: int = DRAWS) -> Iterator[Measured]:
    """Yield what each system and agreement gives."""
    for number, system in enumerate(SYSTEMS):
        right = people(path, system)
        for agreement in AGREEMENTS:
            yield measured(system, right, agreement, np.random.default_rng([number, round(100 * agreement)]), draws)


def people(path: Path, system: str) -> Floats:
    """Return people's verdicts of a system's answers, shape (n,)."""
    rows = [row for row in json.loads(path.read_text()) if not row["improper"]]
    verdicts = [row[f"judge_{system}"] for row in rows if row[f"answer_{system}"] is not None]
    return np.array([one for one in verdicts if one is not None], np.float64)


def judge(right: Floats, agreement: float, rng: np.random.Generator) -> Judged:
    """Return a calibrated judge's probabilities.

    Args:
        right: People's verdicts, shape (n,).
        agreement: How often a verdict would be people's if half of the answers were right.
        rng: Draws the signals.
    """
    distance = 2.0 * norm.ppf(agreement)
    signal = rng.standard_normal(right.size) + distance * (right - 0.5)
    return Judged(right, expit(distance * signal + logit(right.mean())))


def measured(system: str, right: Floats, agreement: float, rng: np.random.Generator, draws: int = DRAWS) -> Measured:
    """Return what one judge gives."""
    judged = judge(right, agreement, rng)
    widths, covered = np.empty((draws, 3)), np.empty((draws, 3))
    for place in range(draws):
        drawn = judge(right, agreement, rng)
        random = np.isin(np.arange(right.size), rng.choice(right.size, LABELS, replace=False))
        chances = inclusion_probabilities(active_chances(drawn.p), LABELS)
        chosen = np.isin(np.arange(right.size), draw(chances, rng))
        limits = (
            interval(drawn, random, np.full(right.size, np.nan)),
            interval(drawn, random, drawn.p),
            interval(drawn, chosen, drawn.p, chances),
        )
        widths[place] = [high - low for low, high in limits]
        covered[place] = [low <= right.mean() <= high for low, high in limits]
    by_verdict, of_random, of_chosen = widths.mean(axis=0).tolist()
    by_way = covered.mean(axis=0).tolist()
    return Measured(
        system,
        float((judged.verdicts == right).mean()),
        (calibration_error(judged.verdicts, right), calibration_error(judged.p, right)),
        (float(((judged.verdicts - right) ** 2).mean()), float(((judged.p - right) ** 2).mean())),
        of_random / by_verdict,
        of_chosen / by_verdict,
        (by_way[0], by_way[1], by_way[2]),
    )


def interval(judged: Judged, labelled: np.ndarray, p: Floats, chances: Floats | None = None) -> tuple[float, float]:
    """Return the interval of the share of right answers, from labels of some rows and a judge of all, as a run has it.

    labelled: shape (n,). p: probabilities that are used beside the verdicts, shape (n,); NaN without. chances: of each
    row to be labelled, shape (n,); None: all alike.
    """
    n = labelled.size
    labels, verdicts = np.where(labelled, judged.right, np.nan), judged.verdicts
    columns = [
        ScoreColumn("label", labels, ~labelled, LABEL.passes(labels), None, LABEL),
        ScoreColumn(VERDICT, verdicts, np.zeros(n, np.bool_), FACTS.passes(verdicts), None, FACTS),
    ]
    design = None if chances is None else np.where(labelled, chances, np.nan)
    keys = np.arange(n, dtype=np.uint64)
    one = Candidate("a", keys, np.arange(n), columns, None, {}, labels_random=True, label_probability=design)
    found = prediction_powered(one, p, CONFIDENCE, random=True)
    if found is None:
        raise ValueError("expected labels of a part of the rows, 10 or more")
    return found["low"], found["high"]


def calibration_error(p: Floats, right: Floats) -> float:
    """Return the expected calibration error: the mean distance of probability and share of right answers in groups."""
    groups = np.minimum((p * GROUPS).astype(np.intp), GROUPS - 1)
    sizes = np.bincount(groups, minlength=GROUPS)
    off = np.bincount(groups, p, GROUPS) - np.bincount(groups, right, GROUPS)
    return float(np.abs(off)[sizes > 0].sum() / p.size)


def main(arguments: list[str]) -> None:
    """Print a line for each system and agreement, and the means."""
    every = []
    for one in study(Path(arguments[0])):
        every.append(one)
        ece, brier, covered = (" / ".join(f"{x:.3f}" for x in pair) for pair in (one.ece, one.brier, one.covered))
        print(
            f"{one.system}: agrees {one.agreement:.3f}; verdict / probability: ECE {ece}, Brier {brier}, "
            f"{narrower(one.random, one.chosen)}, coverage {covered}",
            flush=True,
        )
    errors = np.mean([[*one.ece, *one.brier] for one in every], axis=0).round(3).tolist()
    widths = np.mean([[one.random, one.chosen] for one in every], axis=0).tolist()
    print(f"means: ECE {errors[0]} / {errors[1]}, Brier {errors[2]} / {errors[3]}, {narrower(*widths)}")


def narrower(random: float, chosen: float) -> str:
    """Return in words how much narrower intervals are."""
    return f"{100 * (1 - random):.0f} % narrower with random labels, {100 * (1 - chosen):.0f} % with chosen ones"


if __name__ == "__main__":
    main(sys.argv[1:])
