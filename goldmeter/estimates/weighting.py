"""Rows that count as in real traffic, by `aggregate.mix` or `dataset.weight`: numbers beside those of the rows."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from math import isfinite
from typing import Annotated, Any, NamedTuple, Protocol, cast

from pydantic import ConfigDict, Field, field_validator

from goldmeter.console.format import listed, rate
from goldmeter.errors import ParamsError, did_you_mean
from goldmeter.estimates.column_facts import WEIGHT
from goldmeter.estimates.estimates import UNBOUNDED
from goldmeter.estimates.metrics_report import (
    Candidates,
    HeadlineEntry,
    Limited,
    MetricEntry,
    StoppedEntry,
    WeightedEntry,
    WeightingEntry,
)
from goldmeter.estimates.primary import VERDICT
from goldmeter.estimates.sums import CandidateSums, ColumnSums, WeightedColumn, column_of, summed
from goldmeter.pipeline.settings import Section
from goldmeter.pipeline.tables import Parts
from goldmeter.statistics.weighted import WeightedSums, weighted_mean

CORPUS = "a corpus score counts words, and weights count rows"
NOTHING = "every measured row has weight 0"


class RowWeights(NamedTuple):
    """Weights of rows; column: of the data set."""

    column: str

    @property
    def option(self) -> str:
        """The option of params.yaml."""
        return "dataset.weight"

    @property
    def words(self) -> str:
        """What it is, in words, with its option."""
        return "the weights of dataset.weight"

    def entries(
        self, candidate: CandidateSums, rows: "Mapping[tuple[str, str | None], Mapping[str, Any]]", confidence: float
    ) -> Iterator[tuple[str, WeightedEntry]]:
        """Yield the metrics of a candidate with their weighted numbers."""
        for one in candidate.columns:
            yield one.name, weighted_entry(one, rows[one.name, None], confidence)

    def outside(self, candidate: CandidateSums) -> float:
        """The weighted share of judged rows outside of the judge's domain."""
        judged = column_of(candidate, VERDICT)
        if judged is None or judged.weighted is None or not judged.weighted.scores.weight:
            return 0.0
        return judged.weighted.outside / judged.weighted.scores.weight


def weight_exponent(load: Parts) -> int:
    """The exponent of the power of two that is larger than all weights of a table; 0 without weights."""
    from numpy import frexp

    if WEIGHT not in load.schema.names:
        return 0
    largest = max((part[WEIGHT].to_numpy().max(initial=0.0) for part in load.read([WEIGHT])), default=0.0)
    return int(frexp(largest)[1])


def weighted_entry(sums: ColumnSums, row: Mapping[str, Any], confidence: float) -> WeightedEntry:
    """The weighted numbers of a column; row: of data/aggregate, of all rows as they are."""
    if sums.weighted is None or not sums.n_measured:
        return {"value": None, "low": None, "high": None, "n_eff": None}
    if not sums.weighted.scores.n:
        return {"value": None, "low": None, "high": None, "n_eff": None, "missing": NOTHING}
    found: WeightedEntry = {"value": None, "low": None, "high": None, "n_eff": sums.weighted.scores.n_eff}
    if sums.stats is None:
        limits = _limits(sums.weighted.scores, sums, row, "", confidence)
        found["value"], found["low"], found["high"] = limits["value"], limits["low"], limits["high"]
    else:
        found["missing"] = CORPUS
    if sums.weighted.passes is not None:
        found["pass_rate"] = _limits(sums.weighted.passes, sums, row, "pass_", confidence)
    return found


