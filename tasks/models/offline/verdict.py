"""The offline judge: does a response give a reference's essential answer? A probability and a reason a row."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tasks.models.offline.features import facts
from tasks.models.offline.reasons import reasons
from tasks.models.offline.trees import shipped

RIGHT = 0.5
"""From this probability on, the verdict is that the answer is right."""
BLANK = "the response is blank"


class Judged(NamedTuple):
    """Verdicts of n rows.

    probabilities: shape (n,), float64, in [0, 1]; NaN without a response or a reference, 0 for a blank response.
    reasons: the deciding facts; None where the probability is NaN.
    """

    probabilities: NDArray[np.float64]
    reasons: list[str | None]


def judge(inputs: Sequence[str | None], references: Sequence[Sequence[str]], responses: Sequence[str | None]) -> Judged:
    """Judge each row by itself; ValueError unless there are as many of each."""
    if not len(inputs) == len(references) == len(responses):
        raise ValueError(
            f"{len(inputs)} inputs, {len(references)} rows of references and {len(responses)} responses: "
            "there must be as many of each"
        )
    probabilities, why = np.full(len(responses), np.nan), list[str | None]([None] * len(responses))
    accepted = [[text for text in row if text and text.strip()] for row in references]
    asked = []
    for i, (response, row) in enumerate(zip(responses, accepted, strict=True)):
        if response is None or not row:
            continue
        if response.strip():
            asked.append(i)
        else:
            probabilities[i], why[i] = 0.0, BLANK
    if asked:
        of_rows = facts(
            [inputs[i] or "" for i in asked], [accepted[i] for i in asked], [responses[i] or "" for i in asked]
        )
        probabilities[asked] = shipped().probabilities(of_rows.features)
        said = reasons(of_rows, [accepted[i] for i in asked], probabilities[asked] >= RIGHT)
        for i, reason in zip(asked, said, strict=True):
            why[i] = reason
    return Judged(probabilities, why)
