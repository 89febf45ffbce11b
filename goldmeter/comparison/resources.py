"""Latency, tokens and cost of two versions: differences of mean, median and 95th percentile on their shared rows."""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from goldmeter.comparison.gate import Gate
from goldmeter.comparison.pairing import Blocks
from goldmeter.estimates.column_facts import RESOURCES, SHARES, is_stopped, resource_measures
from goldmeter.estimates.estimates import is_one_cluster, silenced
from goldmeter.estimates.primary import Maximum, TargetVerdict, maximum_verdict
from goldmeter.estimates.resources import kinds_of, signature, significant, statistic_of
from goldmeter.metrics.base import Floats
from goldmeter.pipeline.tables import Parts
from goldmeter.statistics.arrays import BoolArray
from goldmeter.statistics.clusters import Codes
from goldmeter.statistics.quantiles import average_interval, quantile_difference
from goldmeter.wording.comparison_document import MaximumEntry, MeasureEntry, PairEntry, RefusedEntry
from goldmeter.wording.verdicts import FIXED_ROWS, ROLES, Refusal, Role, Verdict, Why, only_there, refusal


class Paired(NamedTuple):
    """What the shared rows of two candidates took: before and after, shape (n,), NaN where it is not known.

    clusters: shape (n,), or None for independent rows.
    """

    before: Floats
    after: Floats
    clusters: Codes | None

    @property
    def is_missing(self) -> BoolArray:
        """Which rows lack a number; shape (n,)."""
        return np.isnan(self.before) | np.isnan(self.after)

    @property
    def measured(self) -> "Paired":
        """The rows with both numbers, in an order that does not depend on that of the data."""
        known = np.flatnonzero(~self.is_missing)
        columns = [self.after, self.before, *([] if self.clusters is None else [self.clusters])]
        rows = known[np.lexsort([column[known] for column in columns])]
        clusters = None if self.clusters is None else np.unique(self.clusters[rows], return_inverse=True)[1]
        return Paired(self.before[rows], self.after[rows], clusters)


class Limits(NamedTuple):
    """A difference with its limits, infinite where there are none, and the values before and after."""

    value: float
    low: float
    high: float
    before: float
    after: float


class Found(NamedTuple):
    """What answers took in pairs of candidates. entries: those of the pairs with it. verdicts: those of the guards."""

    entries: list[PairEntry]
    verdicts: list[Verdict]


def without_guards(gate: Gate, *loads: Parts) -> Gate:
    """The gate without its guards on what the answers in any of these tables took."""
    own = _guards(gate, _kinds(loads))
    return gate.model_copy(update={"metrics": {name: one for name, one in gate.metrics.items() if name not in own}})


def with_resources(
    entries: Sequence[PairEntry], pairs: Sequence[Blocks], loads: tuple[Parts, Parts], gate: Gate
) -> Found:
    """Add what answers took to the entries of pairs of candidates.

    The guards are a family of tests of their own, and so are the other measures: their intervals hold together at the
    gate's confidence (Bonferroni). Rows count alike; those whose data changed are left out.

    Args:
        entries: The entries.
        pairs: The paired rows of each entry, in blocks.
        loads: data/load of both versions.
        gate: Section `gate` of params.yaml; the margin of a guard is a share of the value before,
            and a maximum is of the value after.
    """
    kinds = _kinds(loads)
    guards = _guards(gate, kinds)
    paired = [{kind: _paired(blocks, loads, kind) for kind in kinds} for blocks in pairs]
    refusals = [{kind: reason for kind, one in own.items() if (reason := _refusal(one, kind, gate))} for own in paired]
    if any(is_stopped(load.about) for load in loads):
        refusals = [dict.fromkeys(kinds, refusal(Why.STOPPED, said=FIXED_ROWS)) for _ in pairs]
    usable = [[kind for kind in own if kind not in no] for own, no in zip(paired, refusals, strict=True)]
    roles: list[Role] = [_role(name, guards) for own in usable for name in resource_measures(own)]
    confidence = {role: 1.0 - (1.0 - gate.confidence) / max(roles.count(role), 1) for role in ROLES}
    measures = [
        {
            f"{kind}_{statistic}": _measure(own[kind].measured, kind, statistic, guards, confidence)
            for kind in some
            for statistic in SHARES
        }
        for own, some in zip(paired, usable, strict=True)
    ]
    verdicts = [one["verdict"] for own in measures for one in own.values() if one["role"] == "guard"]
    every = zip(entries, measures, refusals, strict=True)
    return Found([_with(entry, own, no, guards) for entry, own, no in every], verdicts)


def _kinds(loads: Sequence[Parts]) -> list[str]:
    return [kind for kind in RESOURCES if any(kind in kinds_of(load) for load in loads)]


def _guards(gate: Gate, kinds: Sequence[str]) -> Mapping[str, float | Maximum]:
    names = resource_measures(kinds)
    return {name: guard for name, guard in gate.metrics.items() if name in names}


def _role(name: str, guards: Collection[str]) -> Role:
    return "guard" if name in guards else "secondary"


