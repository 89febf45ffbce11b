"""Counts the verdicts of each group of rows, block by block, for a judge that may stop (`judge.stop`)."""

from collections.abc import Mapping
from itertools import combinations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from goldmeter.estimates.column_facts import WEIGHT
from goldmeter.estimates.columns import hashed
from goldmeter.estimates.metrics_report import LimitsOfColumn
from goldmeter.estimates.primary import VERDICT
from goldmeter.judging.cascade import Division
from goldmeter.judging.followed_difference import RateDifference
from goldmeter.judging.followed_rate import CONFIDENCE, Rate
from goldmeter.judging.paired_rows import PairedRows
from goldmeter.judging.panel_verdicts import verdicts_on
from goldmeter.judging.settings import Judge
from goldmeter.judging.statuses import ANSWERED, STATUSES, Mask, groups_of, statuses_by_metric
from goldmeter.ledger.verdicts import Verdicts
from goldmeter.metrics.base import EMPTY_RESPONSE, Floats
from goldmeter.metrics.judged import JudgeMetric

_EMPTY = STATUSES.index(EMPTY_RESPONSE)
_USABLE = [STATUSES.index(ANSWERED), _EMPTY]


class Tally:
    """What is known of each group of rows, and what is to come.

    systems, groups: their names → places. to_judge: metric → rows that can have a verdict, shape (counts, systems,
    groups): each counts once, and with `dataset.weight` also by its weight. is_asked: of each group, shape (groups,).
    known: metric → rows with a verdict, sums of the scores of its columns, scaled to 0 to 1, and rows that pass; shape
    (counts, systems, groups, columns + 2).
    """

    def __init__(self, division: Division, options: Judge) -> None:
        """Count what is to come; division: all rows."""
        self._options = options
        self.systems: dict[str, int] = {}
        self.groups: dict[str, int] = {}
        parts = [
            (hashed(part["id"]), self._places(part), self._usable(part), _weights(part)) for part in division.parts()
        ]
        shape = (len(self.systems), len(self.groups))
        self._counts = max((len(weights) for *_, weights in parts), default=1)
        self.is_asked = np.zeros(len(self.groups), np.bool_)
        self.to_judge = {metric.name: np.zeros((self._counts, *shape)) for metric in options.metrics}
        self.known = {
            metric.name: np.zeros((self._counts, *shape, len(metric.columns) + 2)) for metric in options.metrics
        }
        self._rows = np.zeros(shape)
        for _, places, usable, weights in parts:
            np.add.at(self._rows, places, np.any([*usable.values()], axis=0))
            for name, can_count in usable.items():
                for counts, by in zip(self.to_judge[name], weights, strict=True):
                    np.add.at(counts, places, can_count * by)
        self._compared = next((name for name, goal in options.stop.items() if isinstance(goal, str)), None)
        if compared := self._compared:
            self._pairs = PairedRows((keys, *places, usable[compared]) for keys, places, usable, _ in parts)

    @property
    def rows(self) -> int:
        """Rows that can have a verdict."""
        return int(self._rows.sum())

    @property
    def rows_asked(self) -> int:
        """Those of them that were asked about, or that need no call."""
        return int(self._rows[:, self.is_asked].sum())

    def add(self, block: Division, ledger: Verdicts) -> None:
        """Count the verdicts on some rows, which hold whole groups."""
        for part, by_offline in block.with_verdicts():
            places = self._places(part)
            self.is_asked[places[1]] = True
            for metric, scores in _scores(part, by_offline, self._options, ledger):
                numbers = _numbers(metric, scores)
                for counts, by in zip(self.known[metric.name], _weights(part), strict=True):
                    np.add.at(counts, places, numbers * by[:, None])
                if metric.name == self._compared:
                    self._pairs.add(part, places[0], np.where(numbers[:, 0], numbers[:, -1], np.nan))

    def followed(self, measure: str) -> dict[str, Rate]:
        """System → the rate that the report compares with a target: of the verdict its mean score, else the pass rate.

        Both differ with several draws only. It is that by weights, where there are any.
        """
        number = 1 if measure == VERDICT else -1
        return {system: self._rate(system, measure, number, self._counts - 1) for system in self.systems}

    def differences(self) -> dict[tuple[str, str], RateDifference]:
        """Two systems → the difference of their pass rates, at a confidence that all have together (Bonferroni)."""
        pairs = [*combinations(self.systems, 2)]
        confidence, by_judge = 1.0 - (1.0 - CONFIDENCE) / max(len(pairs), 1), self._compared == VERDICT
        return {
            (first, second): self._pairs.difference(
                (self.systems[first], self.systems[second]), self.is_asked, confidence, by_judge=by_judge
            )
            for first, second in pairs
        }

    def limits(self) -> dict[str, dict[str, LimitsOfColumn]]:
        """Score column → system → the limits of its mean score and of its pass rate."""
        found: dict[str, dict[str, LimitsOfColumn]] = {}
        for metric in self._options.metrics:
            for number, column in enumerate(metric.columns, 1):
                found[column] = {system: self._limits(system, metric, number, column) for system in self.systems}
        return found

    def _limits(self, system: str, metric: JudgeMetric, number: int, column: str) -> LimitsOfColumn:
        low, high = metric.bounds_of(column)
        rates = [self._rate(system, metric.name, number, counts).limits for counts in range(self._counts)]
        limits: LimitsOfColumn = {"value": [low + (high - low) * limit for limit in rates[0]]}
        if self._counts > 1:
            limits["weighted"] = [low + (high - low) * limit for limit in rates[1]]
        if metric.has_pass_rate and column == metric.column:
            passing = [[*self._rate(system, metric.name, -1, counts).limits] for counts in range(self._counts)]
            limits["passing"] = passing[0]
            if self._counts > 1:
                limits["weighted_passing"] = passing[1]
        return limits

    def _rate(self, system: str, measure: str, number: int, counts: int) -> Rate:
        own, to_judge = (table[measure][counts, self.systems[system]] for table in (self.known, self.to_judge))
        asked, largest = own[self.is_asked], float(to_judge.max()) or 1.0
        sizes = np.minimum(asked[:, 0], largest)  # sums of fractions may be a last digit above
        totals = np.minimum(asked[:, number], sizes)
        return Rate(sizes, totals, to_judge[~self.is_asked], largest, measure == VERDICT)

    def _usable(self, part: pa.Table) -> dict[str, Mask]:
        """Metric → which rows of a part can have a verdict."""
        return {name: np.isin(codes, _USABLE) for name, codes in statuses_by_metric(part, self._options).items()}

    def _places(self, part: pa.Table) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        systems = [self.systems.setdefault(name, len(self.systems)) for name in part["candidate"].to_pylist()]
        groups = [self.groups.setdefault(name, len(self.groups)) for name in groups_of(part)]
        return np.array(systems, np.intp), np.array(groups, np.intp)


