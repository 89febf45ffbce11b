"""Logs of other tools through the load stage: every record becomes a row or is rejected with a reason."""

import bz2
import gzip
import json
from functools import partial
from pathlib import Path

import pyarrow as pa
import pytest

from goldmeter.dataset.readers import detect
from goldmeter.dataset.settings import Params
from goldmeter.pipeline.yaml import parse_yaml
from tasks.load import load, source
from tests.documents import blocks
from tests.small_project import ROOT, settings

LOGS = Path(__file__).parent / "logs"
STATED = settings()
SHOWN = [block.text for block in blocks(ROOT / "docs/how-to/other-tools-logs.md") if block.kind == "yaml"]
NONE = {"exclude": {}, "slices": [], "scores": {}, "phrases": None, "group": None, "reference_separator": None}


def loaded(mapping, limits=None, **changes):
    dataset = STATED["dataset"] | NONE | {"draw": None} | mapping | changes
    params = Params(dataset=dataset, load=STATED["load"] | {"max_rejected": 1} | (limits or {}))
    tables = list(load(source(params), params))
    return {name: [row for part in tables for row in part[name].to_pylist()] for name in ("load", "load_rejected")}


@pytest.fixture(params=SHOWN, ids=["inspect", "lm_eval", "one model"])
def mapping(request):
    return parse_yaml(request.param)["dataset"]


LOG_OF = {"inspect": "inspect.eval", "lm_eval": "lm_eval"}


def test_the_mappings_of_the_page_load(mapping):
    tables = loaded(mapping, path=str(LOGS / LOG_OF[mapping["format"]]))

    assert tables["load"]
    assert not tables["load_rejected"]


@pytest.mark.parametrize(
    ("name", "tool", "rows", "unmeasured"),
    [
        ("inspect.eval", "inspect", 6, 1),
        ("inspect.json.gz", "inspect", 3, 1),
        ("promptfoo.json", "promptfoo", 4, 2),
        ("deepeval.json", "deepeval", 3, 0),
        ("lm_eval", "lm_eval", 14, 0),
    ],
)
def test_errors_are_rows_without_a_response(name, tool, rows, unmeasured):
    long = {"column": "candidate", "response": "response"}
    draw = "draw" if name in {"inspect.eval", "lm_eval"} else None
    mapping = {
        "pattern": "*",
        "id": "id",
        "input": "input",
        "references": "references",
        "candidates": long,
        "draw": draw,
    }
    tables = loaded(mapping, path=str(LOGS / name), format=tool)

    assert len(tables["load"]) == rows
    assert sum(row["response"] is None for row in tables["load"]) == unmeasured
    assert not tables["load_rejected"]


def test_samples_that_the_log_lacks_are_counted(tmp_path):
    log = json.loads(gzip.decompress((LOGS / "inspect.json.gz").read_bytes()))
    (tmp_path / "log.json").write_text(json.dumps(log | {"samples": log["samples"][:1], "results": None}))
    mapping = parse_yaml(SHOWN[0])["dataset"] | {"draw": None, "path": str(tmp_path / "log.json")}
    tables = loaded(mapping)

    assert [(row["id"], row["response"]) for row in tables["load"][1:]] == [("sums/q1", None), ("sums/q2", None)]
    assert not tables["load_rejected"]


def test_a_missing_response_can_count_as_wrong():
    mapping = parse_yaml(SHOWN[0])["dataset"] | {"path": str(LOGS / "inspect.eval"), "missing_response": "wrong"}

    assert [row["id"] for row in loaded(mapping)["load"] if row["response"] == ""] == ["sums/q2#1"]


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".zst"])
def test_a_log_may_be_compressed(tmp_path, suffix):
    content = gzip.decompress((LOGS / "inspect.json.gz").read_bytes())
    compress = {".gz": gzip.compress, ".bz2": bz2.compress, ".zst": partial(pa.compress, codec="zstd", asbytes=True)}
    (tmp_path / f"log.json{suffix}").write_bytes(compress[suffix](content))
    mapping = parse_yaml(SHOWN[0])["dataset"] | {"draw": None, "path": str(tmp_path / f"log.json{suffix}")}

    assert detect(mapping["path"]) == "inspect"
    assert len(loaded(mapping)["load"]) == 3
