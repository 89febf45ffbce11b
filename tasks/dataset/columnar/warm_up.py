"""Preload for forked processes: importing it loads two records, which compiles the kernels."""

from pathlib import Path
from tempfile import TemporaryDirectory

from tasks.dataset.columnar.loading import compute, plan
from tasks.dataset.settings import Dataset, Load, Params
from tasks.dataset.sources import records

JSON = r"""
{"id": "1", "input": "a\n", "references": ["a"], "response": "a"}
{"id": "2", "input": "b\n", "references": ["b", null], "response": null}
"""
CSV = """id,input,references,response
1,a,"[""a""]",a
2,b,b,b
"""
_MAPPING = dict.fromkeys(Dataset.model_fields) | {
    "id": "id", "input": "input", "references": "references", "candidates": {"a": {"response": "response"}},
    "exclude": {"id": "2"}, "slices": (), "scores": {}, "expect": (),
    "missing_response": "wrong", "labels": "all", "other_questions": "reject",
}  # fmt: skip

with TemporaryDirectory() as _folder:
    for _suffix, _text in ((".jsonl", JSON), (".csv", CSV)):
        _file = Path(_folder, f"warm-up{_suffix}")
        _file.write_text(_text, encoding="utf-8")
        _params = Params(
            dataset=Dataset(**_MAPPING | {"path": str(_file)}),
            load=Load(part_rows=2, max_chars=10, max_rejected=0, require_references=True),
        )
        for _part in plan(records(_file), _params):
            compute(_part, _params)
