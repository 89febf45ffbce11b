"""Pairs of candidates compared by their measures, a family of tests for each role, and their entries in documents."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeAlias

import numpy as np
import scipy

from goldmeter.comparison import differences
from goldmeter.comparison.compared import Compared, duplicates
from goldmeter.comparison.differences import Difference
from goldmeter.comparison.gate import Gate, are_labelled, margin, roles_of
from goldmeter.comparison.measures import LABEL, measures, without_threshold
from goldmeter.comparison.more_data import needed
from goldmeter.comparison.pairing import Blocks, Pairing, Questions
from goldmeter.estimates.columns import Candidate
from goldmeter.estimates.estimates import rounded
from goldmeter.estimates.repeated_answers import parsed
from goldmeter.estimates.signature import changes
from goldmeter.estimates.weighting import Weighting
from goldmeter.statistics import sidak
from goldmeter.wording.comparison_document import (
    CompositionEntry,
    CrossedEntry,
    DifferenceEntry,
    MeasureEntry,
    PairEntry,
    RefusedEntry,
    RowCounts,
    SliceEntry,
)
from goldmeter.wording.verdicts import ROLES, Refusal, Role, Verdict, Why, missing, only_there, refusal

# Candidate and measure → variance of a row's score by the judge alone, see `goldmeter.estimates.rater_agreement`.
Noise: TypeAlias = Mapping[tuple[str, str], float]
NO_NOISE: Noise = {}


class Refused(NamedTuple):
    """A measure of two candidates that can't be compared; blocks: of their rows."""

    blocks: Blocks
    name: str
    role: Role
    refusal: Refusal

    @property
    def blocks_gate(self) -> bool:
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
        return not self.differences["primary"] or any(refused.blocks_gate for refused in self.refused)


def compare(
    pairs: Sequence[Blocks],
    gate: Gate,
    primary: str,
    pass_at: Sequence[int] = (),
    others: Collection[str] = (),
    weighting: Weighting | None = None,
    *,
    labels_where_both: bool = False,
) -> Families:
    """Compare all pairs of candidates: by the primary measure, by the guards, and by every other pass rate.

    Each of the three is a family of its own at the gate's confidence. Candidates with repeated answers are also
    compared by question: pass@k and pass^k for each k in `pass_at`, and those that are guards.

    pairs: the paired rows of each pair of candidates, in blocks. others: more measures of the last family.
    weighting: says how often rows count in the differences. labels_where_both: whether human labels are the primary
    measure of two candidates that both have them.
    """
    decides = [LABEL if labels_where_both and are_labelled(blocks) else primary for blocks in pairs]
    roles = [
        roles_of(blocks[0], gate, name, () if weighting else pass_at, others)
        for blocks, name in zip(pairs, decides, strict=True)
    ]
    asked = {by_question for names in roles for name in names if (by_question := parsed(name))}
    chosen: dict[Role, list[Compared]] = {role: [] for role in ROLES}
    refused: list[Refused] = []
    for blocks, named in zip(pairs, roles, strict=True):
        questions = Questions.of(blocks, asked)
        for name, role in named.items():
            of = blocks if parsed(name) is None else questions
            if of is None:
                refused.append(Refused(blocks, name, role, refusal(Why.ONE_ANSWER)))
                continue
            if found := _refusal(name, of[0]):
                refused.append(Refused(blocks, name, role, found))
                continue
            compared = Compared(of, name)
            tests = sum(each == role for names in roles for each in names.values())
            if compared.is_stopped and (reason := differences.without_sequence(compared, weighting)):
                refused.append(Refused(blocks, name, role, refusal(Why.STOPPED, said=reason)))
            elif found := _unmeasured(compared, gate, role, 0 if weighting else tests):
                refused.append(Refused(blocks, name, role, replace(found, stale=_stale(compared))))
            elif weighting and (reason := differences.refusal(compared, weighting)):
                refused.append(Refused(blocks, name, role, refusal(Why.NOT_WEIGHTED, said=reason)))
            else:
                chosen[role].append(compared)
    estimated: dict[Role, list[Difference]] = {}
    critical: dict[Role, float] = {}
    for role, family in chosen.items():
        margins = [margin(gate, one.name, role) for one in family]
        estimated[role], critical[role] = differences.family(family, margins, gate.confidence, weighting)
    return Families(estimated, refused, critical)


