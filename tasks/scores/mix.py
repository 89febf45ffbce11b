"""Shares of slices in real traffic, `aggregate.mix`: numbers by them of a run's score columns."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from math import isfinite, sqrt
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, cast

import numpy as np
from pydantic import ConfigDict, Field, field_validator

from tasks.console.format import listed, rate
from tasks.errors import ParamsError, did_you_mean
from tasks.pipeline.settings import Section
from tasks.scores.column_facts import ColumnFacts
from tasks.scores.metrics_report import WeightedEntry
from tasks.scores.primary import VERDICT, column
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

    @property
    def option(self) -> str:
        """The option of params.yaml."""
        return "aggregate.mix"

    @property
    def words(self) -> str:
        """What it is, in words, with its option."""
        return "the mix of aggregate.mix"

    def entries(
        self, candidate: CandidateSums, rows: "Mapping[tuple[str, str | None], Mapping[str, Any]]", confidence: float
    ) -> Iterator[tuple[str, WeightedEntry]]:
        """Yield the metrics of a candidate with their numbers by the mix.

        Raises:
            ParamsError: A value that occurs in the data has no share.
        """
        slices = candidate.slices.get(self.column, {})
        if reason := without_share(self, slices):
            raise ParamsError(f"{reason}; give each a share")
        for place, one in enumerate(candidate.columns):
            parts = {value: slices[value][place] for value in self.shares if value in slices}
            measured = {value: sums for value, sums in parts.items() if sums.n_measured}
            known = {value: rows[one.name, value] for value in measured}
            yield one.name, _Strata(self, known, measured, one.facts, confidence).entry()

    def outside(self, candidate: CandidateSums) -> float:
        """The share by the mix of judged rows outside of the judge's domain."""
        share = 0.0
        for value, columns in candidate.slices.get(self.column, {}).items():
            one = column(replace(candidate, columns=columns), VERDICT)
            if one is not None and one.n_measured:
                share += self.shares[value] * one.outside / one.n_measured
        return share


class Mixing(Section):
    """The mix in section `aggregate` of params.yaml."""

    model_config = ConfigDict(extra="ignore")
    mix: Mapping[Name, Mapping[Name, ShareOf]] = {}

    @field_validator("mix", mode="before")
    @classmethod
    def _values_as_text(cls, mix: Any) -> Any:
        if mix is None:
            return {}
        if not isinstance(mix, dict):
            return mix
        return {
            name: {_as_text(value): share for value, share in shares.items()} if isinstance(shares, dict) else shares
            for name, shares in mix.items()
        }

    @field_validator("mix")
    @classmethod
    def _one_whole(cls, mix: Mapping[str, Mapping[str, float]]) -> Mapping[str, Mapping[str, float]]:
        if len(mix) > 1:
            raise ValueError(f"expected the values of one slice column, found {', '.join(mix)}")
        for name, shares in mix.items():
            total = sum(shares.values())
            if abs(total - 1.0) > ROUNDING:
                raise ValueError(f"the shares of {name} add up to {total:g}; expected 1")
        return mix

    @property
    def chosen_mix(self) -> Mix | None:
        """The mix, its shares divided by their sum; None without one."""
        for name, shares in self.mix.items():
            total = sum(shares.values())
            return Mix(name, {value: share / total for value, share in shares.items()})
        return None


def check_mix(mix: Mapping[str, Mapping[str, float]], slices: Sequence[str]) -> None:
    """Check that the mix is of a slice column.

    Raises:
        ParamsError: It is not.
    """
    for name in mix:
        if name not in slices:
            allowed = ", ".join(slices) or "none"
            suggestion = did_you_mean(name, slices) or ";"
            raise ParamsError(f"aggregate.mix.{name}: no column of dataset.slices{suggestion} there is: {allowed}")


def without_share(mix: Mix, values: Collection[str]) -> str:
    """Why the mix does not fit these values of its column; empty where it does."""
    if unknown := sorted({*values} - {*mix.shares}):
        return f"aggregate.mix.{mix.column}: no share for {listed(unknown)}, which the data has"
    return ""


def missing_values(mix: Mix, values: Collection[str]) -> str:
    """Values with a share and without a measured row, in words; empty where there is none."""
    missing = [f"{value} ({rate(share)})" for value, share in sorted(mix.shares.items()) if value not in values]
    return f"no measured row where {mix.column} is {listed(missing)}" if missing else ""


class _Strata(NamedTuple):
    """One metric of a candidate by the values of the mix: rows of data/aggregate, and sums, of those measured."""

    mix: Mix
    rows: Mapping[str, Mapping[str, Any]]
    parts: Mapping[str, ColumnSums]
    facts: ColumnFacts
    confidence: float

    def entry(self) -> WeightedEntry:
        """The value and the pass rate by the mix."""
        if missing := missing_values(self.mix, self.rows):
            return {"value": None, "low": None, "high": None, "n_eff": None, "missing": missing}
        found = cast(WeightedEntry, self._mixed(""))
        if all(row.get("pass_value") is not None for row in self.rows.values()):
            limits = self._mixed("pass_")
            found["pass_rate"] = {"value": limits["value"], "low": limits["low"], "high": limits["high"]}
        return found

    def _mixed(self, kind: str) -> dict[str, Any]:
        from tasks.statistics.mixed import Stratum, bounded_limits, cluster_correlation, mixed_mean

        shares, parts = self.mix.shares, self.parts
        strata = []
        for slice_value, row in self.rows.items():
            middle, low, high = (row[f"{kind}{name}"] for name in ("value", "low", "high"))
            if low is None or high is None:
                low, high = -np.inf, np.inf
            strata.append(Stratum(shares[slice_value], np.nan if middle is None else middle, low, high, row["n"]))
        keyed = [_influence(sums, self.facts, of_passes=bool(kind)) for sums in parts.values()]
        grouped = [one for one in keyed if one is not None]
        correlation = cluster_correlation(grouped) if grouped else None
        mean = mixed_mean(strata, correlation)
        limits = mean.low, mean.high
        bounds = (0.0, 1.0) if kind else self.facts.bounds
        if bounds:
            if kind or all(one.stats is None for one in parts.values()):
                errors = np.array([shares[value] * _error(one, of_passes=bool(kind)) for value, one in parts.items()])
                largest = _largest(self.mix, parts)
                wider = bounded_limits(mean, errors, largest, bounds, self.confidence, correlation)
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
