"""The rate of one system while a judge asks in random order: its limits, and whether more can decide it."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from goldmeter.estimates.headline import with_error
from goldmeter.estimates.judge_bias import STATED_RATE
from goldmeter.estimates.metrics_report import Limited
from goldmeter.estimates.primary import TargetVerdict, target_verdict
from goldmeter.statistics.arrays import FloatArray

CONFIDENCE = 0.95
DECISIONS = (TargetVerdict.MET, TargetVerdict.NOT_MET)


@dataclass(frozen=True)
class Rate:
    """What is known of the rate, or of a mean score from 0 to 1, of one system.

    sizes, totals: of each group, its rows with a verdict, and those that pass or the sum of their scores, shape (m,).
    to_come: the rows of each group that was not asked about. largest: the most rows of a group. by_judge: whether
    people's rate is another one.
    """

    sizes: FloatArray
    totals: FloatArray
    to_come: FloatArray
    largest: float
    by_judge: bool

    @cached_property
    def limits(self) -> tuple[float, float]:
        """The limits of the rate of the verdicts, by their confidence sequence."""
        from goldmeter.statistics.stopping import confidence_sequence

        return confidence_sequence(self.totals, self.sizes, self.largest, CONFIDENCE)

    @cached_property
    def shown(self) -> tuple[float, float]:
        """The limits that the report shows."""
        low, high = self.limits
        n = self.sizes.sum()
        return self._shown(low, min(max(self.totals.sum() / n, low), high) if n else low, high)

    def verdict(self, target: float) -> TargetVerdict:
        """Whether the target is met, by the limits that the report shows."""
        return target_verdict(target, *self.shown)

    def can_be(self, wanted: TargetVerdict, target: float) -> bool:
        """Whether more rows could still lead to this verdict.

        They can't if the rest would not suffice though all of it passed or failed, or if the judge's own error is too
        large at every rate within the limits.
        """
        is_met = wanted is TargetVerdict.MET
        end = self.limits[is_met]
        if target_verdict(target, *self._shown(end, end, end)) is not wanted:
            return False
        rest = self.to_come if is_met else np.zeros_like(self.to_come)
        sizes, totals = np.append(self.sizes, self.to_come), np.append(self.totals, rest)
        return replace(self, sizes=sizes, totals=totals).verdict(target) is wanted

    def is_over(self, target: float) -> bool:
        """Whether the target is decided, or can't be."""
        return self.verdict(target) in DECISIONS or not any(self.can_be(wanted, target) for wanted in DECISIONS)

    def _shown(self, low: float, value: float, high: float) -> tuple[float, float]:
        if not self.by_judge:
            return low, high
        limits: Limited = with_error({"value": value, "low": low, "high": high}, STATED_RATE, CONFIDENCE)
        return limits["low"] or 0.0, 1.0 if limits["high"] is None else limits["high"]
