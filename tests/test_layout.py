"""The map of the packages: what each may import."""

from collections.abc import Iterator

import grimp
import pytest

from goldmeter.pipeline.dvc_yaml import stages
from scripts.reference.layout import ORDER

STAGES = {f"tasks.{name}" for name in stages()}
FLOORS: tuple[set[str], ...] = (
    {"goldmeter.errors"},
    {"goldmeter.pipeline", "goldmeter.console", "goldmeter.text", "goldmeter.statistics"},
    {"goldmeter.models", "goldmeter.ledger"},
    {"goldmeter.metrics", "goldmeter.versions"},
    {"goldmeter.estimates", "goldmeter.asking"},
    {"goldmeter.dataset", "goldmeter.wording"},
    {"goldmeter.judging", "goldmeter.comparison", "goldmeter.answering"},
    {"goldmeter.reporting"},
    {"goldmeter.history"},
    {"goldmeter.exports"},
    {*STAGES, "goldmeter.runner"},
    {"tasks.__main__"},
    {"flows"},
    {"benchmarks", "scripts"},
)
"""Packages from below to above. Each imports only from those below its own floor; those of one floor are apart."""
HEIGHT = {package: height for height, packages in enumerate(FLOORS) for package in packages}


@pytest.fixture(scope="module")
def imports() -> grimp.ImportGraph:
    return grimp.build_graph("tasks", "flows", "benchmarks", "scripts")


def package(module: str) -> str:
    return ".".join(module.split(".")[:2]) if module.startswith("tasks") else module.split(".", maxsplit=1)[0]


def between_packages(imports: grimp.ImportGraph) -> Iterator[tuple[str, str]]:
    for module in imports.modules - {"tasks"}:
        for imported in imports.find_modules_directly_imported_by(module) - {"tasks"}:
            if package(module) != package(imported):
                yield module, imported


def test_every_package_is_on_the_map(imports: grimp.ImportGraph) -> None:
    assert {package(module) for module in imports.modules} - {"tasks"} == set(HEIGHT)


def test_a_package_imports_only_from_packages_below_it(imports: grimp.ImportGraph) -> None:
    upward = [
        f"{module} imports {imported}"
        for module, imported in between_packages(imports)
        if HEIGHT[package(imported)] >= HEIGHT[package(module)] and {package(module), package(imported)} != SIBLINGS
    ]

    assert not upward


def test_nothing_but_the_command_line_and_flows_imports_a_stage(imports: grimp.ImportGraph) -> None:
    importers = {package(module) for module, imported in between_packages(imports) if package(imported) in STAGES}

    assert importers <= {"tasks.__main__", "flows", "benchmarks", "scripts"}


SIBLINGS = {"benchmarks", "scripts"}
"""Programs for developers, which may share code."""


def test_no_module_imports_itself_in_a_circle(imports: grimp.ImportGraph) -> None:
    circles = [
        (module, imported)
        for module in imports.modules
        for imported in imports.find_modules_directly_imported_by(module)
        if not imported.startswith(f"{module}.") and imports.chain_exists(importer=imported, imported=module)
    ]

    assert not circles


def test_the_top_of_tasks_holds_the_stages_and_what_runs_them(imports: grimp.ImportGraph) -> None:
    names = {"tasks.__main__", "goldmeter.errors", "goldmeter.runner"}
    files = {child for child in imports.find_children("tasks") if not imports.find_children(child)}

    assert files == STAGES | names


def test_the_readme_lists_the_packages_from_below_to_above() -> None:
    listed = [HEIGHT[f"tasks.{name}"] for name in ORDER]

    assert listed == sorted(listed)
    assert {f"tasks.{name}" for name in ORDER} == set(HEIGHT) - STAGES - OUTSIDE


OUTSIDE = {"goldmeter.errors", "goldmeter.runner", "tasks.__main__", "flows", "benchmarks", "scripts"}
"""Modules on the map that are no package, and packages outside of tasks/."""
