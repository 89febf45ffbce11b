"""The load stage on a million records, beside pandas reading the same file and writing it as Parquet."""

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import csv

from benchmarks.data import CANDIDATES, PARAMS, generate, plain, real_rows
from benchmarks.measure import MICROSECONDS, Cost, in_forks, stay_on_one_core, timed
from benchmarks.project import Project, copy
from benchmarks.report import Floor, Result, Table, paragraphs
from tasks.dataset.answers import mapped_columns
from tasks.dataset.columnar import warm_up  # noqa: F401 (compiles the kernels)
from tasks.dataset.columnar.loading import accept, compute, plan
from tasks.dataset.settings import Params
from tasks.dataset.sources import records
from tasks.pipeline import params
from tasks.pipeline.tables import write_part

ROWS, SAMPLE = 1_000_000, 200_000
RATE, RATIO = 150_000.0, 10.0
CORES = 2
ROUNDS = 3
GB = 10**9
FORMATS = (".jsonl", ".csv", ".parquet")
GROUP = 50_000
"""Records a row group of the Parquet file."""


def run(rows: int = ROWS) -> Result:
    """The section `load`."""
    with TemporaryDirectory() as folder:
        whole, sample = (write_records(Path(folder), number) for number in (rows, min(rows, SAMPLE)))
        stages = [(suffix, _stage(whole.with_suffix(suffix))) for suffix in FORMATS]
        ours, theirs = _beside_pandas(sample.with_suffix(".jsonl"))
    read = min(rows, SAMPLE)
    tables = (
        Table("python -m tasks load", tuple(_stage_row(suffix, cost, rows) for suffix, cost in stages)),
        Table(
            f"JSON lines to Parquet, {read:,} records",
            (
                {"by": "load, without start and gates, one core", **_per_record(ours, read)},
                {"by": "pandas.read_json(lines=True), to_parquet, one core", **_per_record(theirs, read)},
            ),
        ),
    )
    rate = rows / stages[0][1].wall
    floors = (
        Floor(f"load of {rows:,} JSON lines, with start and gates", "at least", RATE, "records/s", rate),
        Floor("load on two cores beside pandas", "at least", RATIO, "x", CORES * theirs.cpu / ours.cpu),
    )
    return Result("load", _about(), tables, floors)


def write_records(folder: Path, rows: int) -> Path:
    """Write the same generated records, each with one answer, in every format; return the path without suffix."""
    path = folder / f"records-{rows}"
    table = pa.concat_tables(_records(rows))
    texts = table.set_column(2, "references", pa.array([*map(json.dumps, table["references"].to_pylist())]))
    pq.write_table(table, path.with_suffix(".parquet"), row_group_size=GROUP)
    csv.write_csv(texts, path.with_suffix(".csv"))
    with path.with_suffix(".jsonl").open("w", encoding="utf-8") as file:
        for batch in table.to_batches(GROUP):
            file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in batch.to_pylist())
    return path


def _records(rows: int) -> Iterator[pa.Table]:
    for table in generate(real_rows()[1]):
        for name in CANDIDATES:
            ids = pa.array([f"{key}-{name}" for key in table["id"].to_pylist()])
            columns = {"id": ids, "question": table["question"], "references": table["references"]}
            yield pa.table(columns | {"response": table[name]}).slice(0, rows)
            rows -= min(rows, len(ids))
        if not rows:
            return


def _stage(path: Path) -> Cost:
    with copy() as project:
        project.configure(_sections(path))
        project.python("-m", "tasks.dataset.columnar.warm_up")
        return min((_loaded(project) for _ in range(ROUNDS)), key=lambda cost: cost.wall)


def _loaded(project: Project) -> Cost:
    return project.python("-m", "tasks", "load")


def _sections(path: Path) -> dict[str, Any]:
    sections = params.raw(PARAMS)
    mapping = {"path": str(path), "id": "id", "candidates": {"a": {"response": "response"}}}
    return {**sections, "dataset": plain(sections["dataset"]) | mapping}


def _beside_pandas(path: Path) -> tuple[Cost, Cost]:
    """Ours and pandas' cost, in turns, the best of each."""
    sections = _sections(path)
    given = Params(dataset=sections["dataset"], load=sections["load"])
    turns = [(in_forks(partial(_ours, path, given))[0], in_forks(partial(_pandas, path))[0]) for _ in range(ROUNDS)]
    ours, theirs = (min(costs, key=lambda cost: cost.cpu) for costs in zip(*turns, strict=True))
    return ours, theirs


def _ours(path: Path, given: Params) -> Cost:
    stay_on_one_core()

    def load() -> None:
        parts = plan(records(path), given)
        found = []
        for number, part in enumerate(parts):
            tables, known = compute(part, given)
            found.append(known)
            write_part(tables["load"], path.parent, number)
        if accept(parts, found, given):
            raise ValueError(f"{', '.join(mapped_columns(given))}: not as generated")

    return timed(load)[1]


def _pandas(path: Path) -> Cost:
    stay_on_one_core()
    return timed(lambda: pd.read_json(path, lines=True).to_parquet(path.with_suffix(".pandas")))[1]


def _stage_row(suffix: str, cost: Cost, rows: int) -> dict[str, Any]:
    return {
        "file": suffix,
        "rows": rows,
        "s": cost.wall,
        "records/s": rows / cost.wall,
        "CPU µs a record": cost.cpu / rows * MICROSECONDS,
        "GB": cost.peak / GB,
    }


def _per_record(cost: Cost, rows: int) -> dict[str, Any]:
    return {"CPU µs a record": cost.cpu / rows * MICROSECONDS, "records a CPU second": rows / cost.cpu}


def _about() -> tuple[str, ...]:
    return paragraphs(f"""
        Generated records: an id, a real question, its references, one answer. The command in a copy of the project,
        with everything that it starts, its kernels compiled: files are read, every record is mapped, parts are checked
        with Great Expectations, written and published. The fastest of {ROUNDS} runs.

        Beside pandas: the same file of JSON lines on one core, from the bytes to Parquet on disk, the least processor
        time of {ROUNDS} turns. pandas guesses types and takes keys that stand twice; load maps columns, hashes what was
        asked, and compares ids. The floor compares load on {CORES} cores with pandas, which uses one.
    """)
