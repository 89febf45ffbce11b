"""Survey of a run, part by part: counts over all answers, right fields, missing scores, and the worst ids of a kind."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import repeat
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from goldmeter.estimates.column_facts import stated
from goldmeter.estimates.columns import hashed
from goldmeter.metrics.base import DISABLED, Floats
from goldmeter.pipeline.tables import Parts, about
from goldmeter.pipeline.workers import Crew
from goldmeter.reporting.histograms import Bins, Counts
from goldmeter.reporting.notable_rows import Answers, Kind, RunColumns, RunPart, SplitIds, answers_of, notable_kinds

# Ids → their order, shape (n,), where the numbers of several ids are equal.
Ties = Callable[[pa.Array], NDArray[np.intp]]


class RankedIds(NamedTuple):
    """Ids with a number each, n ids.

    ids: shape (n,). ranks: shape (n,), the smaller the worse; NaN is last.
    """

    ids: pa.Array
    ranks: Floats


def by_name(ids: pa.Array) -> NDArray[np.intp]:
    """Order ids as texts."""
    return np.asarray(pc.sort_indices(ids).to_numpy(), np.intp)


def by_hash(ids: pa.Array) -> NDArray[np.intp]:
    """Order ids by a hash, so that ids with a common beginning do not stand together."""
    return np.argsort(hashed(ids), kind="stable")


def worst(found: RankedIds, most: int, ties: Ties) -> RankedIds:
    """Return the worst ids, each once with its smallest rank: at most `most`, in any order."""
    encoded = found.ids.dictionary_encode()
    ids, ranks = encoded.dictionary, np.full(len(encoded.dictionary), np.inf)
    np.fmin.at(ranks, encoded.indices.to_numpy(), found.ranks)
    if len(ids) <= most:
        return RankedIds(ids, ranks)
    last = np.partition(ranks, most - 1)[most - 1] if most else -np.inf
    better, equal = np.flatnonzero(ranks < last), np.flatnonzero(ranks == last)
    equal = equal[ties(ids.take(pa.array(equal)))[: most - len(better)]]
    rows = np.concatenate([better, equal])
    return RankedIds(ids.take(pa.array(rows)), ranks[rows])


def ordered(found: RankedIds, ties: Ties) -> list[str]:
    """Return distinct ids, the worst first."""
    places = np.empty(len(found.ids), np.intp)
    places[ties(found.ids)] = np.arange(len(found.ids))
    names: list[str] = found.ids.take(pa.array(np.lexsort((places, found.ranks)))).to_pylist()
    return names


class WorstIds:
    """Collects the worst ids of all parts; the result depends neither on the parts nor on their order."""

    def __init__(self, most: int, ties: Ties) -> None:
        self._most, self._ties = most, ties
        self._pieces: list[RankedIds] = []

    def add(self, found: RankedIds) -> None:
        """Add the worst ids of a part; an id may be in several parts."""
        self._pieces.append(found)
        if sum(len(piece.ids) for piece in self._pieces) > 4 * self._most:
            self._pieces = [self._worst()]

    def names(self) -> list[str]:
        """Return the ids, the worst first."""
        return ordered(self._worst(), self._ties)

    def _worst(self) -> RankedIds:
        ids = pa.concat_arrays([pa.array([], pa.string()), *(piece.ids for piece in self._pieces)])
        ranks = np.concatenate([np.empty(0), *(piece.ranks for piece in self._pieces)])
        return worst(RankedIds(ids, ranks), self._most, self._ties)


def in_turns(queues: Sequence[Sequence[str]], limit: int) -> dict[str, int]:
    """Let queues of ids choose in turns, each its first id that is not chosen yet.

    Returns:
        Id → number of the queue that chose it, at most `limit`, in the order of the choice.
    """
    left: list[Iterator[str]] = [iter(queue) for queue in queues]
    chosen: dict[str, int] = {}
    while len(chosen) < limit:
        before = len(chosen)
        for number, queue in enumerate(left):
            new = next((name for name in queue if name not in chosen), None)
            if new is not None and len(chosen) < limit:
                chosen[new] = number
        if len(chosen) == before:
            break
    return chosen


STATUS = "judge_status"
# (Metric, candidate, reason) → rows.
Reasons = Counter[tuple[str, str, str]]


class MissingScores(NamedTuple):
    """A metric without a score of some candidates; details: the column that says why, None without one."""

    metric: str
    details: str | None
    candidates: Sequence[str]


# Name of a table → its metrics without scores.
Missing = Mapping[str, Sequence[MissingScores]]


def missing_reasons(tables: Mapping[str, Parts], number: int, missing: Missing) -> Reasons:
    """Count the reasons in one part of the tables."""
    reasons = Reasons()
    for name, metrics in missing.items():
        for metric in metrics:
            reasons.update(_reasons(tables[name], number, metric))
    return reasons


def most_frequent(reasons: Reasons, metric: str, candidate: str) -> str:
    """Return the most frequent reason for a candidate's missing scores."""
    if metric == "label":
        return "no labels"
    own = {reason: rows for (of, name, reason), rows in reasons.items() if (of, name) == (metric, candidate)}
    return min(own, key=lambda reason: (-own[reason], reason), default="no rows")


