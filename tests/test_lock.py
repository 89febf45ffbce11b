"""requirements.lock against pyproject.toml: all that is needed, pinned and hashed, and tests apart from runs."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.small_project import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
RUN, DEV = (ROOT / "requirements.lock").read_text(encoding="utf-8").split("# Group dev")
_ENTRY = re.compile(r"^(?P<name>[\w.-]+)==(?P<version>\S+)(?P<rest>.*(?:\n    .*)*)", re.MULTILINE)


def pinned(part: str) -> dict[str, set[str]]:
    """The versions of each library in a part of the lock: several if they depend on Python's version."""
    pins: dict[str, set[str]] = {}
    for entry in _ENTRY.finditer(part):
        pins.setdefault(entry["name"], set()).add(entry["version"])
    return pins


def unmet(requirements: list[str], pins: dict[str, set[str]]) -> list[str]:
    asked = [each for each in map(Requirement, requirements) if each.name != "torch"]
    return [
        str(each)
        for each in asked
        if not (found := pins.get(canonicalize_name(each.name))) or not all(map(each.specifier.contains, found))
    ]


def test_what_a_run_needs_is_in_the_first_part() -> None:
    extras = PROJECT["project"]["optional-dependencies"]

    assert unmet([*PROJECT["project"]["dependencies"], *extras["s3"], *extras["cluster"]], pinned(RUN)) == []


def test_what_tests_need_is_in_the_lock_once() -> None:
    assert unmet(PROJECT["dependency-groups"]["dev"], pinned(RUN) | pinned(DEV)) == []
    assert {*pinned(RUN)} & {*pinned(DEV)} == set()
    assert {"pytest", "mypy", "ruff", "playwright", "moto"} <= {*pinned(DEV)}


@pytest.mark.parametrize("part", [RUN, DEV], ids=["run", "dev"])
def test_every_pin_has_hashes_and_none_names_a_registry(part: str) -> None:
    entries = [*_ENTRY.finditer(part)]

    assert len(entries) > 50
    assert [entry["name"] for entry in entries if "--hash=sha256:" not in entry["rest"]] == []
    assert not re.search(r"^ *-(?!-hash=)|://|\+", part, re.MULTILINE)


def test_torch_has_one_version_and_one_index() -> None:
    [torch] = [each for each in PROJECT["project"]["dependencies"] if each.startswith("torch==")]
    [index] = PROJECT["tool"]["uv"]["index"]
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")

    assert "torch" not in pinned(RUN) | pinned(DEV)
    assert re.findall(r"torch==[0-9.]+", Path(ROOT, "pyproject.toml").read_text(encoding="utf-8")) == [torch]
    assert f"\nCPU := {index['url']}\n" in makefile


def test_the_citation_is_of_this_version() -> None:
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")

    for name in ("version", "license"):
        assert f"\n{name}: {PROJECT['project'][name]}\n" in citation
    assert PROJECT["project"]["description"] in citation


def test_a_commit_runs_a_target_of_the_makefile() -> None:
    assert "entry: make check\n" in (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    assert "\ncheck: " in (ROOT / "Makefile").read_text(encoding="utf-8")


def test_a_clone_has_the_command_goldmeter(tmp_path: Path) -> None:
    lines = (ROOT / "Makefile").read_text(encoding="utf-8").splitlines()
    [line] = [line.strip() for line in lines if "> .venv/bin/goldmeter" in line]
    folder = tmp_path / ".venv/bin"
    folder.mkdir(parents=True)
    (folder / "python").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n', encoding="utf-8")
    (folder / "python").chmod(0o755)
    subprocess.run(["sh", "-c", line.replace("$$", "$")], cwd=tmp_path, check=True)

    said = subprocess.run([folder / "goldmeter", "--help"], cwd=ROOT, check=True, capture_output=True, text=True)

    assert "robust" in said.stdout
