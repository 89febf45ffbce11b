import sys

import pytest

from benchmarks.measure import in_forks, run

LARGE = 50_000_000
BUSY = f"text = b'x' * {LARGE}; sum(range(30_000_000))"  # long enough to be seen
IN_A_FORK_SERVER = f"""
from multiprocessing import get_context

if __name__ == "__main__":
    process = get_context("forkserver").Process(target=exec, args=({BUSY!r},))
    process.start()
    process.join()
"""


def test_a_fork_leaves_nothing_behind():
    seen = []

    assert in_forks(lambda: seen.append(1) or len(seen), lambda: len(seen)) == [1, 0]
    assert seen == []


def test_what_a_fork_raises_is_raised():
    def fail():
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        in_forks(fail)


def test_a_command_costs_time_and_memory(tmp_path):
    cost = run([sys.executable, "-c", BUSY], tmp_path)

    assert min(cost.wall, cost.cpu) > 0
    assert cost.peak > LARGE


def test_workers_that_nobody_waits_for_count_too(tmp_path):
    (tmp_path / "busy.py").write_text(IN_A_FORK_SERVER)

    cost = run([sys.executable, "busy.py"], tmp_path)

    assert cost.peak > LARGE


def test_a_command_that_fails_is_named_with_what_it_said(tmp_path):
    with pytest.raises(RuntimeError, match=r"exit 3\nwhy"):
        run([sys.executable, "-c", "import sys; print('why'); sys.exit(3)"], tmp_path)
