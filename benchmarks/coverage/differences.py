"""Coverage of paired differences: enumerated for rows that win or lose, simulated for the others."""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import product, starmap
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import gammaln, stdtrit, xlogy
from scipy.stats import binom

from benchmarks.coverage import cells, corpus
from benchmarks.coverage.cells import Cell, Floats, Rng, Simulation, Study, contains, covers, each, length
from goldmeter.statistics.clusters import Codes
from goldmeter.statistics.paired import PairedDifference, paired_difference

Sampler = Callable[[Rng, int], Floats]

BINARY, BOUNDED, CLUSTERED = "paired binary", "paired bounded", "paired clustered"
WHOLE = "paired clustered, whole clusters gain or lose"
FEW = "paired bounded, gains of most against losses of few"
BOUNDED_TARGET = covers(0.935)
WIDEST = {100: 1.45, 1000: 1.05}
"""How much wider than t's an interval may be on average, over the dense and the symmetric differences, by rows."""

SIZES = (10, 20, 30, 50, 70, 100)
DISCORDANCE = (0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.6)
ONE_SIDEDNESS = (0.0, 0.25, 0.5, 0.75, 1.0)
CHANCES = tuple((s * (1.0 + r) / 2.0, s * (1.0 - r) / 2.0) for s in DISCORDANCE for r in ONE_SIDEDNESS)
"""The 35 chances of a win and of a loss, from no difference to rows that only win."""

CLUSTER_SIZES: dict[str, Callable[[Rng, int], Codes]] = {
    "6": lambda _, groups: np.full(groups, 6),
    "1 to 19": lambda rng, groups: rng.integers(1, 20, groups),
    "1 + geometric(.15)": lambda rng, groups: 1 + rng.geometric(0.15, groups),
}


class Shape(NamedTuple):
    """A distribution of row differences. truth: its mean."""

    kind: str
    truth: float
    sample: Sampler


def _levels(*pairs: tuple[float, float]) -> Sampler:
    values, chances = zip(*pairs, strict=True)
    return lambda rng, n: rng.choice(values, size=n, p=chances)


SHAPES = {
    "normal, sd .3": Shape("symmetric", 0.0, lambda rng, n: np.clip(rng.normal(0.0, 0.3, n), -1.0, 1.0)),
    "grades": Shape("symmetric", 0.0, _levels((-0.5, 0.05), (-0.25, 0.15), (0.0, 0.6), (0.25, 0.15), (0.5, 0.05))),
    "+.05 against -.95": Shape("asymmetric", 0.0, _levels((0.05, 0.95), (-0.95, 0.05))),
    "+.1 against -.4": Shape("asymmetric", 0.0, _levels((0.1, 0.8), (-0.4, 0.2))),
    "+.2 against -1": Shape("asymmetric", 0.0, _levels((0.2, 0.25), (0.0, 0.7), (-1.0, 0.05))),
    # The hardest two values that a search found for n = 20 and for n = 300.
    "+.482 against -.9": Shape("asymmetric", 0.0, _levels((0.482, 0.9 / 1.382), (-0.9, 0.482 / 1.382))),
    "+.039 against -.961": Shape("asymmetric", 0.0, _levels((0.039, 0.961), (-0.961, 0.039))),
    "+.02 against -.98": Shape("asymmetric", 0.0, _levels((0.02, 0.98), (-0.98, 0.02))),
    "mostly a loss": Shape("asymmetric", -0.6, lambda rng, n: -rng.beta(6.0, 4.0, n)),
    "2 % change": Shape("rare", 0.0, lambda rng, n: rng.binomial(1, 0.02, n) * rng.uniform(-1.0, 1.0, n)),
    "5 % win .1, 1 % lose .5": Shape("rare", 0.0, _levels((0.1, 0.05), (0.0, 0.94), (-0.5, 0.01))),
    "10 % lose": Shape("rare", -0.05, lambda rng, n: -rng.binomial(1, 0.1, n) * rng.random(n)),
    "normal, sd .05": Shape("dense", 0.0, lambda rng, n: rng.normal(0.0, 0.05, n)),
    "skewed": Shape("dense", 0.0, lambda rng, n: rng.beta(8.0, 1.0, n) - 8.0 / 9.0),
    "shifted": Shape("dense", 0.1, lambda rng, n: 0.1 + rng.uniform(-0.3, 0.3, n)),
}


