"""The stage of CONTRIBUTING, with scores of its own: its table reaches aggregate, report and the comparison."""

import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pyarrow as pa
import pytest

from goldmeter.comparison.gate import Gate
from goldmeter.comparison.of_versions import compare_versions
from goldmeter.errors import DataError
from goldmeter.estimates.columns import score_columns
from goldmeter.estimates.tables import own_scores
from goldmeter.pipeline import dvc_yaml
from goldmeter.pipeline.tables import Parts, write_part
from goldmeter.pipeline.yaml import dump_yaml, load_yaml, parse_yaml
from goldmeter.runner import run
from goldmeter.versions.version import Version
from tests.documents import blocks
from tests.small_project import ROOT, ROWS, edit, only_words, write

BLOCKS = {block.mark.partition(":")[0]: block.text for block in blocks(ROOT / ".github/CONTRIBUTING.md") if block.mark}
STAGES = ("load", "normalize", "lexical", "embed", "semantic", "judge", "politeness", "aggregate")


@pytest.fixture
def own_stage(project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The project with the stage that CONTRIBUTING describes."""
    module = ModuleType("tasks.politeness")
    exec(compile(BLOCKS["file"], "tasks/politeness.py", "exec"), module.__dict__)  # noqa: S102 (our own page)
    monkeypatch.setitem(sys.modules, "tasks.politeness", module)
    edit(only_words)
    edit(lambda params: params.update(parse_yaml(BLOCKS["section"])))
    pipeline: dict[str, Any] = load_yaml(project / "dvc.yaml")
    pipeline["stages"] |= parse_yaml(BLOCKS["stage"])
    for reader in ("aggregate", "report"):
        pipeline["stages"][reader]["deps"].append("data/politeness")
    (project / "dvc.yaml").write_text(dump_yaml(pipeline), encoding="utf-8")
    dvc_yaml.forget_stages()
    return project


def run_all(project: Path, thanks: range) -> Version:
    """The tables of a run in which these questions are answered politely."""
    polite = [row | {"aurora": f"{row['aurora']}, thank you"} if i in thanks else row for i, row in enumerate(ROWS)]
    write(project, polite)
    for stage in STAGES:
        run(stage)
    return Version("run", project, None)


@pytest.mark.long  # every stage once
def test_the_scores_of_an_own_stage_are_aggregated_and_shown(own_stage: Path) -> None:
    run_all(own_stage, range(4))
    run("report")

    report = json.loads(Path("reports/metrics.json").read_text(encoding="utf-8"))
    page = Path("reports/index.html").read_text(encoding="utf-8")
    assert report["candidates"]["aurora"]["politeness"]["value"] == 0.4
    assert report["candidates"]["aurora"]["politeness"]["pass_rate"]["value"] == 0.4
    assert "Politeness" in page


def test_the_scores_of_an_own_stage_are_compared(own_stage: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    edit(lambda params: params["dataset"].update(group=None))  # 5 threads are too few to tell
    gate = Gate(primary="politeness", metrics={}, margin=0, confidence=0.95, fail_on="worse", max_unmeasured=0.05)
    run_all(own_stage, range(9))
    base = tmp_path_factory.mktemp("base") / "run"
    own_stage.joinpath("data").rename(base.parent / "data")
    for name in ("dvc.yaml", "params.yaml"):
        (base.parent / name).write_bytes((own_stage / name).read_bytes())
    (own_stage / "data/examples").mkdir(parents=True)

    document = compare_versions(Version("base", base.parent, None), run_all(own_stage, range(1)), gate)

    aurora = document["pairs"][0]["measures"]["politeness"]
    assert (aurora["base"], aurora["head"], aurora["verdict"]) == (0.9, 0.1, "worse")


def rows(n: int = 2) -> pa.Table:
    return pa.table({"id": [f"q{i}" for i in range(n)], "candidate": ["a"] * n})


def test_a_table_says_what_passes_and_what_is_unmeasured() -> None:
    table = own_scores(
        rows(3), "ms", [10, 30, None], bounds=(0, 100), threshold=20, higher_is_better=False,
        reasons=[None, None, "not applicable"],
    )  # fmt: skip

    assert table["ms_result"].to_pylist() == ["pass", "fail", "unmeasured"]
    assert json.loads(table["ms_details"].to_pylist()[2]) == {"unmeasured": "not applicable"}


@pytest.mark.parametrize(
    ("scores", "options", "message"),
    [
        ([1.0], {}, "x: 1 scores, but 2 rows"),
        ([1.0, 2.0], {}, "x: id q1: 2 is outside the bounds, 0 to 1"),
        ([1.0, 0.0], {"higher_is_better": False}, "x: less of it is better, so state the threshold"),
    ],
)
def test_scores_that_can_not_be_are_refused(scores: list[float], options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        own_scores(rows(), "x", scores, **options)


def test_a_table_that_does_not_say_what_its_columns_are_is_refused(tmp_path: Path) -> None:
    tmp_path.joinpath("x").mkdir()
    write_part(rows().append_column("x", pa.array([1.0, 0.0])), tmp_path / "x", 0)

    with pytest.raises(DataError, match="does not say which of its columns are scores"):
        list(score_columns(Parts(tmp_path / "x")))