def _weights(part: pa.Table) -> Floats:
    """Return how often rows count: once, and with `dataset.weight` by their weight; shape (counts, n)."""
    once = np.ones((1, part.num_rows))
    return np.vstack([once, part[WEIGHT].to_numpy()]) if WEIGHT in part.column_names else once


def _scores(part: pa.Table, by_offline: Floats, options: Judge, ledger: Verdicts) -> list[tuple[JudgeMetric, Floats]]:
    """Return of each metric the scores of some rows, NaN without a verdict, shape (n, columns).

    by_offline: verdicts of the offline judge of a cascade, NaN where the language model is asked, shape (n,).
    """
    by_model = np.isnan(by_offline)
    judged = verdicts_on(part.filter(pa.array(by_model)), options, ledger)
    codes: Mapping[str, NDArray[np.int8]] = statuses_by_metric(part, options)
    found = []
    for metric in options.metrics:
        scores = np.repeat(by_offline[:, None], len(metric.columns), axis=1)
        scores[by_model] = np.array([row.judged[metric.name].scores(metric) for row in judged]).reshape(
            -1, len(metric.columns)
        )
        scores[~np.isin(codes[metric.name], _USABLE)] = np.nan
        scores[codes[metric.name] == _EMPTY] = metric.bounds[0]
        found.append((metric, scores))
    return found


def _numbers(metric: JudgeMetric, scores: Floats) -> Floats:
    """Return what a row adds to `Tally.known`; zeros without a verdict."""
    is_known = ~np.isnan(scores[:, :1])
    lows, highs = np.array([metric.bounds_of(column) for column in metric.columns]).T
    passes = (metric.result(scores[:, 0]) == "pass")[:, None]
    return np.where(is_known, np.hstack([is_known, (scores - lows) / (highs - lows), passes]), 0.0)
