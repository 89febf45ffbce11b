"""Coverage of paired differences: enumerated for rows that win or lose, simulated for the others."""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from typing import Literal, NamedTuple

import numpy as np
from scipy.special import gammaln, stdtrit, xlogy

from benchmarks.coverage.cells import Cell, Floats, alarmed, covered, generator, mean_ratio
from benchmarks.coverage.corpus import ratio
from tasks.statistics.clusters import Codes
from tasks.statistics.paired import PairedDifference, corpus_difference, paired_difference

Sizes = Literal["equal", "unequal"]
Sampler = Callable[[np.random.Generator, int], Floats]

BINARY, BOUNDED, CLUSTERED, CORPUS = "paired binary", "paired bounded", "paired clustered", "paired corpus score"
WHOLE = "paired clustered, whole clusters gain or lose"
COVERAGE, ALARMS = 0.935, 0.065
"""What bounded differences must reach."""
WIDEST = {100: 1.45, 1000: 1.05}
"""How much wider than t's an interval may be on average, over the dense and the symmetric differences, by rows."""

SIZES = (10, 20, 30, 50, 70, 100)
DISCORDANCE = (0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.6)
ONE_SIDEDNESS = (0.0, 0.25, 0.5, 0.75, 1.0)
CHANCES = tuple((s * (1.0 + r) / 2.0, s * (1.0 - r) / 2.0) for s in DISCORDANCE for r in ONE_SIDEDNESS)
"""The 35 chances of a win and of a loss, from no difference to rows that only win."""


