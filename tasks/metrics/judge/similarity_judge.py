"""Similarity by a judge: an integer from 1 (unlike) to 5 (equivalent)."""

from typing import ClassVar

from tasks.metrics.judged import JudgeMetric


class SimilarityJudge(JudgeMetric):
    """The rating; of several draws, their mean."""

    default_threshold: ClassVar[float | None] = 3.0
    verdict_name: ClassVar[str] = "rating"
    verdict_schema: ClassVar[dict[str, object]] = {"type": "integer", "enum": [1, 2, 3, 4, 5]}

    @property
    def bounds(self) -> tuple[float, float]:
        return (1.0, 5.0)

    def verdict_score(self, value: object) -> float | None:
        return float(value) if isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= 5 else None
