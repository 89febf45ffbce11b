"""Every candidate against every other: one cell a pair, and who leads."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from tasks.comparison.gate import VALUE, verdict
from tasks.comparison.wording import RELATIONS
from tasks.reporting.score_tables import Metric
from tasks.scores import leading

Row = Mapping[str, Any]
Headlines = Mapping[str, Mapping[str, float]]
NOTHING: Headlines = {}
LABEL = "label"
WORTH = {"better": 1, "worse": -1}
MOST_IN_FULL = 66
"""Pairs that the page shows measure by measure, about 20 kB each: those of 12 candidates."""


class Cell(NamedTuple):
    """How one candidate compares with another; difference: its value, low and high, the one's minus the other's."""

    verdict: str
    difference: dict[str, float | None]


class Matrix(NamedTuple):
    """All pairs by one measure. candidates: the best first. cells: (candidate, compared with) → Cell."""

    measure: str
    candidates: list[str]
    cells: dict[tuple[str, str], Cell]


def lead_measure(pairs: Sequence[Row], wanted: str | None = None) -> str | None:
    """The leading measure of these pairs; of equal rank the wanted metric's, else the first."""
    names = [name for pair in pairs for name in pair["measures"]]
    wanted_first = [name for name in (wanted, f"{wanted}{VALUE}", *names) if name in names]
    return min(wanted_first, key=lambda name: leading.rank(str(name).removesuffix(VALUE)), default=None)


def headlines(metrics: Iterable[Metric]) -> Headlines:
    """Measure → candidate → its pass rate, or its value, over all its rows."""
    found: dict[str, dict[str, float]] = {}
    for metric in metrics:
        for name, value in ((metric.name, "pass_value"), (f"{metric.name}{VALUE}", "value")):
            found[name] = {each: row[value] for each, row in metric.rows.items() if row[value] is not None}
    return found


def matrix(pairs: Sequence[Row], measure: str | None, headline: Headlines = NOTHING) -> Matrix | None:
    """All pairs by one measure; None for fewer than two pairs that have it.

    The more pairs a candidate wins and the fewer it loses, the earlier it stands; then by its headline figure. Values
    of the pairs would not do: each is over the rows that the two share.
    """
    measured = [pair for pair in pairs if measure in pair["measures"]]
    if measure is None or len(measured) < 2:  # noqa: PLR2004 (one pair is a sentence)
        return None
    cells: dict[tuple[str, str], Cell] = {}
    for pair in measured:
        base, head, found = pair["base"], pair["head"], pair["measures"][measure]
        cells[head, base], cells[base, head] = _cell(found), _mirrored(found)
    won = Counter({name: 0 for name, _ in cells})
    for (name, _), cell in cells.items():
        won[name] += WORTH.get(cell.verdict, 0)
    rates = headline.get(measure, {})
    sign = -1 if measured[0]["measures"][measure]["higher_is_better"] else 1
    order = sorted(won, key=lambda name: (-won[name], name not in rates, sign * rates.get(name, 0.0), name))
    return Matrix(measure, order, cells)


def leads(found: Matrix) -> bool:
    """Whether the first candidate was compared with every other, is better than one at least, and worse than none."""
    said = against(found, found.candidates[0])
    compared = sum(len(others) for others in said.values())
    return "better" in said and "worse" not in said and compared == len(found.candidates) - 1


def in_full(pairs: Sequence[Row], found: Matrix | None) -> Sequence[Row]:
    """The pairs to show measure by measure: all; of very many, as many as fit, with the first candidate's first."""
    if len(pairs) <= MOST_IN_FULL:
        return pairs
    best = found.candidates[0] if found else None
    return sorted(pairs, key=lambda pair: best not in (pair["base"], pair["head"]))[:MOST_IN_FULL]


def left_out(pairs: Sequence[Row], measure: str, headline: Headlines) -> dict[str, list[str]]:
    """Why a measure compares candidates with no other → those candidates."""
    names = {pair[side] for pair in pairs for side in ("base", "head")}
    compared = {pair[side] for pair in pairs if measure in pair["measures"] for side in ("base", "head")}
    found: dict[str, list[str]] = {}
    for name in sorted(names - compared):
        missing = "no labels" if measure == LABEL else "not measured"
        found.setdefault("not compared" if name in headline.get(measure, {}) else missing, []).append(name)
    return found


def against(found: Matrix, candidate: str) -> dict[str, list[str]]:
    """Verdict → the candidates of which it holds, for one against all others; the surest first."""
    said: dict[str, list[str]] = {each: [] for each in RELATIONS}
    for other in found.candidates:
        if cell := found.cells.get((candidate, other)):
            said[cell.verdict].append(other)
    return {each: others for each, others in said.items() if others}


def _cell(measure: Row) -> Cell:
    return Cell(measure["verdict"], {name: measure["difference"][name] for name in ("value", "low", "high")})


def _mirrored(measure: Row) -> Cell:
    """The same difference the other way round: what is no worse one way may be undecided the other."""
    value, low, high = (measure["difference"][name] for name in ("value", "low", "high"))
    turned = {"value": _minus(value), "low": _minus(high), "high": _minus(low)}
    if value is None or low is None or high is None:
        return Cell(measure["verdict"], turned)
    better, same = measure["higher_is_better"], measure["verdict"] == "unchanged"
    says = verdict(-high, -low, measure["margin"], higher_is_better=better, unchanged=same)
    return Cell(says, turned)


def _minus(value: float | None) -> float | None:
    return None if value is None else 0.0 - value
