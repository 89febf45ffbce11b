"""A conclusion under every reading of which answers are right, and without each slice and group: does it hold?"""

from collections.abc import Iterator, Mapping, Sequence
from math import sqrt
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from goldmeter.comparison.by_question import groups_of, of_rows, question_keys
from goldmeter.comparison.gate import verdict
from goldmeter.comparison.readings import PEOPLE, Reading, by_question
from goldmeter.errors import DataError
from goldmeter.estimates.columns import Candidate, Hashes, Mask
from goldmeter.estimates.estimates import is_one_cluster, silenced
from goldmeter.metrics.base import Floats
from goldmeter.statistics import mean_interval, paired_difference
from goldmeter.statistics.agreement import quadratic_kappa
from goldmeter.statistics.generalizability import Sources, sources
from goldmeter.statistics.study import design_effect
from goldmeter.statistics.weighted import WeightedSums, weighted_difference, weighted_mean
from goldmeter.wording.robustness import AGREES
from goldmeter.wording.verdicts import Verdict

# A conclusion is robust if it holds by this share of judges, and without this share of parts. It and AGREES were fixed
# on EVOUNA-NQ by benchmarks/robust.py and checked on EVOUNA-TQ and NQ301.
HOLDS = 0.9
# Groups are left out one by one, those first whose values sum to most; no more than so many.
MOST_GROUPS = 50

Outcome = Literal["holds", "undecided", "reverses", "few rows", "decides"]
Answer = Literal["robust", "fragile", "open", "untested"]
Kind = Literal["measure", "slice", "group", "references"]


class Check(NamedTuple):
    """The estimate under one change. kind: what is changed. name: how. judge: whose reading it is. n: questions."""

    kind: Kind
    name: str
    judge: str
    value: float
    low: float
    high: float
    n: int
    verdict: Verdict
    outcome: Outcome = "holds"


class Robustness(NamedTuple):
    """How far a conclusion depends on what could have been chosen otherwise; a description, no test.

    Attributes:
        systems: The first is compared with the second, or with the target.
        target: The rate that a single system is compared with; None for two.
        confidence: Of each interval.
        conclusion: By the primary measure on all rows.
        checks: Every change.
        anchor: The reading that measures have to agree with: the primary one, or the first verdict if that is none.
        ignored: Measure → its agreement with the anchor, where that is too little to stand for right answers.
        holds: Share of judges by which the conclusion holds, each the mean of its readings; None with a single judge.
        holds_without: Share of slices, groups and references without which it holds; None without any.
        sources: Standard errors of the estimate by what would be drawn anew; None with too few rows.
        answer: In one word.
    """

    systems: tuple[str, ...]
    target: float | None
    confidence: float
    conclusion: Check
    checks: Sequence[Check]
    anchor: str
    ignored: Mapping[str, float]
    holds: float | None
    holds_without: float | None
    sources: Sources | None
    answer: Answer


class _Questions(NamedTuple):
    """values: by reading, a row for each question. groups, weights: of each question, None if all are alike."""

    values: pd.DataFrame
    groups: pd.Series | None
    weights: pd.Series | None


class Asked(NamedTuple):
    """What is concluded. primary: the measure. margin: the largest acceptable loss. target: of a single system."""

    primary: str
    margin: float = 0.0
    target: float | None = None
    confidence: float = 0.95


