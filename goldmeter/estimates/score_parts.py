"""The score tables part by part: the functions that add up one part, in any process, and what they return."""

from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import add
from typing import NamedTuple, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from goldmeter.estimates import failures
from goldmeter.estimates.column_facts import VALUE
from goldmeter.estimates.columns import NONE_FITTED, RATINGS, Candidate, Mask, ScoreColumn, candidates, hashed
from goldmeter.estimates.dataset_counts import PartCounts, part_counts
from goldmeter.estimates.estimates import corpus_score
from goldmeter.estimates.failures import FailureSums
from goldmeter.estimates.human_labels import LABEL, MOST_HASHED, MOST_LABELLED, with_few_labelled
from goldmeter.estimates.primary import VERDICT
from goldmeter.estimates.sums import CandidateSums, ColumnSums, Summand, added, candidate_sums, column_of
from goldmeter.pipeline.tables import Parts
from goldmeter.statistics.corpus import Replicates
from goldmeter.statistics.correlation import ColumnProducts
from goldmeter.statistics.mean import may_be_steady
from goldmeter.statistics.moments import Deviations

Key = TypeVar("Key")
Known = TypeVar("Known")
# Column of data/judge: why a row lies outside of the judge's domain.
DOMAIN_REASON = "domain_reason"
# Slice column, its value, and the score column; without slice: of all rows.
Place = tuple[str | None, str | None, str]


@dataclass(frozen=True)
class ScoreParts:
    """The tables of a run that aggregate reads; parts of one number have the same rows.

    load: data/load. scores: the other tables with scores. judge: data/judge, which is one of them.
    weight_exponent: of the power of two that is larger than all weights; 0 without weights.
    """

    load: Parts
    scores: tuple[Parts, ...]
    judge: Parts
    weight_exponent: int = 0

    def candidates(
        self, number: int, fitted: Mapping[str, float], named: Container[str] | None = None, *, grouped: bool
    ) -> list[Candidate]:
        """The numbers of each candidate in a part.

        Args:
            number: Of the part.
            fitted: Column → fitted threshold.
            named: The score columns; None: all.
            grouped: Whether any row of any part has a group.

        Raises:
            DataError: A table has other rows, or rows in another order.
        """
        found = candidates(self.load, self.scores, fitted, number, named)
        return [
            replace(one, groups=one.cluster_keys if grouped else None).with_weights_of(self.weight_exponent)
            for one in found
        ]

    def whole(self, fitted: Mapping[str, float]) -> list[Candidate]:
        """The numbers of each candidate in all parts."""
        return [*candidates(self.load, self.scores, fitted)]


class LabelFacts(NamedTuple):
    """What one part has of labels and groups.

    keys: hashes of the ids of labelled or rated rows, the MOST_LABELLED + 1 smallest at most. rows: labelled rows.
    grouped: whether a row has a group.
    """

    keys: NDArray[np.uint64]
    rows: int
    grouped: bool


def label_facts(parts: ScoreParts, number: int) -> LabelFacts:
    """Which rows of a part are labelled, and whether any has a group."""
    names = [name for name in ("id", "group", LABEL, RATINGS) if name in parts.load.schema.names]
    rows = parts.load.part(number, names)
    grouped = rows["group"].null_count < rows.num_rows
    if LABEL not in names:
        return LabelFacts(np.empty(0, np.uint64), 0, grouped)
    has_label = pc.is_valid(rows[LABEL])
    labelled = rows["id"].filter(pc.or_(has_label, pc.is_valid(rows[RATINGS])) if RATINGS in names else has_label)
    return LabelFacts(smallest(hashed(labelled)), len(labelled), grouped)


