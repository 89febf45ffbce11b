"""A writer killed at any point leaves a history that can be read, and written on."""

import multiprocessing
from itertools import count
from pathlib import Path

import pytest

from goldmeter.history import store
from tests.history.made_nights import line

pytestmark = pytest.mark.exhaustive


def _append_for_ever(file: Path, first: int) -> None:
    for night in count(first):
        store.append([line(night)], file)


def test_kills_lose_no_run_that_was_kept_and_leave_no_lock(tmp_path: Path) -> None:
    file, kept = tmp_path / "history.parquet", list[str]()

    for turn in range(10):
        writer = multiprocessing.get_context("fork").Process(
            target=_append_for_ever, args=(file, 1000 * turn), daemon=True
        )
        writer.start()
        while len(found := store.read(file)["run"].to_pylist()) < len(kept) + 3:
            assert writer.is_alive()
        writer.kill()
        writer.join()

        after = store.read(file)["run"].to_pylist()
        assert after[: len(found)] == found
        assert found[: len(kept)] == kept
        kept = after

    assert store.append([line(99_999)], file)
    assert {each.name for each in tmp_path.iterdir()} == {"history.parquet", "history.lock"}
