"""Pairs of candidates compared by their measures, a family of tests for each role, and their entries in documents."""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tasks.comparison import differences
from tasks.comparison.differences import Compared, Difference
from tasks.comparison.document import (
    JUDGE_ERROR,
    CompositionEntry,
    CrossedEntry,
    DifferenceEntry,
    MeasureEntry,
    PairEntry,
    RowCounts,
    SliceEntry,
)
from tasks.comparison.gate import ROLES, Gate, Role, Verdict
from tasks.comparison.measures import LABEL, Measure, differing, measures, without_threshold
from tasks.comparison.pairing import Pairing, pair_questions
from tasks.comparison.roles import duplicates, margin, roles_of
from tasks.console.format import counted
from tasks.scores import estimates
from tasks.scores.columns import Candidate, ScoreColumn
from tasks.scores.estimates import rounded
from tasks.scores.repeated_answers import by_question, parsed

# Why pass@k of two candidates can't be compared.
ONE_ANSWER = "the questions of one version or both have a single answer (dataset.draw)"


class Refused(NamedTuple):
    """A measure that can't be compared, and why; blocks: whether the gate can't be passed without it."""

    pairing: Pairing
    name: str
    role: Role
    reason: str

    @property
    def blocks(self) -> bool:
        """Whether the gate can't be passed without it: secondary measures stop no release."""
        return self.role != "secondary"


class Families(NamedTuple):
    """The differences by role, each role a family of tests; the refused measures; role → its critical value."""

    differences: dict[Role, list[Difference]]
    refused: list[Refused]
    critical: dict[Role, float]

    @property
    def verdicts(self) -> list[Verdict]:
        """The verdicts that the gate goes by: those of the primary measure and of the guards."""
        return [one.verdict for role in ("primary", "guard") for one in self.differences[role]]

    @property
    def blocked(self) -> bool:
        """Whether something that the gate asks for can't be compared, or nothing was."""
        return not self.differences["primary"] or any(refused.blocks for refused in self.refused)


def compare(
    pairings: Sequence[Pairing], gate: Gate, primary: str, pass_at: Sequence[int] = (), others: Collection[str] = ()
) -> Families:
    """Compare all pairs of candidates: by the primary measure, by the guards, and by every other pass rate.

    Each of the three is a family of its own at the gate's confidence. Candidates with repeated answers are also
    compared by question: pass@k and pass^k for each k in `pass_at`, and those that are guards.

    others: more measures of the last family.
    """
    roles = [roles_of(pairing, gate, primary, pass_at, others) for pairing in pairings]
    questions = _by_question(pairings, roles)
    chosen: dict[Role, list[Compared]] = {role: [] for role in ROLES}
    refused: list[Refused] = []
    for pairing, named in zip(pairings, roles, strict=True):
        asked = pair_questions(pairing, *(questions.get(id(side)) for side in (pairing.base, pairing.head)))
        sides = {False: _sides(pairing), True: _sides(asked)}
        for name, role in named.items():
            of, base, head = sides[parsed(name) is not None]
            if of is None:
                refused.append(Refused(pairing, name, role, ONE_ANSWER))
                continue
            if reason := _refusal(name, of, base, head):
                refused.append(Refused(pairing, name, role, reason))
                continue
            compared = differences.compared(of, base[name], head[name])
            if reason := _unmeasured(compared, gate):
                refused.append(Refused(pairing, name, role, reason + _stale(compared)))
            else:
                chosen[role].append(compared)
    estimated: dict[Role, list[Difference]] = {}
    critical: dict[Role, float] = {}
    for role, family in chosen.items():
        margins = [margin(gate, one.head.name, role) for one in family]
        estimated[role], critical[role] = differences.family(family, margins, gate.confidence)
    return Families(estimated, refused, critical)


class _Sides(NamedTuple):
    """Rows or questions of two candidates, and the measures of each candidate by name."""

    pairing: Pairing | None
    base: Mapping[str, Measure]
    head: Mapping[str, Measure]


def _by_question(pairings: Sequence[Pairing], roles: Sequence[Mapping[str, Role]]) -> dict[int, Candidate | None]:
    """The identity of each candidate → the candidate by question, with the measures that some role names."""
    named = {found for names in roles for name in names if (found := parsed(name))}
    columns, ks = {column for column, _ in named}, sorted({k for _, k in named})
    candidates = {id(side): side for pairing in pairings for side in (pairing.base, pairing.head)} if named else {}
    return {key: by_question(candidate, ks, columns) for key, candidate in candidates.items()}


