"""Thresholds fitted on labels, from the stage that learns them to the comparison of versions that have them."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from goldmeter.comparison.of_versions import CompareOptions, compare_versions
from goldmeter.pipeline.tables import write_part
from goldmeter.reporting.metrics_document import Aggregate, Params, aggregate
from goldmeter.versions.version import Version
from goldmeter.wording import comparison_lines
from tests.comparison.sample import GATE, Row, answers, gate_on, row, version

PARAMS = Params(
    aggregate=Aggregate(confidence=0.95, guarantee=False, max_unmeasured=0.05, pass_at=(1, 5, 10)), gate=GATE
)
LEARNT: dict[str, dict[str, Any]] = {"exact_match": {}, "f1": {"threshold": "learnt"}}
TWO_THIRDS = "right indeed"  # f1 against "right"
HALF = "right or not"
UNNAMED = {"load_rejected": {"reason": []}, "embed": {"key": []}, "semantic": {}, "judge": {}}


def learning(folder: Path, rows: list[Row], metrics: Mapping[str, Mapping[str, Any]] = LEARNT) -> tuple[Version, Any]:
    """A version with its reports/metrics.json, and that document."""
    made = version(folder, rows, metrics=metrics)
    keys = {name: pa.array([each[name] for each in rows], pa.string()) for name in ("id", "candidate")}
    for name, columns in UNNAMED.items():
        (folder / "data" / name).mkdir()
        texts = {key: pa.array(values, pa.string()) for key, values in columns.items()}
        write_part(pa.table(texts or keys), folder / "data" / name, 0)
    order = ("load", "load_rejected", "embed", "lexical", "semantic", "judge")
    [written] = aggregate({name: made.parts(name) for name in order}, PARAMS)
    for name in ("semantic", "judge"):  # nothing to compare there
        (folder / "data" / name / "part-00000.parquet").unlink()
        (folder / "data" / name).rmdir()
    (folder / "reports").mkdir(exist_ok=True)
    (folder / "reports/metrics.json").write_text(written["reports/metrics.json"], encoding="utf-8")
    return made, json.loads(written["reports/metrics.json"])


def with_threshold(folder: Path, rows: list[Row], f1: float) -> Version:
    """A version with a fitted threshold of f1 in its reports/metrics.json."""
    made = version(folder, rows, metrics=LEARNT)
    (folder / "reports").mkdir()
    document = {"thresholds": {"f1": {"learnt": f1, "used": True}}}
    (folder / "reports/metrics.json").write_text(json.dumps(document), encoding="utf-8")
    return made


def said(n: int, text: str, **others: Any) -> list[Row]:
    return [row(number, text, **others) for number in range(n)]


def mixed() -> list[Row]:
    """Right and wrong answers with their labels."""
    return [each | {"label": each["response"] == "right"} for each in answers("++." * 10)]


def test_a_threshold_keeps_all_its_digits(tmp_path: Path) -> None:
    _, document = learning(tmp_path / "a", said(20, TWO_THIRDS, label=True))

    assert document["thresholds"]["f1"]["learnt"] == 2 / 3
    rate = document["candidates"]["aurora"]["f1"]["pass_rate"]
    assert (rate["value"], rate["threshold"]) == (1.0, 2 / 3)
    assert rate["signature"].endswith("|thr:learnt=0.6666666666666666")


def test_versions_are_compared_by_all_the_digits_of_a_threshold(tmp_path: Path) -> None:
    made, _ = learning(tmp_path / "a", said(20, TWO_THIRDS, label=True))
    newer = version(tmp_path / "b", said(20, HALF), metrics=LEARNT)

    f1 = compare_versions(made, newer, gate_on("f1"))["pairs"][0]["measures"]["f1"]

    assert (f1["base"], f1["head"], f1["verdict"]) == (1.0, 0.0, "worse")
    assert f1["signature"].endswith("|thr:learnt=0.6666666666666666")


def test_labels_that_a_threshold_was_fitted_on_give_no_agreement_with_it(tmp_path: Path) -> None:
    _, document = learning(tmp_path / "a", mixed())
    _, fixed = learning(tmp_path / "b", mixed(), {"f1": {"threshold": 0.5}})

    metrics = document["candidates"]["aurora"]
    assert "agreement" not in metrics["f1"]
    assert "pass_rate" in metrics["f1"]
    assert metrics["exact_match"]["agreement"]["accuracy"]["value"] == 1.0
    assert document["thresholds"]["f1"]["used"] is True
    assert document["thresholds"]["f1"]["accuracy"]["value"] == 1.0
    assert fixed["thresholds"]["f1"]["used"] is False
    assert fixed["candidates"]["aurora"]["f1"]["agreement"]["n"] == 30


@pytest.mark.parametrize("labels", [None, False], ids=["no labels", "nothing should pass"])
def test_candidates_of_a_run_are_not_compared_by_a_threshold_that_was_not_fitted(
    tmp_path: Path, labels: bool | None
) -> None:
    rows = said(20, "right", label=labels) + said(20, "right", label=labels, candidate="borealis")

    _, document = learning(tmp_path / "a", rows)

    [comparison] = document["comparisons"]
    assert "f1" not in comparison["measures"]
    [refused] = [each for each in comparison["refused"] if each["measure"] == "f1"]
    assert "not learnt" in refused["reason"]
    assert refused["blocks"]
    assert comparison["measures"]["exact_match"]["verdict"] == "unchanged"


def test_a_threshold_that_was_fitted_in_head_alone_is_used_for_both_versions(tmp_path: Path) -> None:
    older = version(tmp_path / "a", said(20, HALF), metrics=LEARNT)
    newer, _ = learning(tmp_path / "b", said(20, TWO_THIRDS, label=True))

    [pair] = compare_versions(older, newer, gate_on("f1"))["pairs"]

    assert [each["measure"] for each in pair["refused"]] == ["label"]
    assert (pair["measures"]["f1"]["base"], pair["measures"]["f1"]["head"]) == (0.0, 1.0)


def test_rescoring_takes_the_threshold_that_was_fitted_in_head(tmp_path: Path) -> None:
    rows = said(20, TWO_THIRDS)
    older, newer = with_threshold(tmp_path / "a", rows, 0.5), with_threshold(tmp_path / "b", rows, 0.75)

    as_before, again = (
        compare_versions(older, newer, gate_on("f1"), request)["pairs"][0]["measures"]["f1"]
        for request in (CompareOptions(), CompareOptions(rescore=True))
    )

    assert (as_before["base"], as_before["head"]) == (1.0, 1.0)
    assert as_before["signature"].endswith("|thr:learnt=0.5")
    assert (again["base"], again["head"]) == (0.0, 0.0)
    assert again["signature"].endswith("|thr:learnt=0.75")


def test_rescoring_keeps_no_threshold_that_head_did_not_learn(tmp_path: Path) -> None:
    rows = said(20, TWO_THIRDS)
    older, newer = with_threshold(tmp_path / "a", rows, 0.5), version(tmp_path / "b", rows, metrics=LEARNT)

    found = compare_versions(older, newer, gate_on("f1"), CompareOptions(rescore=True))

    assert "f1" not in found["pairs"][0]["measures"]
    assert "not learnt" in found["pairs"][0]["refused"][0]["reason"]
    assert comparison_lines.outcome(found).status == 2


def test_without_a_row_no_threshold_is_fitted_and_nothing_correlates(tmp_path: Path) -> None:
    _, document = learning(tmp_path / "a", [])

    assert (document["candidates"], document["comparisons"], document["thresholds"]) == ({}, [], {})
    assert document["correlations"] == {"metrics": [], "values": []}