def robustness(
    sides: Sequence[Candidate],
    found: Mapping[str, Sequence[Reading]],
    asked: Asked,
    without: Hashes | None = None,
    group_names: Sequence[str] = (),
) -> Robustness:
    """Check a conclusion on one system or two.

    Args:
        sides: The systems, what is subtracted last.
        found: Name → the reading of each system; the primary measure is one of them.
        asked: The conclusion.
        without: Hashes of ids or questions whose references are under suspicion.
        group_names: The group of each row of the first system, if it has groups.

    Raises:
        DataError: Fewer than two questions have the primary measure.
    """
    questions = _questions(sides, found, asked)
    values, judge = questions.values, found[asked.primary][0].judge
    primary = values[asked.primary].dropna()
    if len(primary) < 2:  # noqa: PLR2004 (a variance)
        raise DataError(f"{asked.primary}: fewer than two questions have it")
    conclusion = _check("measure", asked.primary, judge, primary, questions, asked)
    verdicts = [name for name, some in found.items() if some[0].is_verdict]
    verdicts.sort(key=lambda name: (name != asked.primary, found[name][0].judge != PEOPLE))
    anchor = verdicts[0] if verdicts else asked.primary
    agreement = {name: _agreement(found[anchor], some) for name, some in found.items() if not some[0].is_verdict}
    ignored = {name: kappa for name, kappa in agreement.items() if kappa < AGREES}
    counted = [
        name
        for name in _distinct(found, asked.primary)
        if name == asked.primary or (name not in ignored and values[name].notna().any())
    ]
    several = bool(verdicts) and len({found[name][0].judge for name in counted}) > 1
    checks = [
        _check("measure", name, found[name][0].judge, values[name].dropna(), questions, asked) for name in counted
    ]
    for kind, name, kept in _parts(sides[0], primary, group_names, without):
        checks.append(_check(kind, name, judge, primary[kept], questions, asked))
    checks = [one._replace(outcome=_outcome(one, conclusion)) for one in checks]
    holds, holds_without = _by_judge(checks), _share([one for one in checks if one.kind != "measure"])
    complete = values[counted].dropna()
    return Robustness(
        tuple(one.name for one in sides),
        asked.target,
        asked.confidence,
        conclusion,
        checks,
        anchor,
        ignored,
        holds if several else None,
        holds_without,
        _sources(sides, found, complete, counted, asked, questions.groups),
        _answer(conclusion, checks, holds, holds_without, several=several, stands=asked.primary not in ignored),
    )


def _questions(sides: Sequence[Candidate], found: Mapping[str, Sequence[Reading]], asked: Asked) -> _Questions:
    """The value or difference of each question that counts, by each reading."""
    tables = [by_question(side, {name: some[i] for name, some in found.items()}) for i, side in enumerate(sides)]
    shared = tables[0].index if len(tables) == 1 else tables[0].index.intersection(tables[1].index)
    weights = None
    if sides[0].weights is not None:
        weights = pd.Series(sides[0].weights, question_keys(sides[0])).groupby(level=0).mean()[shared]
        weights = weights[weights > 0.0] / weights.max()
        shared = weights.index
    first = tables[0].loc[shared]
    values = first - (tables[1].loc[shared] if len(tables) > 1 else asked.target or 0.0)
    groups = groups_of(sides[0], shared)
    alone = groups is None or len(np.unique(groups)) == len(groups)
    alike = weights is None or weights.min() == 1.0
    return _Questions(values, None if alone else pd.Series(groups, shared), None if alike else weights)


def _check(kind: Kind, name: str, judge: str, values: pd.Series, of: _Questions, asked: Asked) -> Check:
    scores, by = values.to_numpy(), _of(of.groups, values)
    if len(scores) < 2 or is_one_cluster(by):  # noqa: PLR2004 (a variance)
        return Check(kind, name, judge, float(values.mean()), -1.0, 1.0, len(scores), Verdict.CANNOT_TELL)
    with silenced():
        found = _estimate(scores, by, None if of.weights is None else of.weights[values.index].to_numpy(), asked)
    says = verdict(found[1], found[2], asked.margin, higher_is_better=True, unchanged=False)
    return Check(kind, name, judge, *found, len(scores), says)


def _estimate(
    scores: Floats, by: NDArray[np.intp] | None, weights: Floats | None, asked: Asked
) -> tuple[float, float, float]:
    """The mean and its limits."""
    if asked.target is None:
        if weights is not None:
            return weighted_difference(WeightedSums.of(scores, weights, by), confidence=asked.confidence)[:3]
        return paired_difference(scores, by, confidence=asked.confidence)[:3]
    rates = scores + asked.target
    if weights is not None:
        rate = weighted_mean(WeightedSums.of(rates, weights, by), confidence=asked.confidence)
    else:
        rate = mean_interval(rates, by, confidence=asked.confidence)
    return rate.value - asked.target, rate.low - asked.target, rate.high - asked.target


def _of(groups: pd.Series | None, values: pd.Series | pd.DataFrame) -> NDArray[np.intp] | None:
    """The clusters of some of the questions."""
    return None if groups is None else groups.reindex(values.index).to_numpy()


def _distinct(found: Mapping[str, Sequence[Reading]], primary: str) -> Iterator[str]:
    """Yield the primary measure, then readings that call other answers right than those of their judge before them."""
    seen: set[tuple[str, bytes]] = set()
    for name in (primary, *found):
        content = found[name][0].judge, b"".join(one.values.tobytes() for one in found[name])
        if content not in seen:
            yield name
        seen.add(content)


