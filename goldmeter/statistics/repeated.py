"""Repeated answers to one question: pass@k, pass^k, and the variance between questions and between draws."""

from math import sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy

from goldmeter.statistics.arrays import FloatArray, IntArray
from goldmeter.statistics.clusters import Labels, numbered
from goldmeter.statistics.estimate import Estimate
from goldmeter.statistics.mean import mean_interval

# From this ratio of standard errors on, twice the questions are advised rather than twice the draws.
WORTHWHILE = 1.1


class VarianceSplit(NamedTuple):
    """Where the spread of the scores comes from, and what more data would give.

    The standard errors are those of the mean over questions of each question's mean.

    Attributes:
        between: Variance between the true means of questions, 0 or more.
        within: Variance between the draws of one question.
        questions: Number of questions.
        draws: Number of scores.
        error: Standard error now.
        error_with_draws: Standard error with twice the draws of each question.
        error_with_questions: Standard error with twice the questions.
    """

    between: float
    within: float
    questions: int
    draws: int
    error: float
    error_with_draws: float
    error_with_questions: float

    @property
    def is_spread(self) -> bool:
        """Whether there is any spread, so that more data would change anything."""
        return self.error > 0.0

    @property
    def favours_questions(self) -> bool:
        """Whether twice the questions give a clearly smaller standard error than twice the draws."""
        return self.error_with_draws > WORTHWHILE * self.error_with_questions


def pass_at(draws: npt.ArrayLike, passed: npt.ArrayLike, k: int) -> FloatArray:
    """Return the chance that at least one of k draws passes, for each question: 1 - C(n-c, k)/C(n, k).

    It is unbiased for 1 - (1-p)^k, whatever the number of draws.

    Args:
        draws: Number of draws n of each question, shape (questions,), integer.
        passed: How many of them pass, c, shape (questions,), integer.
        k: Number of draws, 1 or more.

    Returns:
        Shape (questions,), float64, in [0, 1]; NaN for questions with fewer than k draws.

    Raises:
        ValueError: k is below 1, or a count is impossible.

    Source: Chen et al. 2021 (arXiv 2107.03374).

    >>> pass_at([4, 4, 4, 1], [0, 1, 3, 1], 2)  # 1 - C(3, 2)/C(4, 2) = 1 - 3/6
    array([0. , 0.5, 1. , nan])
    """
    n, c = _checked(draws, passed, k)
    return np.asarray(1.0 - _all_of(n, n - c, k))


def pass_all(draws: npt.ArrayLike, passed: npt.ArrayLike, k: int) -> FloatArray:
    """Return the chance that all of k draws pass, for each question: C(c, k)/C(n, k), unbiased for p^k.

    Arguments, result and errors are those of `pass_at`.

    Source: Yao et al. 2024 (arXiv 2406.12045).

    >>> pass_all([4, 4, 4, 1], [0, 2, 4, 1], 2)  # C(2, 2)/C(4, 2) = 1/6
    array([0.        , 0.16666667, 1.        ,        nan])
    """
    return _all_of(*_checked(draws, passed, k), k)


def question_interval(values: npt.ArrayLike, clusters: Labels | None = None, confidence: float = 0.95) -> Estimate:
    """Estimate the mean over questions of values of `pass_at` or `pass_all`; NaN are left out.

    Values that are all 0 or 1 (such as those of k draws of k) get Blaker's interval: Wilson's covers only 93 % for some
    rates.

    Args:
        values: Shape (questions,), float64, in [0, 1] or NaN.
        clusters: Shape (questions,), one label per question; questions of one cluster depend on each other.
        confidence: In (0, 1).

    Returns:
        The estimate; n is the number of questions that are used.

    Raises:
        ValueError: Values outside [0, 1], or a single cluster.

    Warns:
        FewClusters: There are fewer than 10 clusters.

    >>> estimate = question_interval(pass_at([2] * 20, [0] * 5 + [1] * 15, 2))
    >>> estimate.value, round(estimate.low, 4), round(estimate.high, 4), str(estimate.method)
    (0.75, 0.526, 0.8959, 'blaker')
    """
    every = np.asarray(values, dtype=np.float64)
    used = ~np.isnan(every)
    rows = every[used]
    groups = None if clusters is None else numbered(clusters)[used]
    is_binary = groups is None and rows.size > 0 and bool(((rows == 0.0) | (rows == 1.0)).all())
    return mean_interval(rows, groups, confidence=confidence, guarantee=is_binary)


