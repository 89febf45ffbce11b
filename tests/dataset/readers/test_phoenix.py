"""Experiments of Phoenix, typed from what its server writes for a download as JSON and as CSV."""

import json

import pandas as pd
import pytest

from goldmeter.dataset.sources import records
from tests.dataset.readers.proposed import proposed


def annotation(name, kind, label=None, score=None):
    return {"name": name, "annotator_kind": kind, "label": label, "score": score, "explanation": None, "error": None}


def run(number, answer, *annotations, **more):
    return {
        "example_id": f"RGF0{number}",
        "repetition_number": 1,
        "input": {"question": f"Capital {number}?"},
        "reference_output": {"answer": "Paris"},
        "output": answer,
        "error": None,
        "latency_ms": 1500.0,
        "prompt_token_count": 10,
        "completion_token_count": 2,
        "annotations": list(annotations),
        **more,
    }


RUNS = [
    run(n, answer, annotation("correct", "HUMAN", label), annotation("exact", "CODE", "match", n % 2),
        annotation("tone", "LLM", "kind"))
    for n, (answer, label) in enumerate([("Rome", "incorrect"), ("Paris", "correct")])
] + [run(2, None, error="RateLimitError")]  # fmt: skip


def as_csv(runs):
    rows = []
    for one in runs:
        row = {name: value for name, value in one.items() if name != "annotations"}
        row |= {name: json.dumps(row[name]) for name in ("input", "reference_output")}
        for given in one["annotations"]:
            row |= {f"annotation_{given['name']}_{key}": value for key, value in given.items() if key != "name"}
        rows.append(row)
    return pd.DataFrame(rows).to_csv(index=False)


@pytest.mark.parametrize("suffix", ["json", "csv"])
def test_an_experiment_is_loaded_and_only_people_label_it(tmp_path, suffix):
    path = tmp_path / f"prompt-2.{suffix}"
    path.write_text(json.dumps(RUNS) if suffix == "json" else as_csv(RUNS))

    options, rows = proposed(path)

    assert options["format"] == "phoenix"
    assert [(row["input"], row["response"], row["references"], row["candidate"]) for row in rows] == [
        ("Capital 0?", "Rome", ["Paris"], "prompt-2"),
        ("Capital 1?", "Paris", ["Paris"], "prompt-2"),
        ("Capital 2?", None, ["Paris"], "prompt-2"),
    ]
    assert [row["label"] for row in rows] == [False, True, None]
    assert [row["score_exact"] for row in rows] == [0.0, 1.0, None]
    assert [(row["latency"], row["tokens"]) for row in rows] == [(1.5, 12.0), (1.5, 12.0), (None, None)]


def test_repetitions_of_an_example_are_draws(tmp_path):
    (tmp_path / "a.json").write_text(json.dumps([run(0, "Paris"), run(0, "Lyon", repetition_number=2)]))

    assert [record.values["draw"] for record in records(tmp_path / "a.json", None, "phoenix")] == ["1", "2"]
