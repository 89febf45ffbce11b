"""Similarity judge: a judge rates similarity from 1 (unrelated) to 5 (equivalent)."""

from typing import ClassVar

from tasks.metrics.judged import JudgeMetric

RATINGS = [1, 2, 3, 4, 5]


class SimilarityJudge(JudgeMetric):
    """The rating; with several draws, their mean."""

    default_threshold: ClassVar[float | None] = 3.0
    verdict_name: ClassVar[str] = "rating"
    verdict_schema: ClassVar[dict[str, object]] = {"type": "integer", "enum": RATINGS}

    @property
    def bounds(self) -> tuple[float, float]:
        return (float(RATINGS[0]), float(RATINGS[-1]))

    def verdict_score(self, value: object) -> float | None:
        return float(value) if isinstance(value, int) and not isinstance(value, bool) and value in RATINGS else None
