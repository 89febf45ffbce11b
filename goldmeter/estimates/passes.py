"""The passes of the aggregate stage over all parts of the score tables."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import repeat
from typing import NamedTuple, TypeVar

import numpy as np

from goldmeter.errors import ParamsError
from goldmeter.estimates import human_labels, metrics_report, score_parts
from goldmeter.estimates.class_estimates import class_columns, class_entry, class_part
from goldmeter.estimates.columns import Candidate, probability_columns
from goldmeter.estimates.criterion_rates import counted, criteria_entry, criteria_sums
from goldmeter.estimates.judge_calibration import LabelledProbabilities, joined, labelled_probabilities
from goldmeter.estimates.sums import summed
from goldmeter.pipeline.progress import Progress
from goldmeter.pipeline.workers import Crew

Found = TypeVar("Found")


class Labelled(NamedTuple):
    """The candidates with labelled rows only; left_out: labelled rows beyond the largest number of them."""

    candidates: list[Candidate]
    grouped: bool
    left_out: int


@dataclass(frozen=True)
class Passes:
    """The passes over all parts, divided among the crew; each adds up what is found of the parts, in their order.

    guarantee: widen intervals so that their coverage never falls below their confidence.
    """

    parts: score_parts.ScoreParts
    crew: Crew
    progress: Progress
    confidence: float
    guarantee: bool

    def labelled(self) -> Labelled:
        """The labelled rows, MOST_LABELLED at most, and whether any row has a group."""
        keys, grouped, rows = np.empty(0, np.uint64), False, 0
        for facts in self._map(score_parts.label_facts):
            keys = score_parts.smallest(np.concatenate([keys, facts.keys]))
            grouped, rows = grouped or facts.grouped, rows + facts.rows
        if not len(keys):
            return Labelled([], grouped, 0)
        below = int(keys[-1]) if len(keys) > human_labels.MOST_LABELLED else None
        found = human_labels.joined(self._map(partial(score_parts.labelled_part, below=below, grouped=grouped)))
        return Labelled(found, grouped, rows - sum(len(one.keys) for one in found))

    def sums(self, fitted: Mapping[str, float], *, grouped: bool) -> score_parts.PartSums:
        """The sums of all rows, given the fitted thresholds.

        Raises:
            ParamsError: A guarantee is asked for, and rows have groups.
        """
        if self.guarantee and grouped:
            raise ParamsError(
                "aggregate.guarantee: no interval guarantees its coverage for grouped rows; set it to false"
            )
        add_up = partial(score_parts.part_sums, fitted=fitted, grouped=grouped, guarantee=self.guarantee)
        return summed(self._map(add_up))

    def second(
        self, sums: score_parts.PartSums, fitted: Mapping[str, float], measure: str, *, grouped: bool
    ) -> score_parts.SecondSums:
        """What depends on these sums: jackknives, deviations from means, and failures by the primary measure."""
        stats = {name: score_parts.corpus_totals(one) for name, one in sums.candidates.items()}
        means = (
            {}
            if self.guarantee
            else {n: score_parts.steady_means(one, self.confidence) for n, one in sums.candidates.items()}
        )
        totals = score_parts.Totals(fitted, grouped, measure, stats, means)
        return summed(self._map(partial(score_parts.second_sums, totals=totals)))

    def criteria(self, metric: str, *, grouped: bool) -> metrics_report.CriteriaEntry:
        """How often each criterion is met by which the metric grades."""
        count = summed(self._map(partial(counted, metric=metric)))
        add_up = partial(criteria_sums, metric=metric, listed=count.listed, grouped=grouped, guarantee=self.guarantee)
        return criteria_entry(count, summed(self._map(add_up)), self.confidence, guarantee=self.guarantee)

    def classes(self, *, grouped: bool) -> dict[str, metrics_report.ClassesEntry]:
        """Score column → how well each candidate names classes, of the columns that read them."""
        found = {}
        for name, (_, facts) in class_columns(self.parts.scores).items():
            read = self._map(partial(class_part, column=name, grouped=grouped))
            if entry := class_entry(read, facts, self.confidence):
                found[name] = entry
        return found

    def in_sample(self) -> metrics_report.InSampleEntry | None:
        """What to say of the offline judge's agreement if it was trained on inputs of these rows."""
        inputs: dict[int, str] = {}
        for found in self.crew.map(score_parts.sampled_inputs, repeat(self.parts.load), range(len(self.parts.load))):
            inputs = score_parts.few_inputs(inputs | found)
        return human_labels.in_sample(inputs.values())

    def labelled_probabilities(self) -> LabelledProbabilities | None:
        """The rows with a human label and a probability of a judge; None without the latter."""
        if not probability_columns(self.parts.judge):
            return None
        return joined(self._map(labelled_probabilities))

    def _map(self, function: Callable[[score_parts.ScoreParts, int], Found]) -> Iterator[Found]:
        total = len(self.parts.load)
        self.progress("parts", 0, total)
        for done, found in enumerate(self.crew.map(function, repeat(self.parts), range(total)), 1):
            self.progress("parts", done, total)
            yield found
