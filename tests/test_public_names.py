"""What `import goldmeter` offers in any folder, without a project."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import goldmeter
from tests.small_project import ROOT


def test_the_public_names_score_and_compare_in_an_empty_folder(tmp_path: Path) -> None:
    code = (
        "import sys; from goldmeter import accuracy, compare, score, scores; print(score('f1', ['b c'], ['b'])[0]); "
        "print({'torch', 'prefect', 'dvc', 'great_expectations', 'tasks', 'flows'} & {*sys.modules})"
    )

    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout.split("\n")[:2] == ["0.6666666666666666", "set()"]
    assert [*tmp_path.iterdir()] == []


def test_they_are_those_of_all() -> None:
    assert all(callable(getattr(goldmeter, name)) for name in goldmeter.__all__)


def test_another_name_is_none_of_them() -> None:
    with pytest.raises(AttributeError, match=r"^module 'goldmeter' has no attribute 'scor'$"):
        _ = goldmeter.scor
