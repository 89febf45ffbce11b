"""What a run is called in Prefect."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from flows import compare
from goldmeter.pipeline import git
from goldmeter.pipeline.yaml import dump_yaml
from goldmeter.serving import flow_runs


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))


def write(path: object) -> None:
    Path("params.yaml").write_text(dump_yaml({"dataset": {"path": path}}))


def commit(*, tag: str) -> None:
    author = ("-c", "user.name=Test", "-c", "user.email=test@example.org")
    for command in (["init", "-q"], ["add", "-A"], [*author, "commit", "-q", "-m", "data"], ["tag", tag]):
        assert git.run(*command).returncode == 0


def test_a_run_is_named_by_its_data_and_its_version() -> None:
    write("data/NQ.json")
    commit(tag="v1.2")

    assert flow_runs.evaluation_name() == "NQ.json@v1.2"
    assert flow_runs.comparison_name(["v1.1", "v1.2"]) == "NQ.json: v1.1 → v1.2"
    write("data/TQ.json")
    assert flow_runs.evaluation_name() == "TQ.json@v1.2 with uncommitted changes"


@pytest.mark.parametrize("text", [None, "- x", "dataset: 3", "dataset: {path: }", "dataset: {path: [", "\x00"])
def test_what_can_not_be_read_ends_no_run_by_its_name(text: str | None) -> None:
    if text is not None:
        Path("params.yaml").write_text(text)

    assert flow_runs.evaluation_name() == "no data set@workspace"


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ({}, "NQ.json: HEAD → workspace"),
        ({"base": "v1", "more": ["v3"]}, "NQ.json: v1 → workspace → v3"),
    ],
)
def test_a_comparison_is_named_whatever_is_given(
    monkeypatch: pytest.MonkeyPatch, given: dict[str, object], name: str
) -> None:
    write("data/NQ.json")
    monkeypatch.setattr(compare, "this_run", SimpleNamespace(parameters=given))

    assert compare._run_name() == name
