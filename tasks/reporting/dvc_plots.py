"""Tables that `dvc plots` draws, by the templates in .dvc/plots."""

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import pyarrow as pa

from tasks.reporting.histograms import Distribution

Row = dict[str, Any]
# Decimals of every number.
DECIMALS = 6


def intervals(estimates: pa.Table, prefix: str = "") -> list[Row]:
    """Return one row per candidate and metric with its interval: the scores, or the pass rates with prefix `pass_`."""
    return [
        {"metric": row["metric"], "candidate": row["candidate"]}
        | {name: _rounded(row[f"{prefix}{name}"]) for name in ("value", "low", "high")}
        for row in estimates.to_pylist()
        if row["slice"] is None and row[f"{prefix}value"] is not None
    ]


def _rounded(number: float | None) -> float | None:
    """Round a number; one row with an unbounded score has a value without an interval."""
    return None if number is None else round(number, DECIMALS)


def distributions(histograms: Sequence[Distribution]) -> list[Row]:
    """Return one row per candidate, metric and edge of a bin: the share of scores below the edge."""
    return [
        {
            "metric": scores.metric,
            "candidate": name,
            "score": round(float(edge), DECIMALS),
            "share below": round(share, DECIMALS),
        }
        for scores in histograms
        for name, shares in scores.shares.items()
        for edge, share in zip(scores.edges, [0.0, *accumulate(map(float, shares))], strict=True)
    ]
