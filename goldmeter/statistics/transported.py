"""A judge's rate on new data as an interval for the human rate, from the judge's bias on other data sets."""

from collections.abc import Callable
from math import sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq
from scipy.special import ndtr

from goldmeter.statistics.arrays import FloatArray, check_confidence, finite_array
from goldmeter.statistics.clusters import Labels, numbered
from goldmeter.statistics.estimate import Estimate, Method, within

# One data set says nothing of the spread between data sets.
FEWEST_SETS = 2

# Half-normal prior of both standard deviations: before any data, a bias that differs between data sets by more than 20
# points is held unlikely. Few data sets leave their spread open; it would seem to be 0 where two agree by chance.
PRIOR = 0.1

# Points of the grid of each standard deviation, and its end in units of the prior.
_POINTS, _END = 60, 3.5


class BiasModel(NamedTuple):
    """A judge's bias on new data: a mixture of g normal distributions, one for each pair of standard deviations.

    Attributes:
        weights: Posterior probability of each, shape (g,).
        means: Mean bias, shape (g,).
        variances: Variance of the bias of a new system of a new data set, shape (g,).
        sets: Number of data sets.
        systems: Number of systems, those of all data sets together.
    """

    weights: FloatArray
    means: FloatArray
    variances: FloatArray
    sets: int
    systems: int


def bias_model(bias: npt.ArrayLike, variances: npt.ArrayLike, sets: Labels) -> BiasModel:
    """Fit a random-effects model: systems nested in data sets, with half-normal priors of both standard deviations.

    Args:
        bias: The judge's rate minus the human rate of each system, shape (k,), float64, in [-1, 1].
        variances: Sampling variance of each, shape (k,), above 0.
        sets: The data set of each, shape (k,).

    Raises:
        ValueError: NaN, shapes that differ, a variance that is not above 0, or a single data set.

    Source: Higgins, Thompson & Spiegelhalter 2009 (prediction in random-effects models); Konstantopoulos 2011 (nested
        effects); Röver et al. 2021 (weakly informative priors where studies are few).

    >>> model = bias_model([-0.1] * 6, [1e-4] * 6, ["a", "a", "b", "b", "c", "c"])
    >>> round(float(model.weights @ model.means), 4)
    -0.1
    """
    effects, known = finite_array(bias, "bias", 1), finite_array(variances, "variances", 1)
    if not len(effects) == len(known) == len(sets):
        raise ValueError(f"{len(effects)} biases, {len(known)} variances, {len(sets)} data sets: give one of each")
    if (known <= 0.0).any():
        row = int(np.argmin(known))
        raise ValueError(f"variances[{row}] = {known[row]}: expected sampling variances above 0")
    codes = numbered(sets) if len(sets) else np.zeros(0, np.intp)
    count = int(codes.max(initial=-1)) + 1
    if count < FEWEST_SETS:
        raise ValueError(f"{count} data sets: expected {FEWEST_SETS} or more, as one says nothing of their spread")
    grid = PRIOR * _END * (np.arange(_POINTS) + 0.5) / _POINTS
    between, inside = (axis.ravel() ** 2 for axis in np.meshgrid(grid, grid))
    return _posterior(effects, known, np.eye(count)[codes], between, inside)


def transported(rate: float, variance: float, model: BiasModel, confidence: float = 0.95) -> Estimate:
    """Return a judge's rate on new data with a prediction interval for the human rate on the same data.

    The interval adds the spread of the bias to the sampling variance of the rate. The value is the judge's rate: its
    mean bias on other data moves the interval, but not the value.

    Args:
        rate: The judge's rate, in [0, 1].
        variance: Its sampling variance.
        model: The judge's bias, on data sets like the new one.
        confidence: In (0, 1).

    Raises:
        ValueError: A rate outside [0, 1], a negative variance, or a confidence outside (0, 1).

    >>> one = np.ones(1)
    >>> model = BiasModel(one, -0.05 * one, 0.04**2 * one, 3, 22)
    >>> estimate = transported(0.7, 0.03**2, model)  # .75 ± 1.96 · .05
    >>> round(estimate.low, 4), round(estimate.high, 4)
    (0.652, 0.848)
    """
    check_confidence(confidence)
    if not (0.0 <= rate <= 1.0 and variance >= 0.0):
        raise ValueError(f"rate = {rate}, variance = {variance}: expected a rate in [0, 1] and a variance of 0 or more")
    low, high = _limits(model, -model.means, model.variances + variance, confidence)
    return within(rate, (rate + low, rate + high), (0.0, 1.0), model.systems, Method("random effects"))


