"""What answers took, latency, tokens and cost: mean, median and 95th percentile of each candidate, and the total."""

from collections.abc import Iterator, Sequence
from math import isfinite
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from goldmeter.estimates.column_facts import RESOURCES, SHARES, is_stopped
from goldmeter.estimates.columns import Hashes, group_keys, hashed
from goldmeter.estimates.estimates import is_one_cluster, with_warnings
from goldmeter.estimates.metrics_report import Limited, ResourceEntry, Resources, ResourceStatistic
from goldmeter.metrics.base import Floats
from goldmeter.pipeline.tables import Parts
from goldmeter.statistics import Estimate
from goldmeter.statistics.clusters import Codes
from goldmeter.statistics.quantiles import average_interval, quantile_interval

# Digits that are kept: costs may be millionths of a dollar.
DIGITS = 6
ONE_CLUSTER = "no limits: all rows are in one cluster"
BY_JUDGE = "no limits: no more answers were asked for when the judge stopped"


def kinds_of(load: Parts) -> list[str]:
    """What is known of the answers in data/load."""
    return [kind for kind in RESOURCES if kind in load.schema.names]


def entries(load: Parts, confidence: float, *, grouped: bool) -> Resources:
    """Return candidate → kind → what its answers took, of candidates with numbers; candidates by name.

    All rows count alike: weights of rows are not used. One column of numbers is in memory at a time.

    Args:
        load: data/load.
        confidence: Of each interval.
        grouped: Whether any row has a group.
    """
    found: Resources = {}
    for kind in kinds_of(load):
        for name, (values, keys, missing) in _gathered(load, kind, grouped=grouped).items():
            if values.size:
                entry = _entry(kind, *in_order(values, keys), missing, confidence)
                found.setdefault(name, {})[kind] = _without_limits(entry) if is_stopped(load.about) else entry
    return {name: found[name] for name in sorted(found)}


def limits(entries: Resources) -> dict[str, dict[str, Limited]]:
    """Candidate → name of a measure → its value with limits."""
    return {
        name: {
            f"{kind}_{statistic}": value
            for kind, entry in own.items()
            for statistic, value in (("mean", entry["mean"]), ("p50", entry["p50"]), ("p95", entry["p95"]))
        }
        for name, own in entries.items()
    }


def statistic_of(values: Floats, statistic: str, clusters: Codes | None, confidence: float) -> Estimate:
    """Estimate a statistic of some rows, shape (n,), n >= 1; without limits if all are in one cluster."""
    share = SHARES[statistic]
    if is_one_cluster(clusters):
        point = average_interval(values) if share is None else quantile_interval(values, share)
        return point._replace(low=-np.inf, high=np.inf, method=point.method.with_notes(ONE_CLUSTER))
    return with_warnings(
        lambda: (
            average_interval(values, clusters, confidence)
            if share is None
            else quantile_interval(values, share, clusters, confidence)
        )
    )


def in_order(values: Floats, keys: Hashes | None) -> tuple[Floats, Codes | None]:
    """Sort values, by cluster where there are clusters, so that sums do not depend on the order of rows."""
    if keys is None:
        return np.sort(values), None
    order = np.lexsort((values, keys))
    return values[order], np.unique(keys[order], return_inverse=True)[1]


def signature(kind: str) -> str:
    """How the numbers were made."""
    return f"{kind}|unit:{RESOURCES[kind]}|quantile:inverted_cdf|v:1"


def significant(value: float) -> float | None:
    """Round to six significant digits; an infinite value becomes None."""
    return float(f"{value:.{DIGITS}g}") if isfinite(value) else None


def _gathered(load: Parts, kind: str, *, grouped: bool) -> dict[str, tuple[Floats, Hashes | None, int]]:
    """Candidate → its numbers, the keys of their clusters, and how many answers have no number."""
    parts: dict[str, list[tuple[Floats, Any, int]]] = {}
    for number in range(len(load)):
        for name, own in _of_part(load, number, kind, grouped=grouped):
            parts.setdefault(name, []).append(own)
    return {name: _joined(own) for name, own in parts.items()}


def _of_part(load: Parts, number: int, kind: str, *, grouped: bool) -> Iterator[tuple[str, tuple[Floats, Any, int]]]:
    rows = load.part(number, ["candidate", kind, *(["id", "group"] if grouped else [])])
    keys = group_keys(rows["group"], hashed(rows["id"])).view(np.uint64) if grouped else None
    values = rows[kind].to_numpy()
    for name in rows["candidate"].unique().to_pylist():
        own = pc.equal(rows["candidate"], pa.scalar(name)).to_numpy(zero_copy_only=False).astype(np.bool_)
        has_value = own & ~np.isnan(values)
        missing = int(own.sum() - has_value.sum())
        yield name, (values[has_value], None if keys is None else keys[has_value], missing)


def _joined(parts: Sequence[tuple[Floats, Any, int]]) -> tuple[Floats, Hashes | None, int]:
    values, keys, missing = zip(*parts, strict=True)
    return np.concatenate(values), None if keys[0] is None else np.concatenate(keys), sum(missing)


def _entry(kind: str, values: Floats, clusters: Codes | None, missing: int, confidence: float) -> ResourceEntry:
    mean, p50, p95 = (_stated(statistic_of(values, statistic, clusters, confidence)) for statistic in SHARES)
    return {
        "unit": RESOURCES[kind],
        "n": values.size,
        "n_missing": missing,
        "total": significant(float(values.sum())),
        "mean": mean,
        "p50": p50,
        "p95": p95,
        "signature": signature(kind),
    }


def _without_limits(entry: ResourceEntry) -> ResourceEntry:
    for name in SHARES:
        entry[name] |= {"low": None, "high": None, "method": BY_JUDGE, "notes": [BY_JUDGE]}  # type: ignore[literal-required]
    return entry


def _stated(estimate: Estimate) -> ResourceStatistic:
    low = estimate.low if estimate.low == -np.inf else max(estimate.low, 0.0)
    return {
        "value": significant(estimate.value),
        "low": significant(low),
        "high": significant(estimate.high),
        "method": str(estimate.method),
        "notes": [*estimate.method.notes],
    }
