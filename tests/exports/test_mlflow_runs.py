"""MLflow: what a run becomes, and that MLflow's own client reads it back."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.exports import mlflow_runs
from goldmeter.exports.results import results, safe_name
from tests.documents import blocks, commands
from tests.exports.conftest import told
from tests.exports.test_export_page import PAGE
from tests.small_project import ROOT

NEEDS_MLFLOW = pytest.mark.skipif(find_spec("mlflow") is None, reason="needs the extra mlflow")


@pytest.mark.usefixtures("run")
def test_a_candidate_becomes_metrics_params_and_tags() -> None:
    with results("workspace") as found:
        entries = found.candidates["borealis"]
        metrics, params = mlflow_runs.metrics_of(entries), mlflow_runs.params_of(found, entries)

        assert metrics["f1/pass_rate"] == 0.95
        assert metrics["f1/value"] == entries["f1"]["value"]
        assert (metrics["f1/low"], metrics["f1/high"]) == (entries["f1"]["low"], entries["f1"]["high"])
        assert (metrics["f1/n"], metrics["semantic_similarity/n_failed"]) == (20, 1)
        assert (params["f1/signature"], params["f1/pass_rate_signature"]) == ("f1|v:1", "f1|v:1|thr")
        assert params["dataset/hash"] == found.report["dataset"]["hash"]
        assert mlflow_runs.tags_of(found, "borealis") == {
            "goldmeter.candidate": "borealis", "goldmeter.version": "workspace", "goldmeter.primary": "label",
        }  # fmt: skip


@given(names=st.lists(st.text(max_size=400), min_size=2, max_size=2, unique=True))
def test_names_fit_and_stay_apart(names: list[str]) -> None:
    first, second = (safe_name(name, mlflow_runs._NOT_IN_KEYS.sub("_", name), 40) for name in names)

    assert len(first) <= 40
    assert first != second
    assert not mlflow_runs._NOT_IN_KEYS.search(first + second)


@NEEDS_MLFLOW
@pytest.mark.long
def test_mlflows_client_reads_the_runs_back(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    [line] = [each.line for block in blocks(PAGE) for each in commands(block) if "export mlflow" in each.line]
    documented = line.split()[4:]
    uri = documented[1]
    status, out, err = told(capsys, *documented)
    ids = dict(line.split(": MLflow run ") for line in out.splitlines())
    assert (status, err, list(ids)) == (0, "", ["aurora", "borealis"])

    from mlflow import MlflowClient
    from mlflow.telemetry.client import get_telemetry_client

    client = MlflowClient(uri)
    found = client.get_run(ids["borealis"])
    assert found.info.status == "FINISHED"
    assert found.info.run_name == "borealis"
    with results("workspace") as of_run:
        assert found.data.metrics == mlflow_runs.metrics_of(of_run.candidates["borealis"])
        assert found.data.params == mlflow_runs.params_of(of_run, of_run.candidates["borealis"])
    assert client.get_experiment(found.info.experiment_id).name == "nightly"
    assert get_telemetry_client() is None
    assert told(capsys, *documented)[0] == 0
    assert len(client.search_runs([found.info.experiment_id])) == 4
    assert not (run / "mlruns").exists()

    for target, ended, says in (
        ("store", 2, "error: store: no tracking URI; expected one such as sqlite:///mlflow.db"),
        ("nonsense://u:pass@x", 2, "error: nonsense://***@x: MLflow could not write the run: "),
        ("http://127.0.0.1:9", 75, "error: http://127.0.0.1:9: MLflow could not write the run: API request to "),
    ):
        status, _, err = told(capsys, "mlflow", target)
        assert (status, err[: len(says)], err.count("\n")) == (ended, says, 1)


@pytest.mark.usefixtures("run")
def test_without_mlflow_it_says_what_to_install(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "mlflow", None)

    assert told(capsys, "mlflow", "sqlite:///x.db")[::2] == (
        2, "error: MLflow is not installed; `pip install 'goldmeter[mlflow]'` installs its client\n",
    )  # fmt: skip


def test_the_command_line_loads_no_export() -> None:
    code = "import sys; import tasks.__main__ as m; m.parser(); print({'mlflow', 'httpx2', 'numpy'} & {*sys.modules})"

    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=os.environ, capture_output=True, text=True, check=True
    )

    assert done.stdout == "set()\n"