def variance_split(scores: npt.ArrayLike, questions: Labels) -> VarianceSplit | None:
    """Split the variance of scores between questions and between the draws of a question: one-way random effects.

    The estimates are those of the analysis of variance; a negative variance between questions becomes 0.

    Args:
        scores: Shape (n,), float64, without NaN.
        questions: Shape (n,), the question of each score.

    Returns:
        None with a single question, or without a question that has two scores.

    Raises:
        ValueError: The number of questions is not that of the scores, or a question is missing.

    Source: Searle, Casella & McCulloch 1992, section 3.6; Miller 2024 (arXiv 2411.00640) for the standard errors.

    >>> split = variance_split([1, 1, 0, 0, 1, 0, 1, 0], list("aabbccdd"))
    >>> round(split.between, 4), split.within, round(split.error, 4)  # mean squares 1/3 and 1/4, so (1/3 - 1/4)/2
    (0.0417, 0.25, 0.2041)
    """
    rows = np.asarray(scores, dtype=np.float64)
    if len(questions) != rows.size:
        raise ValueError(f"questions has {len(questions)} labels for {rows.size} scores: give one label per score")
    if not rows.size:
        return None
    codes = numbered(questions)
    sizes = np.bincount(codes).astype(np.float64)
    count = sizes.size
    if count in {1, rows.size}:
        return None
    means = np.bincount(codes, weights=rows) / sizes
    within = float(((rows - means[codes]) ** 2).sum()) / (rows.size - count)
    mean_square = float(sizes @ (means - rows.mean()) ** 2) / (count - 1.0)
    usual_size = (rows.size - float(sizes @ sizes) / rows.size) / (count - 1.0)
    between = max(0.0, (mean_square - within) / usual_size)
    of_draws = within * float((1.0 / sizes).mean())
    return VarianceSplit(
        between,
        within,
        count,
        rows.size,
        sqrt((between + of_draws) / count),
        sqrt((between + of_draws / 2.0) / count),
        sqrt((between + of_draws) / (2.0 * count)),
    )


def rerun_limit(scores: npt.ArrayLike, questions: Labels, confidence: float = 0.95) -> float | None:
    """Return the difference that two runs of one system, with one draw of each question, exceed in 1 - confidence.

    The draws are independent, so its variance is twice that within questions, over their number. The variance's own
    error is that of questions as clusters: the limit is Student's, with Satterthwaite's degrees of freedom.

    Args:
        scores: Shape (n,), float64, without NaN.
        questions: Shape (n,), the question of each score.
        confidence: In (0, 1).

    Returns:
        Limit of the absolute difference, in units of the scores, 0 if draws never differ; None as `variance_split`.

    Raises:
        ValueError: As `variance_split`.

    Source: Satterthwaite 1946 (Biometrics Bulletin 2), for the degrees of freedom.

    >>> round(rerun_limit([1, 1, 0, 0, 1, 0, 1, 0], list("aabbccdd")), 3)  # t₄ = 2.776 times √(2·0.25/4)
    0.982
    """
    split = variance_split(scores, questions)
    if split is None or not split.within:
        return None if split is None else 0.0
    rows, codes = np.asarray(scores, dtype=np.float64), numbered(questions)
    free = np.bincount(codes) - 1.0
    squares = np.bincount(codes, weights=(rows - (np.bincount(codes, weights=rows) / (free + 1.0))[codes]) ** 2)
    several, degrees = np.count_nonzero(free), float(free.sum())
    if several > 1:
        error = float(((squares - split.within * free) ** 2).sum()) * several / (several - 1) / degrees**2
        degrees = min(degrees, 2.0 * split.within**2 / error) if error else degrees
    return float(scipy.special.stdtrit(degrees, (1.0 + confidence) / 2.0)) * sqrt(2.0 * split.within / split.questions)


def _checked(draws: npt.ArrayLike, passed: npt.ArrayLike, k: int) -> tuple[IntArray, IntArray]:
    n, c = np.asarray(draws, dtype=np.intp), np.asarray(passed, dtype=np.intp)
    if k < 1:
        raise ValueError(f"k = {k}: expected 1 or more draws")
    if n.ndim != 1 or n.shape != c.shape:
        raise ValueError(f"draws has shape {n.shape}, passed {c.shape}: expected one count per question, shape (n,)")
    possible = (c >= 0) & (c <= n)
    if not possible.all():
        row = int(np.argmin(possible))
        raise ValueError(f"passed[{row}] = {c[row]} of draws[{row}] = {n[row]}: expected 0 to {n[row]}")
    return n, c


def _all_of(n: IntArray, c: IntArray, k: int) -> FloatArray:
    """Return C(c, k)/C(n, k) as a product of k ratios, each at most 1, so that nothing overflows."""
    found = np.where(n < k, np.nan, 1.0)
    for i in range(k):
        found *= np.maximum(c - i, 0) / np.maximum(n - i, 1)
        if not np.nansum(found):  # all others are 0
            break
    return found
