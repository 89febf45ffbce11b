"""What is aggregated: every score column of the tables as numbers, one value per (id, candidate), sorted by key."""

import json
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from goldmeter.errors import DataError
from goldmeter.estimates.column_facts import COLUMNS, PROBABILITY, QUESTION, WEIGHT, ColumnFacts, is_stopped, stated
from goldmeter.estimates.signature import JUDGED_BY, OFFLINE_JUDGE
from goldmeter.metrics.base import NOT_ASKED, Floats
from goldmeter.pipeline.tables import Parts, about

Mask = NDArray[np.bool_]
Hashes = NDArray[np.uint64]
Ratings = NDArray[np.int8]
# Column of data/load where labels of several raters are mapped: what each says.
RATINGS = "ratings"
NOT_RATED = -1
# Tables that hold no scores, or only those of data/load; every other table that aggregate and report read does.
NO_SCORES = frozenset({"load", "load_rejected", "normalize", "embed", "preference", "aggregate"})
KEYS = ("id", "candidate")
# Column of data/judge: the offline judge's probability that the answer is right.
OFFLINE_MATCH = "offline_match"
# Metadata of data/judge: the column with the probability of a right answer that the judge states, if it is another one.
STATED_PROBABILITY = "stated_probability"
# Column of data/judge: whether a row lies in the judge's domain.
IN_DOMAIN = "in_domain"
NONE_FITTED: Mapping[str, float] = {}
# Keys of SipHash: that of pandas, and another one.
_KEYS = ("0123456789123456", "goldmeter--check")
# Odd, so that different ids keep different products: 2 ** 64 divided by the golden ratio (Knuth, section 6.4).
LONE = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class ScoreColumn:
    """One score column of one candidate; n rows.

    values: shape (n,), NaN = unmeasured. not_asked: shape (n,), unmeasured by design.
    passed: shape (n,), which measured rows pass; None for a column without a pass rate, or whose threshold is not
    fitted yet. stats: shape (n, k), None where the corpus score is the mean.
    """

    name: str
    values: Floats
    not_asked: Mask
    passed: Mask | None
    stats: Floats | None
    facts: ColumnFacts

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.values)

    @property
    def n_measured(self) -> int:
        """The number of measured rows."""
        return int(np.count_nonzero(~np.isnan(self.values)))

    def rows(self, chosen: Mask | NDArray[np.intp]) -> "ScoreColumn":
        """Some rows of the column, by a mask or by their numbers."""
        passed = None if self.passed is None else self.passed[chosen]
        stats = None if self.stats is None else self.stats[chosen]
        return ScoreColumn(self.name, self.values[chosen], self.not_asked[chosen], passed, stats, self.facts)

    def with_threshold(self, threshold: float, rate_signature: str) -> "ScoreColumn":
        """The column with another threshold."""
        facts = replace(self.facts, threshold=threshold, rate_signature=rate_signature, awaits_threshold=False)
        return replace(self, passed=facts.passes(self.values), facts=facts)

    def with_fitted(self, thresholds: Mapping[str, float]) -> "ScoreColumn":
        """The column with its fitted threshold, if it awaits one; thresholds: column → fitted threshold."""
        if not self.facts.awaits_threshold or self.name not in thresholds:
            return self
        limit = thresholds[self.name]
        return self.with_threshold(limit, f"{self.facts.rate_signature}={limit!r}")


class Slices(NamedTuple):
    """One slice column of a candidate; values: in order; codes: which of them each row has, shape (n,)."""

    values: list[str]
    codes: NDArray[np.intp]


