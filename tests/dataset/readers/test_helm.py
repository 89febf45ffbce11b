"""Run folders of HELM, typed from the dataclasses of crfm-helm 0.5.16."""

import json

import pytest

from goldmeter.dataset.readers import detect
from goldmeter.dataset.sources import records
from goldmeter.errors import DataError
from tests.dataset.readers.proposed import proposed

TYPOS = {"name": "typos", "robustness": True, "prob": 0.05}


def request(key, completion, **more):
    references = [{"output": {"text": text}, "tags": tags} for text, tags in [("Lima", ["correct"]), ("Cusco", [])]]
    done = {
        "success": True,
        "embedding": [],
        "cached": False,
        "request_time": 0.5,
        "completions": [{"text": completion}],
    }
    return {
        "instance": {"input": {"text": f"Capital, {key}?"}, "references": references, "split": "test", "id": key},
        "train_trial_index": 0,
        "output_mapping": {"A": "Lima", "B": "Cusco"},
        "request": {"model": "lab/small", "prompt": "…"},
        "result": done if completion is not None else {"success": False, "error": "timeout", "completions": []},
        **more,
    }


def statistics(key, value, **more):
    stats = [{"name": {"name": "exact_match", "split": "test"}, "count": 1, "sum": value, "mean": value},
             {"name": {"name": "num_references"}, "count": 1, "sum": 2, "mean": 2}]  # fmt: skip
    return {"instance_id": key, "train_trial_index": 0, "stats": stats, **more}


def write_run(folder, states, stats, model="lab/small", trials=1):
    folder.mkdir(parents=True, exist_ok=True)
    adapter = {"method": "multiple_choice_joint", "model": model, "num_train_trials": trials}
    files = {
        "scenario_state.json": {"adapter_spec": adapter, "request_states": states},
        "per_instance_stats.json": stats,
        "run_spec.json": {"name": f"geo:subject=capitals,model={model.replace('/', '_')}"},
        "stats.json": [],
    }
    for name, value in files.items():
        (folder / name).write_text(json.dumps(value, indent=2))
    return folder


STATES = [request("id1", " A"), request("id2", "B"), request("id3", None)]
SCORES = [statistics("id1", 1.0), statistics("id2", 0.0), statistics("id4", 1.0)]


def test_answers_are_joined_with_the_scores_of_their_instance(tmp_path):
    options, rows = proposed(write_run(tmp_path / "run", STATES, SCORES))

    assert options["format"] == "helm"
    assert [(row["id"], row["candidate"], row["response"], row["references"]) for row in rows] == [
        ("geo:subject=capitals/id1", "lab/small", "Lima", ["Lima"]),
        ("geo:subject=capitals/id2", "lab/small", "Cusco", ["Lima"]),
        ("geo:subject=capitals/id3", "lab/small", None, ["Lima"]),
        ("geo:subject=capitals/id4", "lab/small", None, []),
    ]
    assert rows[0]["input"] == "Capital, id1?\nA. Lima\nB. Cusco"
    assert [row["score_exact_match"] for row in rows] == [1.0, 0.0, None, None]
    assert list(options["scores"]) == ["exact_match"]


def test_the_runs_of_two_models_pair_by_instance(tmp_path):
    for model in ("lab/small", "lab/large"):
        write_run(tmp_path / model.replace("/", "_"), STATES, SCORES, model)

    assert detect(tmp_path) == "helm"
    found = [record.values for record in records(tmp_path, "**/*", "helm")]
    assert len(found) == 8
    assert len({row["id"] for row in found}) == 4


def test_a_perturbed_copy_has_its_own_scores_and_the_group_of_its_instance(tmp_path):
    copy = request("id1", "B")
    copy["instance"]["perturbation"] = TYPOS
    write_run(tmp_path, [request("id1", "A"), copy], [statistics("id1", 1), statistics("id1", 0, perturbation=TYPOS)])

    found = [record.values for record in records(tmp_path, "*", "helm")]
    assert [(row["id"], row["group"], row["score_exact_match"]) for row in found] == [
        ("geo:subject=capitals/id1", "geo:subject=capitals/id1", "1"),
        ("geo:subject=capitals/id1/typos", "geo:subject=capitals/id1", "0"),
    ]


def test_trials_are_draws(tmp_path):
    write_run(tmp_path, [request("id1", "A"), request("id1", "B", train_trial_index=1)], [], trials=2)

    assert [record.values["draw"] for record in records(tmp_path, "*", "helm")] == ["1", "2"]


def test_two_runs_of_one_model_are_refused_with_both_files(tmp_path):
    for name in "ab":
        write_run(tmp_path / name, STATES, SCORES)

    with pytest.raises(DataError, match=r"geo:subject=capitals of lab/small is also in .*scenario_state\.json; choose"):
        list(records(tmp_path, "**/*", "helm"))


def test_a_choice_with_a_request_of_its_own_is_refused(tmp_path):
    write_run(tmp_path, [request("id1", "A", reference_index=0)], [])

    with pytest.raises(DataError, match="request 1: each choice has a request of its own"):
        list(records(tmp_path, "*", "helm"))


def test_statistics_alone_are_refused_with_what_is_missing(tmp_path):
    write_run(tmp_path, STATES, SCORES)
    (tmp_path / "scenario_state.json").unlink()

    assert detect(tmp_path) == "helm"
    with pytest.raises(DataError, match=r"no scenario_state\.json, which holds the answers"):
        list(records(tmp_path, "*", "helm"))


def test_a_half_written_state_is_refused(tmp_path):
    state = write_run(tmp_path, STATES, SCORES) / "scenario_state.json"
    state.write_text(state.read_text()[:-300])

    with pytest.raises(DataError, match=r"scenario_state\.json, line \d+, column \d+: not JSON"):
        list(records(tmp_path, "*", "helm"))
