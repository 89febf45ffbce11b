"""dvc.yaml against the code: what a stage depends on is what it imports and what it reads."""

from importlib import import_module
from pathlib import Path

import grimp
import pytest

from goldmeter.pipeline import revisions
from goldmeter.pipeline.dvc_yaml import stages
from goldmeter.pipeline.stage import load_stage
from tests.small_project import ROOT

# Code that changes no number, except the modules in NUMBERS: ledger, params, tables, contracts, messages, where machine
# code is kept, the Python API that no stage calls, versions that only commands read, and packages whose `__init__` is a
# docstring.
PLUMBING = {
    *("goldmeter", "goldmeter.errors", "goldmeter.runner", "goldmeter.text.machine_code"),
    *(
        "goldmeter.ledger",
        "goldmeter.pipeline",
        "goldmeter.console",
        "goldmeter.versions",
        "goldmeter.versions.version",
    ),
}
# Prices change the judge's budget, and the format of numbers changes the report.
NUMBERS = {"goldmeter.pipeline.run", "goldmeter.console.format"}
FAMILIES = {"lexical": "lexical", "embed": "semantic", "semantic": "semantic", "judge": "judge", "aggregate": "lexical"}
"""The metrics that a stage finds by name, which no import shows."""

APART = {"labelling", "project", "reference"}
"""Of commands that no stage calls, the copy in a wheel, and documentation."""
PRICES = "run.judge.prices"


@pytest.fixture(scope="module")
def imports() -> grimp.ImportGraph:
    return grimp.build_graph("goldmeter", "tasks", "flows", include_external_packages=True)


def is_plumbing(module: str) -> bool:
    inside = module.startswith(("goldmeter.ledger.", "goldmeter.pipeline.", "goldmeter.console."))
    return module in PLUMBING or (inside and module not in NUMBERS)


def covered(path: Path, deps: tuple[str, ...]) -> bool:
    return any(path == Path(dep) or Path(dep) in path.parents for dep in deps)


def source(module: str) -> Path:
    path = Path(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def code_of(imports: grimp.ImportGraph, stage: str) -> set[str]:
    """The modules that may change a stage's numbers: what it imports, stopping at plumbing."""
    family = f"goldmeter.metrics.{FAMILIES.get(stage, '-')}."
    found, todo = set(), [f"tasks.{stage}", *(m for m in imports.modules if m.startswith(family))]
    while todo:
        module = todo.pop()
        if module.startswith(("goldmeter", "tasks.")) and not is_plumbing(module) and module not in found:
            found.add(module)
            todo += imports.find_modules_directly_imported_by(module)
    return found


@pytest.mark.parametrize("stage", stages())
def test_a_stage_depends_on_all_code_that_it_imports(stage: str, imports: grimp.ImportGraph) -> None:
    missing = {m for m in code_of(imports, stage) if not covered(source(m), stages()[stage].deps)}

    assert not missing


@pytest.mark.parametrize("stage", stages())
def test_a_stage_lists_the_sections_of_params_that_it_sees(stage: str) -> None:
    seen = load_stage(stage).params.model_fields

    sections = {name.partition(".")[0] for name in set(stages()[stage].params) - {PRICES}}
    assert sorted(sections) == sorted(seen)


def test_of_how_to_run_nothing_is_a_dep_but_the_prices_that_tables_and_the_report_show() -> None:
    seen = {stage.name: name for stage in stages().values() for name in stage.params if name.startswith("run")}

    assert seen == {"answer": PRICES, "report": PRICES}


@pytest.mark.parametrize("stage", stages())
def test_a_stage_has_one_name(stage: str) -> None:
    assert stages()[stage].command == f"python -m tasks {stage}"
    assert callable(getattr(import_module(f"tasks.{stage}"), stage))


@pytest.mark.parametrize("stage", stages())
def test_every_dep_exists_or_is_made_by_another_stage(stage: str) -> None:
    made = {out for each in stages().values() for out in each.outs}

    assert all(dep in made or Path(dep).exists() or "$" in dep for dep in stages()[stage].deps)


def test_answers_that_verdicts_may_stop_depend_on_all_that_verdicts_do() -> None:
    made = {out for each in stages().values() for out in each.outs}
    read = {dep for name in ("load", "normalize", "judge") for dep in stages()[name].deps}

    own = {f"tasks/{name}.py" for name in stages()}
    assert [dep for dep in sorted(read - made - own) if not covered(Path(dep), stages()["answer"].deps)] == []


def test_every_file_beside_code_that_a_stage_reads_is_somebodys_dep() -> None:
    deps = tuple(dep for stage in stages().values() for dep in stage.deps)
    files = (path for path in Path("goldmeter").rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    others = [path for path in files if path.suffix not in {".py", ".LICENSE"} and path.parts[1] not in APART]
    others.remove(revisions.CHANGES.relative_to(ROOT))  # the revisions that it counts are params
    others.remove(Path("goldmeter/pipeline/defaults.yaml"))  # a changed default raises a revision

    assert [path for path in others if not covered(path, deps)] == []


def test_metrics_and_statistics_are_pure(imports: grimp.ImportGraph) -> None:
    impure = {"prefect", "dvc", "great_expectations", "yaml", "openai", "httpx", "requests", "urllib", "socket"}
    pure = [m for m in imports.modules if m.startswith(("goldmeter.metrics", "goldmeter.statistics"))]

    found = {m: imports.find_modules_directly_imported_by(m) & impure for m in pure}

    assert not {module: names for module, names in found.items() if names}


def test_only_flows_and_serving_import_prefect(imports: grimp.ImportGraph) -> None:
    importers = imports.find_modules_that_directly_import("prefect")

    assert importers
    assert all(module.startswith(("flows", "goldmeter.serving")) for module in importers)