def _reasons(table: Parts, number: int, metric: MissingScores) -> Reasons:
    status = [STATUS] if STATUS in table.schema.names else []
    keys = ["candidate", *([metric.details] if metric.details else []), *status]
    rows = table.part(number, keys)
    rows = rows.filter(pc.is_in(rows["candidate"], pa.array(metric.candidates, pa.string())))
    counted = rows.group_by(keys, use_threads=False).aggregate([([], "count_all")]).to_pylist()
    reasons = Reasons()
    for row in counted:
        reason = _reason(row[metric.details] if metric.details else None, row.get(STATUS))
        reasons[metric.metric, row["candidate"], reason] += row["count_all"]
    return reasons


def _reason(details: str | None, status: str | None) -> str:
    reason = str(json.loads(details or "{}").get("unmeasured", status or "no reason given"))
    return f"judge {reason}" if reason == DISABLED else reason


METRIC = "json_fields"
# Fields on the page at most, those that are wrong most often.
MOST = 50


class FieldCount(NamedTuple):
    """How many of the expected values of a field are right."""

    right: int
    expected: int

    @property
    def share(self) -> float:
        """Share of right values."""
        return self.right / self.expected


class FieldTable(NamedTuple):
    """Fields, such as lines[].price, those with the smallest share of right values first.

    rows: field → candidate → its count; a candidate without the field in its references has none. left_out: further
    fields.
    """

    rows: dict[str, dict[str, FieldCount]]
    left_out: int


class FieldCounts(NamedTuple):
    """Right and expected values by (metric, field, candidate)."""

    right: Counter[tuple[str, str, str]]
    expected: Counter[tuple[str, str, str]]


def field_counts(lexical: Parts, number: int) -> FieldCounts:
    """Count right values by field in one part of data/lexical; none if `json_fields` is not among its metrics."""
    found = FieldCounts(Counter(), Counter())
    for metric in sorted(_field_metrics(lexical)):
        details = f"{metric}_details"
        rows = lexical.part(number, ["candidate", details])
        counted = rows.group_by(["candidate", details], use_threads=False).aggregate([([], "count_all")])
        for row in counted.to_pylist():
            for field, counts in json.loads(row[details] or "{}").get("fields", {}).items():
                of_right, of_expected = counts.split(" of ")
                key = metric, field, row["candidate"]
                found.right[key] += int(of_right) * row["count_all"]
                found.expected[key] += int(of_expected) * row["count_all"]
    return found


def _field_metrics(lexical: Parts) -> set[str]:
    """Return the names of `json_fields` in params.yaml that the table has details of."""
    facts = stated(about(lexical.schema)).values()
    named = {METRIC, *(one.metric for one in facts if one.options.get("metric") == METRIC)}
    return {name for name in named if f"{name}_details" in lexical.schema.names}


def field_tables(counted: FieldCounts, candidates: Sequence[str]) -> dict[str, FieldTable]:
    """Return, by metric, the counts of all parts as the page arranges them."""
    right, expected = counted
    found: dict[str, dict[str, dict[str, FieldCount]]] = {}
    for metric, field, candidate in sorted(expected, key=lambda key: (key[0], candidates.index(key[2]))):
        key = metric, field, candidate
        found.setdefault(metric, {}).setdefault(field, {})[candidate] = FieldCount(right[key], expected[key])
    return {metric: _field_table(fields) for metric, fields in found.items()}


def _field_table(fields: Mapping[str, dict[str, FieldCount]]) -> FieldTable:
    ordered = sorted(fields, key=lambda field: (_share(fields[field].values()), field))
    return FieldTable({field: fields[field] for field in ordered[:MOST]}, len(ordered[MOST:]))


def _share(counts: Iterable[FieldCount]) -> float:
    """Return the share of right values of all candidates."""
    right, expected = zip(*counts, strict=True)
    return float(sum(right) / sum(expected))


class Wanted(NamedTuple):
    """What a survey counts.

    bins: column → its bins. missing: table → column → candidates for which the page says why it has no score.
    most: ids of each kind at most.
    """

    bins: Mapping[str, Bins]
    missing: Missing
    most: int


class Survey(NamedTuple):
    """What is known of all answers of a run.

    rows: how many there are. counts: column → scores by candidate and bin. reasons: why scores are missing. fields: of
    JSON answers. asked: the columns that some row was asked for. totals: answers of each kind. queues: of each kind the
    worst ids, first the worst. others: the ids of the worst scores of the graded metric, first the worst.
    """

    rows: int
    counts: dict[str, Counts]
    reasons: Reasons
    fields: FieldCounts
    asked: set[str]
    totals: list[int]
    queues: list[list[str]]
    others: list[str]


class _PartSurvey(NamedTuple):
    rows: int
    counts: dict[str, Counts]
    reasons: Reasons
    fields: FieldCounts
    asked: set[str]
    totals: list[int]
    worst: list[RankedIds]


