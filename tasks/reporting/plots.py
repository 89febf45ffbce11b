"""What `dvc plots` draws: small JSON tables that its templates in .dvc/plots read."""

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import pyarrow as pa

from tasks.reporting.charts import Distribution

Row = dict[str, Any]


def scores(estimates: pa.Table) -> list[Row]:
    """One row per candidate and metric: the value and its interval."""
    return _intervals(estimates, "")


def pass_rates(estimates: pa.Table) -> list[Row]:
    """One row per candidate and metric that has a threshold: the pass rate and its interval."""
    return _intervals(estimates, "pass_")


def _intervals(estimates: pa.Table, prefix: str) -> list[Row]:
    return [
        {"metric": row["metric"], "candidate": row["candidate"]}
        | {name: round(row[f"{prefix}{name}"], 6) for name in ("value", "low", "high")}
        for row in estimates.to_pylist()
        if row["slice"] is None and row[f"{prefix}value"] is not None
    ]


def distributions(drawn: Sequence[Distribution]) -> list[Row]:
    """One row per candidate, metric and edge of a bin: the share of scores below it."""
    return [
        {
            "metric": each.metric,
            "candidate": name,
            "score": round(float(edge), 6),
            "share below": round(share, 6),
        }
        for each in drawn
        for name, shares in each.shares.items()
        for edge, share in zip(each.edges, [0.0, *accumulate(map(float, shares))], strict=True)
    ]
