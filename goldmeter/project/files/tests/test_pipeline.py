"""Ten rows of your data through all stages, by the offline judge: no server is asked, nothing is paid."""

import json
import shutil
from pathlib import Path

import pytest

from goldmeter.metrics.catalogue import correctness_verdict
from goldmeter.pipeline.dvc_yaml import stages, upstream
from goldmeter.pipeline.params import effective
from goldmeter.pipeline.yaml import dump_yaml, load_yaml
from goldmeter.runner import run

PROJECT = Path(__file__).parents[1]
ROWS = 10


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the project without history and results, as current folder."""
    left = {PROJECT / name for name in (".git", ".venv", ".dvc/cache", ".dvc/tmp", "data/ledger", "reports")}
    shutil.copytree(
        PROJECT,
        tmp_path / "project",
        ignore=lambda folder, names: [name for name in names if Path(folder, name) in left or name == "__pycache__"],
    )
    monkeypatch.chdir(tmp_path / "project")
    monkeypatch.setenv("GOLDMETER_LEDGER", str(tmp_path / "ledger"))
    params = effective()
    params["dataset"]["limit"] = ROWS
    params["embed"] |= {"provider": "local", "model": "all-MiniLM-L6-v2", "base_url": None, "server": None}
    params["load"]["max_rejected"] = params["aggregate"]["max_unmeasured"] = 1
    if params["judge"]["provider"] in {"openai", "decisions", "cascade"}:
        params["judge"] |= {"provider": "offline", "panel": None, "preference": None}
        params["judge"]["metrics"] = {correctness_verdict(): {}}
        params["gate"] |= {"primary": None, "metrics": {}}
        params["report"]["targets"] = {}
    Path("params.yaml").write_text(dump_yaml(params), encoding="utf-8")
    return Path()


def test_ten_rows_reach_the_report(project: Path) -> None:
    candidates = load_yaml(project / "params.yaml")["dataset"]["candidates"]
    if any(isinstance(each, dict) and "model" in each for each in candidates.values()):
        pytest.skip("a candidate would be asked for its answers")

    for stage in upstream(stages()):
        run(stage)

    validation = json.loads((project / "reports/validation/load.json").read_text(encoding="utf-8"))
    assert validation["counts"]["rows"] > 0
    assert json.loads((project / "reports/summary.json").read_text(encoding="utf-8"))
    assert (project / "reports/index.html").stat().st_size > 0
