"""What uses the probability of a judge that labels recalibrated: rates from labels, and a second wave of labels.

For real answers: python -m benchmarks.coverage.recalibrated NQ.json NQ301/ (EVOUNA's file, and the folder of NQ301)
"""

import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt

from benchmarks.coverage.cells import Cell, Floats, covered, generator, mean_ratio
from benchmarks.coverage.designed import Judged, calibrated, lenient, too_sure
from flows.label.weights import Drawn, base_design, combined, mixed_share, squared_weights
from tasks.statistics.calibration import calibration
from tasks.statistics.clusters import Codes
from tasks.statistics.cross_fit import cross_fitted
from tasks.statistics.designed import designed_mean
from tasks.statistics.label_plan import planned_half_width
from tasks.statistics.ppi import PpiEstimate, ppi_mean
from tasks.statistics.sampling_design import active_chances, draw, inclusion_probabilities

ESTIMATES = "estimates with the recalibrated probability"
WAVES = "100 random labels, then 100 by the recalibrated probability"
Mask = npt.NDArray[np.bool_]
LEVEL = 0.05
ANSWERS = 3
"""Answers to a question that have one label in common."""
CALIBRATED, TOO_SURE, LENIENT = "a calibrated judge", "a judge that is too sure", "a lenient judge"
RATE, ROWS, WAVE = 0.7, 1_000, 100
JUDGES: dict[str, Judged] = {
    CALIBRATED: partial(calibrated, rate=RATE, strength=0.7),
    TOO_SURE: partial(too_sure, rate=RATE),
    LENIENT: partial(lenient, rate=RATE),
}
METRICS = ("exact_match", "f1", "bleu", "rouge", "string_presence_normalized", "chrf")
DESIGNS = ((CALIBRATED, 50), (CALIBRATED, 200), (TOO_SURE, 50), (TOO_SURE, 200), (LENIENT, 200))
ALONE: tuple[Codes | None, Codes | None] = (None, None)
COVERS, COVERS_CLUSTERS, COVERS_WAVES = 0.935, 0.92, 0.94


