"""Annotations of AlpacaEval, typed from the columns that its code and data sets name."""

import json

from goldmeter.dataset.sources import records
from tests.dataset.readers.proposed import proposed


def annotation(number, preference, model="small", **more):
    return {
        "instruction": f"Write {number}",
        "output_1": f"baseline {number}",
        "generator_1": "baseline",
        "output_2": f"{model} {number}",
        "generator_2": model,
        "dataset": "own",
        "annotator": "judge",
        "preference": preference,
        **more,
    }


def test_a_verdict_is_the_points_that_the_model_won(tmp_path):
    (tmp_path / "annotations.json").write_text(json.dumps(
        [annotation(n, preference) for n, preference in enumerate([2.0, 1.0, 1.5, 0, 1.25, None])]
    ))  # fmt: skip

    options, rows = proposed(tmp_path / "annotations.json")

    assert options["format"] == "alpaca_eval"
    assert [row["score_win"] for row in rows if row["candidate"] == "small"] == [1.0, 0.0, 0.5, 0.5, 0.25, None]
    assert {row["score_win"] for row in rows if row["candidate"] == "baseline"} == {None}
    assert "label" not in options["candidates"]


def test_the_baseline_of_two_models_is_one_system_and_the_models_pair(tmp_path):
    for model in ("small", "large"):
        (tmp_path / f"{model}.json").write_text(json.dumps([annotation(n, 2, model) for n in range(2)]))

    found = [record.values for record in records(tmp_path, "*", "alpaca_eval")]
    assert sorted(str(row["candidate"]) for row in found) == ["baseline"] * 2 + ["large"] * 2 + ["small"] * 2
    assert len({row["id"] for row in found}) == 2
    assert not [row for row in found if "draw" in row]


def test_an_output_that_is_missing_is_unmeasured(tmp_path):
    (tmp_path / "a.json").write_text(json.dumps([annotation(0, 1.0, output_2=None)]))

    rows = [record.values for record in records(tmp_path / "a.json", None, "alpaca_eval")]
    assert [(row["error"], row.get("score_win")) for row in rows] == [(None, None), ("no output", None)]
