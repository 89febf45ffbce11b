"""The Great Expectations context: others open it, run its checkpoint, and find what the stages check."""

import json
import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote

import pytest

from goldmeter.exports import gx_context
from tasks.__main__ import main
from tests.small_project import ROOT

# What somebody does who has Great Expectations, and no code of ours.
OTHERS = """
import json, sys
import great_expectations as gx

context = gx.get_context(mode="file", project_root_dir=sys.argv[1])
result = context.checkpoints.get("goldmeter").run()
kinds = {suite.name: [one.configuration.type for one in suite.expectations] for suite in context.suites.all()}
failed = [found.suite_name for found in result.run_results.values() if not found.success]
print(json.dumps({"failed": failed, "kinds": kinds, "ours": any("tasks" == name for name in sys.modules)}))
"""


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    status = main(["gx", *arguments])
    out, err = capsys.readouterr()
    return status, out, err


def test_before_any_run_it_says_how_to_get_one(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert told(capsys, "checks") == (
        2, "", "error: data/load: no table there; `dvc repro` runs the stages in their order\n",
    )  # fmt: skip
    assert not (project / "checks").exists()


def test_a_file_is_no_folder(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert told(capsys, "params.yaml")[::2] == (2, "error: params.yaml: is a file; expected a folder\n")
    assert (project / "params.yaml").is_file()


@pytest.mark.exhaustive
def test_others_open_it_and_run_its_checkpoint(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ("answer", "load", "normalize", "lexical")
    for name in names:
        assert main([name]) == 0
    every = {name: stage for name, stage in gx_context.stages().items() if name in names}
    monkeypatch.setattr(gx_context, "stages", lambda: every)
    capsys.readouterr()

    assert "\n$ python -m tasks gx checks\n" in (ROOT / "docs/how-to/great-expectations.md").read_text(encoding="utf-8")
    for _ in range(2):  # a second export replaces the first one
        status, out, _ = told(capsys, "checks")
        assert status == 0
        assert ", all met\nData Docs: file://" in out
        first = Path(unquote(out.rpartition("file://")[2].strip()))
        pages = [page.read_text(encoding="utf-8") for page in first.parent.rglob("*.html")]
        assert len(pages) > 6
        assert not any("dataContextId" in page for page in pages)
    config = (project / "checks/gx/great_expectations.yml").read_text(encoding="utf-8")
    assert "analytics_enabled: false" in config

    found = opened(project)
    assert (found["failed"], found["ours"]) == ([], False)
    assert set(found["kinds"]) == {"load", "load counts", "normalize", "normalize counts", "lexical", "lexical counts"}
    assert "expect_compound_columns_to_be_unique" in found["kinds"]["load"]
    assert all(kind.startswith("expect_column") for kind in found["kinds"]["lexical"])

    change_result(project / "data/lexical/part-00000.parquet")
    assert opened(project)["failed"] == ["lexical"]


def opened(project: Path) -> dict:
    environment = os.environ | {"GX_ANALYTICS_ENABLED": "false", "PYTHONPATH": ""}
    command = [sys.executable, "-c", OTHERS, str(project / "checks")]
    done = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def change_result(part: Path) -> None:
    """Let a row that passes fail: no result follows from its score then."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pq.read_table(part)
    results = table["f1_result"].to_pylist()
    results[results.index("pass")] = "fail"
    column = table.schema.get_field_index("f1_result")
    pq.write_table(table.set_column(column, "f1_result", pa.array(results)), part)
