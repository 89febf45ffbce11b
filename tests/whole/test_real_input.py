"""Real answers of five systems with people's verdicts, messy as they are: every row is scored or accounted for."""

import json
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.long
SYSTEMS = ("fid", "gpt35", "chatgpt", "gpt4", "newbing")


@pytest.fixture(scope="module")
def sample(evouna: Path) -> list[dict[str, Any]]:
    """Sixty questions, the one without an answer key, and some that a system did not answer."""
    rows = json.loads(evouna.read_text(encoding="utf-8"))
    unanswered = [row for row in rows[60:] if row["answer_newbing"] is None and row["golden_answer"]]
    return [*rows[:60], *[row for row in rows if row["golden_answer"] is None], *unanswered[:5]]


def test_every_real_row_is_scored_or_accounted_for(project: Any, sample: list[dict[str, Any]]) -> None:
    (project.folder / "data/sample.json").write_text(json.dumps(sample), encoding="utf-8")

    def change(params: dict[str, Any]) -> None:
        params["dataset"] |= {
            "path": "data/sample.json", "id": None, "references": "golden_answer", "reference_separator": "/",
            "candidates": {name: {"response": f"answer_{name}", "label": f"judge_{name}"} for name in SYSTEMS},
            "group": None, "slices": ["improper"],
        }  # fmt: skip
        params["load"]["max_rejected"] = 0.05
        params["aggregate"]["max_unmeasured"] = 0.5

    project.change_params(change)
    project.evaluate()

    document = json.loads(project.read("reports/metrics.json"))
    assert document["dataset"]["rows"] == 5 * (len(sample) - 1)
    assert document["dataset"]["rejected"] == 5
    for system in SYSTEMS:
        answered = sum(row[f"answer_{system}"] is not None for row in sample if row["golden_answer"])
        judged = sum(row[f"judge_{system}"] is not None for row in sample if row["golden_answer"])
        metrics = document["candidates"][system]
        assert {entry["n"] for name, entry in metrics.items() if name not in {"label", "meaning_match"}} == {answered}
        assert metrics["f1"]["n_failed"] == len(sample) - 1 - answered
        assert metrics["label"]["n"] == judged
        improper = metrics["f1"]["slices"]["improper"]
        assert improper["true"]["n"] + improper["false"]["n"] == answered
    assert "newbing" in project.read("reports/index.html")
