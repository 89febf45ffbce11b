"""Worst slices: how far the primary measure of a slice lies below that of the other rows, with family-wise control."""

from collections.abc import Iterator, Sequence
from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tasks.metrics.base import Floats
from tasks.scores import estimates
from tasks.scores.column_facts import VALUE
from tasks.scores.columns import Candidate, Mask
from tasks.scores.metrics_report import Limited, SliceEntry, WorstSlices

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
    inside: Floats
    rest: Floats
    groups: tuple[NDArray[np.intp] | None, NDArray[np.intp] | None]


def worst_slices(scored: Sequence[Candidate], measure: str, confidence: float, *, by_judge: bool) -> WorstSlices:
    """The slices whose rate lies most surely below that of the other rows of the same candidate.

    All slices of all candidates are one family of tests: each interval has the confidence 1 − α / tests (Bonferroni).
    The interval of a difference combines those of both rates. Slices are ranked by the upper limit of the difference.

    Args:
        scored: The candidates.
        measure: The primary measure; its pass rate, or the mean of a score without one.
        confidence: Of all intervals together.
        by_judge: Whether a judge gave the verdicts, so that slices outside of its domain are left out.

    Source: Newcombe 1998 (method 10); Zou & Donner 2008 for its form with any two intervals.
    """
    bounds, sign = _bounds(scored, measure)
    left_out, tests = set[tuple[str, str]](), 0
    lowest: dict[tuple[str, str], float] = {}
    for candidate in scored:
        for size in _sizes(candidate, measure, sign):
            key = (size.column, size.value)
            if by_judge and size.outside > MOST_OUTSIDE:
                left_out.add(key)
            elif size.n >= FEWEST:
                tests += 1
                lowest[key] = min(size.below, lowest.get(key, size.below))
    promising = [key for key in sorted(lowest, key=lambda key: (lowest[key], key)) if key not in left_out][:PROMISING]
    parts = [part for candidate in scored for part in _slices(candidate, measure, promising)]
    level = 1.0 - (1.0 - confidence) / max(1, tests)
    found: dict[tuple[str, str], list[SliceEntry]] = {}
    for part in parts:
        found.setdefault((part.column, part.value), []).append(_entry(part, bounds, level, sign))
    for entries in found.values():
        entries.sort(key=lambda entry: _worst_case(entry, sign))
    ranked = sorted(found.items(), key=lambda item: (_worst_case(item[1][0], sign), item[0]))
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


def _sizes(candidate: Candidate, measure: str, sign: float) -> Iterator[_Size]:
    """Yield the size of each slice of a candidate."""
    values = _values(candidate, measure)
    if values is None:
        return
    measured = ~np.isnan(values)
    own = values[measured]
    outside = np.zeros(len(own)) if candidate.outside is None else candidate.outside[measured].astype(np.float64)
    for name, coded in candidate.slices.items():
        codes, k = coded.codes[measured], len(coded.values)
        n = np.bincount(codes, minlength=k)
        total, foreign = (np.bincount(codes, weights=one, minlength=k) for one in (own, outside))
        for code in np.flatnonzero(n):
            rest = len(own) - n[code]
            difference = total[code] / n[code] - (own.sum() - total[code]) / max(rest, 1)
            below = sign * float(difference) * sqrt(n[code] * rest / len(own))
            yield _Size(name, coded.values[code], int(min(n[code], rest)), below, float(foreign[code] / n[code]))


def _slices(candidate: Candidate, measure: str, chosen: Sequence[tuple[str, str]]) -> Iterator[_Slice]:
    """Yield the chosen slices of a candidate that have enough rows in several clusters."""
    values = _values(candidate, measure)
    if values is None:
        return
    measured = ~np.isnan(values)
    for name, value in chosen:
        if name not in candidate.slices or value not in (coded := candidate.slices[name]).values:
            continue
        inside = measured & (coded.codes == [*coded.values].index(value))
        rest = measured & ~inside
        groups = (_chosen(candidate.groups, inside), _chosen(candidate.groups, rest))
        if min(inside.sum(), rest.sum()) >= FEWEST and not any(map(estimates.is_one_cluster, groups)):
            yield _Slice(candidate.name, name, value, values[inside], values[rest], groups)


def _values(candidate: Candidate, measure: str) -> Floats | None:
    """1 and 0 for rows that pass and fail, or scores of a measure without a pass rate; NaN without one; shape (n,)."""
    name = measure.removesuffix(VALUE)
    column = next((one for one in candidate.columns if one.name == name), None)
    if column is None or (column.facts.bounds is None and column.passed is None):
        return None
    if column.passed is None or name != measure:
        return column.values if column.facts.bounds is not None else None
    return np.where(np.isnan(column.values), np.nan, column.passed.astype(np.float64))


def _bounds(scored: Sequence[Candidate], measure: str) -> tuple[tuple[float, float], float]:
    """The bounds of the values, and 1 where more is better, else −1."""
    name = measure.removesuffix(VALUE)
    for candidate in scored:
        for column in candidate.columns:
            if column.name == name:
                as_rate = column.passed is not None and name == measure
                bounds = (0.0, 1.0) if as_rate or column.facts.bounds is None else column.facts.bounds
                return bounds, 1.0 if as_rate else column.facts.sign
    return (0.0, 1.0), 1.0


def _chosen(groups: NDArray[np.intp] | None, rows: Mask) -> NDArray[np.intp] | None:
    return None if groups is None else groups[rows]


def _entry(part: _Slice, bounds: tuple[float, float], level: float, sign: float) -> SliceEntry:
    inside, rest = (
        estimates.mean(values, groups, bounds, level)
        for values, groups in zip((part.inside, part.rest), part.groups, strict=True)
    )
    value = inside.value - rest.value
    low = value - sqrt((inside.value - inside.low) ** 2 + (rest.high - rest.value) ** 2)
    high = value + sqrt((inside.high - inside.value) ** 2 + (rest.value - rest.low) ** 2)
    difference: Limited = {"value": value, "low": low, "high": high}
    return {
        "candidate": part.candidate,
        "n": len(part.inside),
        "rate": inside.value,
        "rest": rest.value,
        "difference": difference,
        "worse": high < 0.0 if sign > 0 else low > 0.0,
    }


def _worst_case(entry: SliceEntry, sign: float) -> float:
    limit = entry["difference"]["high"] if sign > 0 else entry["difference"]["low"]
    return sign * (limit or 0.0)
