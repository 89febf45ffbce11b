"""Rows that a judge was asked about, and why some of them have no verdict, from a table of verdicts."""

import json
from collections import Counter
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tasks.judging.statuses import BY_DESIGN, FAILED
from tasks.metrics.base import NO_RESPONSE
from tasks.metrics.judged import DETAILS

# Reasons for a missing verdict that are no failure of the judge.
NO_FAILURE = frozenset({*BY_DESIGN, NO_RESPONSE})


def asked_and_failed(table: pa.Table) -> tuple[int, int]:
    """Count the rows of data/judge that the judge was asked about, and those of them that lack a verdict."""
    failed = np.zeros(table.num_rows, np.bool_)
    failed[[row for row, _ in _problems(table)]] = True
    draws = table["judge_draws"].to_numpy()
    return int(np.count_nonzero(failed | (draws > 0))), int(np.count_nonzero(failed))


def problems_of(table: pa.Table) -> Counter[str]:
    """Count the rows that lack a verdict by the first problem."""
    first: dict[int, str] = {}
    for row, problem in _problems(table):
        first.setdefault(row, problem)
    return Counter(first.values())


def read_columns(schema: pa.Schema) -> list[str]:
    """Return the columns of data/judge that the functions of this module read."""
    return ["judge_status", "judge_reason", "judge_draws", *_details(schema)]


def _problems(table: pa.Table) -> Iterator[tuple[int, str]]:
    """Yield the number of a row and the problem of a metric."""
    for row in _true(pc.equal(table["judge_status"], FAILED)):
        yield row, str(table["judge_reason"][row].as_py())
    for name in _details(table.schema):
        for row in _true(pc.match_substring(table[name], '"unmeasured"')):
            reason = json.loads(table[name][row].as_py()).get("unmeasured")
            if reason is not None and reason not in NO_FAILURE:
                yield row, str(reason)


def _true(chosen: pa.ChunkedArray) -> list[int]:
    rows: list[int] = np.flatnonzero(chosen.fill_null(False).to_numpy()).tolist()  # noqa: FBT003 (pyarrow)
    return rows


def _details(schema: pa.Schema) -> list[str]:
    return [name for name in schema.names if name.endswith(f"_{DETAILS}")]
