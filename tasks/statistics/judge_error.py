"""A judge's rate of "yes", corrected for its errors as measured on another data set: Lang and Reiczigel."""

from math import sqrt
from typing import NamedTuple

from scipy.special import ndtri

from tasks.statistics.estimate import check_confidence, within
from tasks.statistics.score import score_interval

Counted = tuple[int, int]


class UninformativeJudgeError(ValueError):
    """The judge has not been shown to do better than chance, so its verdicts cannot be corrected."""


class JudgeCorrected(NamedTuple):
    """A corrected rate with its interval; `n` counts the judged rows.

    apparent: the judge's own rate of "yes". sensitivity, specificity: as measured.
    """

    value: float
    low: float
    high: float
    n: int
    method: str
    apparent: float
    sensitivity: float
    specificity: float


def judge_corrected_rate(
    positive: int,
    judged: int,
    sensitivity: Counted,
    specificity: Counted,
    confidence: float = 0.95,
) -> JudgeCorrected:
    """Estimate how many rows are right, from how many a fallible judge calls right.

    `positive` of `judged` rows were called right. `sensitivity`: (k, n), of n right answers the judge called k right;
    `specificity`: (k, n), of n wrong answers it called k wrong; both against people, on rows other than these.
    It assumes transport: that the judge errs here as often as it did there. Nothing in the numbers can show that
    it does; labels on a random part of these rows (`ppi_mean`) need no such assumption.

    Raises: UninformativeJudgeError, a ValueError, when the interval of sensitivity + specificity - 1 is not above 0.
    ValueError for counts that are not whole or do not fit.
    Source: Rogan & Gladen 1978; Lang & Reiczigel 2014; Newcombe 1998, method 10, for the interval of the sum.

    >>> estimate = judge_corrected_rate(80, 100, sensitivity=(45, 50), specificity=(40, 50))
    >>> round(estimate.value, 4), round(estimate.low, 4), round(estimate.high, 4)  # (0.8 + 0.8 - 1) / (0.9 + 0.8 - 1)
    (0.8571, 0.7048, 1.0)
    """
    check_confidence(confidence)
    for name, (k, n) in (("positive", (positive, judged)), ("sensitivity", sensitivity), ("specificity", specificity)):
        _check_counts(name, k, n)
    apparent, found, spared = positive / judged, sensitivity[0] / sensitivity[1], specificity[0] / specificity[1]
    _check_informative(sensitivity, specificity, confidence)
    value = min(max((apparent + spared - 1.0) / (found + spared - 1.0), 0.0), 1.0)
    limits = _lang_reiczigel((positive, judged), sensitivity, specificity, -float(ndtri((1.0 - confidence) / 2.0)))
    estimate = within(value, limits, (0.0, 1.0), judged, "lang-reiczigel")
    return JudgeCorrected(*estimate, apparent=apparent, sensitivity=found, specificity=spared)


def _lang_reiczigel(positive: Counted, sensitivity: Counted, specificity: Counted, z: float) -> tuple[float, float]:
    """Return the limits: every rate is pulled towards 1/2, the judged one by z²/2 rows, the others by one each way."""
    z2 = z * z
    n = positive[1] + z2
    apparent = (positive[0] + z2 / 2.0) / n
    found, spared = (sensitivity[0] + 1.0) / (sensitivity[1] + 2.0), (specificity[0] + 1.0) / (specificity[1] + 2.0)
    informed = found + spared - 1.0
    rate = (apparent + spared - 1.0) / informed
    of_found = found * (1.0 - found) / (sensitivity[1] + 2.0)
    of_spared = spared * (1.0 - spared) / (specificity[1] + 2.0)
    centre = rate + 2.0 * z2 * (rate * of_found - (1.0 - rate) * of_spared)
    variance = apparent * (1.0 - apparent) / n + rate**2 * of_found + (1.0 - rate) ** 2 * of_spared
    half = z * sqrt(variance) / informed
    return centre - half, centre + half


def _check_informative(sensitivity: Counted, specificity: Counted, confidence: float) -> None:
    """Raise unless sensitivity + specificity - 1 is above 0 by more than the uncertainty of both."""
    found, spared = sensitivity[0] / sensitivity[1], specificity[0] / specificity[1]
    below_found = found - score_interval(found, sensitivity[1], confidence=confidence)[0]
    below_spared = spared - score_interval(spared, specificity[1], confidence=confidence)[0]
    informed = found + spared - 1.0
    low = informed - sqrt(below_found**2 + below_spared**2)
    if low <= 0.0:
        message = (
            f"sensitivity = {sensitivity}, specificity = {specificity}: their sum "
            f"less 1 is {informed:.3f} and may be {low:.3f}, but verdicts say something only when it is above 0. "
            "Measure both on more rows, see that yes and no are not exchanged, or take another judge"
        )
        raise UninformativeJudgeError(message)


def _check_counts(name: str, k: int, n: int) -> None:
    if k % 1 != 0 or n % 1 != 0 or not 0 <= k <= n or n == 0:
        message = f"{name} = ({k}, {n}): expected whole counts (k, n) with 0 <= k <= n and n >= 1"
        raise ValueError(message)
