"""Exact sums: what a mean and its interval need of any number of rows; they add up in any order to the same bits."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from tasks.statistics.arrays import Bounds, FloatArray, IntArray
from tasks.statistics.kernels.exact_sums import moment_limbs, product_limbs

# Sums are integers in these units: 2 ** -1074 is the smallest double.
UNIT, SQUARE_UNIT = 1074, 2148
Limbs = npt.NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class Moments:
    """The sums of n scores.

    Attributes:
        n: Number of scores.
        total: Their sum, in units of 2 ** -1074.
        square: The sum of their squares, in units of 2 ** -2148.
        at_low: Scores at the lower bound.
        at_high: Scores at the upper bound.
    """

    n: int = 0
    total: int = 0
    square: int = 0
    at_low: int = 0
    at_high: int = 0

    @classmethod
    def of(cls, scores: FloatArray, bounds: Bounds) -> Self:
        """Add up scores, shape (n,), finite."""
        return cls.by_code(scores, np.zeros(scores.size, np.intp), 1, bounds)[0]

    @classmethod
    def by_code(cls, scores: FloatArray, codes: IntArray, count: int, bounds: Bounds) -> list[Self]:
        """Add up the scores of each code from 0 to count - 1; codes: shape (n,)."""
        if not np.isfinite(scores).all():
            raise ValueError("scores that are not finite: leave unmeasured rows out")
        sizes = np.bincount(codes, minlength=count)
        small = codes.astype(np.min_scalar_type(count))  # numpy sorts up to 65,535 codes by counting
        order = np.arange(codes.size) if count == 1 else np.argsort(small, kind="stable")
        totals, squares = moment_limbs(np.ascontiguousarray(scores, np.float64), order, np.append(0, np.cumsum(sizes)))
        low, high = (np.bincount(codes[scores == bound], minlength=count) for bound in bounds)
        return [
            cls(int(n), _integer(total), _integer(square), int(least), int(most))
            for n, total, square, least, most in zip(sizes, totals, squares, low, high, strict=True)
        ]

    @classmethod
    def of_passes(cls, n: int, passed: int) -> Self:
        """The sums of n verdicts, 1 or 0."""
        return cls(n, passed << UNIT, passed << SQUARE_UNIT, n - passed, passed)

    def __add__(self, other: Self) -> Self:
        return type(self)(*(mine + theirs for mine, theirs in zip(self._fields, other._fields, strict=True)))

    def __sub__(self, other: Self) -> Self:
        """The sums of the scores without those of `other`, which are among them."""
        return type(self)(*(mine - theirs for mine, theirs in zip(self._fields, other._fields, strict=True)))

    @property
    def mean(self) -> float:
        """The mean, rounded once; for n > 0."""
        return ratio(self.total, self.n << UNIT)

    @property
    def variance(self) -> float:
        """The variance with n - 1 below the line, rounded once; for n > 1."""
        return ratio(self.n * self.square - self.total**2, self.n * (self.n - 1) << SQUARE_UNIT)

    @property
    def is_constant(self) -> bool:
        """Whether all scores are equal."""
        return self.n * self.square == self.total**2

    @property
    def is_binary(self) -> bool:
        """Whether all scores lie at the bounds."""
        return self.at_low + self.at_high == self.n

    @property
    def _fields(self) -> Sequence[int]:
        return (self.n, self.total, self.square, self.at_low, self.at_high)


def ratio(above: int, below: int) -> float:
    """The ratio of two integers, rounded once; infinite if it is larger than any double. below: positive."""
    try:
        return above / below
    except OverflowError:
        return math.inf if above > 0 else -math.inf


def exact_floats(totals: Sequence[int]) -> FloatArray:
    """Sums in units of 2 ** -1074 as doubles, each rounded once; shape (k,)."""
    return np.array([ratio(total, 1 << UNIT) for total in totals])


def exact_product(left: FloatArray, right: FloatArray) -> int:
    """The sum of left · right in units of 2 ** -2148; both of shape (n,), finite."""
    return _integer(product_limbs(*(np.ascontiguousarray(column, np.float64) for column in (left, right))))


def _integer(limbs: npt.NDArray[Any]) -> int:
    return int.from_bytes(limbs.tobytes(), "little", signed=True)