def survey(crew: Crew, run: RunColumns, wanted: Wanted) -> Survey:
    """Survey all parts of a run; the result depends neither on their number nor on the order of rows."""
    numbers = range(len(run.tables["load"]))
    elsewhere = _right_elsewhere([*crew.map(_split_ids, repeat(run), numbers)])
    rows, counts, reasons, fields = 0, dict[str, Counts](), Reasons(), FieldCounts(Counter(), Counter())
    asked, totals = set[str](), list[int]()
    queues = list[WorstIds]()
    for part in crew.map(_survey_part, repeat(run), numbers, repeat(wanted), elsewhere):
        rows += part.rows
        counts = {name: counts[name] + more if counts else more for name, more in part.counts.items()}
        reasons.update(part.reasons)
        fields.right.update(part.fields.right)
        fields.expected.update(part.fields.expected)
        asked |= part.asked
        totals = [one + more for one, more in zip(totals or repeat(0), part.totals, strict=False)]
        *of_kinds, _ = part.worst
        queues = queues or [*(WorstIds(wanted.most, by_name) for _ in of_kinds), WorstIds(wanted.most, by_hash)]
        for queue, found in zip(queues, part.worst, strict=True):
            queue.add(found)
    *names, others = [queue.names() for queue in queues]
    return Survey(rows, counts, reasons, fields, asked, totals, names, others)


def present_candidates(crew: Crew, run: RunColumns) -> list[str]:
    """Return the candidates that have answers, by name."""
    parts = crew.map(_candidates, repeat(run), range(len(run.tables["load"])))
    return sorted({name for names in parts for name in names})


def _candidates(run: RunColumns, number: int) -> list[str]:
    names: list[str] = pc.unique(run.tables["load"].part(number, ["candidate"])["candidate"]).to_pylist()
    return names


def _split_ids(run: RunColumns, number: int) -> SplitIds:
    return RunPart(run, number).split_ids()


def _right_elsewhere(parts: Sequence[SplitIds]) -> list[NDArray[np.uint8] | None]:
    """Return for each part which candidates are right in any part, by split id; None if no id is split."""
    hashes, codes = np.unique(np.concatenate([part.hashes for part in parts]), return_inverse=True)
    if len(hashes) == len(codes):
        return [None] * len(parts)
    right = np.zeros(len(hashes), np.uint8)
    np.bitwise_or.at(right, codes, np.concatenate([part.right for part in parts]))
    return [*np.split(right[codes], np.cumsum([len(part.hashes) for part in parts])[:-1])]


def _survey_part(
    run: RunColumns, number: int, wanted: Wanted, right_elsewhere: NDArray[np.uint8] | None
) -> _PartSurvey:
    part = RunPart(run, number)
    elsewhere = part.right_elsewhere(right_elsewhere)
    answers = answers_of(run, part.keys, part.all_columns, part.failures(), part.is_blank(), elsewhere)
    kinds = notable_kinds(answers)
    return _PartSurvey(
        rows=len(answers.label),
        counts={
            name: bins.counts(part.all_columns[name].values, answers.candidate_ranks, len(run.names))
            for name, bins in wanted.bins.items()
        },
        reasons=missing_reasons(run.tables, number, wanted.missing),
        fields=field_counts(run.tables["lexical"], number),
        asked={name for name, column in part.all_columns.items() if not column.not_asked.all()},
        totals=[int(kind.rows.sum()) for kind in kinds],
        worst=[*(worst_of(kind, answers, wanted.most) for kind in kinds), worst_scores(answers, wanted.most)],
    )


def worst_of(kind: Kind, answers: Answers, most: int) -> RankedIds:
    """Return the worst ids of a kind; kind: over `answers`."""
    rows = np.flatnonzero(kind.rows)
    ranks = np.zeros(len(rows)) if kind.severity is None else -kind.severity[rows]
    return worst(RankedIds(answers.distinct_ids.take(pa.array(answers.id_codes[rows])), ranks), most, by_name)


def worst_scores(answers: Answers, most: int) -> RankedIds:
    """Return the ids with the worst scores of the graded metric, then those without a score."""
    scores = np.full(len(answers.label), np.nan) if answers.badness is None else -answers.badness
    return worst(RankedIds(answers.distinct_ids.take(pa.array(answers.id_codes)), scores), most, by_hash)


def extremes(crew: Crew, run: RunColumns, columns: Sequence[str]) -> dict[str, tuple[float, float]]:
    """Return column → its smallest and its largest score; infinite, and the wrong way round, without any."""
    found = dict.fromkeys(columns, (np.inf, -np.inf))
    for part in crew.map(_extremes, repeat(run), range(len(run.tables["load"])), repeat(columns)) if columns else ():
        found = {name: (min(low, part[name][0]), max(high, part[name][1])) for name, (low, high) in found.items()}
    return found


def _extremes(run: RunColumns, number: int, columns: Sequence[str]) -> dict[str, tuple[float, float]]:
    own = RunPart(run, number).all_columns
    scores = {name: own[name].values[~np.isnan(own[name].values)] for name in columns}
    return {name: (float(one.min(initial=np.inf)), float(one.max(initial=-np.inf))) for name, one in scores.items()}
