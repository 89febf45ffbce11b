"""A folder to run stages in."""

import gc
import os
import signal
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import CodeType

import httpcore2
import jinja2
import pytest
from absl.logging import get_absl_handler
from hypothesis import is_hypothesis_test, settings

from goldmeter.pipeline import contents
from tests import prefect_database
from tests.comparison import repository
from tests.flow_project import is_running, make_project, until
from tests.small_project import ROOT, make

# Fixtures of tests of flows, serving and processes.
__all__ = ["is_running", "make_project", "until"]

# Property tests: no deadline, because the first call of a kernel compiles it. `make test` tries the same 12 examples in
# every run; `make test-all` (--hypothesis-profile=exhaustive) tries 200, other ones each time.
settings.register_profile("quick", deadline=None, max_examples=12, derandomize=True)
settings.register_profile("exhaustive", deadline=None, max_examples=200, print_blob=True)
settings.load_profile("quick")
# Files that take more than half a minute, longest first: --dist loadfile then ends with short files on every core.
LONGEST = (
    "whole/test_newcomer.py",
    "whole/test_one_night.py",
    "whole/test_page_in_browser.py",
    "whole/test_remotes.py",
    "whole/test_hostile_page.py",
    "whole/test_pull_request.py",
    "whole/test_on_a_cluster.py",
    "whole/test_nightly.py",
    "whole/test_shapes.py",
    "whole/test_merge.py",
    "benchmarks/test_torture.py",
    "whole/test_installed.py",
    "whole/test_answers.py",
    "whole/test_compare_versions.py",
    "whole/test_whole_run.py",
    "whole/test_recorded.py",
    "whole/test_real_input.py",
    "flows/test_evaluate_interrupted.py",
    "serving/test_serving.py",
    "flows/test_evaluate.py",
    "models/test_embedding.py",
    "statistics/test_coverage.py",
    "metrics/test_laws.py",
    "versions/test_experiments.py",
)

# A background job ignores Ctrl-C, and so would all that tests start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
for _name in ("COLUMNS", "LINES"):
    os.environ.pop(_name, None)  # readline, which pytest imports, sets them for the processes that it starts
# rouge_score brings absl's handler; when prefect sets up logging, it would close pytest's capture if it had that.
get_absl_handler().python_handler.setStream(sys.__stderr__)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark property tests, and begin with the files that take longest."""
    for item in items:
        if is_hypothesis_test(getattr(item, "function", None)):
            item.add_marker("property")
    rank = {ROOT / "tests" / name: number for number, name in enumerate(LONGEST)}
    items.sort(key=lambda item: rank.get(item.path, len(rank)))


def pytest_collection_finish() -> None:
    """Let later collections of garbage pass over what collecting tests has loaded: stages collect after each part."""
    gc.freeze()


def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Pass over what the first tests of a file have imported, such as torch, too."""
    if nextitem is None or item.path != nextitem.path:
        gc.collect()
        gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def _templates_are_compiled_once() -> Iterator[None]:
    """Compile the page's templates once a process: that is four fifths of the time a small page takes."""

    @cache
    def code(source: str, *names: str | None) -> CodeType:
        return compiled(environments[-1], source, *names)

    def compile_once(environment: jinja2.Environment, source: str, *names: str | None) -> CodeType:
        environments.append(environment)
        return code(source, *names)

    compiled, environments = jinja2.Environment.compile, list[jinja2.Environment]()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jinja2.Environment, "compile", compile_once)
        yield


@pytest.fixture(scope="session", autouse=True)
def _certificates_are_read_once() -> Iterator[None]:
    """Read the system's certificates once a process, not for each client: that is most of what making one takes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(httpcore2, "default_ssl_context", cache(httpcore2.default_ssl_context))
        yield


@pytest.fixture(scope="session", autouse=True)
def _no_run_writes_dvc_lock_meanwhile() -> Iterator[None]:
    """Look again at once at a dvc.lock that does not state an out: no other stage of the run is at work."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(contents, "PAUSE", 0.01)
        yield


@pytest.fixture(scope="session", autouse=True)
def _prefect_starts_once(tmp_path_factory: pytest.TempPathFactory) -> None:
    prefect_database.share(tmp_path_factory)


@pytest.fixture(scope="session")
def evouna() -> Path:
    """The real answers of EVOUNA-NQ: in the folder that GOLDMETER_EVOUNA names, else beside the repository."""
    from benchmarks.data import EVOUNA

    if not EVOUNA.exists():
        pytest.skip(f"{EVOUNA} is not there; GOLDMETER_EVOUNA may name its folder")
    return EVOUNA


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project under git and DVC with its remote, to be copied: tests.comparison.repository."""
    folder = tmp_path_factory.mktemp("template")
    repository.make(folder)
    return folder


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a params.yaml of the tests, our dvc.yaml, and ten questions."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GOLDMETER_LEDGER", str(tmp_path / "ledger"))
    make(tmp_path)
    return tmp_path
