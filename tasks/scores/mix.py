"""Shares of slices in real traffic, `aggregate.mix`: rates by them beside those of the rows as they are."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from math import isfinite, sqrt
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, cast

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, field_validator

from tasks.console.format import listed, rate
from tasks.errors import ParamsError, did_you_mean
from tasks.scores.column_facts import ColumnFacts
from tasks.scores.metrics_report import Candidates, HeadlineEntry, MetricEntry, MixEntry, WeightedEntry
from tasks.scores.primary import MEANING_MATCH, column
from tasks.scores.sums import CandidateSums, ColumnSums

if TYPE_CHECKING:  # importing scipy takes half a second
    from tasks.metrics.base import Floats

# How far the sum of the shares may be from 1.
ROUNDING = 1e-6
Name = Annotated[str, Field(min_length=1)]
ShareOf = Annotated[float, Field(gt=0, le=1, allow_inf_nan=False)]


def _as_text(value: Any) -> Any:
    """A value as slices have it: YAML reads 2024 and true as a number and a truth value."""
    return str(value).lower() if isinstance(value, bool) else str(value) if isinstance(value, int | float) else value


class Mix(NamedTuple):
    """A slice column, and value → its share of real traffic; the shares add up to 1."""

    column: str
    shares: Mapping[str, float]


class Mixing(BaseModel):
    """The mix in section `aggregate` of params.yaml."""

    model_config = ConfigDict(frozen=True, extra="ignore")
    mix: Mapping[Name, Mapping[Name, ShareOf]] = {}

    @field_validator("mix", mode="before")
    @classmethod
    def _values_as_text(cls, mix: Any) -> Any:
        return checked_values(mix)

    @field_validator("mix")
    @classmethod
    def _one_whole(cls, mix: Mapping[str, Mapping[str, float]]) -> Mapping[str, Mapping[str, float]]:
        return checked_shares(mix)

    @property
    def chosen(self) -> Mix | None:
        """The mix; None without one."""
        return mix_of(self.mix)


def checked_values(mix: Any) -> Any:
    """The mix with values of slices as text; anything else as it is."""
    if mix is None:
        return {}
    if not isinstance(mix, dict):
        return mix
    return {
        name: {_as_text(value): share for value, share in shares.items()} if isinstance(shares, dict) else shares
        for name, shares in mix.items()
    }


def checked_shares(mix: Mapping[str, Mapping[str, float]]) -> Mapping[str, Mapping[str, float]]:
    """The mix, if it names one column, whose shares add up to 1; raises ValueError otherwise."""
    if len(mix) > 1:
        raise ValueError(f"expected the values of one slice column, found {', '.join(mix)}")
    for name, shares in mix.items():
        total = sum(shares.values())
        if abs(total - 1.0) > ROUNDING:
            raise ValueError(f"the shares of {name} add up to {total:g}; expected 1")
    return mix


def mix_of(mix: Mapping[str, Mapping[str, float]]) -> Mix | None:
    """The mix of the setting, its shares divided by their sum; None without one."""
    for name, shares in mix.items():
        total = sum(shares.values())
        return Mix(name, {value: share / total for value, share in shares.items()})
    return None


def check_mix(sections: Mapping[str, Any]) -> None:
    """Check that the mix fits the other sections.

    Raises:
        ParamsError: It names no slice column, or is combined with what it can't be combined with.
    """
    mix, dataset = sections["aggregate"].mix, sections["dataset"]
    for name in mix:
        if name not in dataset.slices:
            allowed = ", ".join(dataset.slices) or "none"
            suggestion = did_you_mean(name, dataset.slices) or ";"
            raise ParamsError(f"aggregate.mix.{name}: no column of dataset.slices{suggestion} there is: {allowed}")
        if dataset.labels == "designed":
            raise ParamsError("aggregate.mix: not possible with dataset.labels: designed, which has weights of its own")
        if sections["aggregate"].guarantee:
            raise ParamsError("aggregate.mix: not possible with aggregate.guarantee, which holds for one rate alone")
        if dataset.has_draws:
            raise ParamsError("aggregate.mix: not possible with repeated answers (dataset.draw, dataset.lists: draws)")
        for schedule, settings in getattr(sections.get("schedule"), "root", {}).items():
            if settings.floors:
                raise ParamsError(
                    f"schedule.{schedule}.floors: not possible with aggregate.mix; floors test rows as they arrive"
                )


def without_share(mix: Mix, values: Collection[str]) -> str:
    """Why the mix does not fit these values of its column; empty where it does."""
    if unknown := sorted({*values} - {*mix.shares}):
        return f"aggregate.mix.{mix.column}: no share for {listed(unknown)}, which the data has"
    return ""


def missing_values(mix: Mix, values: Collection[str]) -> str:
    """Values with a share and without a measured row, in words; empty where there is none."""
    missing = [f"{value} ({rate(share)})" for value, share in sorted(mix.shares.items()) if value not in values]
    return f"no measured row where {mix.column} is {listed(missing)}" if missing else ""


def add_weighted(
    tree: Candidates, rows: Sequence[Mapping[str, Any]], scored: Sequence[CandidateSums], mix: Mix, confidence: float
) -> None:
    """Add to each entry its value and pass rate by the mix.

    Args:
        tree: Candidate → metric → entry.
        rows: Those of data/aggregate.
        scored: The candidates.
        mix: The shares.
        confidence: Of the intervals.

    Raises:
        ParamsError: A value that occurs in the data has no share.
    """
    places = {
        (row["candidate"], row["metric"], row["slice_value"]): row for row in rows if row.get("slice") == mix.column
    }
    for candidate in scored:
        slices = candidate.slices.get(mix.column, {})
        if reason := without_share(mix, slices):
            raise ParamsError(f"{reason}; give each a share")
        for place, one in enumerate(candidate.columns):
            parts = {value: slices[value][place] for value in mix.shares if value in slices}
            measured = {value: sums for value, sums in parts.items() if sums.n_measured}
            known = {value: places[candidate.name, one.name, value] for value in measured}
            tree[candidate.name][one.name]["weighted"] = _weighted(mix, known, measured, one.facts, confidence)


def _weighted(
    mix: Mix,
    rows: Mapping[str, Mapping[str, Any]],
    parts: Mapping[str, ColumnSums],
    facts: ColumnFacts,
    confidence: float,
) -> WeightedEntry:
    if missing := missing_values(mix, rows):
        return {"value": None, "low": None, "high": None, "n_eff": None, "missing": missing}
    found = cast(WeightedEntry, _mixed(mix, rows, parts, "", facts, confidence))
    if all(row.get("pass_value") is not None for row in rows.values()):
        limits = _mixed(mix, rows, parts, "pass_", facts, confidence)
        found["pass_rate"] = {"value": limits["value"], "low": limits["low"], "high": limits["high"]}
    return found


def _mixed(
    mix: Mix,
    rows: Mapping[str, Mapping[str, Any]],
    parts: Mapping[str, ColumnSums],
    kind: str,
    facts: ColumnFacts,
    confidence: float,
) -> dict[str, Any]:
    from tasks.statistics.mixed import Stratum, bounded_limits, cluster_correlation, mixed_mean

    strata = []
    for slice_value, row in rows.items():
        middle, low, high = (row[f"{kind}{name}"] for name in ("value", "low", "high"))
        if low is None or high is None:
            low, high = -np.inf, np.inf
        strata.append(Stratum(mix.shares[slice_value], np.nan if middle is None else middle, low, high, row["n"]))
    keyed = [_influence(sums, facts, of_passes=bool(kind)) for sums in parts.values()]
    grouped = [one for one in keyed if one is not None]
    correlation = cluster_correlation(grouped) if grouped else None
    mean = mixed_mean(strata, correlation)
    limits = mean.low, mean.high
    bounds = (0.0, 1.0) if kind else facts.bounds
    if bounds:
        if kind or all(one.stats is None for one in parts.values()):
            errors = np.array([mix.shares[value] * _error(one, of_passes=bool(kind)) for value, one in parts.items()])
            wider = bounded_limits(mean, errors, _largest(mix, parts), bounds, confidence, correlation)
            limits = min(mean.low, wider[0]), max(mean.high, wider[1])
        limits = max(limits[0], bounds[0]), min(limits[1], bounds[1])
    low, high = (limit if isfinite(limit) else None for limit in limits)
    value = mean.value if isfinite(mean.value) else None
    return {"value": value, "low": low, "high": high, "n_eff": mean.n_eff}


def _error(sums: ColumnSums, *, of_passes: bool) -> float:
    """The standard error of the mean of a stratum; NaN for one row or cluster."""
    found = _influence(sums, sums.facts, of_passes=of_passes)
    if found is None:
        moments = sums.verdicts if of_passes else sums.moments
        return sqrt(moments.variance / moments.n) if moments.n > 1 else np.nan
    influence = found[1] / sums.n_measured
    count = len(influence)
    return sqrt(float(influence @ influence) * count / (count - 1)) if count > 1 else np.nan


def _largest(mix: Mix, parts: Mapping[str, ColumnSums]) -> float:
    """The largest weight of a row, or of a cluster over all strata."""
    if any(one.clusters is None for one in parts.values()):
        return max(mix.shares[value] / one.n_measured for value, one in parts.items())
    found = [(mix.shares[value] / one.n_measured, one.clusters) for value, one in parts.items() if one.clusters]
    _, codes = np.unique(np.concatenate([clusters.keys for _, clusters in found]), return_inverse=True)
    weights = np.concatenate([weight * clusters.sizes for weight, clusters in found])
    return float(np.bincount(codes, weights=weights).max())


def _influence(sums: ColumnSums, facts: ColumnFacts, *, of_passes: bool) -> "tuple[Any, Floats] | None":
    """The keys of the clusters of a stratum, and their influences on its mean; None for independent rows."""
    if sums.clusters is None:
        return None
    if not of_passes and sums.stats is not None:  # the corpus score is no mean: as if correlated wholly
        return sums.clusters.keys, np.zeros(len(sums.clusters.keys))
    size, total = sums.clusters.of_verdicts() if of_passes else sums.clusters.of_scores(facts.bounds)
    return sums.clusters.keys, total - size * (total.sum() / size.sum())


def weighted_candidates(scored: Sequence[CandidateSums], mix: Mix) -> list[CandidateSums]:
    """The candidates whose share of rows outside of the judge's domain is that by the mix."""
    return [replace(one, judged=1, outside=_outside(one, mix)) if one.judged else one for one in scored]


