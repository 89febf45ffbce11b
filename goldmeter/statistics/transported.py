"""A judge's rate on new data as an interval for the human rate, from the judge's bias on other data sets."""

from math import sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy

from goldmeter.statistics.arrays import FloatArray, check_confidence, finite_array
from goldmeter.statistics.clusters import Labels, numbered

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

    def points(self) -> FloatArray:
        """Points of the bias, densest around its mean."""
        mean = float(self.weights @ self.means)
        spread = sqrt(float(self.weights @ (self.variances + (self.means - mean) ** 2)))
        return np.asarray(mean + spread * np.sinh(np.linspace(-4.0, 4.0, _COARSE)))

    def log_density(self, bias: FloatArray) -> FloatArray:
        """Up to a constant, of parts that are not rare."""
        often = self.weights > _RARE * self.weights.max()
        means, variances = self.means[often], self.variances[often]
        logs = np.log(self.weights[often] / np.sqrt(variances)) - 0.5 * (bias[:, None] - means) ** 2 / variances
        return np.asarray(scipy.special.logsumexp(logs, axis=1))


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


class LabelledEstimate(NamedTuple):
    """People's rate over a data set, or the difference of two, by labels of a part of its rows; variance: above 0."""

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
    labelled: LabelledEstimate | None = None,
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
    found = _posterior_of(_StudentBias(max(scale, _LEAST)), judge, sampling, labelled)
    less = found.below(0.0)
    return PeopleDifference(*found.limits(confidence, (-1.0, 1.0)), min(2.0 * min(less, 1.0 - less), 1.0))


def people_rate(
    judge: float,
    bias: BiasModel | float,
    sampling: float,
    labelled: LabelledEstimate | None = None,
    confidence: float = 0.95,
) -> tuple[float, float]:
    """Return an interval for people's rate, from a judge's rate over all rows and labels of a part of them.

    Args:
        judge: The judge's rate over all rows, in [0, 1].
        bias: The judge's bias on data like these; or the scale of a Student t distribution of it around 0, above 0.
        sampling: Sampling variance of the rate over all rows, 0 or more.
        labelled: The rate by labels of a part of the rows, chosen at random or by a design; None without.
        confidence: In (0, 1).

    Raises:
        ValueError: A rate outside [0, 1], a scale that is not above 0, a negative variance, or a confidence outside
            (0, 1).

    >>> one = np.ones(1)
    >>> model = BiasModel(one, -0.05 * one, 0.04**2 * one, 3, 22)
    >>> [round(limit, 4) for limit in people_rate(0.7, model, 0.03**2)]  # .75 ± 1.96 · .05
    [0.652, 0.848]
    >>> alone = people_rate(0.8, 0.05, 1e-4)
    >>> few = people_rate(0.8, 0.05, 1e-4, LabelledEstimate(0.8, 0.05**2))  # ± 0.098 by the labels alone
    >>> [round(limit, 3) for limit in (*alone, *few)]
    [0.66, 0.94, 0.726, 0.874]
    """
    check_confidence(confidence)
    prior = bias if isinstance(bias, BiasModel) else _StudentBias(bias)
    if not (0.0 <= judge <= 1.0 and sampling >= 0.0) or (isinstance(prior, _StudentBias) and prior.scale <= 0.0):
        raise ValueError(
            f"judge = {judge}, bias = {bias}, sampling = {sampling}: expected a rate in [0, 1], a scale above 0, and a "
            "variance of 0 or more"
        )
    return _posterior_of(prior, judge, sampling, labelled).limits(confidence, (0.0, 1.0))


# Degrees of freedom of the biases' distribution: few data sets show them, and a new kind of system may be far out.
_DF = 4.0
# The least scale that is used: with 0, the density would be undefined.
_LEAST = 1e-9
_GRID = 2_001
# Points of a grid of which each costs as much as a mixture has parts, and the parts that count.
_COARSE, _RARE = 401, 1e-4


class _StudentBias(NamedTuple):
    """A bias around 0 with this scale."""

    scale: float

    def points(self) -> FloatArray:
        """Points of the bias, densest around 0."""
        return np.asarray(self.scale * np.sinh(np.linspace(-10.0, 10.0, _GRID)))

    def log_density(self, bias: FloatArray) -> FloatArray:
        """Up to a constant."""
        return np.asarray(-0.5 * (_DF + 1.0) * np.log1p((bias / self.scale) ** 2 / _DF))


class _Posterior(NamedTuple):
    """Points of a quantity over the data set, their probabilities, and the spread of the population around each."""

    points: FloatArray
    weights: FloatArray
    spread: FloatArray

    def below(self, x: float) -> float:
        """The probability of less than x."""
        return float(self.weights @ scipy.special.ndtr((x - self.points) / self.spread))

    def limits(self, confidence: float, bounds: tuple[float, float]) -> tuple[float, float]:
        """The central interval, within the bounds."""
        tail = (1.0 - confidence) / 2.0
        return self._quantile(tail, bounds), self._quantile(1.0 - tail, bounds)

    def _quantile(self, share: float, bounds: tuple[float, float]) -> float:
        lowest, highest = bounds
        if self.below(lowest) >= share:
            return lowest
        if self.below(highest) <= share:
            return highest
        return float(scipy.optimize.brentq(lambda x: self.below(x) - share, lowest, highest, xtol=1e-9))


def _posterior_of(
    prior: "BiasModel | _StudentBias", judge: float, sampling: float, labelled: LabelledEstimate | None
) -> _Posterior:
    """Return what the judge's value, less its bias, and labels say; points are densest around both."""
    points = judge - prior.points()
    if labelled is not None:
        error = sqrt(labelled.variance)
        points = np.concatenate([points, labelled.value + error * np.linspace(-9.0, 9.0, _GRID)])
    points = np.unique(points)
    density = prior.log_density(judge - points)
    if labelled is not None:
        density = density - 0.5 * ((points - labelled.value) / error) ** 2
    widths = np.gradient(points)
    weights = np.exp(density - density.max()) * widths
    return _Posterior(points, weights / weights.sum(), np.sqrt(sampling + widths**2 / 12.0))


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
