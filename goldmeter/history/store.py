"""The history of runs, history.parquet beside the ledger's store: one row per (run, candidate, metric)."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from goldmeter.errors import LedgerError
from goldmeter.ledger import root
from goldmeter.ledger.sqlite_file import unusable
from goldmeter.pipeline import files

VERSION = 1
Row = dict[str, Any]


def _fields(kind: pa.DataType, *names: str, missing: bool = False) -> list[pa.Field]:
    return [pa.field(name, kind, nullable=missing) for name in names]


# run: the experiment's name. schedule: empty for a run by hand. value to threshold: as in reports/metrics.json.
# look, level: number and level of the look at the baseline. measure: whose difference it is, such as `f1` or
# `f1.value`. floors: JSON, measure → its e-process. fresh: JSON, the fresh rows of the primary measure.
SCHEMA = pa.schema(
    [
        *_fields(pa.string(), "run", "schedule", "commit", "code", "data", "params"),
        pa.field("started", pa.timestamp("us", "UTC"), nullable=False),
        pa.field("seconds", pa.float64(), nullable=False),
        pa.field("cost", pa.float64()),
        pa.field("flow_run", pa.string()),
        *_fields(pa.string(), "candidate", "metric", "signature"),
        *_fields(pa.float64(), "value", "low", "high", missing=True),
        *_fields(pa.int64(), "n", "n_not_asked", "n_failed"),
        *_fields(pa.float64(), "pass_rate", "pass_rate_low", "pass_rate_high", "threshold", missing=True),
        *_fields(pa.string(), "baseline", "baseline_commit", "content", missing=True),
        pa.field("look", pa.int32()),
        pa.field("level", pa.float64()),
        pa.field("measure", pa.string()),
        *_fields(pa.float64(), "difference", "difference_low", "difference_high", missing=True),
        *_fields(pa.string(), "verdict", "floors", "fresh", "alarm", missing=True),
    ],
    metadata={"goldmeter": f'{{"schema": {VERSION}}}'},
)

# The contents that a schedule has tested, 8 bytes a row, so that no row counts twice in a sequential test.
Contents = NDArray[np.uint64]
SEEN_SCHEMA = pa.schema([pa.field("content", pa.uint64(), nullable=False)], metadata={"goldmeter": '{"schema": 1}'})


def path() -> Path:
    """The file with the history of this clone, beside the ledger's store."""
    return root().with_name("history.parquet")


def read(where: Path | None = None) -> pa.Table:
    """Read the history, in the order in which it was written; empty where there is none.

    Raises:
        LedgerError: The file is damaged, or has the schema of another version.
    """
    return read_as(SCHEMA, where or path(), "a history")


def append(rows: Sequence[Mapping[str, Any]], where: Path | None = None) -> bool:
    """Add the rows of one run, durably; the whole file is replaced, so that a killed process leaves it as it was.

    Returns:
        False, with nothing added, when the history has this schedule's run of this name and commit.

    Raises:
        LedgerError: The file is no history, or can't be written.
    """
    if not rows:
        return False
    file = where or path()
    with exclusive(file.with_suffix(".lock")):
        before, added = read(file), table(rows)
        key = ["run", "commit", "schedule"]
        if {name: rows[0][name] for name in key} in before.select(key).to_pylist():
            return False
        replace_whole(file, pa.concat_tables([before, added]))
    return True


def table(rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    """The rows as a table of SCHEMA; fields that a row lacks are null."""
    return pa.Table.from_pylist([*map(dict, rows)], SCHEMA)


def seen_path(schedule: str) -> Path:
    """The file of a schedule, beside the history."""
    return path().with_name("history-seen") / f"{schedule}.parquet"


def read_seen(file: Path) -> Contents:
    """The contents that earlier runs tested, ascending; raises LedgerError when the file is something else."""
    contents = read_as(SEEN_SCHEMA, file, "a list of rows seen")["content"]
    return np.asarray(contents.to_numpy(), np.uint64)


def add_seen(file: Path, contents: Contents) -> None:
    """Add contents, before the history is written: a crash in between loses evidence but counts no row twice."""
    before = read_seen(file)
    if len(more := np.setdiff1d(contents, before)):
        replace_whole(file, pa.table({"content": np.union1d(before, more)}, schema=SEEN_SCHEMA))


def read_as(schema: pa.Schema, file: Path, what: str) -> pa.Table:
    """Read the table of a file, empty where there is none; raises LedgerError if its schema is another one."""
    try:
        with pq.ParquetFile(file, page_checksum_verification=True) as opened:  # once: a writer may replace the file
            content = opened.read()
    except FileNotFoundError:
        return schema.empty_table()
    except (pa.ArrowException, OSError) as error:
        raise _foreign(file, what, str(error)) from error
    if not content.schema.equals(schema, check_metadata=True):
        raise _foreign(file, what, "its columns or its version differ")
    return content


def replace_whole(file: Path, content: pa.Table) -> None:
    """Replace a file whose lock is held, atomically and durably; raises LedgerError when it can't be written."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with files.replacing(file, locked=True) as written:
            pq.write_table(content, written, compression="zstd", write_page_checksum=True)
    except OSError as error:
        raise unusable(file, error) from error


@contextmanager
def exclusive(lock: Path) -> Iterator[None]:
    """Hold a lock file, waiting for it; the kernel frees it with the process. Raises LedgerError without access."""
    with ExitStack() as held:
        try:
            lock.parent.mkdir(parents=True, exist_ok=True)
            held.enter_context(files.exclusive(lock))
        except OSError as error:
            raise unusable(lock, error) from error
        yield


def _foreign(file: Path, what: str, why: str) -> LedgerError:
    return LedgerError(
        f"{file}: not {what} that this version of goldmeter can read: {' '.join(why.split())}.\n"
        "Nothing was written. Put a sound copy in its place. Without the file a new one is begun, and rows that were "
        "bet on are bet on again: rename the schedule then, so that its false alarms stay as rare as they should be."
    )
