"""Verdicts of the offline judge: a probability that the response is right, and a reason, per row."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tasks.models.offline import domain
from tasks.models.offline.features import row_features
from tasks.models.offline.reasons import reasons
from tasks.models.offline.trees import shipped

# Smallest probability of the verdict "right".
RIGHT = 0.5
BLANK = "the response is blank"


class Judged(NamedTuple):
    """Verdicts of n rows.

    Attributes:
        probabilities: Shape (n,), float64, in [0, 1]; NaN without a response or a reference, 0 for a blank response.
        reasons: The deciding fact in one sentence; None where the probability is NaN.
        outside: Why a row lies outside the judge's domain; None inside, without a probability, and for a blank
            response.
    """

    probabilities: NDArray[np.float64]
    reasons: list[str | None]
    outside: list[str | None]


def judge(inputs: Sequence[str | None], references: Sequence[Sequence[str]], responses: Sequence[str | None]) -> Judged:
    """Judge each row, independently of the others.

    Args:
        inputs: Question of each row, or None.
        references: Accepted answers of each row.
        responses: Response of each row, or None.

    Raises:
        ValueError: The lengths differ.
    """
    if not len(inputs) == len(references) == len(responses):
        raise ValueError(
            f"{len(inputs)} inputs, {len(references)} rows of references and {len(responses)} responses: "
            "there must be as many of each"
        )
    probabilities, explanations = np.full(len(responses), np.nan), list[str | None]([None] * len(responses))
    outside = list[str | None]([None] * len(responses))
    accepted = [[text for text in row if text and text.strip()] for row in references]
    judged = []
    for i, (response, row) in enumerate(zip(responses, accepted, strict=True)):
        if response is None or not row:
            continue
        if response.strip():
            judged.append(i)
        else:
            probabilities[i], explanations[i] = 0.0, BLANK
    if judged:
        features = row_features(
            [inputs[i] or "" for i in judged], [accepted[i] for i in judged], [responses[i] or "" for i in judged]
        )
        probabilities[judged] = shipped().probabilities(features.features)
        row_reasons = reasons(features, [accepted[i] for i in judged], probabilities[judged] >= RIGHT)
        outside_of = domain.reasons(features).tolist()
        for i, reason, number in zip(judged, row_reasons, outside_of, strict=True):
            explanations[i] = reason
            outside[i] = domain.REASONS[number] if number >= 0 else None
    return Judged(probabilities, explanations, outside)
