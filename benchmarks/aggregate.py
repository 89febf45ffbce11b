"""The aggregate stage on a million rows of every word and meaning metric: reading, intervals, slices, correlations.

Tables as the stages before write them, with made-up scores: one candidate, two slice columns of three and eight
values, one row of a thousand unmeasured. The faster of two runs of the command, all that it starts included.
"""

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks.project import Project, copy
from benchmarks.report import Floor, Result, Table
from goldmeter.estimates.column_facts import statement
from goldmeter.estimates.tables import facts_of
from goldmeter.metrics.base import Metric
from goldmeter.metrics.catalogue import configure
from goldmeter.metrics.pairs import Pairs
from goldmeter.pipeline.tables import describe, write_part

ROWS, PART_ROWS = 1_000_000, 50_000
SECONDS, GIGABYTES = 10.0, 2.0
GB = 10**9
UNMEASURED = 0.001
TEXTS = ("the cat sat on the mat today", "a dog ran over the hill now", "the cat sat here")

FAMILIES = ("lexical", "semantic")


def run(params: Mapping[str, Any], rows: int = ROWS) -> Result:
    """The section `aggregate`; params: params.yaml."""
    metrics = [configure(family, name, options) for family in FAMILIES for name, options in params[family].items()]
    with copy() as project:
        project.configure({**params, "gate": {**params["gate"], "primary": "f1"}})  # neither labels nor a judge
        for number in range(rows // PART_ROWS):
            for name, table in _tables(metrics, number):
                _write(project, name, table, number)
        cost = min((project.python("-m", "tasks", "aggregate") for _ in range(2)), key=lambda each: each.wall)
    columns = sum(len(metric.columns) for metric in metrics)
    return Result(
        (
            Table(
                "python -m tasks aggregate",
                ({"rows": rows, "score columns": columns, "s": cost.wall, "GB": cost.peak / GB},),
            ),
        ),
        (
            Floor("aggregate of 1,000,000 rows, with start, reading and gates", "at most", SECONDS, "s", cost.wall),
            Floor("its memory", "at most", GIGABYTES, "GB", cost.peak / GB),
        ),
    )


def _write(project: Project, table: str, content: pa.Table, number: int) -> None:
    folder = Path(project.folder, "data", table)
    folder.mkdir(parents=True, exist_ok=True)
    write_part(content, folder, number)


def _tables(metrics: list[Metric], number: int) -> Iterator[tuple[str, pa.Table]]:
    """The tables that aggregate reads, one part of each."""
    rng = np.random.default_rng(number)
    ids = pa.array([f"row-{number * PART_ROWS + i:07d}" for i in range(PART_ROWS)])
    keys = {"id": ids, "candidate": pa.array(["a"] * PART_ROWS)}
    slices = [{"topic": f"t{i % 8}", "language": f"l{i % 3}"} for i in range(PART_ROWS)]
    load = keys | {
        "label": pa.nulls(PART_ROWS, pa.bool_()),
        "group": pa.nulls(PART_ROWS, pa.string()),
        "slices": pa.array(slices),
        "content": pa.array([hashlib.sha256(each.encode()).hexdigest() for each in ids.to_pylist()]),
    }
    yield "load", describe(pa.table(load), {"columns": {}, "labels": "all"})
    for family in FAMILIES:
        chosen = [metric for metric in metrics if type(metric).__module__.split(".")[-2] == family]
        columns = {name: facts for metric in chosen for name, facts in facts_of(metric, {}).items()}
        scores = {name: column for metric in chosen for name, column in _columns(metric, rng).items()}
        yield family, describe(pa.table(keys | scores), statement(columns))
    judge = {"offline_match": pa.array(rng.random(PART_ROWS)), "judge_status": pa.array(["disabled"] * PART_ROWS)}
    yield "judge", describe(pa.table(keys | judge), {"columns": {}})
    if number == 0:
        yield "load_rejected", pa.table({"reason": pa.array([], pa.string())})
        yield "embed", describe(pa.table({"key": pa.array([], pa.string())}), {"truncated": 0})


def _columns(metric: Metric, rng: np.random.Generator) -> dict[str, pa.Array]:
    low, high = metric.bounds
    columns: dict[str, pa.Array] = {}
    for name in metric.columns:
        scores = low + (high - low) * rng.random(PART_ROWS)
        if metric.threshold is None:
            scores = np.where(scores > low + 0.4 * (high - low), high, low)
        scores[rng.random(PART_ROWS) < UNMEASURED] = np.nan
        columns[name] = pa.array(scores, from_pandas=True)
        if name == metric.column:
            columns[f"{name}_result"] = pa.array(metric.result(scores).tolist())
    if not metric.corpus_is_mean:
        stats = metric.stats(Pairs.of([TEXTS[i] for i in rng.integers(0, 3, PART_ROWS)], [TEXTS[0]] * PART_ROWS))
        columns[f"{metric.name}_stats"] = pa.FixedSizeListArray.from_arrays(pa.array(stats.ravel()), stats.shape[1])
    columns[f"{metric.name}_details"] = pa.nulls(PART_ROWS, pa.string())
    return columns
