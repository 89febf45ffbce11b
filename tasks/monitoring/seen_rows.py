"""What each schedule has bet on already: 8 bytes a row, by what was asked and expected, so that no row counts twice."""

from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tasks.monitoring import store

Contents = NDArray[np.uint64]
SCHEMA = pa.schema([pa.field("content", pa.uint64(), nullable=False)], metadata={"goldmeter": '{"schema": 1}'})


def path(schedule: str) -> Path:
    """Where the rows of a schedule are kept: beside the history."""
    return store.path().with_name("history-seen") / f"{schedule}.parquet"


def read(file: Path) -> Contents:
    """The rows that earlier nights bet on, ascending; raises LedgerError when the file is something else."""
    found = store.read_as(SCHEMA, file, "a list of rows seen")["content"]
    return np.asarray(found.to_numpy(), np.uint64)


def add(file: Path, contents: Contents) -> None:
    """Keep more rows; to be called before the history says what they told: a crash between loses that, no more."""
    before = read(file)
    if len(more := np.setdiff1d(contents, before)):
        store.replace_whole(file, pa.table({"content": np.union1d(before, more)}, schema=SCHEMA))
