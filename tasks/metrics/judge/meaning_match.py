"""Meaning match: a judge decides whether the response gives the same essential answer as the reference."""

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from tasks.metrics.base import Floats
from tasks.metrics.judged import JudgeMetric

MAJORITY = 0.5


class MeaningMatch(JudgeMetric):
    """1 if the judge says true, else 0. With several draws the score is the share of true, and a majority passes."""

    default_threshold: ClassVar[float | None] = None
    verdict_name: ClassVar[str] = "verdict"
    verdict_schema: ClassVar[dict[str, object]] = {"type": "boolean"}

    def verdict_score(self, value: object) -> float | None:
        return float(value) if isinstance(value, bool) else None

    @property
    def pass_rule(self) -> str:
        return f"pass:>{MAJORITY:g}"

    def result(self, scores: Floats) -> NDArray[np.str_]:
        return np.where(np.isnan(scores), "unmeasured", np.where(scores > MAJORITY, "pass", "fail"))
