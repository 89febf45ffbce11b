"""What a comparison found, as plain values: the one form that JSON, tables, Markdown and pages are made from."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from tasks.comparison import differences
from tasks.comparison.differences import Compared, Difference
from tasks.comparison.gate import Gate, Verdict
from tasks.comparison.measures import LABEL, Measure, differing, gated, measures, untaught
from tasks.comparison.pairing import Pairing
from tasks.scores import estimates
from tasks.scores.estimates import rounded

Row = dict[str, Any]


class Refused(NamedTuple):
    """A measure of the gate that can't be compared, and why; a gate that it blocks can't be passed."""

    pairing: Pairing
    name: str
    reason: str
    blocks: bool


class Found(NamedTuple):
    """What a family of comparisons found: differences, in their order, and measures that were refused."""

    differences: list[Difference]
    refused: list[Refused]
    critical: float

    @property
    def verdicts(self) -> set[Verdict]:
        """Every verdict of the gate."""
        return {each.verdict for each in self.differences}

    @property
    def blocked(self) -> bool:
        """Whether something that the gate asks for can't be compared, or nothing was."""
        return not self.differences or any(each.blocks for each in self.refused)


def compare(pairings: Sequence[Pairing], gate: Gate) -> Found:
    """Compare all pairs of candidates by the gate's measures, as one family."""
    chosen: list[Compared] = []
    refused: list[Refused] = []
    for pairing in pairings:
        there, here = measures(pairing.base), measures(pairing.head)
        names = dict.fromkeys([*gated(pairing.base, gate.metrics), *gated(pairing.head, gate.metrics)])
        for name in names:
            if reason := _refusal(name, pairing, there, here):
                expected = name in [*there, *untaught(pairing.head)] and name != LABEL
                blocks = expected or gate.metrics is not None
                refused.append(Refused(pairing, name, reason, blocks))
                continue
            one = differences.compared(pairing, there[name], here[name])
            if what := _unmeasured(one, gate):
                refused.append(Refused(pairing, name, *what))
            else:
                chosen.append(one)
    found, critical = differences.family(chosen, gate)
    return Found(found, refused, critical)


def pairs(found: Found, pairings: Sequence[Pairing]) -> list[Row]:
    """Each pair of candidates: its rows, its measures, and what was refused. Numbers have 6 decimals."""
    local = differences.local_confidence(found.critical)
    return [
        rounded(
            {
                "base": pairing.base.name,
                "head": pairing.head.name,
                "rows": {
                    "shared": len(pairing.head_rows),
                    "only_base": len(pairing.only_base),
                    "only_head": len(pairing.only_head),
                    "data_changed": len(pairing.changed),
                },
                "measures": {
                    each.compared.head.name: _measure(each, local)
                    for each in found.differences
                    if each.compared.pairing is pairing
                },
                "refused": [
                    {"measure": each.name, "reason": each.reason, "blocks": each.blocks}
                    for each in found.refused
                    if each.pairing is pairing
                ],
            }
        )
        for pairing in pairings
    ]


def rates(pairing: Pairing) -> list[Compared]:
    """Every pass rate that both sides have and measured the same way, whether the gate asks for it or not."""
    there, here = measures(pairing.base), measures(pairing.head)
    return [
        differences.compared(pairing, there[name], measure)
        for name, measure in here.items()
        if measure.kind == "rate" and name in there and not differing(there[name].signature, measure.signature)
    ]


def exploratory(found: Found, pairings: Sequence[Pairing], gate: Gate) -> list[list[Row]]:
    """For each pair of candidates every measure on every slice that leaves out rows.

    All p values are adjusted for the false discovery rate.
    """
    from tasks.statistics import benjamini_hochberg

    listed = [
        (name, value, one)
        for each in found.differences
        for name, value, one in differences.slices_of(each.compared)
        if 0 < one.measured.sum() < each.compared.measured.sum()
    ]
    tested = [differences.alone(one, gate.confidence) for _, _, one in listed]
    adjusted = benjamini_hochberg(np.array([each.p_value for each in tested]))
    rows = [
        {
            "slice": name,
            "value": value,
            "measure": one.head.name,
            "n": each.n,
            "difference": {key: getattr(each, key) for key in ("value", "low", "high", "p_value")},
            "q_value": float(q),
            "notable": bool(q <= 1.0 - gate.confidence),
        }
        for (name, value, one), each, q in zip(listed, tested, adjusted, strict=True)
    ]
    owners = [one.pairing for _, _, one in listed]
    return [[rounded(row) for row, owner in zip(rows, owners, strict=True) if owner is pairing] for pairing in pairings]


def _refusal(name: str, pairing: Pairing, there: Mapping[str, Measure], here: Mapping[str, Measure]) -> str | None:
    """Why a measure can't be compared; None when it can."""
    if name in untaught(pairing.base) + untaught(pairing.head):
        return "its threshold is not learnt: too few labels, or nothing should pass"
    if name not in there and name not in here:
        return f"no such measure; there is {', '.join(sorted({*there, *here}))}"
    if name not in here:
        return "only there before"
    if name not in there:
        return "only there after"
    if fields := differing(there[name].signature, here[name].signature):
        return f"measured differently: {'; '.join(fields)}"
    return None


def _unmeasured(one: Compared, gate: Gate) -> tuple[str, bool] | None:
    """Why too few rows are measured on both sides, and whether that blocks the gate; None where enough are.

    New answers have no labels yet: of people's verdicts that blocks only a gate that names them.
    """
    named = gate.metrics is not None
    before, after = (not np.isnan(measure.values).all() for measure in (one.base, one.head))
    if not before and not after:
        return "not measured before or after", named
    if not after:
        return "not measured after", named or one.head.name != LABEL
    if not before:
        return "not measured before", named
    if not one.measured.any():
        return "no row is measured both before and after", True
    there, here = one.failed()
    failed = int((there | here).sum())
    asked = failed + int(one.measured.sum())
    if failed <= gate.max_unmeasured * asked:
        return None
    when = f"before {there.sum():,}, after {here.sum():,}"
    return f"{failed:,} of {asked:,} rows could not be measured, {when} (gate.max_unmeasured)", True


def _measure(each: Difference, local: float) -> Row:
    one, found = each.compared, each.estimate
    base, head = one.columns
    there, here = _value(one.base, base), _value(one.head, head)
    lost = each.margin + (found.value if one.head.higher_is_better else -found.value)
    return {
        "base": there,
        "head": here,
        "difference": {key: getattr(found, key) for key in ("value", "low", "high", "p_value", "method")},
        "verdict": each.verdict,
        "n": found.n,
        "margin": each.margin,
        "higher_is_better": one.head.higher_is_better,
        "unmeasured": differences.unmeasured(one),
        "split": _split(one, here - there),
        "detectable": differences.detectable(one, local),
        "rows_needed": differences.rows_needed(one, lost, local) if each.verdict == "cannot tell" else None,
        "signature": one.head.signature,
    }


def _split(one: Compared, shared: float) -> Row | None:
    """The change over all measured rows of either side: the part of the shared rows, and that of other rows."""
    sides = (one.base, one.head)
    measured = [measure.column.rows(~np.isnan(measure.values)) for measure in sides]
    there, here = (_value(measure, column) for measure, column in zip(sides, measured, strict=True))
    return {"base": there, "head": here, "shared": shared, "composition": here - there - shared}


def _value(measure: Measure, column: Any) -> float:
    """The measure over all rows of the column, each of them measured."""
    if measure.kind == "corpus":
        return float(estimates.corpus_score(column)(column.stats.sum(0)))
    return float(measure._replace(column=column).values.mean())