def _sides(pairing: Pairing | None) -> _Sides:
    return _Sides(None, {}, {}) if pairing is None else _Sides(pairing, measures(pairing.base), measures(pairing.head))


def entries(families: Families, pairings: Sequence[Pairing]) -> list[PairEntry]:
    """Each pair of candidates: its rows, its measures, and what was refused. Numbers have 6 decimals."""
    pairs: list[PairEntry] = [
        {
            "base": pairing.base.name,
            "head": pairing.head.name,
            "rows": _row_counts(pairing),
            "crossed": _crossed(families, pairing),
            "duplicates": _duplicates(families, pairing),
            "measures": {
                one.compared.head.name: _measure_entry(one, role)
                for role, family in families.differences.items()
                for one in family
                if one.compared.pairing.rows is pairing
            },
            "refused": [
                {"measure": refused.name, "role": refused.role, "reason": refused.reason, "blocks": refused.blocks}
                for refused in families.refused
                if refused.pairing is pairing
            ],
        }
        for pairing in pairings
    ]
    return [rounded(pair) for pair in pairs]


def _row_counts(pairing: Pairing) -> RowCounts:
    counts: RowCounts = {
        "shared": len(pairing.head_rows),
        "only_base": len(pairing.only_base),
        "only_head": len(pairing.only_head),
        "data_changed": len(pairing.changed),
    }
    if stale := len(pairing.stale):
        counts["stale_labels"] = stale
    if pairing.base.questions is not None and pairing.head.questions is not None:
        counts["draws"] = {"base": _draws(pairing.base.questions), "head": _draws(pairing.head.questions)}
    return counts


def _draws(questions: NDArray[np.uint64]) -> list[int]:
    """The smallest and the largest number of draws of a question; none without questions."""
    sizes = np.unique(questions, return_counts=True)[1]
    return [int(sizes.min()), int(sizes.max())] if len(sizes) else []


def rates(pairing: Pairing) -> list[Compared]:
    """Every pass rate that both candidates have and measured the same way, whether the gate asks for it or not."""
    base, head = measures(pairing.base), measures(pairing.head)
    return [
        differences.compared(pairing, base[name], measure)
        for name, measure in head.items()
        if measure.kind == "rate" and name in base and not differing(base[name].signature, measure.signature)
    ]


def slice_entries(families: Families, pairings: Sequence[Pairing], gate: Gate) -> list[list[SliceEntry]]:
    """For each pair of candidates every measure on every slice that leaves out rows.

    All p values are adjusted for the false discovery rate.
    """
    from tasks.statistics import benjamini_hochberg

    parts = [
        (name, value, part)
        for family in families.differences.values()
        for difference in family
        for name, value, part in differences.slices_of(difference.compared)
        if 0 < part.measured.sum() < difference.compared.measured.sum()
    ]
    tested = [differences.uncorrected(part, gate.confidence) for _, _, part in parts]
    adjusted = benjamini_hochberg(np.array([difference.p_value for difference in tested]))
    rows: list[SliceEntry] = [
        {
            "slice": name,
            "value": value,
            "measure": part.head.name,
            "n": difference.n,
            "difference": {
                "value": difference.value,
                "low": difference.low,
                "high": difference.high,
                "p_value": difference.p_value,
            },
            "q_value": float(q),
            "notable": bool(q <= 1.0 - gate.confidence),
        }
        for (name, value, part), difference, q in zip(parts, tested, adjusted, strict=True)
    ]
    owners = [part.pairing.rows for _, _, part in parts]
    return [[rounded(row) for row, owner in zip(rows, owners, strict=True) if owner is pairing] for pairing in pairings]


def _refusal(name: str, pairing: Pairing, base: Mapping[str, Measure], head: Mapping[str, Measure]) -> str | None:
    """Why a measure can't be compared; None when it can."""
    if name in without_threshold(pairing.base) + without_threshold(pairing.head):
        return "its threshold is not learnt: too few labels, or nothing should pass"
    if name not in base and name not in head:
        return f"no such measure; there is {', '.join(sorted({*base, *head}))}"
    if name not in head:
        return "only there before"
    if name not in base:
        return "only there after"
    if fields := differing(base[name].signature, head[name].signature):
        return f"measured differently: {'; '.join(fields)}"
    return None


def _stale(compared: Compared) -> str:
    """How many of the rows that failed have a label of another answer."""
    stale = len(compared.pairing.stale) if compared.head.name == LABEL else 0
    return f"; {counted(stale, 'label is', 'labels are')} of another answer (stale)" if stale else ""


