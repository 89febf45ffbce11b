"""The contents that each schedule has tested, 8 bytes a row, so that no row counts twice in a sequential test."""

from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tasks.monitoring import store

Contents = NDArray[np.uint64]
SCHEMA = pa.schema([pa.field("content", pa.uint64(), nullable=False)], metadata={"goldmeter": '{"schema": 1}'})


def path(schedule: str) -> Path:
    """The file of a schedule, beside the history."""
    return store.path().with_name("history-seen") / f"{schedule}.parquet"


def read(file: Path) -> Contents:
    """The contents that earlier runs tested, ascending; raises LedgerError when the file is something else."""
    contents = store.read_as(SCHEMA, file, "a list of rows seen")["content"]
    return np.asarray(contents.to_numpy(), np.uint64)


def add(file: Path, contents: Contents) -> None:
    """Add contents, before the history is written: a crash in between loses evidence but counts no row twice."""
    before = read(file)
    if len(more := np.setdiff1d(contents, before)):
        store.replace_whole(file, pa.table({"content": np.union1d(before, more)}, schema=SCHEMA))
