"""Imports that are put off or left out, each shown in a process of its own, where nothing is imported yet."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.small_project import ROOT


def run(code: str, folder: Path = ROOT) -> str:
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A folder with a package `loud` that says when its code runs, and whose part `child` does too."""
    (tmp_path / "loud").mkdir()
    (tmp_path / "loud/__init__.py").write_text("print('loud runs')\nvalue = 1\n", encoding="utf-8")
    (tmp_path / "loud/child.py").write_text("print('child runs')\nvalue = 2\n", encoding="utf-8")
    return tmp_path


PUT_OFF = (
    "import sys; sys.path.append({root!r}); from tasks.pipeline.lean_imports import *; import_when_touched({name!r});"
)


@pytest.mark.parametrize(
    ("name", "code", "said"),
    [
        ("loud", "import loud; print(loud.__name__, 'value' in vars(loud))", "loud False"),
        ("loud", "import inspect; inspect.getmodule(len, 'nowhere'); print('quiet')", "quiet"),
        ("loud", "import loud; print(loud.value, loud.value)", "loud runs\n1 1"),
        ("loud", "from loud import value; print(value)", "loud runs\n1"),
        ("loud", "import loud.child; print(loud.child.value)", "loud runs\nchild runs\n2"),
        ("loud.child", "import loud.child; print('bound'); print(loud.child.value)", "loud runs\nbound\nchild runs\n2"),
        ("nobody_has_this", "print('nobody_has_this' in sys.modules)", "False"),
    ],
)
def test_a_modules_code_runs_when_it_is_touched(package: Path, name: str, code: str, said: str) -> None:
    assert run(PUT_OFF.format(root=str(ROOT), name=name) + code, package) == said


def test_what_is_imported_already_stays_as_it_is() -> None:
    assert (
        run(
            "import sys, json; from tasks.pipeline.lean_imports import *; import_when_touched('json')\n"
            "with without('json'):\n    import json as again; print(again is json, sys.modules['json'] is json)"
        )
        == "True True"
    )


def test_what_is_left_out_is_there_again_afterwards(package: Path) -> None:
    code = (
        f"import sys; sys.path.append({str(ROOT)!r}); from tasks.pipeline.lean_imports import *\n"
        "try:\n    with without('loud'): import loud\n"
        "except ImportError: print('not there')\n"
        "import loud"
    )

    assert run(code, package) == "not there\nloud runs"


def test_great_expectations_works_without_what_was_put_off_and_with_it() -> None:
    code = """
import sys, pandas as pd
from tasks.pipeline import validation
validation.load_gx()
from great_expectations import expectations as gxe
import sqlalchemy.orm

frame = pd.DataFrame({"x": [1.0, 2.0, 9.0], "c": ["a", "a", "b"]})
names = ("scipy.stats._stats_py", "altair.vegalite")
rules = [kind(column="x", max_value=5) for kind in (gxe.ExpectColumnValuesToBeBetween, gxe.ExpectColumnMaxToBeBetween)]
print([each.failed for each in validation.check(frame, rules)], [name in sys.modules for name in names])
likely = {"values": ["a", "b"], "weights": [0.5, 0.5]}
far = gxe.ExpectColumnKLDivergenceToBeLessThan(column="c", partition_object=likely, threshold=0.01)
print([each.failed for each in validation.check(frame, [far])], names[0] in sys.modules)
"""

    assert run(code).splitlines() == ["[1, 1] [False, False]", "[1] True"]


def test_loading_a_table_imports_no_more_than_it_needs() -> None:
    heavy = {"numba", "scipy", "torch", "openai", "sqlalchemy", "altair", "jinja2", "prefect", "great_expectations"}
    code = "import sys, tasks.runner; from tasks.pipeline import params; params.check();"
    code += f"print(sorted({heavy!r} & set(sys.modules)))"

    assert run(code) == "[]"