def _unmeasured(compared: Compared, gate: Gate) -> str | None:
    """Why too few rows are measured in both; None where enough are."""
    base, head = (not np.isnan(measure.values).all() for measure in (compared.base, compared.head))
    if not base or not head:
        missing = "not measured" if compared.pairing.of_draws is None else "no question has enough measured answers"
        return f"{missing} {'after' if base else 'before' if head else 'before or after'}"
    if not compared.measured.any():
        return "no row is measured both before and after"
    if compared.pairing.of_draws is not None and (reason := _unmeasured_draws(compared, gate)):
        return reason
    failed_base, failed_head = compared.failed()
    failed = int((failed_base | failed_head).sum())
    asked = failed + int(compared.measured.sum())
    if failed <= gate.max_unmeasured * asked:
        return None
    when = f"before {failed_base.sum():,}, after {failed_head.sum():,}"
    return f"{failed:,} of {asked:,} rows could not be measured, {when} (gate.max_unmeasured)"


def _unmeasured_draws(compared: Compared, gate: Gate) -> str | None:
    """Why too few answers to the compared questions are measured in either version; None where enough are."""
    rows, (name, _) = compared.pairing.rows, parsed(compared.head.name) or ("", 0)
    for when, side in (("before", rows.base), ("after", rows.head)):
        column = next(one for one in side.columns if one.name == name)
        questions = side.keys if side.questions is None else side.questions
        asked = ~column.not_asked & np.isin(questions, compared.pairing.keys)
        failed = int((asked & np.isnan(column.values)).sum())
        if failed > gate.max_unmeasured * asked.sum():
            return f"{failed:,} of {asked.sum():,} answers could not be measured {when} (gate.max_unmeasured)"
    return None


def _crossed(families: Families, pairing: Pairing) -> CrossedEntry | None:
    """McNemar's table of the primary measure of two candidates."""
    own = [one.compared for one in families.differences["primary"] if one.compared.pairing is pairing]
    return differences.crossed(own[0]) if own else None


def _duplicates(families: Families, pairing: Pairing) -> list[list[str]]:
    """Groups of compared measures of two candidates that say the same of every answer."""
    compared = [one.compared for family in families.differences.values() for one in family]
    own = [one for one in compared if one.pairing is pairing and one.head.kind != "corpus"]
    sides = {
        one.head.name: np.concatenate([one.base.values[pairing.base_rows], one.head.values[pairing.head_rows]])
        for one in own
    }
    return duplicates(sides)


def _measure_entry(difference: Difference, role: Role) -> MeasureEntry:
    compared, estimate = difference.compared, difference.estimate
    base_column, head_column = compared.columns
    base, head = _value(compared.base, base_column), _value(compared.head, head_column)
    lost = difference.margin + (estimate.value if compared.head.higher_is_better else -estimate.value)
    interval: DifferenceEntry = {
        "value": estimate.value,
        "low": estimate.low,
        "high": estimate.high,
        "p_value": estimate.p_value,
        "method": estimate.method,
    }
    # More rows reduce no error of a judge.
    undecided = difference.verdict == "cannot tell" and JUDGE_ERROR not in (estimate.method or "")
    entry: MeasureEntry = {
        "role": role,
        "unit": "points" if compared.head.is_share else "score",
        "base": base,
        "head": head,
        "difference": interval,
        "verdict": difference.verdict,
        "n": estimate.n,
        "margin": difference.margin,
        "higher_is_better": compared.head.higher_is_better,
        "unmeasured": differences.unmeasured(compared),
        "split": _composition(compared, head - base),
        "detectable": differences.detectable(compared, difference.confidence),
        "rows_needed": differences.rows_needed(compared, lost, difference.confidence) if undecided else None,
        "signature": compared.head.signature,
    }
    if compared.pairing.of_draws is not None:
        entry["per"] = "question"
    return entry


def _composition(compared: Compared, shared: float) -> CompositionEntry:
    """The change over all measured rows of each candidate: the part of the shared rows, and that of the others."""
    measures = (compared.base, compared.head)
    base, head = (_value(one, one.column.rows(~np.isnan(one.values))) for one in measures)
    return {"base": base, "head": head, "shared": shared, "composition": head - base - shared}


def _value(measure: Measure, column: ScoreColumn) -> float:
    """The measure over all rows of the column, each of them measured."""
    if column.stats is not None and measure.kind == "corpus":
        return float(estimates.corpus_score(column)(column.stats.sum(0)))
    return float(measure._replace(column=column).values.mean())
