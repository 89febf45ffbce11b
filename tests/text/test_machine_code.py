"""Where the machine code of kernels is kept: by what it was compiled from, once for all clones of an environment."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from goldmeter.text import machine_code

ROOT = Path(__file__).parents[2]
CALLEE = """
from goldmeter.text.kernels import compiled

@compiled
def amount():
    return {amount}
"""
CALLER = """
from goldmeter.callee import amount
from goldmeter.text.kernels import compiled

@compiled
def doubled():
    return 2 * amount()
"""
# Prints what the kernel returns, and whether its machine code was there.
CALL = "from goldmeter.caller import doubled; print(doubled(), sum(doubled.stats.cache_hits.values()))"


@pytest.fixture(autouse=True)
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "kept"))
    return tmp_path / "kept"


def clone(folder: Path, amount: int) -> Path:
    """A checkout with two kernels, of which one calls the other."""
    for name in ("__init__.py", "text/__init__.py", "text/machine_code.py", "text/kernels/__init__.py"):
        (folder / "goldmeter" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / "goldmeter" / name, folder / "goldmeter" / name)
    (folder / "goldmeter/callee.py").write_text(CALLEE.format(amount=amount))
    (folder / "goldmeter/caller.py").write_text(CALLER)
    return folder


def start(folder: Path) -> "subprocess.Popen[str]":
    environment = os.environ | {"PYTHONPATH": str(folder)}
    return subprocess.Popen([sys.executable, "-c", CALL], cwd=folder, env=environment, stdout=-1, text=True)


def call(folder: Path) -> str:
    return start(folder).communicate()[0].strip()


def test_clones_share_machine_code_by_the_content_of_all_that_a_kernel_calls(tmp_path: Path, kept: Path) -> None:
    one, other, same = clone(tmp_path / "one", 1), clone(tmp_path / "other", 100), clone(tmp_path / "same", 1)

    assert call(one) == "2 0"
    assert call(other) == "200 0"
    assert [call(same), call(other)] == ["2 1", "200 1"]
    assert (
        sorted(folder.name.partition("-")[0] for folder in kept.iterdir())
        == ["goldmeter.callee"] * 2 + ["goldmeter.caller"] * 2
    )


@pytest.mark.exhaustive
def test_processes_that_compile_at_the_same_time_agree(tmp_path: Path) -> None:
    clones = [clone(tmp_path / str(number), 1 + number % 2) for number in range(4)]

    printed = [process.communicate()[0].split()[0] for process in map(start, clones)]

    assert printed == ["2", "4", "2", "4"]
    assert [call(each) for each in clones] == ["2 1", "4 1", "2 1", "4 1"]


def test_what_no_process_asked_for_in_a_month_is_removed_when_something_is_added(
    kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine_code, "_root", lambda: kept)
    for name in ("goldmeter.old-1", "goldmeter.used-2", "other"):
        (kept / name).mkdir(parents=True)
    for name in ("goldmeter.old-1", "other"):
        os.utime(kept / name, (0, 0))
    added = machine_code.EnvironmentLocator(call, __file__)

    added.ensure_cache_path()

    assert {folder.name for folder in kept.iterdir()} == {
        "goldmeter.used-2",
        "other",
        Path(added.get_cache_path()).name,
    }


@pytest.mark.exhaustive
def test_without_a_folder_that_can_be_written_numba_keeps_it_where_it_does_by_default(
    tmp_path: Path, kept: Path
) -> None:
    kept.write_text("a file")
    one = clone(tmp_path / "one", 1)

    assert [call(one), call(one)] == ["2 0", "2 1"]


def test_an_environment_keeps_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)

    assert machine_code._root.__wrapped__() == Path(sys.prefix, "var/goldmeter")
