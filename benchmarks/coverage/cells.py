"""One measured cell of the coverage benchmark: what an estimator reached under one design, beside its target."""

from math import sqrt
from typing import Literal, NamedTuple
from zlib import crc32

import numpy as np
import numpy.typing as npt

DRAWS = 4_000
"""Draws of a simulated cell, at least."""
Floats = npt.NDArray[np.float64]


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
    sense: Literal["at least", "at most", "contrast"]
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


def covered(topic: str, name: str, target: float | None, hits: int, draws: int) -> Cell:
    """A simulated coverage; without a target it is a contrast."""
    sense: Literal["at least", "contrast"] = "contrast" if target is None else "at least"
    return Cell(topic, name, "coverage", sense, target, hits / draws, share_error(hits, draws), draws)


def alarmed(topic: str, name: str, measure: str, target: float, alarms: int, draws: int) -> Cell:
    """How often a test raised a false alarm, in simulation."""
    return Cell(topic, name, measure, "at most", target, alarms / draws, share_error(alarms, draws), draws)


def mean_ratio(mine: Floats, peer: Floats) -> tuple[float, float]:
    """The ratio of two means over the same draws, and its Monte Carlo standard error to first order."""
    ratio = float(mine.mean() / peer.mean())
    return ratio, float((mine - ratio * peer).std() / peer.mean()) / sqrt(mine.size)


def share_error(hits: int, draws: int) -> float:
    """The Monte Carlo standard error of a share."""
    share = hits / draws
    return sqrt(share * (1.0 - share) / draws)


def generator(*design: object) -> np.random.Generator:
    """A generator whose seed depends on the design alone, so that a cell gives the same number whatever runs before."""
    return np.random.default_rng(crc32("|".join(map(str, design)).encode()))
