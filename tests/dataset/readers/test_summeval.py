"""SummEval's annotations, typed from its documentation."""

import json
from typing import Any

from goldmeter.dataset.sources import records
from tests.dataset.readers.proposed import proposed


def summary(number: int, model: str, *expert: int, **more: Any) -> dict[str, Any]:
    return {
        "id": f"dm-{number}",
        "decoded": f"bridge {number} opened",
        "references": [f"Bridge {number} is open", f"Mayor opens bridge {number}"],
        "expert_annotations": [{"coherence": grade, "relevance": 6 - grade} for grade in expert],
        "turker_annotations": [{"coherence": 3, "relevance": 4}],
        "model_id": model,
        "filepath": "cnndm/a.story",
        **more,
    }


def test_each_expert_is_a_rater_and_the_crowd_is_kept_apart(tmp_path):
    path = tmp_path / "aligned.paired.jsonl"
    rows = [summary(n, model, 4, 2, n + 1, text=f"Article {n}.") for n in range(3) for model in ("M1", "M2")]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))

    options, rows = proposed(path)

    assert options["format"] == "summeval"
    experts = [f"by expert {n}" for n in (1, 2, 3)]
    assert options["candidates"]["label"]["columns"] == [f"human_coherence {one}" for one in experts]
    assert options["scores"]["relevance"]["columns"] == [f"human_relevance {one}" for one in experts]
    assert options["scores"]["crowd_coherence"]["human"]
    assert [(row["id"], row["candidate"], len(row["references"])) for row in rows[:2]] == [
        ("dm-0", "M1", 2),
        ("dm-0", "M2", 2),
    ]


def test_a_summary_that_is_missing_is_unmeasured_and_without_grades(tmp_path):
    (tmp_path / "a.jsonl").write_text(json.dumps(summary(0, "M1", 4, decoded=None)))

    (row,) = [record.values for record in records(tmp_path / "a.jsonl", None, "summeval")]
    assert (row["error"], row["human_coherence by expert 1"]) == ("no output", None)
