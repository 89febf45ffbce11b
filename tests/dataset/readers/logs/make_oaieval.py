"""Write oaieval.jsonl by the recorder of evals 3.0.1, whose file and network parts are replaced: no model is asked.

python tests/dataset/readers/logs/make_oaieval.py FOLDER_OF_EVALS   # the unpacked package
"""

import importlib.util
import sys
import types
from pathlib import Path
from unittest.mock import MagicMock

TARGET = Path(__file__).with_name("oaieval.jsonl")


def main(package: Path) -> None:
    """Record three samples of a fuzzy match: right, wrong, and one that failed."""

    def module(name: str, **members: object) -> types.ModuleType:
        found = types.ModuleType(name)
        found.__dict__.update(members)
        sys.modules[name] = found
        return found

    def loaded(name: str) -> types.ModuleType:
        spec = importlib.util.spec_from_file_location(name, package / f"{name.replace('.', '/')}.py")
        found = importlib.util.module_from_spec(spec)
        sys.modules[name] = found
        spec.loader.exec_module(found)
        return found

    for name in ("blobfile", "lz4", "lz4.frame", "pyzstd", "zstandard", "evals.utils.snowflake"):
        sys.modules[name] = MagicMock(BlobFile=open)
    for name in ("evals", "evals.utils"):
        module(name).__path__ = [str(package / name.replace(".", "/"))]
    sys.modules["evals"].base = loaded("evals.base")
    record = loaded("evals.record")
    run = sys.modules["evals"].base.RunSpec(
        completion_fns=["small-model"],
        eval_name="capitals.dev.fuzzy-v0",
        base_eval="capitals",
        split="dev",
        run_config={
            "eval_spec": {"cls": "evals.elsuite.basic.fuzzy_match:FuzzyMatch", "args": {}},
            "max_samples": None,
        },
        created_by="",
    )
    recorder = record.LocalRecorder(str(TARGET), run)
    for number, (country, ideal, answer) in enumerate([("France", "Paris", "Paris."), ("Peru", "Lima", "Cusco")]):
        with recorder.as_default_recorder(f"capitals.dev.{number}"):
            asked = [
                {"role": "system", "content": "Answer briefly."},
                {"role": "user", "content": f"Capital of {country}?"},
            ]
            record.record_sampling(prompt=asked, sampled=[answer], model="small-model-2026", usage={"total_tokens": 21})
            right = ideal in answer
            record.record_match(right, expected=[ideal], picked=[answer] if right else [])
            record.record_metrics(accuracy=float(right), f1_score=float(right))
    with recorder.as_default_recorder("capitals.dev.3"):
        record.record_error("failed", TimeoutError("no reply after 40 s"))
    recorder.flush_events()
    recorder.record_final_report({"accuracy": 0.5, "f1_score": 0.5})


if __name__ == "__main__":
    main(Path(sys.argv[1]))
