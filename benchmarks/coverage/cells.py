"""Cells of the coverage benchmark: designs that are drawn many times, and what an estimator reached."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from math import sqrt
from typing import Any, Literal, NamedTuple, Protocol
from zlib import crc32

import numpy as np
import numpy.typing as npt

DRAWS = 4_000
"""Draws of a simulated cell, at least."""
Floats = npt.NDArray[np.float64]
Rng = np.random.Generator
Sense = Literal["at least", "at most", "contrast"]
Statistic = Callable[[Floats], tuple[float, float]]
"""What a measure gave in each draw, shape (draws, …) → the measured number and its Monte Carlo standard error."""
Outcomes = Callable[[Rng, int], Iterable[Any]]
"""Generator and number of draws → what each draw gave: a tuple with a value for each measure, or the only one's value.

A value is a number, or a pair of widths; values beyond those of the measures are left out.
"""


class Cell(NamedTuple):
    """A number that an estimator reached.

    topic: the row of the table it belongs to. name: the design, such as "rare, n = 30". measure: what was measured,
    such as "coverage". error: its Monte Carlo standard error. error and draws are 0 when it was enumerated.
    sense "contrast": what another method gives for the same topic and measure; it has no target, and its name begins
    with that method and a colon, such as "Wald: n = 30, p = 0.98".
    """

    topic: str
    name: str
    measure: str
    sense: Sense
    target: float | None
    measured: float
    error: float
    draws: int

    @property
    def reached(self) -> bool:
        """Whether the measured number, given three Monte Carlo standard errors, reaches the target, if it has one."""
        if self.target is None:
            return True
        slack = 3.0 * self.error
        if self.sense == "at least":
            return self.measured + slack >= self.target
        return self.measured - slack <= self.target


def mean(values: Floats) -> tuple[float, float]:
    """The mean, such as the share of draws with an event, and its standard error."""
    return float(values.mean()), float(values.std()) / sqrt(len(values))


def mean_ratio(pairs: Floats) -> tuple[float, float]:
    """The ratio of two means over the same draws, shape (draws, 2), and its standard error to first order."""
    mine, peer = pairs.T
    ratio = float(mine.mean() / peer.mean())
    return ratio, float((mine - ratio * peer).std() / peer.mean()) / sqrt(mine.size)


def most(values: Floats) -> tuple[float, float]:
    """The share of draws with an event that may never come up, without an error."""
    return float(values.mean()), 0.0


class Measure(NamedTuple):
    """What is measured over the draws of a design.

    peer: another method, whose number is a contrast. name, topic: of the cell, if they are not those of the design.
    """

    measure: str
    sense: Sense
    target: float | None
    statistic: Statistic = mean
    peer: str = ""
    name: str = ""
    topic: str = ""

    def cell(self, topic: str, design: str, measured: float, error: float = 0.0, draws: int = 0) -> Cell:
        """The cell of a measured number; without error and draws it was enumerated."""
        name = f"{self.peer}: {self.name or design}" if self.peer else self.name or design
        return Cell(self.topic or topic, name, self.measure, self.sense, self.target, measured, error, draws)


def covers(target: float) -> Measure:
    """How often an interval contains the truth."""
    return Measure("coverage", "at least", target)


def covered(target: float, hits: int, draws: int) -> Cell:
    """A coverage of which only the number of hits is known."""
    share = hits / draws
    return covers(target).cell("", "", share, sqrt(share * (1.0 - share) / draws), draws)


def contrast(peer: str, name: str = "") -> Measure:
    """How often another method's interval contains the truth."""
    return Measure("coverage", "contrast", None, peer=peer, name=name)


def alarms(target: float, measure: str = "type I") -> Measure:
    """How often a test raises a false alarm."""
    return Measure(measure, "at most", target)


def width(target: float, measure: str) -> Measure:
    """The ratio of two mean widths."""
    return Measure(measure, "at most", target, mean_ratio)


def each(draw: Callable[[Rng], Any]) -> Outcomes:
    """The outcomes of a function that is called once a draw."""
    return lambda rng, draws: (draw(rng) for _ in range(draws))


@dataclass(frozen=True)
class Simulation:
    """A design that is drawn many times.

    seed: what the generator's seed is made of.
    scale: its draws are so many times as many as those of others.
    """

    topic: str
    name: str
    seed: tuple[object, ...]
    outcomes: Outcomes
    measures: tuple[Measure, ...]
    scale: float = 1.0

    def __call__(self, draws: int) -> Iterator[Cell]:
        """A cell for each measure."""
        draws = max(1, int(draws * self.scale))
        found = [*self.outcomes(generator(*self.seed), draws)]
        columns = zip(*found, strict=True) if isinstance(found[0], tuple) else [found]
        for measure, column in zip(self.measures, columns, strict=False):
            measured, error = measure.statistic(np.array(column, np.float64))
            yield measure.cell(self.topic, self.name, measured, error, draws)

    def __str__(self) -> str:
        return f"{self.topic}, {self.name}"


Study = Callable[[int], Iterable[Cell]]
"""Draws → cells: a Simulation, or a function where they are enumerated or need more than one design."""


class Limits(Protocol):
    """An estimate with its interval."""

    @property
    def low(self) -> float: ...
    @property
    def high(self) -> float: ...


def contains(estimate: Limits, truth: float) -> bool:
    """Whether the interval contains the truth."""
    return bool(estimate.low <= truth <= estimate.high)


def length(estimate: Limits) -> float:
    """The width of the interval."""
    return estimate.high - estimate.low


def beta_rates(rng: Rng, mean: float, icc: float, size: int) -> Floats:
    """Beta-distributed rates, shape (size,): rows that share one have this intracluster correlation."""
    if icc == 0.0:
        return np.full(size, mean)
    spread = 1.0 / icc - 1.0
    return rng.beta(mean * spread, (1.0 - mean) * spread, size)


def generator(*design: object) -> Rng:
    """A generator whose seed depends on the design alone, so that a cell gives the same number whatever runs before."""
    return np.random.default_rng(crc32("|".join(map(str, design)).encode()))
