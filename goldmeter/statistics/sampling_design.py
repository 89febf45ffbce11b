"""Which rows to label: unequal inclusion probabilities, a draw by them, and the width that the labels will give."""

from math import sqrt
from typing import Protocol

import numpy as np
import numpy.typing as npt
import scipy

from goldmeter.statistics.arrays import FloatArray, IntArray, check_confidence, finite_array

# The chance of a row whose probability is 0 or 1, beside that of the average row. Without it the labels would never
# find the rows on which the judge is confident and wrong.
FLOOR = 0.25
# Probabilities nearer to 1, and sums nearer to a whole number, than this share of it differ by rounding only.
ROUNDING = 1e-9


class Random(Protocol):
    """What a draw needs of `numpy.random.Generator`."""

    def permutation(self, x: int, /) -> IntArray: ...
    def random(self) -> float: ...


def active_chances(p: npt.ArrayLike) -> FloatArray:
    """Return each row's relative chance to be labelled: the surer its probability of being right, the smaller.

    The best chance is proportional to the spread of the label given the probability, √(p(1-p)), where probabilities
    are calibrated. A quarter of the chance is the same for all rows, so that no label counts for more than four.

    Args:
        p: Probabilities of being right, shape (n,), in [0, 1].

    Returns:
        Shape (n,), mean 1, each at least 0.25.

    Raises:
        ValueError: NaN, a wrong shape, or a value outside [0, 1].

    Source: Cochran 1977, chapter 9A; Zrnic & Candès 2024 (arXiv 2403.03208) for the mixture with equal chances.

    >>> active_chances([0.5, 0.5, 1.0, 0.0]).tolist()
    [1.75, 1.75, 0.25, 0.25]
    """
    probability = finite_array(p, "p", 1)
    if probability.size and not (probability.min() >= 0.0 and probability.max() <= 1.0):
        row = int(np.argmin((probability >= 0.0) & (probability <= 1.0)))
        raise ValueError(f"p[{row}] = {probability[row]} lies outside [0, 1]")
    spread = np.sqrt(probability * (1.0 - probability))
    mean = float(spread.mean()) if spread.size else 0.0
    return (1.0 - FLOOR) * spread / mean + FLOOR if mean > 0.0 else np.ones(probability.size)


def inclusion_probabilities(chances: npt.ArrayLike, n: int) -> FloatArray:
    """Return the probability of each row to be among n chosen ones, proportional to its chance and at most 1.

    Rows that would exceed 1 are certain; what they leave is shared by the other rows, until none exceeds 1.

    Args:
        chances: Relative chances, shape (rows,), above 0.
        n: Number of rows to choose, from 1 to the number of rows.

    Returns:
        Shape (rows,), each in (0, 1], in the order of the chances, with the sum n.

    Raises:
        ValueError: NaN, a wrong shape, chances that are not above 0 or differ by more than a factor of 1e12, or n
            outside its range.

    Source: Särndal, Swensson & Wretman 1992, section 3.6.2.

    >>> inclusion_probabilities([8, 1, 1, 2], 2).tolist()
    [1.0, 0.25, 0.25, 0.5]
    """
    weight = finite_array(chances, "chances", 1)
    if not 1 <= n <= weight.size:
        raise ValueError(f"n = {n}: expected 1 to {weight.size}, the number of rows")
    largest = float(weight.max())
    if not 0.0 < largest * 1e-12 <= weight.min():
        row = int(weight.argmin())
        message = f"chances[{row}] = {weight[row]}: expected a number above 0 and at least 1e-12 of the largest"
        raise ValueError(message)
    if weight.size == n:
        return np.ones(n)
    weight = weight / largest
    ordered = np.sort(weight)[::-1]
    left = np.cumsum(ordered[::-1])[::-1]
    places = np.arange(n)
    certain = int(np.argmax((n - places) * ordered[:n] <= left[:n] * (1.0 + ROUNDING)))
    share = (n - certain) / left[certain]
    probability: FloatArray = np.minimum(weight * share, 1.0)
    return probability


def draw(probabilities: npt.ArrayLike, rng: Random) -> IntArray:
    """Choose as many rows as the probabilities add up to, each row exactly with its probability.

    Systematic sampling: the rows, in random order, lie on a line, each as long as its probability; those are chosen in
    which a grid of step 1 with a random start has a point.

    Args:
        probabilities: Inclusion probabilities, shape (rows,), each in (0, 1], with a whole number as their sum.
        rng: Where the order and the start come from, in this order.

    Returns:
        The numbers of the chosen rows, ascending.

    Raises:
        ValueError: NaN, a wrong shape, a probability outside (0, 1], or a sum that is no whole number.

    Source: Hartley & Rao 1962.

    >>> draw([1.0, 0.25, 0.25, 0.5], np.random.default_rng(1)).size
    2
    """
    probability = finite_array(probabilities, "probabilities", 1)
    if not ((probability > 0.0) & (probability <= 1.0)).all():
        row = int(np.argmin((probability > 0.0) & (probability <= 1.0)))
        raise ValueError(f"probabilities[{row}] = {probability[row]}: expected a number above 0 and at most 1")
    total = float(probability.sum())
    if abs(total - round(total)) > ROUNDING * max(total, 1.0):
        raise ValueError(f"the probabilities add up to {total}: expected a whole number, that of the rows to choose")
    order = rng.permutation(probability.size)
    uncertain = order[probability[order] < 1.0 - ROUNDING]
    n = round(total) - (probability.size - uncertain.size)
    ends = np.cumsum(probability[uncertain])
    points = np.floor(ends * (n / ends[-1]) + rng.random()) if ends.size else ends
    if points.size:
        points[-1] = n
    chosen = uncertain[np.diff(points, prepend=0.0) > 0.0]
    return np.sort(np.concatenate([order[probability[order] >= 1.0 - ROUNDING], chosen])).astype(np.intp)


# Fewer rows or labels have no variance.
_FEWEST = 2
# Half of the range of labels.
_WIDEST = 0.5


def planned_half_width(
    p: npt.ArrayLike, squared_weights: npt.ArrayLike, labels: float, confidence: float = 0.95
) -> float:
    """Return half the width of the interval that labels of chosen rows are expected to give the mean label.

    The estimate is the mean probability and the weighted errors of the labelled rows. An error has the variance
    p(1-p) where the probabilities are calibrated; where they are not, the interval will be wider. Rows are independent.

    Args:
        p: Probability of each row that its label is 1, shape (n,), in [0, 1].
        squared_weights: Expected square of each row's weight, shape (n,): 1/π for a row drawn with probability π.
        labels: Expected number of labels.
        confidence: In (0, 1).

    Returns:
        At most 0.5, which is also the result for fewer than two rows or labels.

    Raises:
        ValueError: NaN, a wrong shape, or `confidence` outside (0, 1).

    Source: Cochran 1977, section 9A.7; Zrnic & Candès 2024 (arXiv 2403.03208).

    >>> round(planned_half_width([0.5] * 100, [10.0] * 100, 10), 3)  # 10 labels alone: 2.262·√(0.25/10)
    0.358
    """
    check_confidence(confidence)
    probability, squares = finite_array(p, "p", 1), finite_array(squared_weights, "squared_weights", 1)
    if min(probability.size, labels) < _FEWEST:
        return _WIDEST
    errors = float((probability * (1.0 - probability) * squares).mean())
    variance = (float(probability.var(ddof=1)) + errors) / probability.size
    return min(float(scipy.special.stdtrit(labels - 1.0, (1.0 + confidence) / 2.0)) * sqrt(variance), _WIDEST)
