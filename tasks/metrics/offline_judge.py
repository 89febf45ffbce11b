"""The offline judge in Python: its verdicts, probabilities and reasons for pairs, each row judged once."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from tasks.errors import ParamsError
from tasks.metrics.base import Floats, Metric
from tasks.metrics.catalogue import configure, declaring
from tasks.metrics.pairs import Pairs

if TYPE_CHECKING:
    from tasks.models.offline import Judged

# The probability of the verdict "right"; no metric of params.yaml, the judge stage gives it for every row.
OFFLINE_MATCH = "offline_match"


@dataclass(frozen=True)
class OfflineJudge:
    """The offline judge's view of pairs, computed on first use."""

    pairs: Pairs

    @cached_property
    def judged(self) -> "Judged":
        """Probability and reason of each row."""
        from tasks.models import offline

        pairs = self.pairs
        return offline.judge_columns(pairs.inputs, pairs.flat_references, pairs.offsets, pairs.responses)

    def scores(self, name: str) -> Floats:
        """Return verdicts (1 or 0) or probabilities (offline_match), shape (n,); NaN is unmeasured."""
        from tasks.models.offline import RIGHT

        probabilities = self.judged.probabilities
        if name == OFFLINE_MATCH:
            return probabilities
        return np.where(np.isnan(probabilities), np.nan, probabilities >= RIGHT)


def judged_metric(name: str, options: Mapping[str, Any]) -> Metric | None:
    """Return the metric of this name as the offline judge gives it; None for `offline_match`, which has no options.

    Raises:
        ParamsError: The metric or an option needs a model on a server.
    """
    others = {key: value for key, value in options.items() if key != "provider"}
    if name == OFFLINE_MATCH:
        if set(others) - {"profile"}:
            raise ParamsError(f"{OFFLINE_MATCH}: unknown option {min(others)!r}; it has no options")
        return None
    metric = configure("judge", name, others)
    given = declaring("judge", "has_offline")
    if name not in given or options.get("provider", "offline") != "offline":
        listed = " and ".join([*given, OFFLINE_MATCH])
        raise ParamsError(f"{name}: the offline judge gives {listed} only; the stage `judge` asks a server")
    return metric
