"""The load stage: processor time a record for each shape of data, and a million JSON lines by the command.

Generated records: an id, a real question, its references, one answer. The command in a copy of the project,
with everything that it starts: files are read, every record is mapped, parts are checked with Great
Expectations, written and published. The fastest of {ROUNDS} runs.

A shape: from the bytes to Parquet on disk on one core, the least processor time of {ROUNDS} runs. Of a joined
file its records count as those of the questions do: half of the records are in each.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import csv

from benchmarks.data import CANDIDATES, PARAMS, ROOT, generate, plain, real_rows
from benchmarks.measure import MICROSECONDS, Cost, in_forks, stay_on_one_core, timed
from benchmarks.project import Project, copy
from benchmarks.report import Floor, Result, Table
from goldmeter.dataset.settings import Params
from goldmeter.pipeline import params
from goldmeter.pipeline.files import read_json
from goldmeter.pipeline.tables import write_part
from tasks.load import load, source

ROWS, SAMPLE = 1_000_000, 50_000
# Processor time of a record, in every shape.
MOST = 20.0
ROUNDS = 3
GB = 10**9
# Records a row group of the Parquet file.
GROUP = 50_000
ONE = {"a": {"response": "response"}}
LONG = {"column": "model", "response": "response"}


def run(rows: int = ROWS) -> Result:
    """The section `load`."""
    with TemporaryDirectory() as folder:
        whole = write_records(Path(folder), rows)
        stage = _stage(whole.with_suffix(".jsonl"))
        sample = min(rows, SAMPLE)
        costs = {name: _shape(Path(folder, name), write, sample) for name, write in SHAPES.items()}
    tables = (
        Table("python -m tasks load", (_stage_row(".jsonl", stage, rows),)),
        Table(
            f"A shape of {sample:,} records, without start and gates, one core",
            tuple({"shape": name, "CPU µs a record": cost} for name, cost in costs.items()),
        ),
    )
    floors = [Floor(f"load, {name}", "at most", MOST, "µs of CPU a record", cost) for name, cost in costs.items()]
    return Result(tables, floors)


def write_records(folder: Path, rows: int) -> Path:
    """Write the same generated records, each with one answer, in every format; return the path without suffix."""
    path = folder / f"records-{rows}"
    table = pa.concat_tables(_records(rows))
    texts = table.set_column(2, "references", pa.array([*map(json.dumps, table["references"].to_pylist())]))
    pq.write_table(table, path.with_suffix(".parquet"), row_group_size=GROUP)
    csv.write_csv(texts, path.with_suffix(".csv"))
    _write_lines(path.with_suffix(".jsonl"), (row for part in table.to_batches(GROUP) for row in part.to_pylist()))
    return path


def _write_lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def _records(rows: int) -> Iterator[pa.Table]:
    for table in generate(real_rows()[1]):
        for name in CANDIDATES:
            ids = pa.array([f"{key}-{name}" for key in table["id"].to_pylist()])
            columns = {"id": ids, "question": table["question"], "references": table["references"]}
            yield pa.table(columns | {"response": table[name]}).slice(0, rows)
            rows -= min(rows, len(ids))
        if not rows:
            return


def _rows(rows: int) -> Iterator[dict[str, Any]]:
    return (row for table in _records(rows) for row in table.to_pylist())


def _file(suffix: str, folder: Path, rows: int) -> dict[str, Any]:
    path = write_records(folder, rows).with_suffix(suffix)
    return {"candidates": ONE, "pattern": path.name}


def _long(folder: Path, rows: int) -> dict[str, Any]:
    _write_lines(folder / "d.jsonl", (row | {"model": row["id"][-1]} for row in _rows(rows)))
    return {"candidates": LONG}


def _draws(folder: Path, rows: int) -> dict[str, Any]:
    first = [*_rows(rows // 4 + 1)]
    _write_lines(folder / "d.jsonl", [row for _ in range(4) for row in first][:rows])
    return {"candidates": ONE, "draw": True}


def _joined(folder: Path, rows: int) -> dict[str, Any]:
    every = [*_rows(rows // 2)]
    _write_lines(folder / "d.jsonl", ({k: v for k, v in row.items() if k != "response"} for row in every))
    _write_lines(folder / "answers.jsonl", ({"id": row["id"], "response": row["response"]} for row in every))
    return {"candidates": {"a": {"response": "response", "path": "answers.jsonl"}}, "pattern": "d.jsonl"}


def _labelled(folder: Path, rows: int) -> dict[str, Any]:
    every = [*_rows(rows // 2)]
    _write_lines(folder / "d.jsonl", every)
    labels = ({"id": row["id"], "text": row["response"], "ok": number % 3 > 0} for number, row in enumerate(every))
    _write_lines(folder / "labels.jsonl", labels)
    label_file = {"path": "labels.jsonl", "id": "id", "response": "text", "label": "ok"}
    return {"candidates": ONE, "pattern": "d.jsonl", "label_file": label_file}


def _log(tool: str, folder: Path, rows: int) -> dict[str, Any]:
    for name, log in LOGS[tool].items():
        around, record = log["around"], log["record"]
        texts = [json.dumps(_filled(record, row | {"text": repr(row["references"])})) for row in _rows(rows)]
        joined = ",".join(texts) if name != "predictions.json" else ",".join(text[1:-1] for text in texts)
        content = "\n".join(texts) if around is None else around.replace("0", joined, 1)
        (folder / name).write_text(content, encoding="utf-8")
    named = {"id": "id", "input": "input", "references": "input" if tool == "langfuse" else "references"}
    return {"candidates": LONG | {"column": "candidate"}, "pattern": "*", "format": tool, **named}


def _filled(template: Any, row: Mapping[str, Any]) -> Any:
    """Return a template with the values of a row in place of the names of its columns, each after a $."""
    if isinstance(template, dict):
        return {_filled(key, row): _filled(value, row) for key, value in template.items()}
    if isinstance(template, list):
        return [_filled(item, row) for item in template]
    return row[template[1:]] if isinstance(template, str) and template.startswith("$") else template


# Tool → file → a record, and what is around its records, with 0 in their place, or null for one a line.
LOGS: Mapping[str, Mapping[str, Any]] = read_json(ROOT / "benchmarks/logs.json")
Write = Callable[[Path, int], dict[str, Any]]
SHAPES: Mapping[str, Write] = {
    "wide, JSON lines": partial(_file, ".jsonl"),
    "wide, CSV": partial(_file, ".csv"),
    "wide, Parquet": partial(_file, ".parquet"),
    "long form": _long,
    "draws": _draws,
    "joined answers": _joined,
    "label file": _labelled,
    **{f"log of {tool}": partial(_log, tool) for tool in LOGS},
}


def _shape(folder: Path, write: Write, rows: int) -> float:
    """Return the least processor time of a record, of the questions' file or of a joined one."""
    (folder / "loaded").mkdir(parents=True)
    sections = params.effective(params.raw(PARAMS))
    mapping = {"path": str(folder), "pattern": "*.jsonl", "id": "id", **write(folder, rows)}
    given = Params(dataset=plain(sections["dataset"]) | mapping, load=sections["load"])
    costs = [in_forks(partial(_loaded_here, given, folder))[0] for _ in range(ROUNDS)]
    return min(cost.cpu for cost in costs) / rows * MICROSECONDS


def _loaded_here(given: Params, folder: Path) -> Cost:
    stay_on_one_core()

    def write() -> None:
        for number, part in enumerate(load(source(given), given)):
            write_part(part["load"], folder / "loaded", number)

    return timed(write)[1]


def _stage(path: Path) -> Cost:
    with copy() as project:
        project.configure(_sections(path))
        return min((_loaded(project) for _ in range(ROUNDS)), key=lambda cost: cost.wall)


def _loaded(project: Project) -> Cost:
    return project.python("-m", "tasks", "load")


def _sections(path: Path) -> dict[str, Any]:
    sections = params.effective(params.raw(PARAMS))
    return {**sections, "dataset": plain(sections["dataset"]) | {"path": str(path), "id": "id", "candidates": ONE}}


def _stage_row(suffix: str, cost: Cost, rows: int) -> dict[str, Any]:
    return {
        "file": suffix,
        "rows": rows,
        "s": cost.wall,
        "records/s": rows / cost.wall,
        "CPU µs a record": cost.cpu / rows * MICROSECONDS,
        "GB": cost.peak / GB,
    }
