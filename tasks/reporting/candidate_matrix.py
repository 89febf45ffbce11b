"""Candidate matrix: the verdict for every pair of candidates on one measure, and which candidate leads."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from tasks.comparison.gate import verdict
from tasks.reporting.score_tables import MetricScores
from tasks.scores.column_facts import VALUE
from tasks.wording.comparison_document import MeasureEntry, PairEntry, Unit
from tasks.wording.verdicts import RELATIONS, Verdict

Headlines = Mapping[str, Mapping[str, float]]
NOTHING: Headlines = {}
LABEL = "label"
# Verdict of a pair → points in the order of the candidates.
POINTS = {Verdict.BETTER: 1, Verdict.WORSE: -1}
# Pairs that the page shows measure by measure, about 20 kB each: all pairs of 12 candidates.
MOST_IN_FULL = 66


class PairVerdict(NamedTuple):
    """One candidate compared with another; difference: value, low and high of the first minus the second."""

    verdict: Verdict
    difference: dict[str, float | None]


class CandidateMatrix(NamedTuple):
    """All pairs on one measure; candidates: the best first; cells: (candidate, other candidate) → PairVerdict."""

    measure: str
    candidates: list[str]
    cells: dict[tuple[str, str], PairVerdict]
    unit: Unit


def lead_measure(pairs: Sequence[PairEntry], wanted: str | None = None) -> str | None:
    """Return the primary measure of the pairs; without one, the wanted metric, else the first one."""
    primary = [name for pair in pairs for name, entry in pair["measures"].items() if entry["role"] == "primary"]
    names = [name for pair in pairs for name in pair["measures"]]
    return next((name for name in (*primary, wanted, f"{wanted}{VALUE}", *names) if name in names), None)


def headlines(metrics: Iterable[MetricScores]) -> Headlines:
    """Return measure → candidate → its pass rate or score over all its rows."""
    return {
        measure: {name: row[value] for name, row in metric.rows.items() if row[value] is not None}
        for metric in metrics
        for measure, value in ((metric.name, "pass_value"), (f"{metric.name}{VALUE}", "value"))
    }


def matrix(pairs: Sequence[PairEntry], measure: str | None, headline: Headlines = NOTHING) -> CandidateMatrix | None:
    """Arrange all pairs on one measure; None if fewer than two pairs have it.

    Candidates are ordered by pairs won minus pairs lost, then by their headline figure. The values of a pair would not
    do for the order, because each pair is compared on other rows.
    """
    measured = [pair for pair in pairs if measure in pair["measures"]]
    if measure is None or len(measured) < 2:  # noqa: PLR2004 (the page has a sentence for one pair)
        return None
    cells: dict[tuple[str, str], PairVerdict] = {}
    for pair in measured:
        base, head, compared = pair["base"], pair["head"], pair["measures"][measure]
        cells[head, base], cells[base, head] = _cell(compared), _mirrored(compared)
    won = Counter({name: 0 for name, _ in cells})
    for (name, _), cell in cells.items():
        won[name] += POINTS.get(cell.verdict, 0)
    rates = headline.get(measure, {})
    sign = -1 if measured[0]["measures"][measure]["higher_is_better"] else 1
    order = sorted(won, key=lambda name: (-won[name], name not in rates, sign * rates.get(name, 0.0), name))
    return CandidateMatrix(measure, order, cells, measured[0]["measures"][measure]["unit"])


def leads(pairs: CandidateMatrix) -> bool:
    """Return whether the first candidate was compared with all others, is better than some and worse than none."""
    verdicts = against(pairs, pairs.candidates[0])
    compared = sum(len(others) for others in verdicts.values())
    return Verdict.BETTER in verdicts and Verdict.WORSE not in verdicts and compared == len(pairs.candidates) - 1


def top(pairs: CandidateMatrix) -> list[str]:
    """Return the candidates that no other is better than, the best first: they cannot be told apart from the best."""
    return [name for name in pairs.candidates if Verdict.WORSE not in against(pairs, name)]


def all_compared(pairs: CandidateMatrix, names: Sequence[str]) -> bool:
    """Return whether each of these candidates was compared with each other one."""
    return all((one, other) in pairs.cells for one in names for other in names if one != other)


def in_full(pairs: Sequence[PairEntry], order: CandidateMatrix | None) -> Sequence[PairEntry]:
    """Return the pairs to show measure by measure: at most MOST_IN_FULL, those of the first candidate first."""
    if len(pairs) <= MOST_IN_FULL:
        return pairs
    best = order.candidates[0] if order else None
    return sorted(pairs, key=lambda pair: best not in (pair["base"], pair["head"]))[:MOST_IN_FULL]


def left_out(pairs: Sequence[PairEntry], measure: str, headline: Headlines) -> dict[str, list[str]]:
    """Return reason → the candidates that the measure compares with no other for this reason."""
    names = {pair[side] for pair in pairs for side in ("base", "head")}
    compared = {pair[side] for pair in pairs if measure in pair["measures"] for side in ("base", "head")}
    reasons: dict[str, list[str]] = {}
    for name in sorted(names - compared):
        missing = "no labels" if measure == LABEL else "not measured"
        reasons.setdefault("not compared" if name in headline.get(measure, {}) else missing, []).append(name)
    return reasons


def against(pairs: CandidateMatrix, candidate: str) -> dict[Verdict, list[str]]:
    """Return verdict → the other candidates with this verdict, in the order of RELATIONS."""
    verdicts: dict[Verdict, list[str]] = {name: [] for name in RELATIONS}
    for other in pairs.candidates:
        if cell := pairs.cells.get((candidate, other)):
            verdicts[cell.verdict].append(other)
    return {name: others for name, others in verdicts.items() if others}


def _cell(measure: MeasureEntry) -> PairVerdict:
    return PairVerdict(measure["verdict"], {name: measure["difference"][name] for name in ("value", "low", "high")})


def _mirrored(measure: MeasureEntry) -> PairVerdict:
    """Return the verdict with the candidates swapped: "no worse" may become "cannot tell"."""
    value, low, high = (measure["difference"][name] for name in ("value", "low", "high"))
    turned = {"value": _minus(value), "low": _minus(high), "high": _minus(low)}
    if value is None or low is None or high is None:
        return PairVerdict(measure["verdict"], turned)
    better, same = measure["higher_is_better"], measure["verdict"] == Verdict.UNCHANGED
    swapped = verdict(-high, -low, measure["margin"], higher_is_better=better, unchanged=same)
    return PairVerdict(swapped, turned)


def _minus(value: float | None) -> float | None:
    return None if value is None else 0.0 - value