CLUSTER_SIZES: dict[str, Callable[[np.random.Generator, int], Codes]] = {
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


def binary(_draws: int) -> Iterator[Cell]:
    """The worst of the 35 chances for each n, exactly."""
    for n in SIZES:
        yield from binary_cells(n)


def binary_cells(n: int, confidence: float = 0.95, target: float = 0.945) -> Iterator[Cell]:
    """Coverage and false alarms at n rows, exactly."""
    wins, losses = (counts.ravel() for counts in np.meshgrid(np.arange(n + 1), np.arange(n + 1)))
    possible = wins + losses <= n
    wins, losses = wins[possible], losses[possible]
    found = [_of_counts(int(b), int(c), n, confidence) for b, c in zip(wins, losses, strict=True)]
    low, high, p_value = (np.array([getattr(one, name) for one in found]) for name in ("low", "high", "p_value"))
    inside_shares, alarms = [], []
    for chance in CHANCES:
        weight, truth = _multinomial(wins, losses, n, chance), chance[0] - chance[1]
        inside = (low <= truth + 1e-12) & (truth - 1e-12 <= high)
        inside_shares.append((float(weight[inside].sum()), chance))
        if truth == 0.0:
            alarms.append((float(weight[p_value < 1.0 - confidence].sum()), chance))
    least, most = min(inside_shares), max(alarms)
    yield Cell(BINARY, f"n = {n}, worst at {_named(least[1])}", "coverage", "at least", target, least[0], 0.0, 0)
    yield Cell(BINARY, f"n = {n}, worst at {_named(most[1])}", "type I", "at most", 1.0 - confidence, most[0], 0.0, 0)


def bounded(kinds: tuple[str, ...], draws: int) -> Iterator[Cell]:
    """Changes in both directions alike, small gains against large losses, rare changes, or small ones of all rows."""
    for name, shape in SHAPES.items():
        if shape.kind in kinds:
            for n in (10, 20, 30, 100, 300, 1000):
                yield from bounded_cells(name, n, draws)


def bounded_cells(name: str, n: int, draws: int) -> Iterator[Cell]:
    """Coverage, and false alarms where there is no difference, of one shape at n rows."""
    shape, rng = SHAPES[name], generator(BOUNDED, name, n)
    found = [paired_difference(shape.sample(rng, n)) for _ in range(draws)]
    design = f"{shape.kind}: {name}, n = {n}"
    yield coverage(BOUNDED, design, COVERAGE, found, shape.truth)
    if shape.truth == 0.0:
        alarms = sum(one.p_value < 0.05 for one in found)  # noqa: PLR2004 (the usual level)
        yield alarmed(BOUNDED, design, "type I", ALARMS, alarms, draws)


def widths(draws: int) -> Iterator[Cell]:
    """The width over that of t where t covers as well: differences that are symmetric, or of all rows."""
    shapes = {name: shape for name, shape in SHAPES.items() if shape.kind in {"symmetric", "dense"}}
    for n, target in WIDEST.items():
        ratios, errors = zip(*(_width_ratio(name, shape, n, draws) for name, shape in shapes.items()), strict=True)
        error = float(np.sqrt(np.square(errors).sum()) / len(shapes))
        yield Cell(BOUNDED, f"n = {n}", "mean width over t's", "at most", target, float(np.mean(ratios)), error, draws)


def _width_ratio(name: str, shape: Shape, n: int, draws: int) -> tuple[float, float]:
    rng, pairs = generator(BOUNDED, "width", name, n), np.empty((2, draws))
    t = 2.0 * float(stdtrit(n - 1.0, 0.975)) / np.sqrt(n)
    for draw in range(draws):
        d = shape.sample(rng, n)
        found = paired_difference(d)
        pairs[:, draw] = found.high - found.low, t * d.std(ddof=1)
    return mean_ratio(*pairs)


def clustered(icc: float, sizes: Sizes, draws: int) -> Iterator[Cell]:
    """Clusters of 6 rows, or of 2 to about 30; with an ICC of 0 their rows do not depend on each other."""
    for groups, p, loss in product((10, 30, 100, 300), (0.5, 0.9, 0.98), (0.0, 0.05, 0.3)):
        yield clustered_cell(icc, sizes, groups, p, loss, draws)


def clustered_cell(icc: float, sizes: Sizes, groups: int, p: float, loss: float, draws: int) -> Cell:
    """Coverage where both versions have their own rate in each cluster."""
    design = f"ICC {icc}, {sizes}, G = {groups}, p = {p}, loss = {loss}"
    rng = generator(CLUSTERED, design)
    found = []
    for _ in range(draws):
        codes = np.repeat(np.arange(groups), 6 if sizes == "equal" else 1 + rng.geometric(0.15, groups))
        d = _right(rng, codes, p - loss, icc) - _right(rng, codes, p, icc)
        found.append(paired_difference(d, codes))
    return coverage(CLUSTERED, design, 0.94, found, -loss)


def whole_clusters(draws: int) -> Iterator[Cell]:
    """Clusters of unequal sizes whose rows all gain e, or, of few clusters, all lose everything."""
    for sizes, groups, gain in product(CLUSTER_SIZES, (30, 100, 300), (0.02, 0.05, 0.2)):
        design = f"{sizes} rows, G = {groups}, +{gain:g} against -1"
        rng, found = generator(WHOLE, design), []
        for _ in range(draws):
            codes = np.repeat(np.arange(groups), CLUSTER_SIZES[sizes](rng, groups))
            lost = rng.random(groups) < gain / (1.0 + gain)
            found.append(paired_difference(np.where(lost, -1.0, gain)[codes], codes))
        yield coverage(WHOLE, design, 0.94, found, 0.0)


def corpus(draws: int) -> Iterator[Cell]:
    """Coverage for a ratio of sums such as a corpus BLEU: matches over length, rows of unequal length."""
    for n in (100, 300):
        for grouped in (False, True):
            yield corpus_cell(n, draws, grouped=grouped)


def corpus_cell(n: int, draws: int, *, grouped: bool) -> Cell:
    """Coverage of the ratio's difference, of n rows or of n / 2 pairs of rows that share their quality."""
    design = f"{'pairs of rows' if grouped else 'rows'}, n = {n}"
    rng, clusters = generator(CORPUS, design), np.repeat(np.arange(n // 2), 2)
    found = []
    for _ in range(draws):
        length = 1 + rng.poisson(9, n)
        quality = np.repeat(rng.beta(7.0, 3.0, n // 2), 2) if grouped else rng.beta(7.0, 3.0, n)
        base, head = (np.column_stack([rng.binomial(length, q), length]) for q in (quality, quality - 0.1 * quality))
        found.append(corpus_difference(base, head, ratio, clusters if grouped else None))
    return coverage(CORPUS, design, 0.935, found, -0.07)


def coverage(topic: str, design: str, target: float, found: list[PairedDifference], truth: float) -> Cell:
    """How often these intervals contain the truth."""
    return covered(topic, design, target, sum(one.low <= truth <= one.high for one in found), len(found))


def _right(rng: np.random.Generator, codes: Codes, p: float, icc: float) -> Floats:
    """Return 1 for right and 0 for wrong, with a beta distributed rate in each cluster."""
    rates: Floats | float = p
    if icc:
        spread = 1.0 / icc - 1.0
        rates = rng.beta(p * spread, (1.0 - p) * spread, codes[-1] + 1)[codes]
    return (rng.random(codes.size) < rates).astype(np.float64)


def _of_counts(b: int, c: int, n: int, confidence: float) -> PairedDifference:
    return paired_difference(np.repeat([1.0, -1.0, 0.0], [b, c, n - b - c]), confidence=confidence)


def _multinomial(wins: Codes, losses: Codes, n: int, chance: tuple[float, float]) -> Floats:
    rest = n - wins - losses
    log = gammaln(n + 1.0) - gammaln(wins + 1.0) - gammaln(losses + 1.0) - gammaln(rest + 1.0)
    log += xlogy(wins, chance[0]) + xlogy(losses, chance[1]) + xlogy(rest, 1.0 - chance[0] - chance[1])
    return np.asarray(np.exp(log), dtype=np.float64)


def _named(chance: tuple[float, float]) -> str:
    return f"({chance[0]:.4g}, {chance[1]:.4g})"


STUDIES: tuple[Callable[[int], Iterator[Cell]], ...] = (
    binary,
    partial(bounded, ("symmetric", "rare")),
    partial(bounded, ("asymmetric",)),
    partial(bounded, ("dense",)),
    widths,
    partial(clustered, 0.0, "equal"),
    partial(clustered, 0.0, "unequal"),
    partial(clustered, 0.3, "equal"),
    partial(clustered, 0.3, "unequal"),
    whole_clusters,
    corpus,
)
