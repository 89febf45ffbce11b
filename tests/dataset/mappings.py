"""A mapping of short names, for files that a test writes."""

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from goldmeter.dataset.settings import Params
from tasks.load import load, source

MAPPING = {
    "path": "", "pattern": "*", "format": None, "limit": None, "exclude": {}, "missing_response": "unmeasured",
    "id": "id", "draw": None, "input": "q", "references": "ref", "reference_separator": None,
    "candidates": {"m": {"response": "a"}}, "lists": None, "other_questions": "reject", "label_file": None,
    "labels": "all", "group": None, "slices": [], "phrases": None, "contexts": None, "relevant": None, "scores": {},
}  # fmt: skip
LIMITS = {"part_rows": 100, "max_chars": 50, "max_rejected": 0.01, "require_references": True}


def params_for(path: Path, limits: dict[str, Any] | None = None, **mapping: Any) -> Params:
    return Params(dataset=MAPPING | {"path": str(path)} | mapping, load=LIMITS | (limits or {}))


def parts_of(params: Params) -> list[dict[str, pa.Table]]:
    return [*load(source(params), params)]


def write_records(path: Path, records: Sequence[dict[str, Any]]) -> Path:
    """Write records in the format of the suffix; in a cell of CSV a list is JSON, and null is empty."""
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist([*records]), path)
    elif path.suffix == ".csv":
        with path.open("w", newline="", encoding="utf-8") as file:
            table = csv.writer(file)
            table.writerow(records[0])
            for one in records:
                table.writerow([json.dumps(cell) if isinstance(cell, list) else cell for cell in one.values()])
    else:
        path.write_text("".join(f"{json.dumps(one)}\n" for one in records), encoding="utf-8")
    return path
