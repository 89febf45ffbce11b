"""The answers of the present run: what a choice and its labels are checked against; one row per (id, candidate)."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from goldmeter.errors import DataError
from goldmeter.estimates.columns import OFFLINE_MATCH, STATED_PROBABILITY
from goldmeter.estimates.human_labels import most_have
from goldmeter.estimates.primary import VERDICT
from goldmeter.estimates.signature import OFFLINE
from goldmeter.metrics.base import Floats
from goldmeter.pipeline.dvc_yaml import stages
from goldmeter.pipeline.tables import Parts
from goldmeter.reporting.row_texts import NAMED_BY, hashed

Mask = NDArray[np.bool_]
LOAD, JUDGE, AGGREGATE = Path("data/load"), Path("data/judge"), "aggregate"


class Key(NamedTuple):
    """What tells an answer from others."""

    id: str
    candidate: str


@dataclass(frozen=True)
class RunRows:
    """The rows of data/load.

    Attributes:
        parts: The table.
        ids: Shape (n,).
        candidates: Shape (n,).
        questions: Ids of the questions, which repeated answers share; shape (n,).
        answered: Rows with a response, shape (n,).
        labels: Of data/load: 1 right, 0 wrong, NaN none; shape (n,).
    """

    parts: Parts
    ids: Sequence[str]
    candidates: Sequence[str]
    questions: Sequence[str]
    answered: Mask
    labels: Floats

    @property
    def keys(self) -> list[Key]:
        """The key of each row."""
        return [*map(Key, self.ids, self.candidates)]

    @cached_property
    def by_name(self) -> dict[str, int]:
        """The number of the row by the part of its name that is of its key."""
        return {hashed([*key]): number for number, key in enumerate(self.keys)}

    def texts(self, rows: Sequence[int]) -> dict[int, dict[str, Any]]:
        """Return number → texts of some rows."""
        return self.parts.take([*NAMED_BY, *_question(self.parts)], rows)

    def probabilities(self) -> Floats:
        """Return the probability of each row that it is right, by `judge`, shape (n,); NaN without one."""
        return self._numbers_of(self.probability_column)

    @cached_property
    def probability_column(self) -> str:
        """The column of data/judge with the probabilities: the judge's if it judged nearly all answers."""
        stated = str(Parts(JUDGE).about.get(STATED_PROBABILITY))
        is_there = stated in Parts(JUDGE).schema.names
        return stated if is_there and most_have(self._numbers_of(stated)[self.answered]) else OFFLINE_MATCH

    @property
    def judge(self) -> str:
        """Whose the probabilities are, in words."""
        return OFFLINE if self.probability_column == OFFLINE_MATCH else "the judge"

    def _numbers_of(self, column: str) -> Floats:
        return np.concatenate([_numbers(part[column]) for part in self._beside(JUDGE, [column])])

    def results(self) -> tuple[Floats, Mask]:
        """Return the share of measures that pass each row, NaN without any, and whether the judge does; shape (n,)."""
        passed, failed = np.zeros(len(self.ids)), np.zeros(len(self.ids))
        judged = np.zeros(len(self.ids), np.bool_)
        for table in filter(Path.is_dir, (Path("data", name) for name in stages()[AGGREGATE].tables_read)):
            names = [name for name in Parts(table).schema.names if name.endswith("_result")]
            parts = self._beside(table, names) if names else []
            for name in names if parts else []:
                results = np.concatenate([part[name].to_numpy() for part in parts])
                passed += results == "pass"
                failed += results == "fail"
                judged |= (results == "pass") & (name == f"{VERDICT}_result")
        with np.errstate(invalid="ignore"):
            return passed / (passed + failed), judged

    def _beside(self, table: Path, columns: Sequence[str]) -> list[pa.Table]:
        """Read columns of a table that has the same rows."""
        parts = [*Parts(table).read(["id", "candidate", *columns])]
        ids = [text for part in parts for text in part["id"].to_pylist()]
        names = [text for part in parts for text in part["candidate"].to_pylist()]
        if ids != self.ids or names != self.candidates:
            raise DataError(f"{table}: other rows than {LOAD}; `dvc repro` brings both up to date")
        return parts


def read_run() -> RunRows:
    """Read the rows of the present run, without their texts.

    Raises:
        DataError: There is no run, or its tables can't be read.
    """
    parts = Parts(LOAD)
    question = _question(parts)
    ids: list[str] = []
    candidates: list[str] = []
    questions: list[str] = []
    answered, labels = [np.zeros(0, np.bool_)], [np.zeros(0)]
    for part in parts.read(["id", "candidate", "label", "response", *question]):
        ids += part["id"].to_pylist()
        candidates += part["candidate"].to_pylist()
        questions += part[(*question, "id")[0]].to_pylist()
        answered.append(part["response"].is_valid().to_numpy())
        labels.append(_numbers(part["label"].cast(pa.int8())))
    return RunRows(parts, ids, candidates, questions, np.concatenate(answered), np.concatenate(labels))


def _question(parts: Parts) -> list[str]:
    """Return the column of the questions' ids, where answers are repeated."""
    return [name for name in ("question",) if name in parts.schema.names]


def _numbers(column: pa.ChunkedArray) -> Floats:
    return np.asarray(column.cast(pa.float64()).fill_null(float("nan")).to_numpy(), np.float64)