@dataclass(frozen=True)
class Candidate:
    """All score columns of one candidate, its rows in the order of their keys; n rows.

    keys: hashes of the ids, shape (n,), ascending. positions: where the rows stand in the tables, shape (n,).
    checks: second hashes of the ids, shape (n,): different ids may share one hash, but not both; None: each key is one
    id. question_checks: the same of `questions`.
    groups: clusters of the rows, shape (n,), or None: their keys in a part, numbers from 0 in all parts.
    labels_random: whether the labelled rows were chosen at random, with equal or with known probabilities.
    label_probability: each row's probability to be chosen for labelling, shape (n,), NaN where it was not chosen; None
    unless a design chose the rows.
    outside: which rows lie outside of the judge's domain, shape (n,); None if no table says so, and in a cascade.
    by_offline: which rows the offline judge of a cascade decided, shape (n,); None without a cascade.
    probabilities: that the answer is right, shape (n, k): the offline judge's, and those of another judge that states
    some; None where no table has any.
    answers: hash of each answer, shape (n,); None where it is not known.
    ratings: what each rater says of the row's answer, shape (n, raters): 1 right, 0 wrong, NOT_RATED; None unless
    labels of several raters are mapped.
    questions: hash of the question that each row answers, shape (n,); None unless questions have several draws.
    weights: how often each row counts, shape (n,), 0 or more; None unless weights are mapped.
    lengths: characters of each answer without the white space around it, and of its longest reference, shape (n, 2); of
    labelled rows alone.
    """

    name: str
    keys: Hashes
    positions: NDArray[np.intp]
    columns: list[ScoreColumn]
    groups: NDArray[np.intp] | None
    slices: dict[str, Slices]
    labels_random: bool = False
    label_probability: Floats | None = None
    outside: Mask | None = None
    by_offline: Mask | None = None
    questions: Hashes | None = None
    checks: Hashes | None = None
    question_checks: Hashes | None = None
    ratings: Ratings | None = None
    weights: Floats | None = None
    answers: Hashes | None = None
    probabilities: Floats | None = None
    lengths: NDArray[np.int64] | None = None

    @property
    def labels_designed(self) -> bool:
        """Whether a design chose the labelled rows, with unequal probabilities."""
        return self.label_probability is not None

    def rows(self, chosen: Mask | NDArray[np.intp]) -> "Candidate":
        """Some rows of the candidate, by a mask or by their numbers."""
        some: dict[str, Any] = {
            name: None if (values := getattr(self, name)) is None else values[chosen] for name in _BY_ROW
        }
        slices = {name: one._replace(codes=one.codes[chosen]) for name, one in self.slices.items()}
        return replace(self, columns=[column.rows(chosen) for column in self.columns], slices=slices, **some)

    @property
    def cluster_keys(self) -> NDArray[np.intp]:
        """The keys of the rows' clusters in a part: each row its own where none has a group."""
        return lone_clusters(self.keys) if self.groups is None else self.groups

    def with_weights_of(self, exponent: int) -> "Candidate":
        """The candidate with weights of at most 1; exponent: of the power of two that is larger than all weights."""
        return self if self.weights is None else replace(self, weights=np.ldexp(self.weights, -exponent))

    def with_fitted(self, thresholds: Mapping[str, float]) -> "Candidate":
        """The candidate with the fitted thresholds of its columns; thresholds: column → fitted threshold."""
        return replace(self, columns=[column.with_fitted(thresholds) for column in self.columns])


# Arrays of a candidate with one element for each row.
_BY_ROW = (
    "keys", "positions", "groups", "label_probability", "outside", "by_offline", "questions", "checks",
    "question_checks", "ratings", "weights", "answers", "probabilities", "lengths",
)  # fmt: skip


def candidates(
    rows: Parts,
    score_tables: Sequence[Parts],
    thresholds: Mapping[str, float] = NONE_FITTED,
    part: int | None = None,
    named: Container[str] | None = None,
) -> Iterator[Candidate]:
    """The numbers of each candidate, by name. Rows are sorted by a hash of their id, so input order does not matter.

    Args:
        rows: data/load.
        score_tables: The other tables with scores; their rows are those of `rows`, in the same order.
        thresholds: Column → fitted threshold.
        part: The number of the part to read; None: all parts.
        named: The score columns to read; None: all.

    Raises:
        DataError: A table has other rows, or rows in another order.
    """
    read = _reader(rows, part)
    keys = read(["id", "candidate"])
    names = _coded(keys["candidate"])
    hashes, checks = hashed_twice(keys["id"]) if part is None else (hashed(keys["id"]), None)
    groups = _groups(read(["group"])["group"], hashes)
    if groups is not None and part is None:
        groups = np.unique(groups, return_inverse=True)[1]
    slices = _slices(read(["slices"])) if "slices" in rows.schema.names else {}
    has_draws = QUESTION in rows.schema.names and part is None
    questions, question_checks = hashed_twice(read([QUESTION])[QUESTION]) if has_draws else (None, None)
    for table in score_tables:
        require_same_parts(rows, table)
        _require_same_rows(keys, table, part)
    columns = [column for table in (rows, *score_tables) for column in score_columns(table, thresholds, part, named)]
    if is_stopped(rows.about):
        columns = [replace(column, facts=replace(column.facts, stopped=True)) for column in columns]
    by_offline = next((_by_offline(table, part) for table in score_tables if JUDGED_BY in table.schema.names), None)
    judges = [table for table in score_tables if IN_DOMAIN in table.schema.names and by_offline is None]
    stating = [table for table in score_tables if probability_columns(table)]
    every = Candidate(
        "",
        hashes,
        np.arange(len(hashes)),
        columns,
        groups,
        slices,
        labels_random=rows.about.get("labels") in {"random", "designed"},
        label_probability=read([PROBABILITY])[PROBABILITY].to_numpy() if PROBABILITY in rows.schema.names else None,
        outside=next((_outside(table, part) for table in judges), None),
        by_offline=by_offline,
        questions=questions,
        checks=checks,
        question_checks=question_checks,
        ratings=ratings_of(read([RATINGS])[RATINGS]) if RATINGS in rows.schema.names else None,
        weights=read([WEIGHT])[WEIGHT].to_numpy() if WEIGHT in rows.schema.names else None,
        probabilities=next((judged_probabilities(table, part) for table in stating), None),
    )
    for number, name in enumerate(names.values):
        chosen = np.flatnonzero(names.codes == number)
        yield replace(every.rows(chosen[np.argsort(hashes[chosen], kind="stable")]), name=name)


