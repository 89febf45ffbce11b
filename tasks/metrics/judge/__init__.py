"""Metrics of the judge family: one file, with its prompt beside it, per metric."""

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
    """Verdicts of the offline judge, shape (n,), 1.0 or 0.0; NaN where a row can't be measured.

    Raises ParamsError for what only a model on a server can do, ValueError when the lengths differ.
    """
    import numpy as np

    from tasks.metrics.catalogue import configure
    from tasks.models import offline

    configure("judge", name, options)
    if (name, provider) != ("meaning_match", "offline"):
        raise ParamsError(f"{name}: the offline judge gives meaning_match only; the stage `judge` asks a server")
    lists = [[each] if isinstance(each, str) else list(each) for each in references]
    asked = [None] * len(responses) if inputs is None else inputs
    probabilities = offline.judge(asked, lists, responses).probabilities
    return np.where(np.isnan(probabilities), np.nan, probabilities >= offline.RIGHT)
