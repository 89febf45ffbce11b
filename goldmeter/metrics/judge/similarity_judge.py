"""Similarity judge: a judge rates similarity from 1 (unrelated) to 5 (equivalent)."""

from typing import ClassVar

from goldmeter.metrics.judged import JudgeMetric
from goldmeter.metrics.verdict_types import Scale, VerdictType


class SimilarityJudge(JudgeMetric):
    """The rating; with several draws, their mean."""

    default_threshold: ClassVar[float | None] = 3.0
    verdict_type: ClassVar[VerdictType] = Scale("rating", 1, 5)
    knows_canaries: ClassVar[bool] = True
    explanation: ClassVar[str | None] = None