def score_tables(tables: Iterable[str]) -> list[str]:
    """Return which of these tables hold scores: those of the pipeline's stages, and of any stage that a user adds."""
    return [name for name in tables if name not in NO_SCORES]


def _reader(table: Parts, part: int | None) -> Callable[[Sequence[str]], pa.Table]:
    """Return the function that reads columns of a part, or of all parts."""
    return table.whole if part is None else partial(table.part, part)


def ratings_of(column: pa.ChunkedArray) -> Ratings:
    """The lists of ratings of each row as an array, shape (n, raters); shorter lists end with NOT_RATED."""
    lists = column.combine_chunks()
    lengths = pc.fill_null(pc.list_value_length(lists), 0).to_numpy()
    found = np.full((len(lists), int(lengths.max(initial=0))), NOT_RATED, np.int8)
    items = pc.fill_null(pc.cast(lists.flatten(), pa.int8()), NOT_RATED)
    found[np.arange(found.shape[1]) < lengths[:, None]] = items.to_numpy()
    return found


def _outside(table: Parts, part: int | None) -> Mask:
    inside = _reader(table, part)([IN_DOMAIN])[IN_DOMAIN].fill_null(True)  # noqa: FBT003 (pyarrow)
    return ~np.asarray(inside.to_numpy(zero_copy_only=False), np.bool_)


def probability_columns(judge: Parts) -> list[str]:
    """Return the columns of data/judge with probabilities of a right answer: the offline judge's, and the judge's."""
    names = (OFFLINE_MATCH, str(judge.about.get(STATED_PROBABILITY)))
    return [name for name in names if name in judge.schema.names]


def judged_probabilities(judge: Parts, part: int | None = None) -> Floats:
    """Return `probability_columns` of a part, or of all parts, shape (n, k); NaN where there is none."""
    names = probability_columns(judge)
    rows = _reader(judge, part)(names)
    return np.column_stack([rows[name].to_numpy(zero_copy_only=False).astype(np.float64) for name in names])


def _by_offline(table: Parts, part: int | None) -> Mask:
    decided = pc.equal(_reader(table, part)([JUDGED_BY])[JUDGED_BY], OFFLINE_JUDGE).fill_null(False)  # noqa: FBT003
    return np.asarray(decided.to_numpy(zero_copy_only=False), np.bool_)


def require_same_parts(rows: Parts, table: Parts) -> None:
    """Raise DataError unless the table has as many parts as data/load."""
    if len(table) != len(rows):
        raise _other_rows(table)


def _other_rows(table: Parts) -> DataError:
    return DataError(f"{table.folder}: its rows are not those of data/load; `dvc repro` brings them together")


def _require_same_rows(keys: pa.Table, table: Parts, part: int | None) -> None:
    """Raise DataError unless the table has the same rows in the same order."""
    if not _reader(table, part)(["id", "candidate"]).equals(keys):
        raise _other_rows(table)


def hashed(texts: pa.ChunkedArray) -> Hashes:
    """A 64-bit hash of each text, the same on every machine; shape (n,)."""
    return _siphash(texts.to_numpy(zero_copy_only=False), _KEYS[0])


def hashed_twice(texts: pa.ChunkedArray) -> tuple[Hashes, Hashes]:
    """Two independent 64-bit hashes of each text, the first as of `hashed`; each of shape (n,).

    One hash is shared by two of 1e9 texts with probability 2.7 %, both are with probability 1.5e-21.
    """
    values = texts.to_numpy(zero_copy_only=False)
    return _siphash(values, _KEYS[0]), _siphash(values, _KEYS[1])


def _siphash(values: NDArray[np.object_], key: str) -> Hashes:
    return pd.util.hash_array(values, hash_key=key, categorize=False)


