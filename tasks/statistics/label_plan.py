"""The width of an interval before anyone labels, by probabilities of being right as the guess of the variance."""

from math import sqrt

import numpy.typing as npt
from scipy.special import stdtrit

from tasks.statistics.arrays import check_confidence, finite_array

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
    return min(float(stdtrit(labels - 1.0, (1.0 + confidence) / 2.0)) * sqrt(variance), _WIDEST)