def binary(n: int, _draws: int, confidence: float = 0.95, target: float = 0.945) -> Iterator[Cell]:
    """Coverage and false alarms at n rows, exactly, at the worst of the 35 chances."""
    wins, losses = (counts.ravel() for counts in np.meshgrid(np.arange(n + 1), np.arange(n + 1)))
    possible = wins + losses <= n
    wins, losses = wins[possible], losses[possible]
    found = [_of_counts(int(b), int(c), n, confidence) for b, c in zip(wins, losses, strict=True)]
    low, high, p_value = (np.array([getattr(one, name) for one in found]) for name in ("low", "high", "p_value"))
    inside_shares, alarmed = [], []
    for chance in CHANCES:
        weight, truth = _multinomial(wins, losses, n, chance), chance[0] - chance[1]
        inside = (low <= truth + 1e-12) & (truth - 1e-12 <= high)
        inside_shares.append((float(weight[inside].sum()), chance))
        if truth == 0.0:
            alarmed.append((float(weight[p_value < 1.0 - confidence].sum()), chance))
    alarm = cells.alarms(1.0 - confidence)
    for measure, (share, chance) in ((covers(target), min(inside_shares)), (alarm, max(alarmed))):
        yield measure.cell(BINARY, f"n = {n}, worst at ({chance[0]:.4g}, {chance[1]:.4g})", share)


def bounded(name: str, n: int) -> Simulation:
    """Coverage, and false alarms where there is no difference, of one shape at n rows."""
    shape = SHAPES[name]

    def draw(rng: Rng) -> tuple[bool, bool]:
        found = paired_difference(shape.sample(rng, n))
        return contains(found, shape.truth), found.p_value < 0.05  # noqa: PLR2004 (the usual level)

    measures = (BOUNDED_TARGET,) if shape.truth else (BOUNDED_TARGET, cells.alarms(0.065))
    return Simulation(BOUNDED, f"{shape.kind}: {name}, n = {n}", (BOUNDED, name, n), each(draw), measures)


def widths(draws: int) -> Iterator[Cell]:
    """The width over that of t where t covers as well: differences that are symmetric, or of all rows."""
    names = [name for name, shape in SHAPES.items() if shape.kind in {"symmetric", "dense"}]
    for n, target in WIDEST.items():
        ratios, errors = zip(*(_width_ratio(name, n, draws) for name in names), strict=True)
        error = float(np.sqrt(np.square(errors).sum()) / len(names))
        yield cells.width(target, "mean width over t's").cell(BOUNDED, f"n = {n}", float(np.mean(ratios)), error, draws)


def _width_ratio(name: str, n: int, draws: int) -> tuple[float, float]:
    rng, pairs = cells.generator(BOUNDED, "width", name, n), np.empty((draws, 2))
    t = 2.0 * float(stdtrit(n - 1.0, 0.975)) / np.sqrt(n)
    for draw in range(draws):
        d = SHAPES[name].sample(rng, n)
        pairs[draw] = length(paired_difference(d)), t * d.std(ddof=1)
    return cells.mean_ratio(pairs)


def clustered(icc: float, sizes: str, groups: int, p: float, loss: float) -> Simulation:
    """Coverage where both versions have their own rate in each cluster, of 6 rows, or of 2 to about 30."""

    def draw(rng: Rng) -> bool:
        codes = np.repeat(np.arange(groups), 6 if sizes == "equal" else 1 + rng.geometric(0.15, groups))
        d = _right(rng, codes, p - loss, icc) - _right(rng, codes, p, icc)
        return contains(paired_difference(d, codes), -loss)

    name = f"ICC {icc}, {sizes}, G = {groups}, p = {p}, loss = {loss}"
    return Simulation(CLUSTERED, name, (CLUSTERED, name), each(draw), (covers(0.94),))


def whole_clusters(sizes: str, groups: int, gain: float) -> Simulation:
    """Clusters of unequal sizes whose rows all gain e, or, of few clusters, all lose everything."""

    def draw(rng: Rng) -> bool:
        codes = np.repeat(np.arange(groups), CLUSTER_SIZES[sizes](rng, groups))
        lost = rng.random(groups) < gain / (1.0 + gain)
        return contains(paired_difference(np.where(lost, -1.0, gain)[codes], codes), 0.0)

    name = f"{sizes} rows, G = {groups}, +{gain:g} against -1"
    return Simulation(WHOLE, name, (WHOLE, name), each(draw), (covers(0.94),))


