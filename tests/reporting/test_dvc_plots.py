import json
from pathlib import Path

import pyarrow as pa
import pytest

from goldmeter.reporting.assembly import interval_rows
from tests.reporting.made import ROWS, inputs, written


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return written(ROWS, tmp_path_factory.mktemp("plots"))


def test_the_tables_of_the_plots(files, tmp_path):
    _, documents = inputs(ROWS, tmp_path / "a")
    candidate = documents["reports/metrics.json"]["candidates"]["aurora"]

    rates = json.loads(files["reports/plots/pass_rates.json"])
    scores = json.loads(files["reports/plots/scores.json"])

    names = ("value", "low", "high")
    (rate,) = [each for each in rates if (each["metric"], each["candidate"]) == ("f1", "aurora")]
    (score,) = [each for each in scores if (each["metric"], each["candidate"]) == ("f1", "aurora")]
    assert {name: rate[name] for name in names} == {name: candidate["f1"]["pass_rate"][name] for name in names}
    assert {name: score[name] for name in names} == {name: candidate["f1"][name] for name in names}
    assert {each["metric"] for each in scores} == {"label", "f1", "semantic_similarity"}


def test_a_value_without_an_interval_has_none():
    row = {"metric": "score_x", "candidate": "a", "slice": None, "value": 1.0, "low": None, "high": None}

    assert interval_rows(pa.Table.from_pylist([row])) == [
        {"metric": "score_x", "candidate": "a", "value": 1.0, "low": None, "high": None}
    ]


def test_distributions_run_from_none_to_all(files):
    rows = json.loads(files["reports/plots/distributions.json"])
    line = [each["share below"] for each in rows if (each["metric"], each["candidate"]) == ("f1", "borealis")]

    assert line[0] == 0
    assert line[-1] == 1
    assert line == sorted(line)
    assert len(line) == 21


def test_the_templates_of_dvc_read_the_columns_there_are(files):
    known = {"rev"} | {name for path in files if "plots" in path for row in json.loads(files[path]) for name in row}

    def fields(node):
        if isinstance(node, dict):
            yield from [node["field"]] if "field" in node else []
            node = list(node.values())
        for each in node if isinstance(node, list) else ():
            yield from fields(each)

    for template in ("intervals", "distributions"):
        used = set(fields(json.loads(Path(f".dvc/plots/{template}.json").read_text(encoding="utf-8"))))
        assert {name for name in used if not name.startswith("<DVC_METRIC_")} <= known
