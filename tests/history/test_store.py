"""The file of the history: nothing is lost, nothing is there twice, and what is not ours is never overwritten."""

import multiprocessing
import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter import ledger
from goldmeter.errors import LedgerError
from goldmeter.history import store
from tests.history.made_nights import line


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "history.parquet"


def test_the_history_lies_beside_the_ledgers_store(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GOLDMETER_LEDGER", str(tmp_path / "ledger"))

    assert ledger.root() == tmp_path / "ledger"
    assert store.path() == tmp_path / "history.parquet"


def test_no_file_is_an_empty_history(file: Path) -> None:
    assert store.read(file).num_rows == 0
    assert store.read(file).schema.equals(store.SCHEMA, check_metadata=True)


def test_what_is_appended_is_read_in_its_order(file: Path) -> None:
    for night in (2, 1, 3):
        assert store.append([line(night), line(night, metric="bleu", value=None, pass_rate=0.25)], file)

    found = store.read(file)
    assert found["run"].to_pylist() == ["nightly-2"] * 2 + ["nightly-1"] * 2 + ["nightly-3"] * 2
    assert found["value"].to_pylist() == [0.5, None] * 3
    assert found["pass_rate"].to_pylist() == [None, 0.25] * 3
    assert found["started"][0].as_py() == line(2)["started"]


def test_a_run_that_is_there_is_not_added_again(file: Path) -> None:
    assert store.append([line(1)], file)
    assert not store.append([line(1, value=0.9)], file)
    assert store.append([line(1, commit="f" * 40)], file)

    assert store.read(file)["value"].to_pylist() == [0.5, 0.5]


def test_what_is_decided_on_a_run_is_kept_although_it_was_added_by_hand(file: Path) -> None:
    store.append([line(1, schedule="")], file)
    store.append([line(1, look=1)], file)

    assert store.read(file)["look"].to_pylist() == [None, 1]


def test_no_rows_make_no_file(file: Path) -> None:
    assert not store.append([], file)
    assert not file.exists()


FOREIGN = {
    "torn": b"PAR1" + b"\0" * 50,
    "empty": b"",
    "text": b"run,candidate\n1,2\n",
}


@pytest.mark.parametrize("content", FOREIGN.values(), ids=FOREIGN)
def test_a_file_that_is_no_history_is_named_and_never_overwritten(file: Path, content: bytes) -> None:
    file.write_bytes(content)

    with pytest.raises(LedgerError, match=r"history\.parquet: not a history .*\nNothing was written\."):
        store.append([line()], file)
    assert file.read_bytes() == content


@given(cut=st.integers(1, 2000), flip=st.booleans())
def test_a_damaged_history_is_named_or_read_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, cut: int, flip: bool
) -> None:
    file = tmp_path_factory.mktemp("h") / "history.parquet"
    store.append([line()], file)
    whole = file.read_bytes()
    at = cut % len(whole)
    file.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :] if flip else whole[:at])
    damaged = file.read_bytes()

    try:
        assert store.read(file).num_rows == 1
    except LedgerError:
        with pytest.raises(LedgerError):
            store.append([line(2)], file)
        assert file.read_bytes() == damaged


def test_a_history_of_another_version_is_refused(file: Path) -> None:
    newer = store.SCHEMA.with_metadata({"goldmeter": '{"schema": 2}'})
    pq.write_table(pa.Table.from_pylist([line()], newer), file)

    with pytest.raises(LedgerError, match="columns or its version differ"):
        store.read(file)


def test_a_folder_in_its_place_is_refused(file: Path) -> None:
    file.mkdir()

    with pytest.raises(LedgerError, match="not a history"):
        store.append([line()], file)


def test_what_a_kill_left_half_written_is_cleared_and_harmless(file: Path) -> None:
    store.append([line(1)], file)
    left = file.with_name(f".{file.name}.0123456789abcdef.tmp")
    left.write_bytes(b"PAR1 half")
    os.utime(left, (0, 0))

    store.append([line(2)], file)

    assert [each.name for each in sorted(file.parent.iterdir())] == ["history.lock", "history.parquet"]
    assert store.read(file).num_rows == 2


def _append_ten(file: Path, first: int) -> None:
    for night in range(first, first + 10):
        store.append([line(night)], file)


def test_writers_at_once_lose_nothing_and_readers_see_whole_files(file: Path) -> None:
    spawned = multiprocessing.get_context("fork")
    writers = [spawned.Process(target=_append_ten, args=(file, 10 * number)) for number in range(3)]

    for each in writers:
        each.start()
    rows = [0]
    while any(each.is_alive() for each in writers):
        rows.append(store.read(file).num_rows)

    assert rows == sorted(rows)
    assert sorted(store.read(file)["run"].to_pylist()) == sorted(f"nightly-{night}" for night in range(30))


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(LedgerError, match="GOLDMETER_LEDGER"):
        store.append([line()], tmp_path / "file" / "history.parquet")