def _rows_of(one: Compared) -> Blocks:
    """The blocks of rows of a measure, also of one by question."""
    return one.blocks.rows if isinstance(one.blocks, Questions) else one.blocks


def entries(families: Families, pairs: Sequence[Blocks], noise: Noise = NO_NOISE) -> list[PairEntry]:
    """Each pair of candidates: its rows, its measures, and what was refused. Numbers have 6 decimals."""
    found: list[PairEntry] = [
        {
            "base": blocks[0].base.name,
            "head": blocks[0].head.name,
            "rows": _row_counts(blocks),
            "crossed": _crossed(families, blocks),
            "duplicates": _duplicates(families, blocks),
            "measures": {
                one.compared.name: _measure_entry(one, role, noise)
                for role, family in families.differences.items()
                for one in family
                if _rows_of(one.compared) is blocks
            },
            "refused": [_refused_entry(refused) for refused in families.refused if refused.blocks is blocks],
        }
        for blocks in pairs
    ]
    return [rounded(pair) for pair in found]


def _refused_entry(refused: Refused) -> RefusedEntry:
    entry: RefusedEntry = {
        "measure": refused.name,
        "role": refused.role,
        "reason": str(refused.refusal),
        "blocks": refused.blocks_gate,
    }
    if refused.refusal.changes:
        entry["differing"] = [change.name for change in refused.refusal.changes]
    return entry


def _row_counts(blocks: Blocks) -> RowCounts:
    every = [
        (len(one.head_rows), len(one.only_base), len(one.only_head), len(one.changed), len(one.stale)) for one in blocks
    ]
    shared, only_base, only_head, changed, stale = (sum(some) for some in zip(*every, strict=True))
    counts: RowCounts = {"shared": shared, "only_base": only_base, "only_head": only_head, "data_changed": changed}
    if stale:
        counts["stale_labels"] = stale
    if blocks[0].base.questions is not None and blocks[0].head.questions is not None:
        counts["draws"] = {"base": _draws(one.base for one in blocks), "head": _draws(one.head for one in blocks)}
    return counts


def _draws(candidates: Iterable[Candidate]) -> list[int]:
    """The smallest and the largest number of draws of a question; none without questions."""
    sizes = [np.unique(one.questions, return_counts=True)[1] for one in candidates if one.questions is not None]
    extremes = [int(limit) for some in sizes if len(some) for limit in (some.min(), some.max())]
    return [min(extremes), max(extremes)] if extremes else []


def rates(pairing: Pairing) -> list[str]:
    """Every pass rate that both candidates have and measured the same way, whether the gate asks for it or not."""
    base, head = measures(pairing.base), measures(pairing.head)
    return [
        name
        for name, measure in head.items()
        if measure.kind == "rate" and name in base and not changes(base[name].signature, measure.signature)
    ]


