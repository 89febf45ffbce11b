"""Everything at hand that says of each answer whether it is right: labels, judges, their votes, metrics, thresholds."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from goldmeter.comparison.blocks import ANSWER, NO_ANSWER
from goldmeter.comparison.by_question import question_keys
from goldmeter.comparison.measures import LABEL, Measure, measures
from goldmeter.comparison.of_versions import VersionScores
from goldmeter.estimates.columns import NOT_RATED, OFFLINE_MATCH, Candidate, Hashes, hashed, probability_columns
from goldmeter.estimates.panel_estimates import Panel
from goldmeter.estimates.primary import VERDICT
from goldmeter.estimates.signature import OFFLINE, VerdictSource
from goldmeter.metrics.base import Floats
from goldmeter.pipeline.tables import Parts

PEOPLE, HALF = "people", 0.5
# How far thresholds are moved, as a share of the width of the scores.
MOVED = 0.2


class Reading(NamedTuple):
    """One way to call answers right.

    name: unique. judge: who or what says so; several readings may be settings of one judge. signature: how it was made.
    values: of each row, 1 right, 0 wrong, NaN unmeasured, shape (rows,). is_verdict: whether people or a judge were
    asked if the answer is right; else it is a measure that may stand for that.
    """

    name: str
    judge: str
    signature: str
    values: Floats
    is_verdict: bool = False


def readings(side: Candidate, judge: Parts | None) -> Iterator[Reading]:
    """Yield the readings of a system's rows; judge: the table of verdicts that they are of.

    Labels that a design chose are none: their mean is not that of the rows. Nor are verdicts of a judge that stopped
    when the rate was decided.
    """
    for one in measures(side).values():
        if _is_fixed(one) and not (one.name == LABEL and side.labels_designed):
            yield Reading(one.name, _judge(one), one.signature, one.values, one.name in {LABEL, VERDICT})
            yield from _moved(one)
    if side.ratings is not None:
        for number, rated in enumerate(np.where(side.ratings == NOT_RATED, np.nan, side.ratings).T, 1):
            yield Reading(f"{LABEL} by rater {number}", PEOPLE, LABEL, rated, is_verdict=True)
    if judge is not None:
        yield from _of_judge(side, judge)


def _of_judge(side: Candidate, judge: Parts) -> Iterator[Reading]:
    """Yield what stands beside the verdicts: probabilities that an answer is right, and the votes of a panel."""
    if side.probabilities is not None:
        for name, values in zip(probability_columns(judge), side.probabilities.T, strict=True):
            by = OFFLINE if name == OFFLINE_MATCH else _judge(measures(side)[VERDICT])
            for limit in (HALF, HALF - MOVED, HALF + MOVED):
                yield Reading(f"{name} from {limit:g}", by, name, _from(values, limit), is_verdict=True)
    panel, verdict = Panel.of(judge), measures(side).get(VERDICT)
    if panel is not None and VERDICT in panel.votes and (verdict is None or _is_fixed(verdict)):
        votes = panel.meaning[VERDICT].scored(panel.votes[VERDICT][side.positions], VERDICT)
        for number, (juror, cast) in enumerate(zip(panel.jurors, votes.T, strict=True), 1):
            yield Reading(f"{VERDICT} by juror {number}, {juror}", juror, juror, cast, is_verdict=True)


def of_other_version(side: Candidate, load: Parts, other: VersionScores) -> Iterator[Reading]:
    """Yield what another version's judges say of the same answers to the same ids; load: the table of the side's rows.

    Columns whose signature the system has itself say nothing new.
    """
    own, wanted = {one.signature for one in measures(side).values()}, _answers(side, load)
    found: dict[str, list[tuple[Measure, Hashes]]] = {}
    for candidate in other.candidates(other.fitted).values():
        for one in measures(candidate).values():
            if _is_fixed(one) and one.column.facts.family == "judge" and one.signature not in own:
                found.setdefault(one.name, []).append((one, _answers(candidate, other.load)))
    for name, some in found.items():
        keys = np.concatenate([keys for _, keys in some])
        values = pd.Series(np.concatenate([one.values for one, _ in some]), keys)
        aligned = values[~values.index.duplicated()].reindex(wanted).to_numpy()
        first = some[0][0]
        yield Reading(f"{name} of {other.name}", _judge(first), first.signature, aligned, is_verdict=name == VERDICT)


def shared(sides: Sequence[Sequence[Reading]]) -> Mapping[str, list[Reading]]:
    """Name → the reading of each system, if all of them have it and made it the same way."""
    named = [{one.name: one for one in side} for side in sides]
    every = {name: [side[name] for side in named] for name in named[0] if all(name in side for side in named)}
    return {name: some for name, some in every.items() if len({one.signature for one in some}) == 1}


def by_question(side: Candidate, found: Mapping[str, Reading]) -> pd.DataFrame:
    """The mean of each reading over the answers to each question, a row for each question."""
    return pd.DataFrame({name: one.values for name, one in found.items()}).groupby(question_keys(side)).mean()


def _is_fixed(one: Measure) -> bool:
    """Whether it is a pass rate of rows whose number was fixed before."""
    return one.kind == "rate" and not one.column.facts.stopped


def _judge(one: Measure) -> str:
    facts = one.column.facts
    if one.name == LABEL:
        return PEOPLE
    return VerdictSource.of(one.signature).name if facts.family == "judge" else facts.by or facts.metric


def _moved(one: Measure) -> Iterator[Reading]:
    """The pass rate with lower and higher thresholds, where it has one."""
    facts = one.column.facts
    if facts.threshold is None or facts.bounds is None or not np.isfinite(facts.bounds).all():
        return
    (low, high), values = facts.bounds, one.column.values * facts.sign
    for limit in (facts.threshold - MOVED * (high - low), facts.threshold + MOVED * (high - low)):
        if low < limit <= high:
            name = f"{one.name} {'from' if facts.higher_is_better else 'up to'} {limit:.3g}"
            yield Reading(name, _judge(one), one.signature, _from(values, limit * facts.sign))


def _from(values: Floats, limit: float) -> Floats:
    return np.where(np.isnan(values), np.nan, (values >= limit).astype(np.float64))


def _answers(side: Candidate, load: Parts) -> Hashes:
    """A key of each row's id and answer."""
    answers = hashed(load.whole([ANSWER])[ANSWER].fill_null(NO_ANSWER))[side.positions]
    return side.keys ^ (answers * np.uint64(0x9E3779B97F4A7C15))