def _limits(weighted: WeightedSums, sums: ColumnSums, row: Mapping[str, Any], kind: str, confidence: float) -> Limited:
    """The weighted value with its limits; equal weights change nothing."""
    if weighted.n == sums.n_measured and weighted.are_equal:
        return {"value": row[f"{kind}value"], "low": row[f"{kind}low"], "high": row[f"{kind}high"]}
    bounds = (0.0, 1.0) if kind else sums.facts.bounds or UNBOUNDED
    mean = weighted_mean(weighted, bounds, confidence)
    low, high = (limit if isfinite(limit) else None for limit in (mean.low, mean.high))
    return {"value": mean.value, "low": low, "high": high}


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
            one = column_of(replace(candidate, columns=columns), VERDICT)
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
    bounds, clusters, passes = sums.facts.bounds, sums.clusters, None
    scores = WeightedSums.of_equal(sums.moments, bounds, clusters and clusters.keyed(clusters.of_scores(bounds)))
    if sums.passed is not None:
        groups = clusters and clusters.keyed(clusters.of_verdicts())
        passes = WeightedSums.of_equal(sums.verdicts, (0.0, 1.0), groups)
    return WeightedColumn(scores, passes, float(sums.outside))


# The estimates of one candidate: metric, and value of the mix's slice column or None → row of data/aggregate.
EstimateRows = Mapping[tuple[str, str | None], Mapping[str, Any]]


class Weighting(Protocol):
    """What says how often rows count."""

    @property
    def option(self) -> str:
        """The option of params.yaml."""

    @property
    def words(self) -> str:
        """What it is, in words, with its option."""

    @property
    def column(self) -> str:
        """The column of the data set."""

    def entries(
        self, candidate: CandidateSums, rows: EstimateRows, confidence: float
    ) -> Iterator[tuple[str, WeightedEntry]]:
        """Yield the metrics of a candidate with their weighted numbers.

        Raises:
            ParamsError: It does not fit the data.
        """

    def outside(self, candidate: CandidateSums) -> float:
        """The weighted share of judged rows outside of the judge's domain."""


def weighting_of(mix: Mix | None, load: Parts) -> "Mix | RowWeights | None":
    """What says how often rows count: the mix, or the weights in data/load; None without either."""
    if mix is not None:
        return mix
    return RowWeights(str(load.about.get(WEIGHT, WEIGHT))) if WEIGHT in load.schema.names else None


def weighting_entry(weighting: Mix | RowWeights) -> WeightingEntry:
    """What says how often rows count, as documents have it."""
    entry: WeightingEntry = {"option": weighting.option, "column": weighting.column}
    if isinstance(weighting, Mix):
        entry["shares"] = dict(weighting.shares)
    return entry


def check_weighting(sections: Mapping[str, Any]) -> None:
    """Check that mix or weights fit the other sections.

    Raises:
        ParamsError: Both are given, the mix names no slice column, or one can't be combined with another option.
    """
    aggregate, dataset = sections["aggregate"], sections["dataset"]
    if aggregate.mix:
        check_mix(aggregate.mix, dataset.slices)
    if aggregate.mix and dataset.weight:
        raise ParamsError("dataset.weight: not possible with aggregate.mix, which weights rows too; leave out one")
    option = "aggregate.mix" if aggregate.mix else "dataset.weight" if dataset.weight else None
    if option is None:
        return
    if dataset.labels == "designed":
        raise ParamsError(f"{option}: not possible with dataset.labels: designed, which has weights of its own")
    if aggregate.guarantee:
        raise ParamsError(f"{option}: not possible with aggregate.guarantee, which holds for one rate alone")
    if dataset.has_draws:
        raise ParamsError(f"{option}: not possible with repeated answers (dataset.draw, dataset.lists: draws)")
    for schedule, settings in getattr(sections.get("schedule"), "root", {}).items():
        if settings.floors:
            raise ParamsError(
                f"schedule.{schedule}.floors: not possible with {option}; floors test rows as they arrive"
            )


class Weighted(NamedTuple):
    """The numbers of a run with weights.

    scored: the candidates, whose share of rows outside of the judge's domain is weighted. entries: candidate → metric →
    entry, with the weighted numbers in place of those of the rows as they are.
    """

    scored: Sequence[CandidateSums]
    entries: Candidates