def _with(
    entry: PairEntry, measures: Mapping[str, MeasureEntry], refusals: Mapping[str, Refusal], guards: Collection[str]
) -> PairEntry:
    """The entry with more measures, in the order of their roles; a kind that is refused has one line, or its guards."""
    every = sorted([*entry["measures"].items(), *measures.items()], key=lambda item: ROLES.index(item[1]["role"]))
    refused: list[RefusedEntry] = [
        {"measure": name, "role": _role(name, guards), "reason": str(reason), "blocks": name in guards}
        for kind, reason in refusals.items()
        for name in [name for name in resource_measures([kind]) if name in guards] or [kind]
    ]
    return {**entry, "measures": dict(every), "refused": [*entry["refused"], *refused]}


def _paired(blocks: Blocks, loads: tuple[Parts, Parts], kind: str) -> Paired:
    sides: list[list[Floats]] = [[], []]
    clusters = []
    columns = [load.whole([kind])[kind].to_numpy() if kind in load.schema.names else None for load in loads]
    for block in blocks:
        pairing = block.rows
        positions = pairing.base.positions[pairing.base_rows], pairing.head.positions[pairing.head_rows]
        for side, column, rows in zip(sides, columns, positions, strict=True):
            side.append(np.full(rows.size, np.nan) if column is None else column[rows])
        clusters.append(pairing.groups)
    groups = [some for some in clusters if some is not None]
    joined = np.concatenate(groups) if len(groups) == len(clusters) and groups else None
    return Paired(np.concatenate(sides[0]), np.concatenate(sides[1]), joined)


def _refusal(paired: Paired, kind: str, gate: Gate) -> Refusal | None:
    """Why it can't be compared; None where it can."""
    lacking = [int(np.isnan(side).sum()) for side in (paired.before, paired.after)]
    n = paired.before.size
    has = [count < n for count in lacking]
    if not all(has):
        return only_there(has)
    missing = int(paired.is_missing.sum())
    if missing > gate.max_unmeasured * n:
        return refusal(Why.NOT_TAKEN, missing=missing, n=n, kind=kind, before=lacking[0], after=lacking[1])
    return None


def _measure(
    paired: Paired, kind: str, statistic: str, guards: Mapping[str, float | Maximum], confidences: Mapping[Role, float]
) -> MeasureEntry:
    name = f"{kind}_{statistic}"
    role, guard = _role(name, guards), guards.get(name, 0.0)
    confidence = confidences[role]
    found = _difference(paired, statistic, confidence)
    margin = 0.0 if isinstance(guard, Maximum) else guard
    value, low, high, before, after = map(significant, found)
    entry: MeasureEntry = {
        "role": role,
        "unit": "score",
        "base": before,
        "head": after,
        "difference": {
            "value": value,
            "low": low,
            "high": high,
            "p_value": None,
            "method": _METHODS[statistic],
            "notes": [],
        },
        "verdict": _verdict(paired, statistic, margin, confidence, found),
        "n": paired.before.size,
        "margin": significant(margin * found.before) or 0.0,
        "higher_is_better": False,
        "unmeasured": {"not_asked": 0, "failed_base": 0, "failed_head": 0, "worst": None, "best": None},
        "split": {"base": before, "head": after, "shared": value, "composition": 0.0},
        "detectable": None,
        "needed": None,
        "signature": signature(kind),
    }
    return _with_maximum(entry, paired, statistic, guard.max, confidence) if isinstance(guard, Maximum) else entry


def _with_maximum(
    entry: MeasureEntry, paired: Paired, statistic: str, maximum: float, confidence: float
) -> MeasureEntry:
    """The entry of a guard that is decided by the interval after, whatever was before."""
    with silenced():
        after = statistic_of(paired.after, statistic, paired.clusters, confidence)
    verdict = maximum_verdict(maximum, after.low, after.high)
    says = {
        TargetVerdict.MET: Verdict.NO_WORSE,
        TargetVerdict.NOT_MET: Verdict.WORSE,
        TargetVerdict.UNDECIDED: Verdict.CANNOT_TELL,
    }
    limits: MaximumEntry = {"max": maximum, "low": significant(after.low), "high": significant(after.high)}
    return {**entry, "verdict": says[verdict], "maximum": limits}


_METHODS: Mapping[str, str] = {
    "mean": "t of the rows' differences",
    "p50": "order statistics, MOVER",
    "p95": "order statistics, MOVER",
}


def _verdict(paired: Paired, statistic: str, margin: float, confidence: float, found: Limits) -> Verdict:
    """Decide; the margin is a share of the value before, whose own error counts."""
    if np.array_equal(paired.before, paired.after):
        return Verdict.UNCHANGED
    more, less = (
        found if not margin else _difference(paired._replace(before=paired.before * factor), statistic, confidence)
        for factor in (1.0 + margin, 1.0 - margin)
    )
    if more.low > 0.0:
        return Verdict.WORSE
    if less.high < 0.0:
        return Verdict.BETTER
    return Verdict.NO_WORSE if more.high < 0.0 else Verdict.CANNOT_TELL


def _difference(paired: Paired, statistic: str, confidence: float) -> Limits:
    share = SHARES[statistic]
    alone = is_one_cluster(paired.clusters)
    clusters = None if alone else paired.clusters
    with silenced():
        if share is None:
            found = average_interval(paired.after - paired.before, clusters, confidence)
            sides = float(paired.before.mean()), float(paired.after.mean())
            limits = Limits(found.value, found.low, found.high, *sides)
        else:
            two = quantile_difference(paired.before, paired.after, share, clusters, confidence)
            limits = Limits(two.value, two.low, two.high, two.base.value, two.head.value)
    return limits._replace(low=-np.inf, high=np.inf) if alone else limits
