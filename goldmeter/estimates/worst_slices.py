"""The worst slices by the primary measure: how far they lie below the other rows, corrected for their number."""

from collections.abc import Iterator, Sequence
from math import sqrt
from typing import NamedTuple

from goldmeter.estimates.column_facts import VALUE
from goldmeter.estimates.estimates import rounded
from goldmeter.estimates.metrics_report import Limited, SliceEntry, WorstSlices
from goldmeter.estimates.sums import CandidateSums, ColumnSums
from goldmeter.statistics.clusters import ClusterTotals
from goldmeter.statistics.moments import Moments
from goldmeter.statistics.multiplicity import simultaneous_interval

# Measured rows that a slice and the rest need at least: with fewer no slice can be told from the rest.
FEWEST = 5
WORST = 3
# Slices whose intervals are computed: those that lie lowest by their standard errors.
PROMISING = 20
# A slice with a larger share of rows outside the judge's domain allows no claim.
MOST_OUTSIDE = 0.1


class _Slice(NamedTuple):
    """The rows of one value of a slice column, and the other rows of the candidate."""

    candidate: str
    column: str
    value: str
    inside: "Values"
    rest: "Values"


class Values(NamedTuple):
    """The sums of a measure's values: of pass and fail, or of scores; clusters: None for independent rows."""

    moments: Moments
    clusters: ClusterTotals | None


def worst_slices(scored: Sequence[CandidateSums], measure: str, confidence: float, *, by_judge: bool) -> WorstSlices:
    """The slices whose rate lies most surely below that of the other rows of the same candidate.

    All slices of all candidates are one family of tests, whose intervals hold together. The interval of a difference
    combines those of both rates. Slices are ranked by the upper limit of the difference.

    Args:
        scored: The candidates.
        measure: The primary measure; its pass rate, or the mean of a score without one.
        confidence: Of all intervals together.
        by_judge: Whether a judge gave the verdicts, so that slices outside of its domain are left out.

    Source: Newcombe 1998 (method 10); Zou & Donner 2008 for its form with any two intervals.
    """
    bounds, sign = _bounds(scored, measure)
    left_out, tests = set[tuple[str, str]](), 0
    lowest: dict[tuple[str, str], float] = {}  # rounded, so that sums by other parts give the same order
    for candidate in scored:
        for size in _sizes(candidate, measure, sign):
            key = (size.column, size.value)
            if by_judge and size.outside > MOST_OUTSIDE:
                left_out.add(key)
            elif size.n >= FEWEST:
                tests += 1
                below = rounded(size.below)
                lowest[key] = min(below, lowest.get(key, below))
    promising = [key for key in sorted(lowest, key=lambda key: (lowest[key], key)) if key not in left_out][:PROMISING]
    parts = [part for candidate in scored for part in _slices(candidate, measure, promising)]
    found: dict[tuple[str, str], list[SliceEntry]] = {}
    for part in parts:
        found.setdefault((part.column, part.value), []).append(_entry(part, bounds, tests, confidence, sign))
    for entries in found.values():
        entries.sort(key=lambda entry: rounded(_worst_case(entry, sign)))
    ranked = sorted(found.items(), key=lambda item: (rounded(_worst_case(item[1][0], sign)), item[0]))
    return {
        "measure": measure,
        "tests": tests,
        "left_out": len(left_out),
        "slices": [{"column": name, "value": value, "candidates": rows} for (name, value), rows in ranked[:WORST]],
    }


class _Size(NamedTuple):
    """How many rows a slice has, or the other rows if they are fewer, and how far it lies below them.

    below: in standard errors of equal rows, clusters ignored; negative where it is worse. outside: share of its rows
    outside the judge's domain.
    """

    column: str
    value: str
    n: int
    below: float
    outside: float


def _sizes(candidate: CandidateSums, measure: str, sign: float) -> Iterator[_Size]:
    """Yield the size of each slice of a candidate."""
    whole = _measured(candidate.columns, measure)
    if whole is None:
        return
    every = _values(whole, measure).moments
    for name, values in candidate.slices.items():
        for value, columns in values.items():
            column = _measured(columns, measure)
            if column is None or not column.n_measured:
                continue
            own = _values(column, measure).moments
            others = every - own
            difference = own.mean - (others.mean if others.n else 0.0)
            below = sign * difference * sqrt(own.n * others.n / every.n)
            yield _Size(name, value, min(own.n, others.n), below, column.outside / own.n)


def _slices(candidate: CandidateSums, measure: str, chosen: Sequence[tuple[str, str]]) -> Iterator[_Slice]:
    """Yield the chosen slices of a candidate that have enough rows in several clusters."""
    whole = _measured(candidate.columns, measure)
    if whole is None:
        return
    for name, value in chosen:
        column = _measured(candidate.slices.get(name, {}).get(value, ()), measure)
        if column is None:
            continue
        rest = whole - column
        parts = [_values(part, measure) for part in (column, rest)]
        few = min(column.n_measured, rest.n_measured) < FEWEST
        if not few and not any(part.clusters and len(part.clusters.size) == 1 for part in parts):
            yield _Slice(candidate.name, name, value, *parts)


def _measured(columns: Sequence[ColumnSums], measure: str) -> ColumnSums | None:
    """The column of a measure with bounds; None where there is none."""
    name = measure.removesuffix(VALUE)
    column = next((one for one in columns if one.name == name), None)
    if column is None or (column.facts.bounds is None and not _is_rate(column, measure)):
        return None
    return column


def _is_rate(column: ColumnSums, measure: str) -> bool:
    """Whether the measure is the column's pass rate; else it is the mean of its scores."""
    return column.passed is not None and column.name == measure


def _values(column: ColumnSums, measure: str) -> Values:
    clusters = column.clusters
    if _is_rate(column, measure):
        return Values(column.verdicts, None if clusters is None else clusters.of_verdicts())
    return Values(column.moments, None if clusters is None else clusters.of_scores(column.facts.bounds))


def _bounds(scored: Sequence[CandidateSums], measure: str) -> tuple[tuple[float, float], float]:
    """The bounds of the values, and 1 where more is better, else −1."""
    name = measure.removesuffix(VALUE)
    for candidate in scored:
        for column in candidate.columns:
            if column.name == name:
                as_rate = column.passed is not None and name == measure
                bounds = (0.0, 1.0) if as_rate or column.facts.bounds is None else column.facts.bounds
                return bounds, 1.0 if as_rate else column.facts.sign
    return (0.0, 1.0), 1.0


def _entry(part: _Slice, bounds: tuple[float, float], tests: int, confidence: float, sign: float) -> SliceEntry:
    inside, rest = (simultaneous_interval(*values, bounds, tests, confidence) for values in (part.inside, part.rest))
    value = inside.value - rest.value
    low = value - sqrt((inside.value - inside.low) ** 2 + (rest.high - rest.value) ** 2)
    high = value + sqrt((inside.high - inside.value) ** 2 + (rest.value - rest.low) ** 2)
    difference: Limited = {"value": value, "low": low, "high": high}
    return {
        "candidate": part.candidate,
        "n": part.inside.moments.n,
        "rate": inside.value,
        "rest": rest.value,
        "difference": difference,
        "worse": high < 0.0 if sign > 0 else low > 0.0,
    }


def _worst_case(entry: SliceEntry, sign: float) -> float:
    limit = entry["difference"]["high"] if sign > 0 else entry["difference"]["low"]
    return sign * (limit or 0.0)
