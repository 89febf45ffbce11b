"""Every stage of dvc.yaml satisfies the protocol of a stage."""

import ast
import sys
from collections.abc import Iterator
from importlib import invalidate_caches
from pathlib import Path

import pyarrow as pa
import pytest

import tasks
from goldmeter.errors import ParamsError
from goldmeter.ledger.vectors import VectorEvidence
from goldmeter.ledger.verdicts import VerdictEvidence
from goldmeter.pipeline.dvc_yaml import stages
from goldmeter.pipeline.params import for_stage, run_params
from goldmeter.pipeline.progress import quiet
from goldmeter.pipeline.settings import Section
from goldmeter.pipeline.stage import Output, Stage, StageInputs, load_stage
from tests.small_project import ROOT


class Params(Section):
    """No section."""


def unchanged(rows: pa.Table, _: Params, __: StageInputs) -> pa.Table:
    return rows


@pytest.mark.parametrize("name", stages())
def test_every_stage_declares_itself(name: str) -> None:
    entry, stage = stages()[name], load_stage(name)

    assert isinstance(stage, Stage)
    assert issubclass(stage.params, Section)
    assert bool(stage.expect) == (f"reports/validation/{name}.json" in entry.outs)
    if stage.by_part:
        assert len(entry.tables_read) == 1 <= len(entry.tables_written)


def test_a_stage_without_a_module_is_an_error_of_dvc_yaml() -> None:
    with pytest.raises(ParamsError, match=r"dvc\.yaml: the stage polish: no module tasks/polish\.py; `git checkout"):
        load_stage("polish")


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        ("import nowhere_at_all", "can't be imported: ModuleNotFoundError: No module named 'nowhere_at_all'; "),
        ("from goldmeter.metrics import nothing", "can't be imported: ImportError: cannot import name 'nothing' from "),
        (
            "import goldmeter.moved",
            "can't be imported: ModuleNotFoundError: No module named 'goldmeter.moved'; `gold",
        ),
        ("x = (", "can't be imported: SyntaxError: '(' was never closed (own.py, line 1); "),
        ("1 / 0", "can't be imported: ZeroDivisionError: division by zero; `python -c 'import tasks.own'` shows where"),
        ("STAGE = 1", "declares no stage; its last line should be STAGE = Stage(…)"),
    ],
)
def test_what_is_wrong_with_a_stage_of_ones_own_is_one_sentence(
    code: str, problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own.py").write_text(code + "\n", encoding="utf-8")
    monkeypatch.setattr(tasks, "__path__", [str(tmp_path)])
    monkeypatch.delitem(sys.modules, "tasks.own", raising=False)
    invalidate_caches()

    with pytest.raises(ParamsError) as caught:
        load_stage("own")

    assert str(caught.value).removeprefix("dvc.yaml: the stage own: ").startswith(f"tasks/own.py: {problem}")
    assert "\n" not in str(caught.value)


def test_a_stage_is_computed_by_part_or_as_a_whole() -> None:
    with pytest.raises(ValueError, match="by_part or whole"):
        Stage(params=Params)
    with pytest.raises(ValueError, match="by_part or whole"):
        Stage(params=Params, by_part=unchanged, whole=lambda *_: iter(()))
    with pytest.raises(ValueError, match="is_whole"):
        Stage(params=Params, by_part=unchanged, is_whole=lambda _: True)


@pytest.mark.parametrize("is_whole", [True, False])
def test_a_stage_that_can_be_both_chooses_by_its_params(is_whole: bool) -> None:
    def whole(*_: object) -> Iterator[Output]:
        return iter(())

    stage = Stage(params=Params, by_part=unchanged, whole=whole, is_whole=lambda _: is_whole)

    assert stage.whole_for(Params()) is (whole if is_whole else None)
    assert Stage(params=Params, whole=whole).whole_for(Params()) is whole
    assert Stage(params=Params, by_part=unchanged).whole_for(Params()) is None


def test_the_judge_is_computed_by_part_unless_a_server_is_asked() -> None:
    stage, params = load_stage("judge"), for_stage("judge")
    providers = ("none", "offline", "openai", "cascade")
    judges = [params.judge.model_copy(update={"provider": provider}) for provider in providers]

    is_whole = [bool(stage.whole_for(params.model_copy(update={"judge": one}))) for one in judges]
    assert is_whole == [False, False, True, True]


def test_the_ledger_is_of_the_kind_that_dvc_yaml_names(tmp_path: Path) -> None:
    evidence = VerdictEvidence(tmp_path)
    inputs = StageInputs(tables={}, documents={}, run=run_params(), progress=quiet, open_ledger=evidence)

    assert inputs.ledger(VerdictEvidence) is evidence
    with pytest.raises(ParamsError, match=r"dvc\.yaml: the stage needs data/ledger/… as VectorEvidence"):
        inputs.ledger(VectorEvidence)


def test_the_runner_looks_for_nothing_outside_the_protocol() -> None:
    tree = ast.parse((ROOT / "goldmeter/runner.py").read_text(encoding="utf-8"))
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}

    assert not names & {"getattr", "hasattr", "signature", "import_module", "vars"}
