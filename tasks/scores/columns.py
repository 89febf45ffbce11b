"""What is aggregated: every score column of the tables as numbers, one value per (id, candidate), sorted by key."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tasks.errors import DataError
from tasks.metrics.base import LEARNT, NOT_ASKED, Floats
from tasks.pipeline.tables import Parts

Mask = NDArray[np.bool_]
NOT_LEARNT: Mapping[str, float] = {}
TO_LEARN = "to_learn"
"""In place of the threshold and the pass rate's signature of a column whose threshold is not learnt yet: that one."""


@dataclass(frozen=True)
class ScoreColumn:
    """One score column of one candidate; n rows.

    values: shape (n,), NaN = unmeasured. not_asked: shape (n,), unmeasured by design.
    passed: shape (n,), which measured rows pass; None for a column without a pass rate, or a threshold yet to learn.
    stats: shape (n, k), where the corpus score is not the mean. about: what the table's metadata says of it.
    """

    name: str
    values: Floats
    not_asked: Mask
    passed: Mask | None
    stats: Floats | None
    about: dict[str, Any]

    def rows(self, chosen: Mask | NDArray[np.intp]) -> "ScoreColumn":
        """Some rows of the column, by a mask or by their numbers."""
        passed = None if self.passed is None else self.passed[chosen]
        stats = None if self.stats is None else self.stats[chosen]
        return ScoreColumn(self.name, self.values[chosen], self.not_asked[chosen], passed, stats, self.about)

    def passing_from(self, threshold: float, rate_signature: str) -> "ScoreColumn":
        """The column with another threshold."""
        with np.errstate(invalid="ignore"):
            better = self.values >= threshold if self.about["higher_is_better"] else self.values <= threshold
        about = {key: value for key, value in self.about.items() if key != TO_LEARN}
        return replace(
            self, passed=np.asarray(better), about=about | {"threshold": threshold, "rate_signature": rate_signature}
        )

    def learning(self, taught: Mapping[str, float]) -> "ScoreColumn":
        """The column with the threshold that labels taught, if it is to have one; column → threshold."""
        if TO_LEARN not in self.about or self.name not in taught:
            return self
        limit = taught[self.name]
        return self.passing_from(limit, f"{self.about[TO_LEARN]}={limit!r}")


class Slices(NamedTuple):
    """One slice column of a candidate; values: in order; codes: which of them each row has, shape (n,)."""

    values: list[str]
    codes: NDArray[np.intp]


@dataclass(frozen=True)
class Candidate:
    """All score columns of one candidate, its rows in the order of their keys; n rows.

    keys: hashes of the ids, shape (n,), ascending. positions: where the rows stand in the tables, shape (n,).
    groups: cluster labels, shape (n,), or None.
    """

    name: str
    keys: NDArray[np.uint64]
    positions: NDArray[np.intp]
    columns: list[ScoreColumn]
    groups: NDArray[np.intp] | None
    slices: dict[str, Slices]

    def learning(self, taught: Mapping[str, float]) -> "Candidate":
        """The candidate with the thresholds that labels taught; column → threshold."""
        return replace(self, columns=[column.learning(taught) for column in self.columns])


def learnt(thresholds: Mapping[str, Mapping[str, Any]]) -> dict[str, float]:
    """Column → the threshold that labels taught, of those that params say to learn; from reports/metrics.json."""
    return {name: row["learnt"] for name, row in thresholds.items() if row["used"]}


def candidates(
    rows: Parts, score_tables: Sequence[Parts], taught: Mapping[str, float] = NOT_LEARNT
) -> Iterator[Candidate]:
    """The numbers of each candidate, by name. Rows are sorted by a hash of their id, so input order does not matter.

    taught: column → threshold, of those that are learnt from labels.
    """
    keys = rows.whole(["id", "candidate"])
    names = _coded(keys["candidate"])
    hashes = hashed(keys["id"])
    groups, slices = _groups(rows, hashes), _slices(rows)
    for table in score_tables:
        _require_same_rows(keys, table)
    columns = [column for table in (rows, *score_tables) for column in score_columns(table, taught)]
    for number, name in enumerate(names.values):
        chosen = np.flatnonzero(names.codes == number)
        order = chosen[np.argsort(hashes[chosen], kind="stable")]
        yield Candidate(
            name,
            hashes[order],
            order,
            [column.rows(order) for column in columns],
            None if groups is None else groups[order],
            {key: coded._replace(codes=coded.codes[order]) for key, coded in slices.items()},
        )


def _require_same_rows(keys: pa.Table, table: Parts) -> None:
    """Raise DataError unless the table has the same rows in the same order."""
    if not table.whole(["id", "candidate"]).equals(keys):
        raise DataError(f"{table.folder}: its rows are not those of data/load; `dvc repro` brings them together")


