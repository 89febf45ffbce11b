"""A copy of the project in a temporary folder, with a cache of its own, to run stages in."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.data import ROOT
from benchmarks.measure import Cost, run
from goldmeter.pipeline.yaml import dump_yaml


@dataclass(frozen=True)
class Project:
    """The copy."""

    folder: Path

    def configure(self, sections: Mapping[str, Any]) -> None:
        """Write params.yaml."""
        (self.folder / "params.yaml").write_text(dump_yaml(dict(sections)), encoding="utf-8")

    def python(self, *arguments: str) -> Cost:
        """What a command of Python's takes."""
        return run([sys.executable, *arguments], self.folder, self.environment)

    def repro(self, stage: str) -> Cost:
        """What `dvc repro --single-item STAGE` takes, when the stage has to run."""
        return self.dvc("repro", "--force", "--single-item", stage)

    def dvc(self, *arguments: str) -> Cost:
        """What a command of DVC's takes."""
        return run([str(Path(sys.executable).with_name("dvc")), *arguments], self.folder, self.environment)

    @property
    def environment(self) -> dict[str, str]:
        """That of this process, with its Python first on the path."""
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
        return os.environ | {"PATH": path, "GOLDMETER_LEDGER": str(self.folder / "ledger")}


@contextmanager
def copy() -> Iterator[Project]:
    """A copy of what git sees of the working tree; gone afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        copy_shipped(Path(folder))
        subprocess.run(["git", "init", "--quiet"], cwd=folder, check=True)
        yield Project(Path(folder))


def copy_shipped(folder: Path) -> None:
    """Copy what git sees of the working tree to a folder."""
    for name in shipped():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, target)


def shipped() -> list[str]:
    """What git sees of the working tree, but for dvc.lock."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return [name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file() and name != "dvc.lock"]
