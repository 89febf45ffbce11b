"""The difference of two systems' rates while a judge asks in random order, and whether more can decide its sign."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np

from goldmeter.estimates.headline import standard_error
from goldmeter.estimates.judge_bias import AT_LOOKS, Unlikeness, difference_scale
from goldmeter.estimates.primary import VERDICT
from goldmeter.estimates.signature import VerdictSource
from goldmeter.statistics.arrays import FloatArray

# A judge whose error is stated, as that of a language model is.
_MODEL = VerdictSource.of(f"{VERDICT}|provider:openai")


@dataclass(frozen=True)
class RateDifference:
    """What is known of the second system's rate less the first one's, on the rows of both.

    changes, sizes: of each group, the sum of the differences, and the rows with both verdicts, shape (m,). discordant,
    changed: how many of these rows have different verdicts, and different answers. to_come: the rows of groups that
    were not asked about. largest: the most rows of a group. by_judge: whether people's difference is another one.
    confidence: of the limits.
    """

    changes: FloatArray
    sizes: FloatArray
    discordant: float
    changed: float
    to_come: FloatArray
    largest: float
    by_judge: bool
    confidence: float

    @cached_property
    def limits(self) -> tuple[float, float]:
        """The limits of the difference of the verdicts, by their confidence sequence."""
        from goldmeter.statistics.stopping import difference_sequence

        return difference_sequence(self.changes, self.sizes, self.largest, self.confidence)[:2]

    @cached_property
    def shown(self) -> tuple[float, float]:
        """The limits that the report shows."""
        low, high = self.limits
        n = self.sizes.sum()
        if not n:
            return low, high
        return self._shown(low, min(max(self.changes.sum() / n, low), high), high, self._unlike)

    @property
    def sign(self) -> int:
        """1 if the second system is better for certain, -1 if the first one is, else 0."""
        low, high = self.shown
        return int(low > 0.0) - int(high < 0.0)

    def can_be(self, sign: int) -> bool:
        """Whether more rows could still lead to this sign, 1 or -1.

        They can't if the rest would not suffice though all of it differed in this direction, or if the judge's own
        error is too large at every difference within the limits.
        """
        end = self.limits[sign > 0]
        low, high = self._shown(end, end, end, Unlikeness(*(max(abs(end), share) for share in self._unlike[:2])))
        if (low if sign > 0 else -high) <= 0.0:
            return False
        sizes, changes = np.append(self.sizes, self.to_come), np.append(self.changes, sign * self.to_come)
        discordant, changed = (count + self.to_come.sum() for count in (self.discordant, self.changed))
        return replace(self, sizes=sizes, changes=changes, discordant=discordant, changed=changed).sign == sign

    @property
    def is_over(self) -> bool:
        """Whether the sign is decided, or can't be."""
        return self.sign != 0 or not any(self.can_be(sign) for sign in (1, -1))

    @property
    def _unlike(self) -> Unlikeness:
        n = max(self.sizes.sum(), 1.0)
        return Unlikeness(self.discordant / n, self.changed / n)

    def _shown(self, low: float, value: float, high: float, unlike: Unlikeness) -> tuple[float, float]:
        from goldmeter.statistics import people_difference

        if not (self.by_judge and unlike.changed):
            return low, high
        scale = difference_scale(_MODEL, unlike).value
        sampling = standard_error(low, high, self.confidence) ** 2
        found = people_difference(value, scale, sampling, confidence=1.0 - AT_LOOKS * (1.0 - self.confidence))
        return min(found.low, low), max(found.high, high)


def best_of(systems: Iterable[str], differences: Mapping[tuple[str, str], RateDifference]) -> str | None:
    """Return the system that is better for certain than each other one, if there is one."""
    return next((name for name in systems if all(one.sign == sign for one, sign in _of(name, differences))), None)


def can_be_best(system: str, differences: Mapping[tuple[str, str], RateDifference]) -> bool:
    """Whether more rows could still show that a system is better than each other one."""
    return all(one.sign == sign or (not one.is_over and one.can_be(sign)) for one, sign in _of(system, differences))


def _of(
    system: str, differences: Mapping[tuple[str, str], RateDifference]
) -> Iterator[tuple[RateDifference, Literal[1, -1]]]:
    """Yield the differences of a system, and the sign of each if it is the better one."""
    return ((one, 1 if system == pair[1] else -1) for pair, one in differences.items() if system in pair)
