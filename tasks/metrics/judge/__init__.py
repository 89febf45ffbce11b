"""Metrics scored by a judge: one module each, with its prompt beside it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tasks.errors import ParamsError

if TYPE_CHECKING:
    from tasks.metrics.base import Floats


def score(
    name: str,
    responses: Sequence[str | None],
    references: Sequence[str | Sequence[str]],
    *,
    inputs: Sequence[str | None] | None = None,
    provider: str = "offline",
    **options: Any,
) -> "Floats":
    """Return verdicts of the offline judge, shape (n,), 1.0 or 0.0; NaN where a row can't be measured.

    Raises:
        ParamsError: The metric or an option needs a model on a server.
        ValueError: The lengths differ.
    """
    import numpy as np

    from tasks.metrics.catalogue import configure
    from tasks.models import offline

    configure("judge", name, options)
    if (name, provider) != ("meaning_match", "offline"):
        raise ParamsError(f"{name}: the offline judge gives meaning_match only; the stage `judge` asks a server")
    lists = [[texts] if isinstance(texts, str) else list(texts) for texts in references]
    questions = [None] * len(responses) if inputs is None else inputs
    probabilities = offline.judge(questions, lists, responses).probabilities
    return np.where(np.isnan(probabilities), np.nan, probabilities >= offline.RIGHT)