def estimates(judge: str, n: int, answers: int, draws: int) -> Iterator[Cell]:
    """Estimate the rate from n random labels as the stage aggregate does, recalibrated where they reject the judge.

    answers: to one question, which are labelled together and have the same label and probability.
    """
    rng, hits = generator("recalibrated", judge, n, answers), 0
    widths = np.empty((draws, 2))
    questions = np.repeat(np.arange(ROWS // answers), answers)
    inside = questions < n // answers
    clusters = (questions[inside], questions[~inside]) if answers > 1 else ALONE
    for i in range(draws):
        p, right = (np.repeat(column, answers) for column in JUDGES[judge](rng, ROWS // answers))
        y = (np.repeat(rng.random(ROWS // answers), answers) < right).astype(np.float64)
        found = calibration(p[inside], y[inside], clusters[0])
        scaled = np.concatenate([found.recalibrated, found.of(p[~inside])]) if found.p_value < LEVEL else p
        own, other = (_estimate(y, scores, inside, clusters) for scores in (scaled, p))
        widths[i] = own.high - own.low, other.high - other.low
        hits += own.low <= RATE <= own.high
    name = f"{judge}, n = {n}" + (f" in questions of {answers} answers" if answers > 1 else "")
    yield covered(ESTIMATES, name, COVERS_CLUSTERS if answers > 1 else COVERS, hits, draws)
    width = mean_ratio(*widths.T)
    yield Cell(ESTIMATES, name, "width / not recalibrated", "at most", 1.02, *width, draws)


def _estimate(y: Floats, p: Floats, inside: Mask, clusters: tuple[Codes | None, Codes | None]) -> PpiEstimate:
    scores = p.reshape(len(y), -1)
    f, rest = cross_fitted(y[inside], scores[inside], scores[~inside], clusters[0])
    return ppi_mean(y[inside], f, rest, *clusters)


def waves(judge: str, draws: int) -> Iterator[Cell]:
    """Choose a second wave of labels by probabilities that the first recalibrates, and estimate from both.

    The contrast chooses and plans by the judge's probabilities as they are.
    """
    rng = generator("recalibrated waves", judge)
    hits = np.zeros(2, np.intp)
    halves, planned = np.empty((draws, 2)), np.empty((draws, 2))
    for i in range(draws):
        p, right = JUDGES[judge](rng, ROWS)
        y = (rng.random(ROWS) < right).astype(np.float64)
        first = np.isin(np.arange(ROWS), rng.permutation(ROWS)[:WAVE])
        found = calibration(p[first], y[first])
        scaled = found.of(p) if found.p_value < LEVEL else p
        for place, guess in enumerate((scaled, p)):
            rate, planned[i, place] = _second_wave(y, guess, first, rng)
            halves[i, place] = (rate.high - rate.low) / 2.0
            hits[place] += rate.low <= RATE <= rate.high
    yield covered(WAVES, judge, COVERS_WAVES, int(hits[0]), draws)
    yield covered(WAVES, f"as it is: {judge}", None, int(hits[1]), draws)
    own, other = (mean_ratio(halves[:, place], planned[:, place]) for place in (0, 1))
    yield Cell(WAVES, judge, "half-width / planned", "at most", 1.15, *own, draws)
    yield Cell(WAVES, f"as it is: {judge}", "half-width / planned", "contrast", None, *other, draws)


def _second_wave(y: Floats, p: Floats, first: Mask, rng: np.random.Generator) -> tuple[PpiEstimate, float]:
    """The estimate from both waves, and the half-width that was planned."""
    everything = np.ones(len(y), np.bool_)
    before = base_design(first, everything, "random")
    inclusion = np.full(len(y), np.nan)
    inclusion[~first] = inclusion_probabilities(active_chances(p[~first]), WAVE)
    plan = planned_half_width(p, squared_weights(before, inclusion), 2.0 * WAVE)
    share = mixed_share(before, inclusion)
    chosen = np.flatnonzero(~first)[draw(inclusion[~first], rng)]
    sheet = Drawn("active", WAVE, int((~first).sum()), chosen, inclusion[chosen], share)
    design = combined(before, sheet, everything)
    labelled = design.labelled
    f, rest = cross_fitted(y[labelled], p[labelled, None], p[~labelled, None])
    return designed_mean(y[labelled], f, rest, design.probabilities[labelled]), plan


def real_answers(p: Floats, y: Floats, questions: Codes, others: Floats, draws: int = 100) -> Iterator[str]:
    """Say what recalibration changes on answers that all have human labels.

    p, y, questions: of shape (n,). others: scores of metrics, shape (n, k).
    """
    found = calibration(p, y, questions)
    errors = [float(np.mean((scores - y) ** 2)) for scores in (p, found.recalibrated)]
    yield f"{len(y):,} labels: p = {found.p_value:.3f}; {p.mean():.1%} expected right, {y.mean():.1%} are"
    yield f"  mean squared error {errors[0]:.3f}, recalibrated {errors[1]:.3f}"
    rng = generator("recalibrated answers")
    rejected, waves, plans = 0, np.empty((draws, 2)), np.empty((draws, 2))
    alone, beside = np.empty((draws, 2)), np.empty((draws, 2))
    for i in range(draws):
        first = np.isin(np.arange(len(y)), rng.permutation(len(y))[:WAVE])
        found = calibration(p[first], y[first], questions[first])
        rejected += found.p_value < LEVEL
        scaled = found.of(p)
        scaled[first] = found.recalibrated
        for place, scores in enumerate((scaled, p)):
            clusters = questions[first], questions[~first]
            for widths, table in ((alone, scores), (beside, np.column_stack([scores, others]))):
                rate = _estimate(y, table, first, clusters)
                widths[i, place] = rate.high - rate.low
            rate, plans[i, place] = _second_wave(y, found.of(p) if place == 0 else p, first, rng)
            waves[i, place] = (rate.high - rate.low) / 2.0
    yield f"  {WAVE} random labels: {rejected} of {draws} samples reject"
    ratios = [mean_ratio(*widths.T)[0] for widths in (alone, beside)]
    yield f"  width, recalibrated / as it is: {ratios[0]:.3f}; beside {others.shape[1]} metrics {ratios[1]:.3f}"
    for name, place in (("recalibrated", 0), ("as it is", 1)):
        half, plan = 100.0 * waves[:, place].mean(), 100.0 * plans[:, place].mean()
        yield f"  {WAVE} more, chosen by the probability {name}: ±{plan:.1f} points planned, ±{half:.1f} reached"


def main(nq: Path, folder: Path) -> None:
    """Print what recalibration changes on NQ301, judged by a model that was trained without its questions."""
    from benchmarks.judge_bias import judged_elsewhere
    from benchmarks.nq301 import nq301
    from tasks.metrics import score
    from tasks.models.offline.training import examples, training_rows

    trained, rows = training_rows(nq), [*nq301(folder)]
    judged = judged_elsewhere("NQ301", rows, trained, examples(trained))
    questions = np.unique(judged.questions, return_inverse=True)[1]
    texts = [row.response for row in rows], [row.references for row in rows]
    others = np.column_stack([score(name, *texts) for name in METRICS])
    print(*real_answers(judged.probabilities, judged.labels.astype(np.float64), questions, others), sep="\n")


STUDIES: tuple[Callable[[int], Iterator[Cell]], ...] = (
    *(partial(estimates, judge, n, 1) for judge, n in DESIGNS),
    partial(estimates, TOO_SURE, 180, ANSWERS),
    *(partial(waves, judge) for judge in (TOO_SURE, LENIENT)),
)

if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
