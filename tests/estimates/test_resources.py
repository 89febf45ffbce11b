"""What answers took, in metrics.json: by candidate, whatever the parts, and maxima as targets."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from goldmeter.comparison.measures import check_measures
from goldmeter.errors import ParamsError
from goldmeter.estimates.primary import Maximum, Targets
from goldmeter.estimates.resources import significant
from goldmeter.pipeline import params
from goldmeter.reporting.metrics_document import Aggregate, Params, aggregate
from goldmeter.reporting.settings import Report
from tests.reporting import made
from tests.reporting.made import section_of, written

OPTIONS = Aggregate(confidence=0.95, guarantee=False, max_unmeasured=0.5, pass_at=(1,))
N = 80
SECONDS = np.random.default_rng(1).lognormal(size=N)


def answers(**others: Any) -> list[dict[str, Any]]:
    """Two candidates with a latency each, borealis without the first; only aurora has a cost."""
    return [
        made.row(f"q{i}", name, "Paris", True, 1.0, 0.9, **others)
        | {"latency": (None if i == 0 else 2.0 * SECONDS[i]) if name == "borealis" else SECONDS[i]}
        | ({"cost": 1.25e-6} if name == "aurora" else {})
        for i in range(N)
        for name in ("aurora", "borealis")
    ]


def document(rows: Any, folder: Path, part_rows: int = 1000, targets: Any = None) -> Any:
    tables = made.parts_of(made.tables(rows), folder, part_rows)
    options = Params(aggregate=OPTIONS, gate=made.GATE, report=Targets(targets=targets or {}))
    [found] = aggregate(tables, options)
    return json.loads(str(found["reports/metrics.json"]))


def test_each_candidate_has_its_quantiles_mean_and_total(tmp_path: Path) -> None:
    found = document(answers(), tmp_path)["resources"]

    assert {name: [*own] for name, own in found.items()} == {"aurora": ["latency", "cost"], "borealis": ["latency"]}
    aurora, borealis = found["aurora"]["latency"], found["borealis"]["latency"]
    assert (aurora["unit"], aurora["n"], aurora["n_missing"]) == ("seconds", N, 0)
    assert (borealis["n"], borealis["n_missing"]) == (N - 1, 1)
    x = np.sort(SECONDS)
    assert aurora["p95"] == {
        "value": significant(x[75]), "low": significant(x[71]), "high": significant(x[79]),
        "method": "order statistics", "notes": [],
    }  # fmt: skip
    assert aurora["total"] == pytest.approx(SECONDS.sum(), rel=1e-5)
    assert aurora["mean"]["low"] < aurora["mean"]["value"] < aurora["mean"]["high"]
    assert found["aurora"]["cost"]["mean"]["value"] == 1.25e-6


def test_the_numbers_depend_neither_on_parts_nor_on_the_order(tmp_path: Path) -> None:
    rows = [row | {"question": f"g{int(row['id'][1:]) % 20}", "draw": 1} for row in answers()]
    whole = document(rows, tmp_path / "whole")["resources"]

    parts = document(rows[::-1], tmp_path / "parts", 7)["resources"]

    assert parts == whole
    assert whole["aurora"]["latency"]["p50"]["method"] == "order statistics, clusters"


def test_few_answers_have_no_upper_limit_and_one_conversation_has_none(tmp_path: Path) -> None:
    few = document(answers()[:40], tmp_path / "few")["resources"]["aurora"]["latency"]
    one = [row | {"question": "one", "draw": 1} for row in answers()]
    alone = document(one, tmp_path / "one")["resources"]["aurora"]["latency"]

    assert (few["p95"]["high"], few["p95"]["low"] is None) == (None, False)
    assert few["p95"]["method"].endswith("no upper limit: fewer than 72 independent rows")
    assert [alone[key][limit] for key in ("mean", "p50", "p95") for limit in ("low", "high")] == [None] * 6
    assert alone["p50"]["method"].endswith("all rows are in one cluster")


def test_other_data_have_no_such_section(tmp_path: Path) -> None:
    assert "resources" not in document(made.ROWS, tmp_path)


def test_a_maximum_is_decided_by_the_limits(tmp_path: Path) -> None:
    targets = {"latency_p95": Maximum(max=100.0), "latency_p50": Maximum(max=0.1), "latency_mean": Maximum(max=1.6)}
    found = document(answers(), tmp_path, targets=targets | {"f1": 0.5})["targets"]

    assert found["aurora"]["latency_p95"] == {"max": 100.0, "verdict": "met"}
    assert found["aurora"]["latency_p50"]["verdict"] == "not met"
    assert found["aurora"]["latency_mean"]["verdict"] == "undecided"
    assert found["aurora"]["f1"]["target"] == 0.5


@pytest.mark.parametrize(
    ("targets", "message"),
    [
        ({"latency_p95": 0.5}, r"report.targets.latency_p95: less of it is better; expected a maximum"),
        ({"f1": {"max": 2.0}}, r"report.targets.f1: max is for latency, tokens and cost; allowed: latency_mean"),
        ({"latency_p59": {"max": 2.0}}, r"report.targets.latency_p59: max is for .* latency_p95"),
    ],
)
def test_targets_that_make_no_sense_are_refused(targets: Any, message: str) -> None:
    content = params.raw(Path("tests/params.yaml"))
    content["dataset"]["candidates"]["aurora"]["latency"] = "seconds"
    content["report"]["targets"] = targets
    models = params.models()

    with pytest.raises(ParamsError, match=message):
        check_measures({name: params.section(models[name], content, name) for name in content if name in models})


@pytest.mark.parametrize("limit", [-1.0, float("nan"), float("inf"), "2 s", True])
def test_a_maximum_is_a_number_of_0_or_more(limit: Any) -> None:
    section = made.SECTION | {"targets": {"latency_p95": {"max": limit}}}

    with pytest.raises(ParamsError, match=r"report\.targets\.latency_p95\.max"):
        params.section(Report, {"report": section}, "report")


def test_the_page_says_what_answers_took_and_what_is_missing(tmp_path: Path) -> None:
    html = written(answers(), tmp_path, part_rows=1000)["reports/index.html"]
    shown = " ".join(section_of(html, "resources").split())

    assert html.index('id="glance"') < html.index('id="resources"') < html.index('id="scores"')
    assert "Less is better." in shown
    assert "1 without a number" in shown
    assert shown.index("Latency, seconds") < shown.index("Cost, US dollars")
    assert "0.00000125" in shown
    assert 'id="resources"' not in written(made.ROWS, tmp_path / "other")["reports/index.html"]