def _outside(candidate: CandidateSums, mix: Mix) -> "Counter[str]":
    """Why rows lie outside of the judge's domain → the share of such rows by the mix."""
    share = 0.0
    for value, columns in candidate.slices.get(mix.column, {}).items():
        one = column(replace(candidate, columns=columns), MEANING_MATCH)
        if one is not None and one.n_measured:
            share += mix.shares[value] * one.outside / one.n_measured
    total = candidate.outside.total()
    return Counter({why: share * n / total for why, n in candidate.outside.items()})


def by_mix(entries: Mapping[str, MetricEntry]) -> dict[str, MetricEntry]:
    """The entries of a candidate with the numbers by the mix in place of those of the rows as they are."""
    found: dict[str, MetricEntry] = {}
    for name, entry in entries.items():
        weighted = entry["weighted"]
        limits = {key: weighted[key] for key in ("value", "low", "high")}
        mixed: dict[str, Any] = {**entry, **limits}
        mixed.pop("ppi", None)
        if "pass_rate" in mixed:
            mixed["pass_rate"] = {**mixed["pass_rate"], **(weighted.get("pass_rate") or dict.fromkeys(limits))}
        found[name] = cast(MetricEntry, mixed)
    return found


def with_plain(
    mixed: Mapping[str, HeadlineEntry],
    plain: Mapping[str, HeadlineEntry],
    entries: Candidates,
    mix: Mix,
) -> dict[str, HeadlineEntry]:
    """The headlines by the mix, each with that of the rows as they are; no claim where a share has no rows."""
    found: dict[str, HeadlineEntry] = {}
    for name, entry in mixed.items():
        other = plain[name]
        metric = entries.get(name, {}).get(other["measure"].partition(".")[0])
        missing = metric["weighted"].get("missing", "") if metric else ""
        limits = {"value": other["value"], "low": other["low"], "high": other["high"]}
        if missing and other["value"] is not None:
            note = f"no claim by aggregate.mix: {missing}"
            unknown: Any = {**other, "low": None, "high": None, "status": "unknown", "note": note, "plain": limits}
            found[name] = unknown
            continue
        n_eff = metric["weighted"]["n_eff"] if metric else None
        rows = "" if n_eff is None else f", worth {n_eff:.0f} rows"
        note = f"{entry['note'].removesuffix('.')}; by the mix of aggregate.mix ({mix.column}{rows})"
        changed: Any = {**entry, "note": f"{note}.", "plain": limits}
        found[name] = changed
    return found


def mix_entry(mix: Mix) -> MixEntry:
    """The mix as documents have it."""
    return {"column": mix.column, "shares": dict(mix.shares)}