def smallest(keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The MOST_LABELLED + 1 smallest keys, in order."""
    return np.sort(keys)[: MOST_LABELLED + 1]


def labelled_part(parts: ScoreParts, number: int, below: int | None, *, grouped: bool) -> list[Candidate]:
    """The labelled rows of a part, those whose key is less than `below`; None: all."""
    found = [with_few_labelled(one, below) for one in parts.candidates(number, NONE_FITTED, grouped=grouped)]
    if not any(len(one.keys) and column_of(one, VERDICT) is not None for one in found):
        return found
    names = [name for name in ("response", "references") if name in parts.load.schema.names]
    rows = parts.load.part(number, names)
    answers = pc.utf8_length(pc.utf8_trim_whitespace(rows["response"].fill_null(""))).to_numpy()
    lists = rows["references"].to_pylist() if "references" in names else [()] * rows.num_rows
    longest = [max(map(len, references or ()), default=0) for references in lists]
    lengths = np.column_stack([answers, longest]).astype(np.int64)
    return [replace(one, lengths=lengths[one.positions]) for one in found]


def sampled_inputs(load: Parts, number: int) -> dict[int, str]:
    """Hash of an input → the input, of those of a part with the smallest hashes."""
    if "input" not in load.schema.names:
        return {}
    inputs = load.part(number, ["input"])["input"].unique().drop_null()
    return few_inputs(dict(zip(hashed(pa.chunked_array([inputs])).tolist(), inputs.to_pylist(), strict=True)))


def few_inputs(inputs: Mapping[int, str]) -> dict[int, str]:
    """Those with the smallest hashes."""
    return {key: inputs[key] for key in sorted(inputs)[:MOST_HASHED]}


class PartSums(NamedTuple):
    """The sums of one part.

    candidates: by name. products: of the score columns, over the rows of all candidates. counts: of the data set.
    """

    candidates: Mapping[str, CandidateSums]
    products: ColumnProducts
    counts: PartCounts

    def __add__(self, other: "PartSums") -> "PartSums":  # type: ignore[override]  # a sum
        """The sums of both."""
        candidates = added([self.candidates, other.candidates])
        return PartSums(candidates, self.products + other.products, self.counts + other.counts)


def part_sums(
    parts: ScoreParts, number: int, fitted: Mapping[str, float], *, grouped: bool, guarantee: bool
) -> PartSums:
    """Add up the rows of a part. fitted: column → fitted threshold. guarantee: as of `candidate_sums`."""
    found = parts.candidates(number, fitted, grouped=grouped)
    reasons = _domain_reasons(parts.judge, number)
    columns = [*zip(*([column.values for column in one.columns] for one in found), strict=True)]
    scores = np.column_stack([np.concatenate(values) for values in columns]) if columns else np.empty((0, 0))
    return PartSums(
        {one.name: _with_domain(candidate_sums(one, guarantee=guarantee), one, reasons) for one in found},
        ColumnProducts.of(scores),
        part_counts(parts.load, number),
    )


def _merged(mine: Mapping[Key, Summand], theirs: Mapping[Key, Summand]) -> dict[Key, Summand]:
    """Both, with the sum of what both have."""
    return {**mine, **{key: add(mine[key], one) if key in mine else one for key, one in theirs.items()}}


def _each_merged(
    mine: Mapping[str, Mapping[Place, Summand]], theirs: Mapping[str, Mapping[Place, Summand]]
) -> dict[str, dict[Place, Summand]]:
    return {name: _merged(mine.get(name, {}), theirs.get(name, {})) for name in dict.fromkeys([*mine, *theirs])}


class SecondSums(NamedTuple):
    """What one part adds once the totals are known.

    replicates: candidate → place → corpus scores without each row. deviations: likewise, of scores from their mean.
    failures: candidate → its failures.
    """

    replicates: Mapping[str, Mapping[Place, Replicates]]
    deviations: Mapping[str, Mapping[Place, Deviations]]
    failures: Mapping[str, FailureSums]

    def __add__(self, other: "SecondSums") -> "SecondSums":  # type: ignore[override]  # a sum
        """The sums of both."""
        return SecondSums(
            _each_merged(self.replicates, other.replicates),
            _each_merged(self.deviations, other.deviations),
            _merged(self.failures, other.failures),
        )


class Totals(NamedTuple):
    """What the second pass over the parts needs of the first.

    fitted: column → fitted threshold. grouped: whether any row has a group. measure: the primary measure. stats:
    candidate → place → sums of the statistics of a corpus score of independent rows. means:
    candidate → place → mean of scores that may be steady.
    """

    fitted: Mapping[str, float]
    grouped: bool
    measure: str
    stats: Mapping[str, Mapping[Place, tuple[float, ...]]]
    means: Mapping[str, Mapping[Place, float]]


def corpus_totals(sums: CandidateSums) -> dict[Place, tuple[float, ...]]:
    """The sums of statistics that the second pass needs of a candidate."""
    return {place: one.stats for place, one in _independent(sums) if one.stats is not None and one.n_measured}


def steady_means(sums: CandidateSums, confidence: float) -> dict[Place, float]:
    """The means of a candidate's scores that may be steady."""
    return {
        place: one.moments.mean
        for place, one in _independent(sums)
        if one.stats is None and one.facts.bounds and may_be_steady(one.moments, one.facts.bounds, confidence)
    }


def _independent(sums: CandidateSums) -> Iterator[tuple[Place, ColumnSums]]:
    """The columns of a candidate over all rows and over each slice, those of rows without groups."""
    kinds: list[tuple[str | None, str | None, Sequence[ColumnSums]]] = [(None, None, sums.columns)]
    kinds += [(name, value, columns) for name, values in sums.slices.items() for value, columns in values.items()]
    for name, value, columns in kinds:
        yield from (((name, value, one.name), one) for one in columns if one.clusters is None)


def second_sums(parts: ScoreParts, number: int, totals: Totals) -> SecondSums:
    """Add up what depends on the totals of all parts."""
    named = {column for kind in (totals.stats, totals.means) for places in kind.values() for *_, column in places}
    named.add(totals.measure.removesuffix(VALUE))
    found = parts.candidates(number, totals.fitted, named, grouped=totals.grouped)
    replicates = {one.name: _replicates(one, totals.stats.get(one.name, {})) for one in found}
    deviations = {one.name: _deviations(one, totals.means.get(one.name, {})) for one in found}
    return SecondSums(replicates, deviations, _failures(parts, number, found, totals))


def _replicates(candidate: Candidate, totals: Mapping[Place, tuple[float, ...]]) -> dict[Place, Replicates]:
    return {
        place: Replicates.of(np.asarray(corpus_score(one)(np.array(total) - one.stats[rows]), np.float64))
        for place, total, one, rows in _measured(candidate, totals)
        if one.stats is not None
    }


def _deviations(candidate: Candidate, means: Mapping[Place, float]) -> dict[Place, Deviations]:
    return {
        place: Deviations.of(one.values[rows], mean, one.facts.bounds)
        for place, mean, one, rows in _measured(candidate, means)
        if one.facts.bounds
    }


def _measured(candidate: Candidate, places: Mapping[Place, Known]) -> Iterator[tuple[Place, Known, ScoreColumn, Mask]]:
    """Yield each place that the part has, what is known of it, its column, and which rows are measured there."""
    columns = {one.name: one for one in candidate.columns}
    for (name, value, metric), known in places.items():
        one = columns[metric]
        rows = ~np.isnan(one.values)
        if name is not None:
            coded = candidate.slices[name]
            if value not in coded.values:
                continue
            rows &= coded.codes == coded.values.index(value)
        yield (name, value, metric), known, one, rows


def _failures(parts: ScoreParts, number: int, found: Sequence[Candidate], totals: Totals) -> dict[str, FailureSums]:
    is_wrong = np.zeros(sum(len(one.keys) for one in found), np.bool_)
    for one in found:
        if (decisive := failures.decisive(one.columns, totals.measure)) is not None:
            is_wrong[one.positions] = failures.wrong(decisive)
    kinds = failures.kinds_of_part(parts.load, number, is_wrong)
    return {one.name: FailureSums.of(kinds[one.positions], one.groups) for one in found}


def _domain_reasons(judge: Parts, number: int) -> pa.ChunkedArray | None:
    if DOMAIN_REASON not in judge.schema.names:
        return None
    return judge.part(number, [DOMAIN_REASON])[DOMAIN_REASON]


def _with_domain(sums: CandidateSums, candidate: Candidate, reasons: pa.ChunkedArray | None) -> CandidateSums:
    """The sums with how many judged rows lie outside of the judge's domain, and why; and how many a cascade decided."""
    verdicts = column_of(candidate, VERDICT)
    judged = candidate.positions if verdicts is None else candidate.positions[~np.isnan(verdicts.values)]
    if reasons is None:
        return sums
    counted = reasons.take(pa.array(judged)).drop_null().value_counts().to_pylist()
    by_offline = 0 if candidate.by_offline is None else int(np.count_nonzero(candidate.by_offline))
    outside = Counter({one["values"]: one["counts"] for one in counted})
    return replace(sums, judged=len(judged), outside=outside, by_offline=by_offline)
