"""Write the offline judge's golden probabilities of 500 rows of ours: `python -m scripts.golden_judge`.

They are replaced only after `VERSION` was raised or the model was trained again: signatures must differ with them.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from goldmeter.models.offline import VERSION, judge, model_hash

ROOT = Path(__file__).parents[1]
FILE = ROOT / "tests/models/offline/golden.json"
ROWS = 500
# Smallest change of a probability that counts; another processor may round the last digits otherwise.
TOLERANCE = 1e-9


def main() -> int:
    """Write the file; returns 1, and writes nothing, if probabilities changed under the same version and model."""
    golden = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {"rows": _rows()}
    if golden.get("signed_by") == signed_by() and changed_rows(golden["rows"]):
        sys.stderr.write("probabilities changed: raise VERSION in goldmeter/models/offline/verdict.py first\n")
        return 1
    now = _probabilities(golden["rows"])
    rows = [row | {"probability": p} for row, p in zip(golden["rows"], now, strict=True)]
    lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    FILE.write_text(f'{{"signed_by": {json.dumps(signed_by())},\n"rows": [\n{lines}\n]}}\n', encoding="utf-8")
    return 0


def changed_rows(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the rows whose probability is another one than theirs in the file."""
    return [row for row, p in zip(rows, _probabilities(rows), strict=True) if abs(p - row["probability"]) > TOLERANCE]


def signed_by() -> dict[str, Any]:
    """What signatures say of the offline judge."""
    return {"offline_v": VERSION, "model": model_hash()}


def _probabilities(rows: Sequence[Mapping[str, Any]]) -> list[float]:
    columns = ([row[key] for row in rows] for key in ("question", "references", "response"))
    return judge(*columns).probabilities.tolist()


def _rows() -> list[dict[str, Any]]:
    """The adversarial pairs, then answers of the bundled example, of its two candidates in turn."""
    adversarial = _lines(ROOT / "benchmarks/adversarial.jsonl")
    rows = [(row["question"], row["references"], row["response"]) for row in adversarial]
    example = zip(_lines(ROOT / "data/examples/qa.jsonl"), ("aurora", "borealis") * ROWS, strict=False)
    rows += [(row["question"], row["references"], row[name]) for row, name in example]
    return [dict(zip(("question", "references", "response"), row, strict=True)) for row in rows[:ROWS]]


def _lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


if __name__ == "__main__":
    sys.exit(main())
