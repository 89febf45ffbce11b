"""Every candidate against every other: one cell a pair, and who leads."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from tasks.comparison.gate import verdict
from tasks.comparison.words import RELATIONS

Row = Mapping[str, Any]
LABEL = "label"


class Cell(NamedTuple):
    """How one candidate compares with another; difference: its value, low and high, the one's minus the other's."""

    verdict: str
    difference: dict[str, float | None]


class Matrix(NamedTuple):
    """All pairs by one measure. candidates: the best first. cells: (candidate, compared with) → Cell."""

    measure: str
    candidates: list[str]
    cells: dict[tuple[str, str], Cell]


def lead_measure(pair: Row, wanted: str | None = None) -> str | None:
    """The measure that says most of a pair: people's labels, else the wanted metric's, else the first."""
    names = [*pair["measures"]]
    ranked = [LABEL, wanted, f"{wanted}.value", *names]
    return next((name for name in ranked if name in names), None)


def matrix(pairs: Sequence[Row], wanted: str | None = None) -> Matrix | None:
    """All pairs by the measure that says most of them; None for fewer than two pairs, or without a measure."""
    measure = next((name for name in (lead_measure(pair, wanted) for pair in pairs) if name), None)
    measured = [pair for pair in pairs if measure in pair["measures"]]
    if measure is None or len(measured) < 2:  # noqa: PLR2004 (one pair is a sentence)
        return None
    cells: dict[tuple[str, str], Cell] = {}
    values: dict[str, float] = {}
    sign = 1
    for pair in measured:
        base, head, found = pair["base"], pair["head"], pair["measures"][measure]
        cells[head, base], cells[base, head] = _cell(found), _mirrored(found)
        values |= {name: found[side] for name, side in ((base, "base"), (head, "head")) if found[side] is not None}
        sign = -1 if found["higher_is_better"] else 1
    names = {name for cell in cells for name in cell}
    order = sorted(names, key=lambda name: (name not in values, sign * values.get(name, 0.0), name))
    return Matrix(measure, order, cells)


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
