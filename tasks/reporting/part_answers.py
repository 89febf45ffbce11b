"""The answers of one part of the tables, with the columns that decide which of them are notable."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tasks.errors import DataError
from tasks.pipeline.tables import Parts
from tasks.reporting.notable_rows import MOST_OTHERS, Answers, Decisive, blank
from tasks.scores import failures
from tasks.scores.columns import KEYS, Mask, ScoreColumn, hashed, score_columns

LABEL = "label"


class PrimaryColumn(NamedTuple):
    """The column of the primary measure; by: who gave its verdicts, in words."""

    name: str
    by: str


class RunColumns(NamedTuple):
    """What the parts of a run are read with; small, because every process gets it.

    tables: by name, data/load first. thresholds: column → fitted threshold. names: the candidates, the best first.
    primary, closest, graded: as of `Answers`, by name.
    """

    tables: Mapping[str, Parts]
    thresholds: Mapping[str, float]
    names: Sequence[str]
    primary: PrimaryColumn | None
    closest: str | None
    graded: str | None


class SplitIds(NamedTuple):
    """The ids of a part some of whose answers may be in other parts; n ids.

    hashes: shape (n,), in order of their first row. right: shape (n,), which of the first candidates answer it right, a
    bit each.
    """

    hashes: NDArray[np.uint64]
    right: NDArray[np.uint8]


class RunPart:
    """One part of all tables of a run; each column is read when it is first asked for."""

    def __init__(self, run: RunColumns, number: int) -> None:
        self.run, self.number = run, number
        self.load = run.tables["load"]

    @cached_property
    def keys(self) -> pa.Table:
        """The ids and candidates of the part."""
        return self.load.part(self.number, [*KEYS])

    @cached_property
    def columns(self) -> dict[str, list[ScoreColumn]]:
        """Name of a table → its score columns.

        Raises:
            DataError: A table has other rows than data/load.
        """
        return {name: self._columns(table) for name, table in self.run.tables.items()}

    @cached_property
    def all_columns(self) -> dict[str, ScoreColumn]:
        """The score columns of all tables, by name."""
        return {column.name: column for columns in self.columns.values() for column in columns}

    def is_wrong(self) -> Mask:
        """Which answers the primary measure calls wrong; shape (n,)."""
        primary = self.run.primary
        return failures.wrong(self.all_columns[primary.name]) if primary else np.zeros(self.keys.num_rows, np.bool_)

    def is_blank(self) -> Mask:
        """Which answers are white space only; shape (n,). False where the primary measure decides what is wrong."""
        if self.run.primary:
            return np.zeros(self.keys.num_rows, np.bool_)
        return blank(self.load.part(self.number, ["response"])["response"])

    def failures(self, chosen: Mask | None = None) -> failures.Kinds:
        """The kind of failure of each answer that the primary measure calls wrong; shape (n,).

        chosen: shape (n,), the answers whose texts are looked at; None: all.
        """
        wrong = self.is_wrong() if chosen is None else self.is_wrong() & chosen
        return failures.kinds_of_part(self.load, self.number, wrong)

    def right_elsewhere(self, of_split: NDArray[np.uint8] | None) -> NDArray[np.uint8]:
        """As of `Answers`, given that of each of `split_ids`; None: no id is in several parts."""
        if of_split is None:
            return np.zeros(self.keys.num_rows, np.uint8)
        of_id = np.zeros(len(self._encoded.dictionary), np.uint8)
        of_id[self._split_places] = of_split
        return np.asarray(of_id[self._encoded.indices.to_numpy()])

    def split_ids(self) -> SplitIds:
        """Return the ids that lack an answer of some candidate in this part, if candidates are compared at all."""
        places = self._split_places
        right = np.zeros(len(places), np.uint8)
        primary = self.run.primary
        if len(places) and primary:
            codes, column = self._encoded.indices.to_numpy(), self.all_columns[primary.name]
            is_right = ~np.isnan(column.values) & ~self.is_wrong()
            names = self.keys["candidate"].combine_chunks()
            for number, name in enumerate(self.run.names[: 1 + MOST_OTHERS]):
                rows = is_right & np.asarray(pc.equal(names, name).to_numpy(zero_copy_only=False))
                right |= np.isin(places, codes[rows]).astype(np.uint8) << number
        hashes = hashed(pa.chunked_array([self._encoded.dictionary.take(pa.array(places))], pa.string()))
        return SplitIds(hashes, right)

    @cached_property
    def _encoded(self) -> pa.DictionaryArray:
        return self.keys["id"].combine_chunks().dictionary_encode()

    @cached_property
    def _split_places(self) -> NDArray[np.intp]:
        """The places of split ids among the distinct ids of the part."""
        if len(self.run.names) < 2 or self.run.primary is None:  # noqa: PLR2004 (nothing to compare)
            return np.empty(0, np.intp)
        return np.flatnonzero(np.bincount(self._encoded.indices.to_numpy()) < len(self.run.names))

    def _columns(self, table: Parts) -> list[ScoreColumn]:
        same = self.number < len(table)
        columns = [*score_columns(table, self.run.thresholds, self.number)] if same else []
        if not same or any(len(column.values) != self.keys.num_rows for column in columns):
            raise DataError(f"{table.folder}: its rows are not those of data/load; `dvc repro` brings them together")
        return columns


def answers_of(
    run: RunColumns,
    keys: pa.Table,
    columns: Mapping[str, ScoreColumn],
    kinds: failures.Kinds,
    is_blank: Mask,
    right_elsewhere: NDArray[np.uint8] | None = None,
) -> Answers:
    """Return some rows of a run as answers; n rows.

    Args:
        run: What its parts are read with.
        keys: Their ids and candidates.
        columns: Their score columns, by name.
        kinds: Shape (n,), the kind of failure of each.
        is_blank: Shape (n,).
        right_elsewhere: As of `Answers`; None: no candidate is.
    """
    n = keys.num_rows
    primary = run.primary
    return Answers(
        ids=keys["id"],
        candidates=keys["candidate"],
        names=run.names,
        label=columns[LABEL].values if LABEL in columns else np.full(n, np.nan),
        gated=[column for name, column in columns.items() if column.passed is not None and name != LABEL],
        blank=is_blank,
        primary=Decisive(columns[primary.name], primary.by, kinds) if primary else None,
        closest=columns[run.closest] if run.closest else None,
        graded=columns[run.graded] if run.graded else None,
        right_elsewhere=np.zeros(n, np.uint8) if right_elsewhere is None else right_elsewhere,
    )