def score_columns(
    table: Parts,
    thresholds: Mapping[str, float] = NONE_FITTED,
    part: int | None = None,
    named: Container[str] | None = None,
) -> Iterator[ScoreColumn]:
    """Every score column of a table, columns and rows in its order.

    Args:
        table: A table with scores.
        thresholds: Column → fitted threshold.
        part: The number of the part to read; None: all parts.
        named: The columns to read; None: all.

    Raises:
        DataError: The table does not say what its columns mean.
    """
    schema = table.schema
    known = about(schema)
    facts_of = stated(known)
    if COLUMNS not in known and set(schema.names) - {*KEYS}:
        raise DataError(
            f"{table.folder}: it does not say which of its columns are scores, and their bounds; write it with "
            "goldmeter.estimates.tables.own_scores"
        )
    read = _reader(table, part)
    columns = {name: facts_of[name] for name in schema.names if name in facts_of and (named is None or name in named)}
    if not columns:
        return
    wanted = [[name, f"{name}_result", f"{facts.metric}_stats"] for name, facts in columns.items()]
    present = set(schema.names)
    rows = read([*dict.fromkeys(column for names in wanted for column in names if column in present)])
    for name, facts in columns.items():
        values = pc.cast(rows[name], pa.float64()).to_numpy(zero_copy_only=False)
        not_asked = _not_asked(read, schema, name, facts, np.isnan(values))
        column = ScoreColumn(name, values, not_asked, _passed(rows, name, facts, values), _stats(rows, facts), facts)
        yield column.with_fitted(thresholds)


def _passed(table: pa.Table, name: str, facts: ColumnFacts, values: Floats) -> Mask | None:
    """Which rows pass: as the table says; by the threshold where numbers from elsewhere have no result."""
    if not facts.has_pass_rate:
        return None
    if (result := f"{name}_result") in table.column_names:
        return np.asarray(pc.equal(table[result], "pass").to_numpy(zero_copy_only=False), np.bool_)
    return facts.passes(values)


def _stats(table: pa.Table, facts: ColumnFacts) -> Floats | None:
    if facts.corpus_is_mean:
        return None
    stats = table[f"{facts.metric}_stats"].combine_chunks()
    return np.asarray(stats.flatten(), np.float64).reshape(len(stats), -1 if len(stats) else 0)


def _not_asked(
    read: Callable[[Sequence[str]], pa.Table], schema: pa.Schema, name: str, facts: ColumnFacts, missing: Mask
) -> Mask:
    """Which rows of a column are unmeasured by design; read: names of columns → those columns."""
    if name == "label" or facts.by_people or facts.by:
        return missing
    details = details_column(schema.names, name, facts)
    if details is None and "judge_status" in schema.names:
        status = read(["judge_status"])["judge_status"]
        by_design = pc.is_in(status, pa.array(sorted(NOT_ASKED))).to_numpy(zero_copy_only=False)
        return np.asarray(missing & by_design.astype(np.bool_), np.bool_)
    if details is None or not missing.any():
        return np.zeros_like(missing)
    reasons = read([details])[details].filter(pa.array(missing)).to_pylist()
    not_asked = np.zeros_like(missing)
    not_asked[missing] = [json.loads(reason or "{}").get("unmeasured") in NOT_ASKED for reason in reasons]
    return not_asked


def details_column(present: Sequence[str], name: str, facts: ColumnFacts) -> str | None:
    """The column that says why a score is what it is: its own, or that of its metric; None where there is none."""
    return next((column for column in (f"{name}_details", f"{facts.metric}_details") if column in present), None)


def _groups(groups: pa.ChunkedArray, ids: NDArray[np.uint64]) -> NDArray[np.intp] | None:
    """The key of each row's cluster: a hash of its name; a row without one is its own."""
    if groups.null_count == len(groups):
        return None
    return group_keys(groups, ids)


def group_keys(groups: pa.ChunkedArray, ids: NDArray[np.uint64]) -> NDArray[np.intp]:
    """Return the key of each row's cluster, its group or else itself; ids: hashes of their ids."""
    alone = groups.is_null().to_numpy(zero_copy_only=False)
    return np.where(alone, lone_clusters(ids), hashed(groups.fill_null("")).view(np.intp))


def lone_clusters(ids: NDArray[np.uint64]) -> NDArray[np.intp]:
    """The key of the cluster of each row that is its own; a group of the name of its id has another."""
    return (ids * LONE).view(np.intp)


def _slices(rows: pa.Table) -> dict[str, Slices]:
    table = rows.flatten()
    return {name.removeprefix("slices."): _coded(table[name].fill_null("(none)")) for name in table.column_names}


def _coded(texts: pa.ChunkedArray) -> Slices:
    """The distinct texts in order, and which of them each row has."""
    encoded = texts.combine_chunks().dictionary_encode()
    distinct = encoded.dictionary.to_pylist()
    order = sorted(range(len(distinct)), key=distinct.__getitem__)
    place = np.empty(len(distinct), np.intp)
    place[order] = np.arange(len(distinct))
    return Slices([distinct[i] for i in order], place[encoded.indices.to_numpy(zero_copy_only=False)])
