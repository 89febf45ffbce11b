"""What is imported when a stage starts; each test imports in a process of its own."""

import subprocess
import sys
from importlib.metadata import version

import pytest

from tests.small_project import ROOT


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.mark.long
def test_great_expectations_imports_scipy_stats_when_an_expectation_uses_it() -> None:
    code = """
import sys, pandas as pd
from goldmeter.pipeline import validation
validation.load_gx()
from great_expectations import expectations as gxe

frame = pd.DataFrame({"x": [1.0, 2.0, 9.0], "c": ["a", "a", "b"]})
rules = [kind(column="x", max_value=5) for kind in (gxe.ExpectColumnValuesToBeBetween, gxe.ExpectColumnMaxToBeBetween)]
print([result.failed for result in validation.check(frame, rules)], "scipy.stats" in sys.modules)
likely = {"values": ["a", "b"], "weights": [0.5, 0.5]}
far = gxe.ExpectColumnKLDivergenceToBeLessThan(column="c", partition_object=likely, threshold=0.01)
print([result.failed for result in validation.check(frame, [far])], "scipy.stats" in sys.modules)
"""

    assert run(code).splitlines() == ["[1, 1] False", "[1] True"]


@pytest.mark.long
def test_it_imports_scipy_stats_in_the_version_that_was_measured() -> None:
    code = "import sys, great_expectations.expectations; print('scipy.stats' in sys.modules)"

    assert version("great_expectations").startswith("1.24."), (
        "remove goldmeter.pipeline.validation._deferred if it can go"
    )
    assert run(code) == "True"


@pytest.mark.long
def test_a_module_that_is_imported_already_is_not_replaced() -> None:
    code = "import sys, scipy.stats as own; from goldmeter.pipeline.validation import load_gx; load_gx()"

    assert run(f"{code}; import scipy.stats; print(scipy.stats is own)") == "True"


def test_great_expectations_needs_no_database_no_cloud_and_no_lock_that_a_killed_process_would_leave() -> None:
    code = """
import sys
from goldmeter.pipeline.validation import load_gx
load_gx()
print(sorted({"boto3", "botocore", "sqlalchemy"} & sys.modules.keys()))
import boto3, sqlalchemy, tqdm
print(type(tqdm.tqdm.get_lock()).__name__)
"""

    assert run(code).splitlines() == ["[]", "RLock"]


def test_checking_params_imports_no_slow_library() -> None:
    slow = {"numba", "scipy.special", "torch", "openai", "sqlalchemy", "altair", "jinja2", "prefect"}
    slow |= {"great_expectations"}
    code = "import sys, goldmeter.runner; from goldmeter.pipeline import params; params.check();"
    code += f"print(sorted({slow!r} & set(sys.modules)))"

    assert run(code) == "[]"
