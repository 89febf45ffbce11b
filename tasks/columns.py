"""What is aggregated: every score column of the tables as numbers, one value per (id, candidate), sorted by key."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tasks.errors import DataError
from tasks.metrics.base import NOT_ASKED, Floats
from tasks.tables import Parts

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class ScoreColumn:
    """One score column of one candidate; n rows.

    values: shape (n,), NaN = unmeasured. not_asked: shape (n,), unmeasured by design.
    passed: shape (n,), which measured rows pass; None for a column without a pass rate.
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


@dataclass(frozen=True)
class Candidate:
    """All score columns of one candidate, its rows in key order; n rows.

    groups: cluster labels, shape (n,), or None. slices: slice column → value of each row, shape (n,).
    """

    name: str
    columns: list[ScoreColumn]
    groups: NDArray[np.intp] | None
    slices: dict[str, NDArray[np.object_]]


def candidates(rows: Parts, score_tables: Sequence[Parts]) -> Iterator[Candidate]:
    """The numbers of each candidate, by name. Rows are sorted by a hash of their id, so input order does not matter."""
    keys = rows.whole(["id", "candidate"])
    names = keys["candidate"].to_numpy(zero_copy_only=False)
    hashes = hashed(keys["id"])
    groups, slices = _groups(rows, hashes), _slices(rows)
    for table in score_tables:
        _require_same_rows(keys, table)
    columns = [column for table in (rows, *score_tables) for column in score_columns(table)]
    for name in sorted(set(names)):
        chosen = np.flatnonzero(names == name)
        order = chosen[np.argsort(hashes[chosen], kind="stable")]
        yield Candidate(
            name,
            [column.rows(order) for column in columns],
            None if groups is None else groups[order],
            {key: values[order] for key, values in slices.items()},
        )


def _require_same_rows(keys: pa.Table, table: Parts) -> None:
    """Raise DataError unless the table has the same rows in the same order."""
    if not table.whole(["id", "candidate"]).equals(keys):
        raise DataError(f"{table.folder}: its rows are not those of data/load; `dvc repro` brings them together")


def hashed(texts: pa.ChunkedArray) -> NDArray[np.uint64]:
    """A 64-bit hash of each text, the same on every machine; shape (n,)."""
    return pd.util.hash_array(texts.to_numpy(zero_copy_only=False))


def score_columns(table: Parts) -> Iterator[ScoreColumn]:
    """Every score column of a table, its rows in the table's order."""
    for name, about in table.about.get("columns", {}).items():
        values = pc.cast(table.whole([name])[name], pa.float64()).to_numpy(zero_copy_only=False)
        not_asked = _not_asked(table, name, about, np.isnan(values))
        yield ScoreColumn(name, values, not_asked, _passed(table, name, about, values), _stats(table, about), about)


def _passed(table: Parts, name: str, about: dict[str, Any], values: Floats) -> Mask | None:
    """Which rows pass: as the table says; by the threshold where numbers from elsewhere have no result."""
    if "rate_signature" not in about:
        return None
    if (result := f"{name}_result") in table.schema.names:
        return np.asarray(pc.equal(table.whole([result])[result], "pass").to_numpy(zero_copy_only=False), np.bool_)
    limit = about["bounds"][1] if about["threshold"] is None else about["threshold"]
    with np.errstate(invalid="ignore"):
        return np.asarray(values >= limit if about["higher_is_better"] else values <= limit)


def _stats(table: Parts, about: dict[str, Any]) -> Floats | None:
    if about["corpus_is_mean"]:
        return None
    stats = table.whole([f"{about['metric']}_stats"])[0].combine_chunks()
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


def _slices(rows: Parts) -> dict[str, NDArray[np.object_]]:
    if "slices" not in rows.schema.names:
        return {}
    table = rows.whole(["slices"]).flatten()
    return {
        name.removeprefix("slices."): table[name].fill_null("(none)").to_numpy(zero_copy_only=False)
        for name in table.column_names
    }