def hashed(texts: pa.ChunkedArray) -> NDArray[np.uint64]:
    """A 64-bit hash of each text, the same on every machine; shape (n,)."""
    return pd.util.hash_array(texts.to_numpy(zero_copy_only=False), categorize=False)


def score_columns(table: Parts, taught: Mapping[str, float] = NOT_LEARNT) -> Iterator[ScoreColumn]:
    """Every score column of a table, its rows in the table's order; taught: as of `candidates`."""
    described = table.about.get("columns", {})
    wanted = [[name, f"{name}_result", f"{about['metric']}_stats"] for name, about in described.items()]
    present = set(table.schema.names)
    rows = table.whole([*dict.fromkeys(each for names in wanted for each in names if each in present)])
    for name, meaning in described.items():
        about = _to_learn(meaning) if meaning.get("threshold") == LEARNT else meaning
        values = pc.cast(rows[name], pa.float64()).to_numpy(zero_copy_only=False)
        not_asked = _not_asked(table, name, about, np.isnan(values))
        column = ScoreColumn(name, values, not_asked, _passed(rows, name, about, values), _stats(rows, about), about)
        yield column.learning(taught)


def _to_learn(about: dict[str, Any]) -> dict[str, Any]:
    ungated = {key: value for key, value in about.items() if key not in {"threshold", "rate_signature"}}
    return ungated | {TO_LEARN: about["rate_signature"]}


def _passed(table: pa.Table, name: str, about: dict[str, Any], values: Floats) -> Mask | None:
    """Which rows pass: as the table says; by the threshold where numbers from elsewhere have no result."""
    if "rate_signature" not in about:
        return None
    if (result := f"{name}_result") in table.column_names:
        return np.asarray(pc.equal(table[result], "pass").to_numpy(zero_copy_only=False), np.bool_)
    limit = about["bounds"][1] if about["threshold"] is None else about["threshold"]
    with np.errstate(invalid="ignore"):
        return np.asarray(values >= limit if about["higher_is_better"] else values <= limit)


def _stats(table: pa.Table, about: dict[str, Any]) -> Floats | None:
    if about["corpus_is_mean"]:
        return None
    stats = table[f"{about['metric']}_stats"].combine_chunks()
    return np.asarray(stats.flatten()).reshape(len(stats), -1)


def _not_asked(table: Parts, name: str, about: dict[str, Any], missing: Mask) -> Mask:
    """Which rows of a column are unmeasured by design."""
    names = table.schema.names
    if name == "label":
        return missing
    if "judge_status" in names:
        status = table.whole(["judge_status"])["judge_status"]
        by_design = pc.is_in(status, pa.array(sorted(NOT_ASKED))).to_numpy(zero_copy_only=False)
        return np.asarray(missing & by_design.astype(np.bool_), np.bool_)
    details = details_column(table, name, about)
    if details is None or not missing.any():
        return np.zeros_like(missing)
    reasons = table.whole([details])[details].filter(pa.array(missing)).to_pylist()
    asked = np.zeros_like(missing)
    asked[missing] = [json.loads(reason or "{}").get("unmeasured") in NOT_ASKED for reason in reasons]
    return asked


def details_column(table: Parts, name: str, about: dict[str, Any]) -> str | None:
    """The column that says why a score is what it is: its own, or that of its metric; None where there is none."""
    present = table.schema.names
    return next((each for each in (f"{name}_details", f"{about['metric']}_details") if each in present), None)


def _groups(rows: Parts, ids: NDArray[np.uint64]) -> NDArray[np.intp] | None:
    """The number of each row's cluster; a row without one is its own."""
    groups = rows.whole(["group"])["group"]
    if groups.null_count == len(groups):
        return None
    alone = groups.is_null().to_numpy(zero_copy_only=False)
    _, named = np.unique(hashed(groups.fill_null("")), return_inverse=True)
    _, lone = np.unique(ids, return_inverse=True)
    return np.where(alone, named.max() + 1 + lone, named)


def _slices(rows: Parts) -> dict[str, Slices]:
    if "slices" not in rows.schema.names:
        return {}
    table = rows.whole(["slices"]).flatten()
    return {name.removeprefix("slices."): _coded(table[name].fill_null("(none)")) for name in table.column_names}


def _coded(texts: pa.ChunkedArray) -> Slices:
    """The distinct texts in order, and which of them each row has."""
    encoded = texts.combine_chunks().dictionary_encode()
    found = encoded.dictionary.to_pylist()
    order = sorted(range(len(found)), key=found.__getitem__)
    place = np.empty(len(found), np.intp)
    place[order] = np.arange(len(found))
    return Slices([found[i] for i in order], place[encoded.indices.to_numpy(zero_copy_only=False)])