class LabelledDifference(NamedTuple):
    """The difference of people's rates over a data set, by labels of a part of its rows; variance: above 0."""

    value: float
    variance: float


class PeopleDifference(NamedTuple):
    """The interval of a difference of people's rates, and the p value of "no difference".

    0 lies outside [low, high] exactly when p_value < 1 - confidence.
    """

    low: float
    high: float
    p_value: float


def bias_scale(bias: npt.ArrayLike, variances: npt.ArrayLike, discordant: npt.ArrayLike, sets: Labels) -> float:
    """Return how far a judge's biases of two systems differ, per share of rows that it judges differently.

    It is the root of the mean square over data sets, each counting once, without the sampling variance. A judge who
    gives two systems the same verdicts has the same bias for both, as far as verdicts show; on the data sets with human
    labels the difference of biases grows with the share of rows that it judges differently.

    Args:
        bias: The difference of the judge's rates less that of the human rates, of each pair of systems, shape (k,).
        variances: Sampling variance of each, shape (k,).
        discordant: Share of rows that the judge judges differently, of each, shape (k,), above 0.
        sets: The data set of each, shape (k,).

    Raises:
        ValueError: NaN, shapes that differ, no pair, or a share that is not above 0.

    >>> round(bias_scale([0.03, -0.03], [0.0, 0.0], [0.3, 0.3], ["a", "a"]), 4)
    0.1
    """
    effects, known, shares = (
        finite_array(values, name, 1)
        for values, name in ((bias, "bias"), (variances, "variances"), (discordant, "discordant"))
    )
    if not 0 < len(effects) == len(known) == len(shares) == len(sets):
        raise ValueError(
            f"{len(effects)} biases, {len(known)} variances, {len(shares)} shares, {len(sets)} data sets: give one of "
            "each, and at least one"
        )
    if (shares <= 0.0).any():
        raise ValueError(f"discordant[{int(np.argmin(shares))}] = {shares.min()}: expected shares above 0")
    squares, codes = (effects**2 - known) / shares**2, numbered(sets)
    of_sets = np.bincount(codes, weights=squares) / np.bincount(codes)
    return sqrt(float(np.maximum(of_sets, 0.0).mean()))


def people_difference(
    judge: float,
    scale: float,
    sampling: float,
    labelled: LabelledDifference | None = None,
    confidence: float = 0.95,
) -> PeopleDifference:
    """Return an interval for the difference of people's rates of two systems, from all that is known of it.

    Over the data set, that difference is the judge's less the difference of the judge's biases, which comes from a
    Student t distribution around 0; labels of a part of the rows narrow it. The data set is a sample, so that the
    sampling variance comes on top.

    Args:
        judge: The difference of the judge's rates over all rows, in [-1, 1].
        scale: Of the t distribution, 0 or more: see `bias_scale`.
        sampling: Sampling variance of the difference over all rows, 0 or more.
        labelled: The difference by labels of a part of the rows, chosen at random or by a design; None without.
        confidence: In (0, 1).

    Raises:
        ValueError: A difference outside [-1, 1], a negative scale or variance, or a confidence outside (0, 1).

    Source: Gelman et al. 2013, section 17.2 (t distributions as priors that give way to data which contradict them).

    >>> found = people_difference(0.1, 0.03, 0.0)  # 0.1 ± 2.776 · 0.03
    >>> round(found.low, 4), round(found.high, 4)
    (0.0167, 0.1833)
    """
    check_confidence(confidence)
    if not (-1.0 <= judge <= 1.0 and scale >= 0.0 and sampling >= 0.0):
        raise ValueError(
            f"judge = {judge}, scale = {scale}, sampling = {sampling}: expected a difference in [-1, 1], and a scale "
            "and a variance of 0 or more"
        )
    points, weights, widths = _posterior_difference(judge, max(scale, _LEAST), labelled)
    spread = np.sqrt(sampling + widths**2 / 12.0)  # a point stands for what lies around it

    def below(x: float) -> float:
        return float(weights @ ndtr((x - points) / spread))

    def quantile(share: float) -> float:
        if below(-1.0) >= share:
            return -1.0
        if below(1.0) <= share:
            return 1.0
        return float(brentq(lambda x: below(x) - share, -1.0, 1.0, xtol=1e-9))

    tail, less = (1.0 - confidence) / 2.0, below(0.0)
    return PeopleDifference(quantile(tail), quantile(1.0 - tail), min(2.0 * min(less, 1.0 - less), 1.0))


