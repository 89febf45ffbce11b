"""Every Eval Ever: files that its schema accepts, with the numbers of the run."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.exports.conftest import RIGHT, put, told

SCHEMA = json.loads((Path(__file__).parent / "schemas/every_eval_ever.json").read_text(encoding="utf-8"))
FACTS = ("--dataset", "capitals", "--organization", "Acme")


def exported(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    """File name → document, each of which is valid."""
    status, out, err = told(capsys, "eee", "eee", *FACTS, *arguments)
    assert (status, err) == (0, "")
    documents = {Path(line).name: json.loads(Path(line).read_text(encoding="utf-8")) for line in out.splitlines()}
    for one in documents.values():
        jsonschema.Draft7Validator(SCHEMA).validate(one)
    return documents


def results(document: Any) -> dict[str, Any]:
    return {one["metric_config"]["metric_name"]: one for one in document["evaluation_results"]}


def test_a_file_has_the_numbers_of_its_candidate(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document = exported(capsys, "--candidate", "borealis", "--model", "borealis=acme/borealis-2")["borealis.json"]

    entry = json.loads((run / "reports/metrics.json").read_text(encoding="utf-8"))["candidates"]["borealis"]["f1"]
    score, rate = results(document)["f1"], results(document)["f1, pass rate"]
    assert document["model_info"]["id"] == "acme/borealis-2"
    assert document["evaluation_id"].startswith("capitals/acme/borealis-2/")
    assert score["score_details"] == {
        "score": entry["value"],
        "uncertainty": {
            "num_samples": 20,
            "confidence_interval": {
                "lower": entry["low"], "upper": entry["high"], "confidence_level": 0.95, "method": entry["method"],
            },
        },
        "details": {"not_asked": "0", "failed": "0"},
    }  # fmt: skip
    assert score["metric_config"]["additional_details"] == {"signature": "f1|v:1"}
    assert rate["score_details"]["score"] == entry["pass_rate"]["value"] == 0.95
    assert rate["metric_config"]["metric_parameters"] == {"threshold": 0.5}
    assert results(document)["label"]["metric_config"]["score_type"] == "binary"
    assert results(document)["semantic_similarity"]["score_details"]["details"]["failed"] == "1"


@pytest.mark.usefixtures("run")
def test_names_that_are_no_file_names_get_files_of_their_own(capsys: pytest.CaptureFixture[str]) -> None:
    names = {"aurora": "../a/b", "borealis": "../a:b\n"}
    put([{**one, "candidate": names[one["candidate"]]} for one in RIGHT])

    written = exported(capsys)

    assert len(written) == 2
    assert all(name.startswith(".._a_b") and name.endswith(".json") for name in written)


@pytest.mark.usefixtures("run")
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--candidate", "aurra"], "--candidate: unknown candidate 'aurra'; did you mean aurora?"),
        (["--model", "aurra=x"], "--model: unknown candidate 'aurra'; did you mean aurora?"),
        (["--model", "aurora"], "--model aurora: expected CANDIDATE=ID"),
        (["--version", "v9"], "v9: neither git nor DVC knows such a version"),
    ],
)
def test_mistakes_are_named(capsys: pytest.CaptureFixture[str], arguments: list[str], says: str) -> None:
    status, _, err = told(capsys, "eee", "eee", *FACTS, *arguments)

    assert status == 2
    assert err.startswith(f"error: {says}")


@pytest.mark.usefixtures("run")
def test_a_target_that_is_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert told(capsys, "eee", "params.yaml", *FACTS)[::2] == (2, "error: params.yaml: is a file; expected a folder\n")


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize("form", [["eee", "x", *FACTS], ["otel", "x"], ["mlflow", "sqlite:///x.db"]])
def test_before_any_run_it_says_how_to_get_one(capsys: pytest.CaptureFixture[str], form: list[str]) -> None:
    status, _, err = told(capsys, *form)

    assert status == 2
    assert err.startswith("error: workspace: no reports/metrics.json there. `dvc repro` makes it")
