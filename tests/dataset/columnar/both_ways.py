"""Records loaded as columns beside the same records loaded one by one."""

import hashlib
from io import BytesIO
from pathlib import Path

import pyarrow.parquet as pq

from tasks.dataset.columnar.coverage import is_covered
from tasks.dataset.columnar.loading import accept, compute, plan
from tasks.dataset.settings import Params
from tasks.dataset.sources import records
from tasks.errors import GoldmeterError
from tasks.load import load, source
from tasks.pipeline.division import Undivided

MAPPING = {
    "path": "", "pattern": "*", "format": None, "limit": None, "exclude": {}, "missing_response": "unmeasured",
    "id": "id", "draw": None, "input": "q", "references": "ref", "reference_separator": None,
    "candidates": {"m": {"response": "a"}}, "lists": None, "other_questions": "reject", "label_file": None,
    "labels": "all", "group": None, "slices": [], "phrases": None, "contexts": None, "relevant": None, "scores": {},
}  # fmt: skip
LIMITS = {"part_rows": 100, "max_chars": 50, "max_rejected": 0.01, "require_references": True}


def params_for(path: Path, limits=None, **mapping) -> Params:
    return Params(dataset=MAPPING | {"path": str(path)} | mapping, load=LIMITS | (limits or {}))


def as_columns(params: Params):
    """The tables of each part; None if columns leave the records to the other way."""
    try:
        found = records(params.dataset.path, params.dataset.pattern, params.dataset.format)
        if not is_covered(found, params):
            return None
        planned = plan(found, params)
        parts = [compute(part, params) for part in planned]
        for number, part in accept(planned, [known for _, known in parts], params).items():
            parts[number] = compute(part, params)
    except (Undivided, GoldmeterError):
        return None
    return [tables for tables, _ in parts]


def one_by_one(params: Params):
    """The tables of each part; None if the data can't be loaded."""
    try:
        return list(load(source(params), params))
    except GoldmeterError:
        return None


def require_same(params: Params) -> bool:
    """Require that columns give the same tables and files, or none; whether they give any."""
    columns = as_columns(params)
    if columns is None:
        return False
    expected = one_by_one(params)
    assert expected is not None
    assert [_written(part) for part in columns] == [_written(part) for part in expected]
    return True


def _written(part):
    return {
        name: (table.schema, table.schema.metadata, table.to_pylist(), _hash(table)) for name, table in part.items()
    }


def _hash(table):
    file = BytesIO()
    pq.write_table(table, file, compression="zstd", write_page_checksum=True)
    return hashlib.sha256(file.getvalue()).hexdigest()
