"""How often each criterion of a rubric is met: the criteria that most questions have, with an interval each."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from goldmeter.errors import DataError
from goldmeter.estimates import estimates
from goldmeter.estimates.column_facts import ColumnFacts, question_column, stated
from goldmeter.estimates.columns import NONE_FITTED, ScoreColumn
from goldmeter.estimates.human_labels import interval
from goldmeter.estimates.metrics_report import CriteriaEntry, CriterionEntry, CriterionRate
from goldmeter.estimates.score_parts import ScoreParts
from goldmeter.estimates.sums import ColumnSums, by_code
from goldmeter.metrics.base import Floats
from goldmeter.pipeline.tables import Parts, about

# Criteria that are listed, those with most questions first; one of a single question says nothing of other questions.
MOST_LISTED, FEWEST_QUESTIONS = 50, 2
# Different criteria whose questions are counted; if there are more, the rarest are dropped part by part.
MOST_COUNTED = 20_000
# Characters of a criterion in reports/metrics.json.
LONGEST = 1_000
Codes = NDArray[np.intp]


def rubrics(judge: Parts) -> list[str]:
    """Return the metrics of data/judge with verdicts on criteria."""
    lists = {field.name for field in judge.schema if pa.types.is_list(field.type)}
    return [name for name in stated(about(judge.schema)) if f"{name}_met" in lists]


@dataclass(frozen=True)
class CriteriaCount:
    """Criterion → questions that have it and whose answer was measured; those of parts add up."""

    questions: Counter[str]

    def __add__(self, other: "CriteriaCount") -> "CriteriaCount":
        """The questions of both, of MOST_COUNTED criteria at most."""
        return CriteriaCount(_most(self.questions + other.questions, MOST_COUNTED))

    @property
    def listed(self) -> list[str]:
        """The criteria to list, those with most questions first."""
        most = _most(self.questions, MOST_LISTED)
        return [text for text, count in most.items() if count >= FEWEST_QUESTIONS]


def _most(questions: Counter[str], limit: int) -> Counter[str]:
    return Counter(dict(sorted(questions.items(), key=lambda item: (-item[1], item[0]))[:limit]))


def counted(parts: ScoreParts, number: int, metric: str) -> CriteriaCount:
    """Count the questions of each criterion in a part."""
    pairs = _pairs(parts, number, metric)
    name = question_column(parts.load.schema.names)
    ids = parts.load.part(number, [name])[name].combine_chunks().take(pa.array(pairs.rows))
    distinct = pa.table({"text": pairs.texts, "id": ids}).group_by(["text", "id"]).aggregate([])
    found = distinct["text"].value_counts().to_pylist()
    return CriteriaCount(_most(Counter({one["values"]: one["counts"] for one in found}), MOST_COUNTED))


class CriteriaSums(NamedTuple):
    """What is added up of the listed criteria. lowest, highest: points of each, shape (criteria,), infinite if unknown.

    candidates: candidate → the sums of each criterion.
    """

    lowest: Floats
    highest: Floats
    candidates: Mapping[str, Sequence[ColumnSums]]

    def __add__(self, other: "CriteriaSums") -> "CriteriaSums":  # type: ignore[override]  # a sum
        """The sums of the rows of both."""
        both = dict(self.candidates)
        for name, sums in other.candidates.items():
            both[name] = [a + b for a, b in zip(both[name], sums, strict=True)] if name in both else sums
        return CriteriaSums(np.minimum(self.lowest, other.lowest), np.maximum(self.highest, other.highest), both)


def criteria_sums(
    parts: ScoreParts, number: int, metric: str, listed: Sequence[str], *, grouped: bool, guarantee: bool
) -> CriteriaSums:
    """Add up the verdicts on the listed criteria in a part; grouped, guarantee: as of `part_sums`."""
    pairs = _pairs(parts, number, metric)
    codes = pc.fill_null(pc.index_in(pairs.texts, pa.array(listed, pa.string())), -1).to_numpy().astype(np.intp)
    lowest, highest = np.full(len(listed), np.inf), np.full(len(listed), -np.inf)
    np.minimum.at(lowest, codes[codes >= 0], pairs.points[codes >= 0])
    np.maximum.at(highest, codes[codes >= 0], pairs.points[codes >= 0])
    candidates: dict[str, list[ColumnSums]] = {}
    for one in parts.candidates(number, NONE_FITTED, (), grouped=grouped):
        place = np.full(parts.load.part(number, ["id"]).num_rows, -1)
        place[one.positions] = np.arange(len(one.positions))
        own = (codes >= 0) & (place[pairs.rows] >= 0)
        met = pairs.met[own]
        column = ScoreColumn(metric, met, np.zeros(len(met), np.bool_), None, None, _facts(metric))
        rows = one.rows(place[pairs.rows[own]])
        candidates[one.name] = by_code(column, codes[own], len(listed), rows, guarantee=guarantee)
    return CriteriaSums(lowest, highest, candidates)


def criteria_entry(count: CriteriaCount, sums: CriteriaSums, confidence: float, *, guarantee: bool) -> CriteriaEntry:
    """Return the entry of a metric in reports/metrics.json."""
    listed: list[CriterionEntry] = []
    for n, text in enumerate(count.listed):
        of_candidates = {name: of[n] for name, of in sums.candidates.items() if of[n].n_measured}
        listed.append(
            {
                "criterion": text if len(text) <= LONGEST else f"{text[:LONGEST]}…",
                "points": [float(sums.lowest[n]), float(sums.highest[n])],
                "questions": count.questions[text],
                "candidates": {name: _rate(of, confidence, guarantee=guarantee) for name, of in of_candidates.items()},
            }
        )
    return {"different": len(count.questions), "listed": listed}


def _rate(sums: ColumnSums, confidence: float, *, guarantee: bool) -> CriterionRate:
    found = estimates.estimate(sums, None, confidence, guarantee=guarantee)
    return {"n": sums.n_measured, **interval(found)}


def _facts(metric: str) -> ColumnFacts:
    return ColumnFacts(metric=metric, family="judge", signature="", bounds=(0.0, 1.0))


class _Pairs(NamedTuple):
    """The criteria of the measured rows of a part, one after another; each of shape (pairs,).

    rows: the number of the row. met: the share of draws that call the criterion met.
    """

    rows: Codes
    texts: pa.StringArray
    points: Floats
    met: Floats


def _pairs(parts: ScoreParts, number: int, metric: str) -> _Pairs:
    """Raises DataError if verdicts are of other criteria than those in data/load."""
    met = parts.judge.part(number, [f"{metric}_met"])[f"{metric}_met"].combine_chunks()
    measured = np.flatnonzero(met.is_valid().to_numpy(zero_copy_only=False))
    met = met.take(pa.array(measured))
    criteria = parts.load.part(number, ["criteria"])["criteria"].combine_chunks().take(pa.array(measured))
    lengths = pc.list_value_length(met).to_numpy()
    if not pc.list_value_length(criteria).equals(pc.list_value_length(met)):
        raise DataError(f"{parts.judge.folder}: verdicts of other criteria than in data/load; run `dvc repro`")
    flat = criteria.flatten()
    return _Pairs(
        np.repeat(measured, lengths).astype(np.intp),
        pc.struct_field(flat, "text"),
        pc.struct_field(flat, "points").to_numpy(),
        met.flatten().to_numpy(),
    )
