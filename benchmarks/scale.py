"""Every stage from load to report, without embedding, on a number of rows and on ten times as many.

`python -m tasks STAGE` for every stage from load to aggregate, one after the other, start-up, gates and writing
included, in a copy of the project; the section `semantic` is empty, so that no text is embedded, and the judge
is the offline one. Parquet records of {candidates} generated answers, as in section `stage`, each with a
label. `--rows 10000000` measures ten million rows beside one million.

Memory: the sum of resident memory over the process tree, sampled every {sampled_every:g} s; pages that
processes share count for each.
"""

from collections.abc import Iterator, Sequence
from dataclasses import astuple
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.data import CANDIDATES, SEED, generate, generated_sections, real_rows
from benchmarks.measure import MICROSECONDS, SAMPLED_EVERY, Cost
from benchmarks.project import copy
from benchmarks.report import Floor, Result, Table

STAGES = ("load", "normalize", "lexical", "embed", "semantic", "judge", "aggregate")
ANSWERS = "data/answers.parquet"
GB = 10**9
WARM_UP = 1_000
MILLION = 1_000_000
LIMITS = {MILLION: (75.0, 2.0), 10 * MILLION: (900.0, 4.0)}
"""Rows → seconds and GB of memory that the stages may take together."""
GROWTH = 1.1
"""How many times the time of a row, and the memory of the largest worker, ten times the rows may take."""
RIGHT = 0.7
"""Share of answers that the made-up labels call right."""


class Run(NamedTuple):
    """What each stage took on so many rows, and all of them, one after the other."""

    rows: int
    costs: dict[str, Cost]

    @property
    def whole(self) -> Cost:
        """Seconds of all stages, and memory of the stage, process and worker that take most."""
        walls, cpus, *memory = zip(*map(astuple, self.costs.values()), strict=True)
        return Cost(sum(walls), sum(cpus), *map(max, memory))


def run(rows: int = MILLION) -> Result:
    """The section `scale`; rows: of the larger run."""
    fewer, more = _runs((rows // 10, rows))
    tables = [Table(f"{each.rows:,} rows", [*_rows(each)]) for each in (fewer, more)]
    return Result(tables, [*_floors(fewer, more)], {"candidates": len(CANDIDATES), "sampled_every": SAMPLED_EVERY})


def _runs(sizes: Sequence[int]) -> Iterator[Run]:
    """Run the stages on tables of these sizes, after a small one, which compiles the kernels."""
    _, real = real_rows()
    with copy() as project:
        sections = generated_sections(ANSWERS) | {"semantic": {}}
        for name in CANDIDATES:
            sections["dataset"]["candidates"][name]["label"] = _label(name)
        project.configure(sections)
        for rows in (WARM_UP, *sizes):
            _write(real, rows, project.folder / ANSWERS)
            run = Run(rows, {stage: project.python("-m", "tasks", stage) for stage in STAGES})
            if rows != WARM_UP:
                yield run


def _write(real: pa.Table, rows: int, path: Path) -> None:
    """Write records of five answers and their labels; `rows` answers in all."""
    left, rng = rows // len(CANDIDATES), np.random.default_rng(SEED)
    file = None
    for batch in generate(real):
        records = batch.slice(0, left)
        for name in CANDIDATES:
            records = records.append_column(_label(name), pa.array(rng.random(records.num_rows) < RIGHT))
        file = file or pq.ParquetWriter(path, records.schema)
        file.write_table(records)
        left -= records.num_rows
        if not left:
            break
    if file:
        file.close()


def _label(candidate: str) -> str:
    return f"{candidate}_label"


def _rows(run: Run) -> Iterator[dict[str, Any]]:
    for stage, cost in {**run.costs, "all": run.whole}.items():
        yield {
            "stage": stage,
            "s": cost.wall,
            "cpu s": cost.cpu,
            "µs a row": cost.wall / run.rows * MICROSECONDS,
            "GB": cost.peak / GB,
            "GB, largest process": cost.largest / GB,
            "GB, largest worker": cost.worker / GB,
        }


def _floors(fewer: Run, more: Run) -> Iterator[Floor]:
    for run in (fewer, more):
        if run.rows in LIMITS:
            seconds, memory = LIMITS[run.rows]
            yield Floor(f"{run.rows:,} rows, all stages", "at most", seconds, "s", run.whole.wall)
            yield Floor(f"{run.rows:,} rows, memory", "at most", memory, "GB", run.whole.peak / GB)
    if fewer.rows in LIMITS:
        small, large = fewer.whole, more.whole
        time = large.wall / more.rows / (small.wall / fewer.rows)
        yield Floor("time of a row, ten times the rows", "at most", GROWTH, "x", time)
        yield Floor("largest worker, ten times the rows", "at most", GROWTH, "x", large.worker / small.worker)
