"""Rows that count as in real traffic: numbers by `aggregate.mix` or `dataset.weight`, beside those of the rows."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Protocol, cast

from tasks.errors import ParamsError
from tasks.pipeline.tables import Parts
from tasks.scores.column_facts import WEIGHT
from tasks.scores.metrics_report import Candidates, HeadlineEntry, MetricEntry, WeightedEntry, WeightingEntry
from tasks.scores.mix import Mix, check_mix
from tasks.scores.primary import VERDICT, column
from tasks.scores.row_weights import RowWeights
from tasks.scores.sums import CandidateSums

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
) -> None:
    """Add to each entry its weighted value and pass rate.

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
            tree[candidate.name][name]["weighted"] = entry


def weighted(scored: Sequence[CandidateSums], entries: Candidates, weighting: Weighting) -> Weighted:
    """The candidates and their entries with the weighted numbers."""
    return Weighted(
        [replace(one, judged=1, outside=_outside(one, weighting)) if one.judged else one for one in scored],
        {name: _by_weights(metrics) for name, metrics in entries.items()},
    )


def _outside(candidate: CandidateSums, weighting: Weighting) -> "Counter[str]":
    """Why rows lie outside of the judge's domain → the weighted share of such rows."""
    judged = column(candidate, VERDICT)
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
