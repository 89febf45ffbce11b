"""A project of ten questions for the runner: its rows, and ways to change and to read it."""

import errno
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from goldmeter.pipeline import revisions
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


def make(folder: Path) -> None:
    """Write a project: the params.yaml of the tests, our dvc.yaml and goldmeter.yaml, and ten questions."""
    for file in (PARAMS, ROOT / "dvc.yaml", ROOT / "goldmeter.yaml"):
        shutil.copy(file, folder)
    (folder / "data/examples").mkdir(parents=True)
    write(folder, ROWS)


def write(folder: Path, rows: list[dict[str, Any]]) -> None:
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "data/examples/qa.jsonl").write_text(lines, encoding="utf-8")


def edit(change: Callable[[dict[str, Any]], object]) -> None:
    path = Path("params.yaml")
    content = load_yaml(path)
    change(content)
    path.write_text(dump_yaml(content), encoding="utf-8")


def only_words(params: dict[str, Any]) -> None:
    """Change settings to words and labels only: no model."""
    params["semantic"].clear()
    params["judge"].update(provider="none")
    params["lexical"] = {"exact_match": {}, "f1": {"threshold": 0.5}}


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
