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
    {"goldmeter.models", "goldmeter.ledger", "goldmeter.system"},
    {"goldmeter.metrics", "goldmeter.versions"},
    {"goldmeter.estimates", "goldmeter.asking"},
    {"goldmeter.dataset", "goldmeter.wording"},
    {"goldmeter.judging", "goldmeter.comparison"},
    {"goldmeter.reporting", "goldmeter.answering"},
    {"goldmeter.history", "goldmeter.labelling"},
    {"goldmeter.exports", "goldmeter.runner", "goldmeter.serving", "goldmeter.project", "goldmeter.reference"},
    {"goldmeter.__main__"},
    {"tasks"},
    {"flows"},
    {"benchmarks", "scripts"},
)
"""Packages from below to above. Each imports only from those below its own floor; those of one floor are apart."""
HEIGHT = {package: height for height, packages in enumerate(FLOORS) for package in packages}


@pytest.fixture(scope="module")
def imports() -> grimp.ImportGraph:
    return grimp.build_graph("goldmeter", "tasks", "flows", "benchmarks", "scripts")


def package(module: str) -> str:
    return ".".join(module.split(".")[:2]) if module.startswith("goldmeter") else module.split(".", maxsplit=1)[0]


def between_packages(imports: grimp.ImportGraph) -> Iterator[tuple[str, str]]:
    for module in imports.modules - {"goldmeter"}:
        for imported in imports.find_modules_directly_imported_by(module) - {"goldmeter"}:
            if package(module) != package(imported):
                yield module, imported


def test_every_package_is_on_the_map(imports: grimp.ImportGraph) -> None:
    assert {package(module) for module in imports.modules} - {"goldmeter"} == set(HEIGHT)


def test_a_package_imports_only_from_packages_below_it(imports: grimp.ImportGraph) -> None:
    upward = [
        f"{module} imports {imported}"
        for module, imported in between_packages(imports)
        if HEIGHT[package(imported)] >= HEIGHT[package(module)] and {package(module), package(imported)} != SIBLINGS
    ]

    assert not upward


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


def test_tasks_holds_the_stages_and_their_command_line(imports: grimp.ImportGraph) -> None:
    assert imports.find_children("tasks") == STAGES | {"tasks.__main__", "tasks.metrics"}


def test_the_readme_lists_the_packages_from_below_to_above() -> None:
    listed = [HEIGHT[f"goldmeter.{name}"] for name in ORDER]

    assert listed == sorted(listed)
    assert {f"goldmeter.{name}" for name in ORDER} == set(HEIGHT) - OUTSIDE


OUTSIDE = {
    *("goldmeter.errors", "goldmeter.runner", "goldmeter.__main__"),
    *("tasks", "flows", "benchmarks", "scripts"),
}
"""Modules on the map that are no package, and packages outside of goldmeter/."""