def _right(rng: Rng, codes: Codes, p: float, icc: float) -> Floats:
    """Return 1 for right and 0 for wrong, with a beta distributed rate in each cluster."""
    rates = cells.beta_rates(rng, p, icc, int(codes[-1]) + 1)[codes]
    return (rng.random(codes.size) < rates).astype(np.float64)


def _of_counts(b: int, c: int, n: int, confidence: float) -> PairedDifference:
    return paired_difference(np.repeat([1.0, -1.0, 0.0], [b, c, n - b - c]), confidence=confidence)


def _multinomial(wins: Codes, losses: Codes, n: int, chance: tuple[float, float]) -> Floats:
    rest = n - wins - losses
    log = gammaln(n + 1.0) - gammaln(wins + 1.0) - gammaln(losses + 1.0) - gammaln(rest + 1.0)
    log += xlogy(wins, chance[0]) + xlogy(losses, chance[1]) + xlogy(rest, 1.0 - chance[0] - chance[1])
    return np.asarray(np.exp(log), dtype=np.float64)


def studies() -> Iterator[Study]:
    """All but the rare losses."""
    yield from (partial(binary, n) for n in SIZES)
    for kinds in ({"symmetric", "rare"}, {"asymmetric"}, {"dense"}):
        names = [name for name, shape in SHAPES.items() if shape.kind in kinds]
        yield from (bounded(name, n) for name, n in product(names, (10, 20, 30, 100, 300, 1000)))
    yield widths
    cases = product((0.0, 0.3), ("equal", "unequal"), (10, 30, 100, 300), (0.5, 0.9, 0.98), (0.0, 0.05, 0.3))
    yield from starmap(clustered, cases)
    yield from starmap(whole_clusters, product(CLUSTER_SIZES, (30, 100, 300), (0.02, 0.05, 0.2)))
    yield from (corpus.difference_of_ratios(n, grouped=grouped) for n in (100, 300) for grouped in (False, True))


# Most rows gain a little and few lose much: the hardest that is known

GAINS = (0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5)
NOISES = (0.0, 0.02, 0.05, 0.1, 0.2)
ROWS = (10, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1000)
NEVER = 1e-12
"""A number of losses that is less likely is left out; all of them together change a share by less than 1e-8."""


def rare_losses() -> Iterator[Study]:
    """Gains by about e on most rows, losses by 1 - e or 1 on few, so that the mean is 0; e up to .5, with noise."""
    for whole, gain, noise, n in product((False, True), GAINS, NOISES, ROWS):
        yield few_losses(gain, 1.0 if whole else 1.0 - gain, noise, n)


def few_losses(gain: float, loss: float, noise: float, n: int) -> Study:
    """Coverage of gains by gain ± noise against losses by `loss`; without noise exactly, over the number of losses."""
    name = f"+{gain:g} ± {noise:g} against -{loss:g}, n = {n}"

    def draw(rng: Rng) -> bool:
        lost = rng.random(n) < gain / (gain + loss)
        return _covers(lost, loss, gain + rng.uniform(-noise, noise, n))

    if noise:
        return Simulation(FEW, name, (FEW, name), each(draw), (BOUNDED_TARGET,))  # the others are false alarms
    return partial(_enumerated_losses, name, gain, loss, n)


def _enumerated_losses(name: str, gain: float, loss: float, n: int, _draws: int) -> Iterator[Cell]:
    weights = binom.pmf(np.arange(n + 1), n, gain / (gain + loss)).tolist()
    likely = [(losses, weight) for losses, weight in enumerate(weights) if weight > NEVER]
    share = sum(weight for losses, weight in likely if _covers(np.arange(n) < losses, loss, gain))
    yield BOUNDED_TARGET.cell(FEW, name, share)


def _covers(lost: npt.NDArray[np.bool_], loss: float, gain: Floats | float) -> bool:
    return contains(paired_difference(np.where(lost, -loss, gain)), 0.0)
