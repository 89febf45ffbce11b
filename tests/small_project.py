"""A project of ten questions for the runner: its rows, and ways to change and to read it."""

import errno
import json
import os
import shutil
from collections.abc import Callable
from contextlib import chdir
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from goldmeter.pipeline import defaults, params, revisions
from goldmeter.pipeline.params_text import ParamsText
from goldmeter.pipeline.yaml import dump_yaml, load_yaml

ROOT = Path(__file__).parents[1]
PARAMS = ROOT / "tests/params.yaml"
"""Settings as they are shipped, whatever the checkout's params.yaml says."""
ROWS = [
    {"id": f"q{i}", "question": f"Question {i}?", "references": [f"answer {i}"], "thread": f"t{i // 2}", "topic": "x",
     "language": "en", "aurora": f"answer {i % 3}", "aurora_correct": i % 3 == i, "borealis": f"The answer {i}.",
     "borealis_correct": True}
    for i in range(10)
]  # fmt: skip


@cache
def _models() -> dict[str, Any]:
    with chdir(ROOT):
        return params.models()


def _in_full(section: str, stated: Any) -> Any:
    if section not in _models():
        return stated  # of a stage of the project's own
    return defaults.completed(_models()[section], stated, defaults.defaults()[section])


def settings() -> dict[str, Any]:
    """The settings of the tests, with every default stated."""
    stated = load_yaml(PARAMS)
    return {name: _in_full(name, stated.get(name)) for name in defaults.defaults()}


def stated_in_full() -> str:
    """The settings of the tests in a params.yaml that states all of them, as projects had it before defaults."""
    text, short = ParamsText(defaults.PATH.read_text(encoding="utf-8")), PARAMS.read_text(encoding="utf-8")
    dataset = load_yaml(PARAMS)["dataset"]
    of_short = ParamsText(short)
    for name in dataset:
        found = of_short.find(f"dataset.{name}")
        assert found
        lines = short[slice(*of_short.lines_of(found))].rstrip("\n")
        place = text.find(f"dataset.{name}")
        assert place
        start, end = text.lines_of(place)
        text.text = f"{text.text[:start]}{lines}\n{text.text[end:]}"
    return text.text


def make(folder: Path) -> None:
    """Write a project: the params.yaml of the tests, our dvc.yaml and goldmeter.yaml, and ten questions."""
    for file in (PARAMS, ROOT / "dvc.yaml", ROOT / "goldmeter.yaml"):
        shutil.copy(file, folder)
    for name in ("examples", "labels"):
        (folder / "data" / name).mkdir(parents=True)
    write(folder, ROWS)


def write(folder: Path, rows: list[dict[str, Any]]) -> None:
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "data/examples/qa.jsonl").write_text(lines, encoding="utf-8")


def edit(change: Callable[[dict[str, Any]], object]) -> None:
    path = Path("params.yaml")
    stated = load_yaml(path)
    content = {name: _in_full(name, stated.get(name)) for name in dict.fromkeys([*stated, "schedule"])}
    change(content)
    path.write_text(dump_yaml(content), encoding="utf-8")


def only_words(content: dict[str, Any]) -> None:
    """Change settings to words and labels only: no model."""
    content["semantic"].clear()
    content["judge"].update(provider="none")
    content["lexical"] = {"exact_match": {}, "f1": {"threshold": 0.5}}


def with_version(folder: Path, monkeypatch: pytest.MonkeyPatch, version: str = "9.0.0", **changed: Any) -> None:
    """Let a newer version of the library be installed, as it seems, that changes something."""
    path = folder / "changes.yaml"
    before = load_yaml(revisions.CHANGES)
    path.write_text(dump_yaml([{"version": version} | changed, *before]), encoding="utf-8")
    monkeypatch.setattr(revisions, "CHANGES", path)


def files(folder: str) -> dict[str, bytes]:
    return {str(p): p.read_bytes() for p in sorted(Path(folder).rglob("*")) if p.is_file()}


def mount(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a folder be another file system: no file is renamed from or to it."""
    rename = os.replace

    def replace(source: Path, target: Path) -> None:
        if Path(source).absolute().is_relative_to(folder) != Path(target).absolute().is_relative_to(folder):
            raise OSError(errno.EXDEV, os.strerror(errno.EXDEV), str(source), None, str(target))
        rename(source, target)

    monkeypatch.setattr(os, "replace", replace)
