"""The store's SQLite files: what is committed survives, damage is named and costs only what it touches."""

import resource
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.errors import LedgerError
from goldmeter.ledger import sqlite_file
from goldmeter.ledger.entries import line_of
from goldmeter.ledger.sqlite_file import NETWORK, CheckedRows, damage_of, log_of
from goldmeter.ledger.vectors import LAYOUT as VECTORS
from goldmeter.ledger.verdicts import LAYOUT as VERDICTS
from tests.ledger.test_verdicts import entry

NAMES = "0123456789abcdef"
ROWS = [(bytes.fromhex(name * 64), line_of(entry(name, f"reason of {name}"))) for name in NAMES]
KEYS = [key for key, _ in ROWS]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file with all rows."""
    with closing(CheckedRows(tmp_path, VERDICTS)) as rows:
        for each in ROWS:
            rows.put([each])
    return rows.path


def held(folder: Path) -> dict[bytes, bytes]:
    with closing(CheckedRows(folder, VERDICTS)) as rows:
        rows.check()
        return rows.get(KEYS)


def change(path: Path, old: bytes, new: bytes) -> None:
    content = path.read_bytes()
    assert old in content
    path.write_bytes(content.replace(old, new))


def test_a_damaged_row_is_named_and_the_others_are_kept(file: Path, caplog: pytest.LogCaptureFixture) -> None:
    whole = file.read_bytes()
    change(file, b"reason of 7", b"reason of 6")

    assert held(file.parent) == {key: line for key, line in ROWS if key != KEYS[7]}
    assert f"{file}, table entries, key {'7' * 64}: damaged" in caplog.text
    assert "15 rows are as they were written, and were kept" in caplog.text
    [aside] = (file.parent / "damaged").glob("*.sqlite")
    assert aside.read_bytes() == whole.replace(b"reason of 7", b"reason of 6")
    assert held(file.parent).keys() == {*KEYS} - {KEYS[7]}


@pytest.mark.parametrize("start", [0, 16, 100, sqlite_file.PAGE, 2 * sqlite_file.PAGE + 4])
def test_a_page_that_cannot_be_read_costs_no_row_that_is_whole(file: Path, start: int) -> None:
    content = bytearray(file.read_bytes())
    content[start : start + 8] = b"\xff" * 8
    file.write_bytes(content)

    assert held(file.parent) == dict(ROWS)


def test_a_table_of_another_name_is_not_taken_for_an_empty_store(file: Path) -> None:
    change(file, b"CREATE TABLE entries", b"CREATE TABLE entrief")

    assert held(file.parent) == dict(ROWS)


def test_a_schema_that_sqlite_quotes_in_bytes_that_are_no_text_costs_no_row(file: Path) -> None:
    change(file, b"CREATE TABLE entries", b"CREATE T\xeeBLE entries")

    assert held(file.parent) == dict(ROWS)


def test_a_damaged_key_is_found_before_its_request_is_paid_for_again(file: Path) -> None:
    change(file, KEYS[5], KEYS[5][:-1] + b"\x54")

    with closing(CheckedRows(file.parent, VERDICTS)) as rows:
        assert KEYS[5] not in rows.get(KEYS)
        rows.check()
        assert rows.get(KEYS) == dict(ROWS)


@given(st.data())
def test_no_flipped_bits_change_a_row(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    folder = tmp_path_factory.mktemp("flipped")
    with closing(CheckedRows(folder, VERDICTS)) as rows:
        rows.put(ROWS)
    content = bytearray(rows.path.read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    rows.path.write_bytes(content)

    with closing(CheckedRows(folder, VERDICTS)) as rows:
        rows.check()
        found = rows.get(KEYS)

    assert found.items() <= dict(ROWS).items()
    assert len(found) >= len(ROWS) - 3
    assert damage_of(rows.path) is None


@pytest.mark.parametrize("left", [0, 7, -20, -sqlite_file.PAGE])
def test_a_file_that_was_cut_keeps_what_is_left(file: Path, left: int) -> None:
    file.write_bytes(file.read_bytes()[:left])

    assert held(file.parent).items() <= dict(ROWS).items()
    assert damage_of(file) is None


def test_vectors_without_damage_are_kept(tmp_path: Path) -> None:
    vectors = [(key, bytes([number]) * 1536) for number, key in enumerate(KEYS)]
    with closing(CheckedRows(tmp_path, VECTORS)) as rows:
        rows.put(vectors)
    change(rows.path, b"\x07" * 1536, b"\x07" * 1535 + b"\x06")

    with closing(CheckedRows(tmp_path, VECTORS)) as again:
        assert again.get(KEYS) == {key: value for key, value in vectors if key != KEYS[7]}


def test_a_damaged_file_in_use_is_named_and_not_replaced(file: Path) -> None:
    with closing(CheckedRows(file.parent, VERDICTS)):
        change(file, b"reason of 7", b"reason of 6")
        rows = CheckedRows(file.parent, VERDICTS)
        with closing(rows), pytest.raises(LedgerError, match=r"7{64}: damaged(.|\n)*once no other run uses it"):
            rows.get(KEYS)

    assert len(held(file.parent)) == len(ROWS) - 1


WRITER = """
import os, signal, sys
from pathlib import Path
from goldmeter.ledger.sqlite_file import CheckedRows
from tests.ledger.test_checked_rows import ROWS, VERDICTS
rows = CheckedRows(Path(sys.argv[1]), VERDICTS)
for each in ROWS:
    rows.put([each])
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def killed(tmp_path: Path) -> Path:
    """The log of a file whose writer was killed: the rows are in it."""
    assert subprocess.run([sys.executable, "-c", WRITER, str(tmp_path)], check=False).returncode == -signal.SIGKILL
    return tmp_path / "verdicts.sqlite-wal"