# Degrees of freedom of the biases' distribution: few data sets show them, and a new kind of system may be far out.
_DF = 4.0
# The least scale that is used: with 0, the density would be undefined.
_LEAST = 1e-9
_GRID = 2_001


def _posterior_difference(
    judge: float, scale: float, labelled: LabelledDifference | None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return points of the difference over the data set, their probabilities, and how far each is from the next.

    Points lie densest around the judge's difference, and around that of the labels; all arrays of shape (g,).
    """
    steps = np.sinh(np.linspace(-10.0, 10.0, _GRID))
    points = judge + scale * steps
    if labelled is not None:
        error = sqrt(labelled.variance)
        points = np.unique([*points, *(labelled.value + error * np.linspace(-9.0, 9.0, _GRID))])
    density = -0.5 * (_DF + 1.0) * np.log1p(((points - judge) / scale) ** 2 / _DF)
    if labelled is not None:
        density -= 0.5 * ((points - labelled.value) / error) ** 2
    widths = np.gradient(points)
    weights = np.exp(density - density.max()) * widths
    return points, weights / weights.sum(), widths


def _posterior(
    effects: FloatArray, known: FloatArray, member: FloatArray, between: FloatArray, inside: FloatArray
) -> BiasModel:
    """Return the posterior on a grid; the mean has a flat prior.

    member: shape (k, sets), 1 where the system is of the data set. between, inside: variances, shape (g,).
    """
    precision = 1.0 / (known[:, None] + inside)  # (k, g)
    total, product = member.T @ precision, member.T @ (precision * effects[:, None])  # (sets, g)
    shrink = 1.0 + between * total  # by Sherman & Morrison 1950
    weight = (total / shrink).sum(axis=0)
    means = (product / shrink).sum(axis=0) / weight
    rest = effects[:, None] - means
    squares = (precision * rest**2).sum(axis=0) - (between * (member.T @ (precision * rest)) ** 2 / shrink).sum(axis=0)
    log_determinant = np.log(shrink).sum(axis=0) - np.log(precision).sum(axis=0)
    log_likelihood = -0.5 * (log_determinant + np.log(weight) + squares)
    log_weights = log_likelihood - 0.5 * (between + inside) / PRIOR**2
    weights = np.exp(log_weights - log_weights.max())
    systems, sets = member.shape
    return BiasModel(weights / weights.sum(), means, 1.0 / weight + between + inside, sets, systems)


def _limits(model: BiasModel, means: FloatArray, variances: FloatArray, confidence: float) -> tuple[float, float]:
    """Return the quantiles of a mixture of normal distributions with the model's weights."""
    spread = np.sqrt(variances)
    reach = float(np.abs(means).max()) + 10.0 * sqrt(float(variances.max()))

    def excess(share: float) -> Callable[[float], float]:
        return lambda x: float(model.weights @ ndtr((x - means) / spread)) - share

    tail = (1.0 - confidence) / 2.0
    low, high = (float(brentq(excess(share), -reach, reach, xtol=1e-9)) for share in (tail, 1.0 - tail))
    return low, high