def _agreement(primary: Sequence[Reading], other: Sequence[Reading]) -> float:
    """The smallest kappa of any system; 1 where all of its answers are equally right by both."""
    found = []
    for one, two in zip(primary, other, strict=True):
        both = ~np.isnan(one.values) & ~np.isnan(two.values)
        with silenced():
            kappa = quadratic_kappa(one.values[both], two.values[both]).value
        found.append((1.0 if both.any() else 0.0) if np.isnan(kappa) else kappa)
    return min(found)


def _parts(
    side: Candidate, primary: pd.Series, group_names: Sequence[str], without: Hashes | None
) -> Iterator[tuple[Kind, str, Mask]]:
    """Yield what is left out, and which questions stay, shape (n,)."""
    keys = question_keys(side)
    for column, slices in side.slices.items():
        codes = pd.Series(slices.codes, keys).groupby(level=0).first()[primary.index].to_numpy()
        for code in np.unique(codes):
            if not (codes == code).all():
                yield "slice", f"{column}: {slices.values[code]}", codes != code
    if len(group_names):
        codes, names = pd.factorize(pd.Series(group_names, keys).groupby(level=0).first()[primary.index].to_numpy())
        sizes, sums = np.bincount(codes), np.bincount(codes, weights=primary)
        largest = [code for code in np.argsort(-np.abs(sums), kind="stable").tolist() if sizes[code] > 1]
        for code in largest[:MOST_GROUPS] if len(names) > 1 else ():
            yield "group", f"group: {names[code]}", codes != code
    if without is not None:
        suspected = np.isin(side.keys, without) | np.isin(keys, without)
        left = ~primary.index.isin(keys[suspected])
        if not left.all():
            yield "references", f"{int((~left).sum())} questions with references under suspicion", left


def _outcome(one: Check, conclusion: Check) -> Outcome:
    better = conclusion.verdict in {Verdict.BETTER, Verdict.NO_WORSE}
    if one.verdict == conclusion.verdict or (conclusion.verdict == Verdict.NO_WORSE and one.verdict == Verdict.BETTER):
        return "holds"
    if conclusion.verdict == Verdict.CANNOT_TELL:
        return "decides"
    if conclusion.verdict == Verdict.NO_WORSE:
        return "reverses" if one.verdict == Verdict.WORSE else "undecided"
    if one.value < 0.0 if better else one.value > 0.0:
        return "reverses"
    few = one.kind == "measure" and one.n < conclusion.n / 2
    return "few rows" if few else "undecided"


def _share(checks: Sequence[Check]) -> float | None:
    decided = [one.outcome == "holds" for one in checks if one.outcome != "few rows"]
    return float(np.mean(decided)) if decided else None


def _by_judge(checks: Sequence[Check]) -> float:
    judged = [one for one in checks if one.kind == "measure"]
    each = [_share([one for one in judged if one.judge == judge]) for judge in {one.judge for one in judged}]
    return float(np.mean([share for share in each if share is not None]))


def _answer(
    conclusion: Check,
    checks: Sequence[Check],
    holds: float,
    holds_without: float | None,
    *,
    several: bool,
    stands: bool,
) -> Answer:
    if conclusion.verdict == Verdict.CANNOT_TELL:
        return "open"
    if not stands or any(one.outcome == "reverses" for one in checks):
        return "fragile"
    if min(holds, 1.0 if holds_without is None else holds_without) < HOLDS:
        return "fragile"
    return "robust" if several else "untested"


def _sources(
    sides: Sequence[Candidate],
    found: Mapping[str, Sequence[Reading]],
    complete: pd.DataFrame,
    counted: Sequence[str],
    asked: Asked,
    groups: pd.Series | None,
) -> Sources | None:
    if len(complete) < 2:  # noqa: PLR2004 (a variance)
        return None
    values = [(one.values, ~np.isnan(one.values)) for one in found[asked.primary]]
    rows = [(one[known], question_keys(side)[known]) for side, (one, known) in zip(sides, values, strict=True)]
    of_draws = of_rows(sides, rows).of_draws
    effect = design_effect(complete[asked.primary].to_numpy(), _of(groups, complete))
    varies = sources(complete.to_numpy(), [found[name][0].judge for name in counted], of_draws, effect)
    rest = (None if one is None else sqrt(one) for one in varies[1:])
    return Sources(sqrt(varies.rows), *rest)
