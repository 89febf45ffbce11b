"""Shares of slices in real traffic, `aggregate.mix`: each row weighs its slice's share over the slice's rows."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, NamedTuple

from pydantic import ConfigDict, Field, field_validator

from tasks.console.format import listed, rate
from tasks.errors import ParamsError, did_you_mean
from tasks.pipeline.settings import Section
from tasks.scores.metrics_report import WeightedEntry
from tasks.scores.primary import VERDICT, column
from tasks.scores.row_weights import weighted_entry
from tasks.scores.sums import CandidateSums, ColumnSums, WeightedColumn, summed

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
            if missing := missing_values(self, measured):
                yield one.name, {"value": None, "low": None, "high": None, "n_eff": None, "missing": missing}
            else:
                own = replace(one, weighted=self._weighted(measured))
                yield one.name, weighted_entry(own, rows[one.name, None], confidence)

    def outside(self, candidate: CandidateSums) -> float:
        """The share by the mix of judged rows outside of the judge's domain."""
        share = 0.0
        for value, columns in candidate.slices.get(self.column, {}).items():
            one = column(replace(candidate, columns=columns), VERDICT)
            if one is not None and one.n_measured:
                share += self.shares[value] * one.outside / one.n_measured
        return share

    def _weighted(self, parts: Mapping[str, ColumnSums]) -> WeightedColumn:
        """The sums over the rows of each value, which weigh its share together."""
        return summed(_unit(sums).times(self.shares[value] / sums.n_measured) for value, sums in parts.items())


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


def _unit(sums: ColumnSums) -> WeightedColumn:
    """The sums of the measured rows where each has the weight 1."""
    from tasks.statistics.weighted import WeightedSums

    bounds, clusters, passes = sums.facts.bounds, sums.clusters, None
    scores = WeightedSums.of_equal(sums.moments, bounds, clusters and clusters.keyed(clusters.of_scores(bounds)))
    if sums.passed is not None:
        groups = clusters and clusters.keyed(clusters.of_verdicts())
        passes = WeightedSums.of_equal(sums.verdicts, (0.0, 1.0), groups)
    return WeightedColumn(scores, passes, float(sums.outside))
