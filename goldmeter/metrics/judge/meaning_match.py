"""Meaning match: a judge decides whether the response gives the same essential answer as the reference."""

from typing import ClassVar

from goldmeter.metrics.judged import JudgeMetric
from goldmeter.metrics.verdict_types import Boolean, VerdictType


class MeaningMatch(JudgeMetric):
    """1 if the judge says true, else 0. With several draws the score is the share of true, and a majority passes."""

    default_threshold: ClassVar[float | None] = None
    verdict_type: ClassVar[VerdictType] = Boolean()
    is_correctness: ClassVar[bool] = True
    has_offline: ClassVar[bool] = True
    knows_canaries: ClassVar[bool] = True
