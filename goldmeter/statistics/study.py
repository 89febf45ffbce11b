"""Plan a paired study of two systems: how questions, draws, labels and a better judge narrow its difference."""

from math import ceil, sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy

from goldmeter.statistics.arrays import FloatArray
from goldmeter.statistics.clusters import Labels, numbered
from goldmeter.statistics.power import required_rows


class Pilot(NamedTuple):
    """What a pilot says of the difference of two systems, in units of the width of the measure.

    Attributes:
        questions: Number of questions that both systems answered.
        draws: Answers of each system to a question; where systems have different numbers, as many as give this noise.
        labels: Number of questions with human labels of both; None if the measure needs none, or all have labels.
        between: Variance between the true differences of questions; all of the variance where draws are unknown.
        within: Variance of a difference between the draws of one question; None where questions have one draw.
        explained: Share of the variance of the labels' differences that the judge's verdicts explain, in [0, 1];
            None where it is not known.
        binary: A row passes or fails.
        design_effect: Factor by which groups of questions inflate the variance.
    """

    questions: int
    draws: float
    labels: float | None
    between: float
    within: float | None
    explained: float | None = None
    binary: bool = True
    design_effect: float = 1.0

    def variance(self, draws: float) -> float:
        """Variance of a question's difference with so many draws of each system."""
        return self.between + (self.within or 0.0) / draws


def detectable(pilot: Pilot, power: float = 0.8, confidence: float = 0.95) -> float:
    """Return the smallest true difference that a study like this pilot detects with that power, by normal theory.

    With labels on a part of the questions it is that of the prediction-powered difference with the best slope.

    Source: Angelopoulos, Duchi & Zrnic 2023 (arXiv 2311.01453), section 6.1, for the variance with the best slope.

    >>> round(detectable(Pilot(1000, 1.0, None, 0.2, None)), 4)  # (1.96 + 0.8416)·√(0.2/1000)
    0.0396
    >>> round(detectable(Pilot(1000, 1.0, 250, 0.2, None, explained=0.8)), 4)  # 0.2·(0.2/250 + 0.8/1000)
    0.0501
    """
    rho, n = pilot.explained or 0.0, pilot.questions
    share = 1.0 / n if pilot.labels is None else (1.0 - rho) / min(pilot.labels, n) + rho / n
    z = float(scipy.special.ndtri((1.0 + confidence) / 2.0)) + float(scipy.special.ndtri(power))
    return z * sqrt(pilot.variance(pilot.draws) * pilot.design_effect * share)


def questions_for(
    difference: float, pilot: Pilot, draws: float = 1.0, power: float = 0.8, confidence: float = 0.95
) -> int:
    """Return how many questions detect a difference, all of them scored by the measure or by people.

    Raises:
        ValueError: As `required_rows`.
        TooManyRowsError: More than 10¹⁵ are needed.

    >>> questions_for(0.05, Pilot(300, 1.0, None, 0.0975, None))  # 10 % of answers differ in being right
    305
    """
    spread, effect = pilot.variance(draws), pilot.design_effect
    if pilot.binary and draws == 1.0:
        changed = min(max(spread + difference**2, difference), 1.0)
        return required_rows(difference, discordance=changed, power=power, confidence=confidence, design_effect=effect)
    return required_rows(difference, sd=sqrt(spread), power=power, confidence=confidence, design_effect=effect)


def labels_for(questions: int, explained: float, times: float = 2.0) -> int:
    """Return how many labels do as much as labels on all `questions`, if a judge scores `times` as many.

    >>> labels_for(1000, 0.8), labels_for(1000, 0.0)
    (334, 1000)
    """
    return ceil(questions * (1.0 - explained) / (1.0 - explained / times))


def levers(pilot: Pilot, times: float) -> dict[str, Pilot]:
    """What spending → the study with `times` as much of it; what changes nothing is left out."""
    n, some = round(pilot.questions * times), pilot.labels is not None and pilot.labels < pilot.questions
    labels = None if pilot.labels is None else pilot.labels * times
    found = {"questions, labels in proportion" if some else "questions": pilot._replace(questions=n, labels=labels)}
    if pilot.within is not None:
        found["draws of each question"] = pilot._replace(draws=pilot.draws * times)
    if pilot.explained is not None:
        alone = pilot.questions if pilot.labels is None else pilot.labels
        found["questions that only the judge scores"] = pilot._replace(questions=n, labels=alone)
        if some:
            better = 1.0 - (1.0 - pilot.explained) / times
            found["labels"] = pilot._replace(labels=labels)
            found["a judge with fewer errors"] = pilot._replace(explained=better)
    return found


def explained_share(labels: npt.ArrayLike, verdicts: npt.ArrayLike) -> float:
    """Return the share of the variance of two systems' differences by labels that the verdicts' explain: adjusted R².

    It is 0 without spread; few labels would explain some of it by chance, which the adjustment takes off.

    Args:
        labels: Difference of each question by people, shape (n,).
        verdicts: The same by the judge.

    >>> round(explained_share([1, 0, 0, -1], [1, 0, 0, 0]), 3)  # 1 - (1 - 2/3)·3/2
    0.5
    """
    y, f = np.asarray(labels, np.float64), np.asarray(verdicts, np.float64)
    n = y.size
    if n <= 2 or y.std() == 0.0 or f.std() == 0.0:  # noqa: PLR2004 (an intercept and a slope)
        return 0.0
    return max(0.0, 1.0 - (1.0 - float(np.corrcoef(y, f)[0, 1]) ** 2) * (n - 1) / (n - 2))


def design_effect(differences: FloatArray, groups: Labels | None) -> float:
    """Return the variance of the mean by groups over that of independent rows, at least 1; 1 with a single group.

    >>> design_effect(np.array([1.0, 1.0, -1.0, -1.0]), ["a", "a", "b", "b"])
    3.0
    """
    if groups is None or differences.std() == 0.0:
        return 1.0
    codes, n = numbered(groups), differences.size
    count = int(codes.max()) + 1
    if count in {1, n}:
        return 1.0
    sums = np.bincount(codes, weights=differences - differences.mean())
    by_groups = float(sums @ sums) * count / (count - 1) / n**2
    return max(1.0, by_groups / (float(differences.var(ddof=1)) / n))
