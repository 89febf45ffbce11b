"""A mapping of short names, for files that a test writes."""

from pathlib import Path
from typing import Any

import pyarrow as pa

from tasks.dataset.settings import Params
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
