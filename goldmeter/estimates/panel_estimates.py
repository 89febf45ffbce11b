"""A panel of judges in the estimates: intervals over rows and jurors, how far jurors agree, and with human labels."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, NotRequired, Self, TypedDict

import numpy as np

from goldmeter.estimates.columns import Candidate, ScoreColumn
from goldmeter.estimates.estimates import is_one_cluster, silenced
from goldmeter.estimates.human_labels import FEWEST, LABEL, interval
from goldmeter.estimates.metrics_report import Interval, JurorEntry, PanelEntry, PanelMetricEntry
from goldmeter.estimates.verdict_columns import JURORS, Votes, stated_votes, vote_table, votes_column
from goldmeter.metrics.base import Floats
from goldmeter.pipeline.tables import Parts
from goldmeter.statistics import Estimate, mean_interval
from goldmeter.statistics.agreement import krippendorff_alpha, pair_agreement
from goldmeter.statistics.panel import majority_contributions, mean_contributions, passing_contributions
from goldmeter.statistics.panel import with_jurors as with_spread

Row = dict[str, Any]
ONE_JUROR = "one juror voted"
TIE = 0.5


@dataclass(frozen=True)
class Panel:
    """The votes of a panel.

    jurors: their names. meaning: metric → what its votes mean. votes: metric → shape (n, k), NaN without a vote.
    """

    jurors: Sequence[str]
    meaning: Mapping[str, Votes]
    votes: Mapping[str, Floats]

    @classmethod
    def of(cls, judge: Parts) -> Self | None:
        """Read the votes in data/judge; None without a panel."""
        facts = judge.about
        if not facts.get(JURORS):
            return None
        meaning = stated_votes(facts)
        rows, count = judge.whole([*map(votes_column, meaning)]), len(facts[JURORS])
        return cls(
            facts[JURORS],
            meaning,
            {name: vote_table(rows[votes_column(name)], count) for name in meaning},
        )

    def metric_of(self, column: str) -> str | None:
        """Return the metric whose votes a score column is made from."""
        return next((name for name, one in self.meaning.items() if column in one.columns), None)


class Stated(TypedDict):
    """The section of reports/metrics.json on a panel; empty without one."""

    panel: NotRequired[PanelEntry]


def over_jurors(
    rows: list[Row], judge: Parts, whole: Callable[[], Sequence[Candidate]], confidence: float
) -> tuple[list[Row], Stated]:
    """The rows of data/aggregate with intervals over rows and jurors, and what is said of the panel, if there is one.

    Args:
        rows: With intervals over rows.
        judge: The table data/judge.
        whole: Returns all rows of each candidate.
        confidence: Of the intervals.
    """
    panel = Panel.of(judge)
    if panel is None:
        return rows, {}
    return with_jurors(rows, panel, whole(), confidence), {"panel": entry(panel, rows, whole(), confidence)}


def with_jurors(rows: Sequence[Row], panel: Panel, candidates: Sequence[Candidate], confidence: float) -> list[Row]:
    """The rows of data/aggregate with intervals over rows and jurors, where a panel has judged.

    Args:
        rows: With intervals over rows.
        panel: The votes.
        candidates: All rows of each candidate.
        confidence: Of the intervals.
    """
    by_name = {one.name: one for one in candidates}
    return [
        row
        if row["value"] is None or (metric := panel.metric_of(row["metric"])) is None
        else row | _widened(row, panel, metric, by_name[row["candidate"]], confidence)
        for row in rows
    ]


def _widened(row: Row, panel: Panel, metric: str, candidate: Candidate, confidence: float) -> Row:
    column = _column(candidate, row["metric"])
    chosen = ~np.isnan(column.values)
    if (name := row.get("slice")) is not None:
        coded = candidate.slices[name]
        chosen &= coded.codes == coded.values.index(row["slice_value"])
    votes = panel.votes[metric][candidate.positions[chosen]]
    voted = np.asarray((~np.isnan(votes)).any(axis=0))
    if voted.sum() < 2:  # noqa: PLR2004 (no spread)
        return {"method": row["method"].with_notes(ONE_JUROR)}
    meaning, groups = panel.meaning[metric], None if candidate.groups is None else candidate.groups[chosen]
    scores = meaning.scored(votes[:, voted], column.name)
    is_majority = meaning.is_majority and column.name == next(iter(meaning.columns))
    adds = majority_contributions(scores) if is_majority else mean_contributions(scores)
    bounds = (row["lower_bound"], row["upper_bound"])
    score = Estimate(row["value"], row["low"], row["high"], row["n"], row["method"])
    own = with_spread(score, adds, groups, bounds, confidence)
    widened: Row = {"low": own.low, "high": own.high, "method": own.method}
    if row.get("pass_value") is None:
        return widened
    if not is_majority and row["threshold"] is not None:
        adds = passing_contributions(scores, row["threshold"], column.facts.sign)
    rate = Estimate(row["pass_value"], row["pass_low"], row["pass_high"], row["n"], row["method"])
    passed = with_spread(rate, adds, groups, (0.0, 1.0), confidence)
    return widened | {"pass_low": passed.low, "pass_high": passed.high}


def entry(panel: Panel, rows: Sequence[Row], candidates: Sequence[Candidate], confidence: float) -> PanelEntry:
    """What reports/metrics.json says of a panel.

    Args:
        panel: The votes.
        rows: Rows of data/aggregate, with intervals over rows alone.
        candidates: All rows of each candidate.
        confidence: Of each interval.
    """
    alone = {(row["candidate"], row["metric"]): row for row in rows if row.get("slice") is None}
    found: dict[str, dict[str, PanelMetricEntry]] = {}
    for candidate in candidates:
        for metric, meaning in panel.meaning.items():
            column = _column(candidate, next(iter(meaning.columns)))
            votes = panel.votes[metric][candidate.positions]
            if np.isnan(votes).all():
                continue
            row = alone[candidate.name, column.name]
            found.setdefault(candidate.name, {})[metric] = {
                **_agreement_of_jurors(meaning, column, votes, candidate.groups, confidence),
                "low_of_rows": row["low"],
                "high_of_rows": row["high"],
                "jurors": [
                    _juror(meaning, column, votes[:, j], votes, candidate, confidence) for j in range(votes.shape[1])
                ],
            }
    return {"jurors": [*panel.jurors], "candidates": found}


class _Agreement(TypedDict):
    """As of PanelMetricEntry."""

    n: int
    not_unanimous: float | None
    ties: int
    pair: Interval | None
    alpha: Interval | None


def _agreement_of_jurors(
    meaning: Votes, column: ScoreColumn, votes: Floats, groups: Any, confidence: float
) -> _Agreement:
    """How far jurors agree on rows with two votes or more: on the vote itself, or on whether its number passes."""
    several = (~np.isnan(votes)).sum(axis=1) > 1
    said = votes[several]
    scores = meaning.scores(said)[:, 0]
    differ = np.nanmax(said, axis=1) != np.nanmin(said, axis=1) if len(said) else np.zeros(0, np.bool_)
    found: _Agreement = {
        "n": len(said),
        "not_unanimous": float(differ.mean()) if len(said) else None,
        "ties": int(np.count_nonzero(scores == TIE)) if meaning.is_majority else 0,
        "pair": None,
        "alpha": None,
    }
    own = None if groups is None else groups[several]
    kinds = said
    if not meaning.is_majority:
        if column.facts.threshold is None:
            return found
        kinds = np.where(np.isnan(said), np.nan, column.facts.passes(said))
    if len(said) < FEWEST or is_one_cluster(own):
        return found
    counts = np.column_stack([(kinds == kind).sum(axis=1) for kind in np.unique(kinds[~np.isnan(kinds)])])
    with silenced():
        pair = mean_interval(pair_agreement(counts), own, confidence=confidence)
        found["pair"], found["alpha"] = interval(pair), interval(krippendorff_alpha(counts, own, confidence))
    return found


def _juror(
    meaning: Votes, column: ScoreColumn, own: Floats, votes: Floats, candidate: Candidate, confidence: float
) -> JurorEntry:
    scores = meaning.scored(own[:, None], column.name)[:, 0]
    voted = ~np.isnan(own)
    mean = float(scores[voted].mean()) if voted.any() else None
    return {
        "votes": int(voted.sum()),
        "missing": int(np.count_nonzero(~voted & ~np.isnan(votes).all(axis=1))),
        "mean": mean if mean is None or isfinite(mean) else None,
        "accuracy": _accuracy(scores, candidate, confidence) if meaning.is_correctness else None,
    }


def _accuracy(scores: Floats, candidate: Candidate, confidence: float) -> Interval | None:
    """How often a juror says what human labels say; None with too few, and for labels that a design chose."""
    labels = [column.values for column in candidate.columns if column.name == LABEL]
    if not labels or candidate.labels_designed:
        return None
    both = ~np.isnan(labels[0]) & ~np.isnan(scores)
    groups = None if candidate.groups is None else candidate.groups[both]
    if both.sum() < FEWEST or is_one_cluster(groups):
        return None
    same = ((scores[both] > 0.5) == (labels[0][both] > 0.5)).astype(np.float64)  # noqa: PLR2004 (right)
    with silenced():
        return interval(mean_interval(same, groups, confidence=confidence))


def _column(candidate: Candidate, name: str) -> ScoreColumn:
    return next(column for column in candidate.columns if column.name == name)
