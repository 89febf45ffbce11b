"""The probability of a judge beside labels: its calibration, a band fitted on them, and what uses it recalibrated."""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import numpy.typing as npt

from benchmarks.coverage import cells
from benchmarks.coverage.cells import Floats, Measure, Rng, Simulation, contains, covers, each, length
from benchmarks.coverage.designed import Judged, blind_to_some, calibrated, lenient, too_sure
from goldmeter.labelling.choice import Drawn, base_design, combined, mixed_share, squared_weights
from goldmeter.statistics.calibration import calibration
from goldmeter.statistics.cross_fit import cross_fitted
from goldmeter.statistics.designed import designed_mean
from goldmeter.statistics.ppi import PpiEstimate
from goldmeter.statistics.sampling_design import active_chances, draw, inclusion_probabilities, planned_half_width
from goldmeter.statistics.threshold import DISTANCES, risk_band

CALIBRATION, BAND = "calibration of the judge's probability", "learnt band of a cascade"
WAVES = "100 random labels, then 100 by the recalibrated probability"
ANSWERS = 3
"""Answers to a question that have one label in common."""
RATE, LEVEL = 0.7, 0.05
CALIBRATED, TOO_SURE, LENIENT = "a calibrated judge", "a judge that is too sure", "a lenient judge"
Mask = npt.NDArray[np.bool_]

KINDS: dict[str, Callable[[Rng, int], Floats]] = {
    "even": lambda rng, n: rng.random(n),
    "near 1": lambda rng, n: rng.beta(30.0, 1.0, n),
}


def false_alarms(kind: str, n: int) -> Simulation:
    """Measure how often labels of n questions, each with several equal answers, reject their own probabilities."""
    questions = np.repeat(np.arange(n), ANSWERS)

    def draw(rng: Rng) -> bool:
        p = KINDS[kind](rng, n)
        right = rng.random(n) < p
        return calibration(np.repeat(p, ANSWERS), np.repeat(right, ANSWERS), questions).p_value < LEVEL

    seed, measures = ("calibration", kind, n), (cells.alarms(0.05, "false alarms"),)
    return Simulation(CALIBRATION, f"{kind}, n = {n}", seed, each(draw), measures)


def calibration_studies() -> Iterator[Simulation]:
    """Both kinds of probabilities."""
    yield from (false_alarms(kind, n) for kind in KINDS for n in (50, 500))


# The band of a cascade that labels teach: how often more is wrong outside of it than was stated

CONFIDENCE = 0.95
MANY = 400_000
BAND_JUDGES: dict[str, Judged] = {
    CALIBRATED: partial(calibrated, rate=RATE, strength=0.9),
    TOO_SURE: partial(too_sure, rate=RATE),
    LENIENT: partial(lenient, rate=RATE),
    "a judge that is blind to some": partial(blind_to_some, rate=RATE),
}


def exceeded(judge: str, share: float, n: int, answers: int = 1) -> Simulation:
    """Learn the band from n labels; it fails if more than the share is wrong on a side of it."""

    def outcomes(rng: Rng, draws: int) -> Iterator[bool]:
        wrong_below, wrong_above = _errors(judge, rng)
        for _ in range(draws):
            p, right = BAND_JUDGES[judge](rng, n // answers)
            y = np.repeat(rng.random(p.size) < right, answers)
            questions = np.repeat(np.arange(p.size), answers) if answers > 1 else None
            band = risk_band(np.repeat(p, answers), y, share, questions, CONFIDENCE)
            yield wrong_below[band.low] > share or wrong_above[band.high] > share

    name = f"{judge}, {share:.0%} of {n} labels" + (f" of {answers} answers each" if answers > 1 else "")
    failing = cells.alarms(1.0 - CONFIDENCE, "more wrong than stated")
    return Simulation(BAND, name, (BAND, judge, share, n, answers), outcomes, (failing,))


def _errors(judge: str, rng: Rng) -> tuple[dict[float, float], dict[float, float]]:
    """The true share of wrong decisions beyond each possible limit."""
    p, right = BAND_JUDGES[judge](rng, MANY)
    lows, highs = (0.0, *DISTANCES), (1.0, *(round(1.0 - distance, 3) for distance in DISTANCES))
    below = {limit: float(right[p < limit].mean()) if limit and (p < limit).any() else 0.0 for limit in lows}
    above = {limit: float(1.0 - right[p > limit].mean()) if (p > limit).any() else 0.0 for limit in highs}
    return below, above


def band_studies() -> Iterator[Simulation]:
    """Every judge with two shares and numbers of labels, and one with several answers to a question."""
    yield from (exceeded(judge, *case) for judge in BAND_JUDGES for case in ((0.1, 500), (0.02, 2_000)))
    yield exceeded(TOO_SURE, 0.1, 600, ANSWERS)


# What uses the recalibrated probability: a second wave of labels

ROWS, WAVE = 1_000, 100
JUDGES: dict[str, Judged] = {
    CALIBRATED: partial(calibrated, rate=RATE, strength=0.7),
    TOO_SURE: partial(too_sure, rate=RATE),
    LENIENT: partial(lenient, rate=RATE),
}


def waves(judge: str) -> Simulation:
    """Choose a second wave of labels by probabilities that the first recalibrates, and estimate from both.

    The contrast chooses and plans by the judge's probabilities as they are.
    """

    def draw(rng: Rng) -> tuple[bool, bool, tuple[float, float], tuple[float, float]]:
        p, right = JUDGES[judge](rng, ROWS)
        y = (rng.random(ROWS) < right).astype(np.float64)
        first = np.isin(np.arange(ROWS), rng.permutation(ROWS)[:WAVE])
        found = calibration(p[first], y[first])
        scaled = found.of(p) if found.p_value < LEVEL else p
        (own, plan), (other, guess) = (second_wave(y, scores, first, rng) for scores in (scaled, p))
        halves = (length(own) / 2.0, plan), (length(other) / 2.0, guess)
        return contains(own, RATE), contains(other, RATE), *halves

    reached, peer = "half-width / planned", "as it is"
    as_it_is = Measure(reached, "contrast", None, cells.mean_ratio, peer)
    measures = covers(0.94), cells.contrast(peer), cells.width(1.15, reached), as_it_is
    return Simulation(WAVES, judge, ("recalibrated waves", judge), each(draw), measures)


def second_wave(y: Floats, p: Floats, first: Mask, rng: Rng) -> tuple[PpiEstimate, float]:
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


def studies() -> Iterator[Simulation]:
    """Second waves."""
    yield from map(waves, (TOO_SURE, LENIENT))