def slice_entries(families: Families, pairs: Sequence[Blocks], gate: Gate) -> list[list[SliceEntry]]:
    """For each pair of candidates every measure on every slice that leaves out rows.

    All p values are adjusted for the false discovery rate (Benjamini & Hochberg 1995).
    """
    parts = [
        part
        for family in families.differences.values()
        for difference in family
        for part in difference.compared.slices()
        if 0 < part.n < difference.compared.n and not (part.is_designed or part.is_stopped)
    ]
    tested = [differences.uncorrected(part, gate.confidence) for part in parts]
    adjusted = scipy.stats.false_discovery_control([difference.p_value for difference in tested])
    rows: list[SliceEntry] = [
        {
            "slice": part.part.column if part.part else "",
            "value": part.part.value if part.part else "",
            "measure": part.name,
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
        for part, difference, q in zip(parts, tested, adjusted, strict=True)
    ]
    owners = [_rows_of(part) for part in parts]
    return [[rounded(row) for row, owner in zip(rows, owners, strict=True) if owner is blocks] for blocks in pairs]


def _refusal(name: str, pairing: Pairing) -> Refusal | None:
    """Why a measure can't be compared; None when it can."""
    if name in without_threshold(pairing.base) + without_threshold(pairing.head):
        return refusal(Why.NOT_FITTED)
    base, head = measures(pairing.base), measures(pairing.head)
    if name not in base and name not in head:
        return refusal(Why.UNKNOWN, names=", ".join(sorted({*base, *head})))
    if name not in head or name not in base:
        return only_there((name in base, name in head))
    if (parsed(name) or (name, 0))[0] == LABEL and (reason := _of_design(name, pairing.rows)):
        return reason
    differing = changes(base[name].signature, head[name].signature)
    return Refusal(Why.MEASURED_DIFFERENTLY, changes=differing) if differing else None


def _of_design(name: str, rows: Pairing) -> Refusal | None:
    """Why labels can't be compared where a design chose the labelled rows; None when they can, and without a design."""
    sides = rows.base, rows.head
    if not any(one.labels_designed for one in sides):
        return None
    if name != LABEL:
        return refusal(Why.DESIGNED_QUESTIONS)
    if not all(one.labels_random for one in sides):
        return refusal(Why.DESIGNED_ROWS)
    return None


def _stale(compared: Compared) -> int:
    """How many of the rows that failed have a label of another answer."""
    return sum(len(one.stale) for one in compared.blocks) if compared.name == LABEL else 0


def _unmeasured(compared: Compared, gate: Gate, role: Role, tests: int) -> Refusal | None:
    """Why too few rows are measured in both; None where enough are, and where the others change no verdict.

    tests: how many differences the measure's family may have; 0: rows count by weights, which no bounds know of.
    """
    sums = compared.sums
    base, head = sums.base.measured > 0, sums.head.measured > 0
    if not base or not head:
        return missing((base, head), Why.TOO_FEW_ANSWERS if compared.by_question else Why.NOT_MEASURED)
    if not compared.n:
        return refusal(Why.NO_SHARED_ROW)
    if compared.by_question and (reason := _unmeasured_draws(compared, gate)):
        return reason

    # Rows that a stopped judge left out in one version are not compared: a failure on them in the other is no loss.
    failed, before, after = (one.lacking if compared.is_stopped else one.failed for one in (sums, sums.base, sums.head))
    asked = failed + compared.n
    if failed <= gate.max_unmeasured * asked:
        return None
    if tests:
        confidence = differences.local_confidence(sidak(tests, gate.confidence))
        if differences.decided_by_bounds(compared, margin(gate, compared.name, role), confidence):
            return None
    return refusal(Why.UNMEASURED_ROWS, missing=failed, n=asked, before=before, after=after)


def _unmeasured_draws(compared: Compared, gate: Gate) -> Refusal | None:
    """Why too few answers to the compared questions are measured in either version; None where enough are."""
    name, _ = parsed(compared.name) or ("", 0)
    failed, asked = np.zeros(2, np.int64), np.zeros(2, np.int64)
    for pairing in compared.blocks:
        for i, side in enumerate((pairing.rows.base, pairing.rows.head)):
            column = next(one for one in side.columns if one.name == name)
            questions = side.keys if side.questions is None else side.questions
            wanted = ~column.not_asked & np.isin(questions, pairing.keys)
            failed[i] += np.count_nonzero(wanted & np.isnan(column.values))
            asked[i] += np.count_nonzero(wanted)
    for when, lacking, every in zip(("before", "after"), failed.tolist(), asked.tolist(), strict=True):
        if lacking > gate.max_unmeasured * every:
            return refusal(Why.UNMEASURED_ANSWERS, missing=lacking, n=every, side=when)
    return None


def _crossed(families: Families, blocks: Blocks) -> CrossedEntry | None:
    """McNemar's table of the primary measure of two candidates."""
    own = [one.compared for one in families.differences["primary"] if one.compared.blocks is blocks]
    return differences.crossed(own[0]) if own else None


def _duplicates(families: Families, blocks: Blocks) -> list[list[str]]:
    """Groups of compared measures of two candidates that say the same of every answer."""
    compared = [one.compared for family in families.differences.values() for one in family]
    return duplicates([one for one in compared if one.blocks is blocks and one.head.kind != "corpus"])


def _measure_entry(difference: Difference, role: Role, noise: Noise) -> MeasureEntry:
    compared, estimate = difference.compared, difference.estimate
    base, head = difference.sides or (
        compared.shared_value(compared.sums.base),
        compared.shared_value(compared.sums.head),
    )
    entry: MeasureEntry = {
        "role": role,
        "unit": "points" if compared.head.is_share else "score",
        "base": base,
        "head": head,
        "difference": _interval(difference),
        "verdict": difference.verdict,
        "n": estimate.n,
        "margin": difference.margin,
        "higher_is_better": compared.head.higher_is_better,
        "unmeasured": differences.unmeasured(compared),
        "split": _composition(difference, base, head),
        "detectable": _detectable(difference),
        "needed": needed(difference),
        "signature": compared.head.signature,
    }
    if share := _judge_share(compared, noise):
        entry["judge_noise"] = {"share": share}
    if not compared.head.has_direction:
        entry["no_direction"] = True
    if compared.by_question:
        entry["per"] = "question"
    if estimate.method.is_designed:
        entry["designed"] = True
    if difference.plain:
        plain, sums = difference.plain.difference, compared.sums
        entry["plain"] = {
            "without": difference.plain.option,
            "base": compared.shared_value(sums.base),
            "head": compared.shared_value(sums.head),
            "difference": {"value": plain.value, "low": plain.low, "high": plain.high, "p_value": plain.p_value},
        }
    return entry


def _interval(difference: Difference) -> DifferenceEntry:
    estimate = difference.estimate
    return {
        "value": estimate.value,
        "low": estimate.low,
        "high": estimate.high,
        "p_value": estimate.p_value,
        "method": str(estimate.method),
        "notes": [*estimate.method.notes],
    }


def _judge_share(compared: Compared, noise: Noise) -> float:
    """The share of the variance of the rows' differences that two verdicts on one row would differ by; 0 if unknown."""
    if compared.by_question or not noise:
        return 0.0
    sides, moments = (compared.blocks[0].base, compared.blocks[0].head), compared.sums.differences.moments
    own = [noise[side.name, compared.name] for side in sides if (side.name, compared.name) in noise]
    if len(own) < len(sides) or moments.is_constant:
        return 0.0
    return min(sum(own) / moments.variance, 1.0)


def _detectable(difference: Difference) -> float | None:
    if difference.error is not None:
        return differences.detectable_by_error(difference)
    return differences.detectable(difference.compared, difference.confidence)


def _composition(difference: Difference, older: float, newer: float) -> CompositionEntry:
    """The change over all measured rows of each candidate: the part of the shared rows, and that of the others.

    Labels of a design are weighted over the shared rows only.
    """
    compared, shared = difference.compared, newer - older
    if difference.sides:
        return {"base": older, "head": newer, "shared": shared, "composition": 0.0}
    base, head = compared.whole_value(compared.sums.base), compared.whole_value(compared.sums.head)
    return {"base": base, "head": head, "shared": shared, "composition": head - base - shared}
