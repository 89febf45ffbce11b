"""The table of estimates as reports/metrics.json and reports/summary.json have it."""

from typing import Any

import pyarrow as pa

from tasks.scores.estimates import rounded
from tasks.scores.metrics_report import Candidates, MetricEntry, PreferenceEntry
from tasks.scores.preferences import win_rates

# Columns that an entry of reports/metrics.json repeats, in its order.
REPEATED = ("value", "low", "high", "n", "n_not_asked", "n_failed", "worst", "best", "method", "signature")


def tree(table: pa.Table) -> Candidates:
    """Arrange the table as candidate → metric → numbers, rounded to 6 decimals."""
    candidates: Candidates = {}
    for row in table.to_pylist():
        metrics = candidates.setdefault(row["candidate"], {})
        if row["slice"] is None:
            metrics[row["metric"]] = _entry(row)
        else:
            slices = metrics[row["metric"]].setdefault("slices", {})
            slices.setdefault(row["slice"], {})[row["slice_value"]] = _entry(row)
    return candidates


def summary(table: pa.Table, preference: PreferenceEntry | None = None) -> dict[str, dict[str, float]]:
    """Return reports/summary.json: candidate → metric → value to 4 significant digits, nothing else.

    With preferences, also win rates such as `preferred_over.aurora`.

    A metric with a threshold also has `<metric>.pass`, its pass rate, so that DVC shows what a threshold changes.
    """
    values: dict[str, dict[str, float]] = {}
    for row in table.to_pylist():
        if row["slice"] is None and row["value"] is not None:
            named = {row["metric"]: row["value"]}
            if row["threshold"] is not None and row["pass_value"] is not None:
                named[f"{row['metric']}.pass"] = row["pass_value"]
            values.setdefault(row["candidate"], {}).update((name, float(f"{n:.4g}")) for name, n in named.items())
    for candidate, rates in win_rates(preference).items():
        own = values.setdefault(candidate, {})
        own |= {name: float(f"{one['value']:.4g}") for name, one in rates.items() if one["value"] is not None}
    return values


def _entry(row: dict[str, Any]) -> MetricEntry:
    entry: MetricEntry = rounded({name: row[name] for name in REPEATED})
    if row["pass_low"] is not None:
        rate = rounded({name: row[f"pass_{name}"] for name in ("value", "low", "high")})
        entry["pass_rate"] = rate | {"threshold": row["threshold"], "signature": row["rate_signature"]}
    return entry