def add_weighted(
    tree: Candidates,
    rows: Sequence[Mapping[str, Any]],
    scored: Sequence[CandidateSums],
    weighting: Weighting,
    confidence: float,
    stopped: StoppedEntry | None,
) -> None:
    """Add to each entry its weighted value and pass rate; stopped: as of `with_stopped`, whose limits they have then.

    Args:
        tree: Candidate → metric → entry.
        rows: Those of data/aggregate.
        scored: The candidates.
        weighting: Says how often rows count.
        confidence: Of the intervals.

    Raises:
        ParamsError: A value that occurs in the data has no share.
    """
    for candidate in scored:
        own = {
            (row["metric"], row.get("slice_value")): row
            for row in rows
            if row["candidate"] == candidate.name and row.get("slice") in {None, weighting.column}
        }
        for name, entry in weighting.entries(candidate, own, confidence):
            tree[candidate.name][name]["weighted"] = _by_looks(entry, candidate.name, name, stopped)


def _by_looks(entry: WeightedEntry, candidate: str, metric: str, stopped: StoppedEntry | None) -> WeightedEntry:
    """The weighted numbers with the limits of a judge that may stop early; without any if it did and has none."""
    if stopped is None or entry["value"] is None:
        return entry
    limits, nothing = stopped["limits"].get(metric, {}).get(candidate), (None, None)
    if limits is None and not ("answers_left" in stopped and stopped["rows_left"]):
        return entry
    low, high = nothing if limits is None else limits["weighted"]
    found: WeightedEntry = {**entry, "low": low, "high": high}
    if "pass_rate" in found:
        low, high = nothing if limits is None else limits.get("weighted_passing", nothing)
        found["pass_rate"] = {**found["pass_rate"], "low": low, "high": high}
    return found


def weighted(scored: Sequence[CandidateSums], entries: Candidates, weighting: Weighting) -> Weighted:
    """The candidates and their entries with the weighted numbers."""
    return Weighted(
        [replace(one, judged=1, outside=_outside(one, weighting)) if one.judged else one for one in scored],
        {name: _by_weights(metrics) for name, metrics in entries.items()},
    )


def _outside(candidate: CandidateSums, weighting: Weighting) -> "Counter[str]":
    """Why rows lie outside of the judge's domain → the weighted share of such rows."""
    judged = column_of(candidate, VERDICT)
    share = weighting.outside(candidate) if judged is not None and judged.n_measured else 0.0
    total = candidate.outside.total()
    return Counter({why: share * n / total for why, n in candidate.outside.items()})


def _by_weights(entries: Mapping[str, MetricEntry]) -> dict[str, MetricEntry]:
    found: dict[str, MetricEntry] = {}
    for name, entry in entries.items():
        own = entry["weighted"]
        limits = {key: own[key] for key in ("value", "low", "high")}
        changed: dict[str, Any] = {**entry, **limits}
        changed.pop("ppi", None)
        if "pass_rate" in changed:
            changed["pass_rate"] = {**changed["pass_rate"], **(own.get("pass_rate") or dict.fromkeys(limits))}
        found[name] = cast(MetricEntry, changed)
    return found


def with_plain(
    weighted: Mapping[str, HeadlineEntry],
    plain: Mapping[str, HeadlineEntry],
    entries: Candidates,
    weighting: Weighting,
) -> dict[str, HeadlineEntry]:
    """The weighted headlines, each with that of the rows as they are; no claim where there is no weighted number."""
    found: dict[str, HeadlineEntry] = {}
    for name, entry in weighted.items():
        other = plain[name]
        metric = entries.get(name, {}).get(other["measure"].partition(".")[0])
        missing = metric["weighted"].get("missing", "") if metric else ""
        limits = {"value": other["value"], "low": other["low"], "high": other["high"]}
        if missing and entry["value"] is None and other["value"] is not None:
            note = f"no claim by {weighting.option}: {missing}"
            unknown: Any = {**other, "low": None, "high": None, "status": "unknown", "note": note, "plain": limits}
            found[name] = unknown
            continue
        n_eff = metric["weighted"]["n_eff"] if metric else None
        rows = "" if n_eff is None else f", worth {n_eff:.0f} rows"
        note = f"{entry['note'].removesuffix('.')}; by {weighting.words} ({weighting.column}{rows})"
        changed: Any = {**entry, "note": f"{note}.", "plain": limits}
        found[name] = changed
    return found