def test_what_a_killed_writer_committed_is_there(killed: Path, caplog: pytest.LogCaptureFixture) -> None:
    assert held(killed.parent) == dict(ROWS)
    assert not caplog.text


@pytest.mark.parametrize("place", [0, 16, 40, 56 + sqlite_file.PAGE - 9])
def test_a_damaged_log_is_named_and_its_sound_rows_are_kept(
    killed: Path, place: int, caplog: pytest.LogCaptureFixture
) -> None:
    content = bytearray(killed.read_bytes())
    content[place] ^= 1
    killed.write_bytes(content)

    assert held(killed.parent) == dict(ROWS)
    assert "verdicts.sqlite-wal: damaged" in caplog.text


def test_a_full_disk_keeps_what_was_written_before_and_nothing_else(tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with closing(CheckedRows(tmp_path, VERDICTS)) as rows:
        rows.put(ROWS[:1])
        resource.setrlimit(resource.RLIMIT_FSIZE, (log_of(rows.path).stat().st_size, hard))
        try:
            with pytest.raises(LedgerError, match=r"sqlite: the ledger's store can't be used(.|\n)*GOLDMETER_LEDGER"):
                rows.put(ROWS[1:])
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert rows.get(KEYS) == dict(ROWS[:1])
        rows.put(ROWS[2:3])

    assert held(tmp_path) == dict([ROWS[0], ROWS[2]])


def test_four_writers_at_once_lose_nothing(tmp_path: Path) -> None:
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path)]) for _ in range(4)]

    assert [writer.wait() for writer in writers] == [-signal.SIGKILL] * 4
    assert held(tmp_path) == dict(ROWS)
    assert damage_of(tmp_path / "verdicts.sqlite") is None


def test_a_writer_that_waits_too_long_says_so(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_file, "BUSY_SECONDS", 0.01)
    with closing(CheckedRows(file.parent, VERDICTS)) as rows, closing(sqlite3.connect(file)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(LedgerError, match="database is locked"):
            rows.put(ROWS)


@pytest.mark.parametrize("kind", ["nfs4", "cifs", "ext4"])
def test_a_store_on_a_network_file_system_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    mounts = [SimpleNamespace(mountpoint="/", fstype="ext4"), SimpleNamespace(mountpoint=str(tmp_path), fstype=kind)]
    monkeypatch.setattr(psutil, "disk_partitions", lambda **_: mounts)

    if kind in NETWORK:
        with pytest.raises(LedgerError, match=rf"network file system \({kind}\)(.|\n)*GOLDMETER_LEDGER"):
            CheckedRows(tmp_path / "store", VERDICTS)
        assert not (tmp_path / "store").exists()
    else:
        CheckedRows(tmp_path / "store", VERDICTS).close()


def test_rows_that_were_added_later_are_told_apart(file: Path) -> None:
    with closing(CheckedRows(file.parent, VERDICTS)) as rows:
        before = rows.newest
        rows.put([ROWS[0], (b"n" * 32, line_of(entry("a")))])

        assert rows.since(before).keys() == {b"n" * 32}
