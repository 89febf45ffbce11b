"""Where the code uses what other projects do not document, and the version it was written for."""

import re
from importlib.metadata import version
from typing import NamedTuple

import pytest

from tests.small_project import ROOT

PRIVATE = re.compile(
    r"SLF001|unittest\.mock|import _[a-z]"
    r"|\b(?!self\b|cls\b)\w+\._(?!replace\b|asdict\b|fields\b|exit\b)[a-z]"  # what named tuples and os make public
)


class Use(NamedTuple):
    """One use: its file, the distribution, the version that it was written for, and what to try with another one."""

    file: str
    distribution: str
    version: str
    check: str


USES = [
    Use("goldmeter/text/kernels/__init__.py", "numba", "0.68.1", "tests/text/test_machine_code.py"),
    Use("goldmeter/models/embedding/networks.py", "torch", "2.13.0", "tests/models/test_embedding.py"),
    Use("benchmarks/offline_judge/training.py", "scikit-learn", "1.9.1", "tests/benchmarks/test_train_judge.py"),
    Use("goldmeter/system/locks.py", "dvc", "3.67.1", "tests/system/test_dvc_rwlock.py"),
]


@pytest.mark.parametrize("use", USES, ids=lambda use: use.distribution)
def test_the_version_is_the_one_that_the_code_was_written_for(use: Use) -> None:
    installed = version(use.distribution).partition("+")[0]

    assert installed == use.version, (
        f"{use.file} relies on internals of {use.distribution} {use.version}, and {installed} is installed: "
        f"run {use.check}, compare the internals, then change the version here and in the comment of the file"
    )
    assert f"{use.distribution} {use.version}" in (ROOT / use.file).read_text()


def test_no_other_file_uses_private_names() -> None:
    files = (path for folder in ("goldmeter", "tasks", "flows") for path in (ROOT / folder).rglob("*.py"))
    users = {str(path.relative_to(ROOT)) for path in files if PRIVATE.search(path.read_text())}

    assert users <= {use.file for use in USES}
