"""The store of a kind: rows of a SQLite file with checksums; the sound rows of a damaged file are kept in a new one."""

import logging
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from fcntl import LOCK_EX, LOCK_NB, LOCK_SH, flock
from pathlib import Path
from typing import Self, TypeVar
from weakref import finalize

from goldmeter.ledger.sqlite_file import (
    SELECT,
    SUFFIX,
    DamageError,
    Layout,
    checksum,
    committed,
    connect,
    content,
    damage_of,
    errors,
    insert,
    is_sound,
    log_of,
    recognized,
    require_local,
    require_table,
    require_whole,
    sound,
    unusable,
)
from goldmeter.ledger.vector_file import KeyArray
from goldmeter.pipeline.files import move_durably, temporary_in
from goldmeter.pipeline.hashing import sha256

# Most keys in one statement.
AT_ONCE = 10_000
Result = TypeVar("Result")
logger = logging.getLogger(__name__)


class Store:
    """The store of a kind, overlaid by the evidence of the checked-out version; for one thread.

    disagreements: entries that differ from those of the evidence, which are used.
    """

    def __init__(self, folder: Path, layout: Layout) -> None:
        self.disagreements, self.folder = 0, folder
        self._rows = CheckedRows(folder, layout)
        self._used: list[KeyArray] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the use of the store."""
        self._rows.close()

    @property
    def newest(self) -> int:
        """The number of the newest row of the store."""
        return self._rows.newest

    def since(self, number: int) -> dict[bytes, bytes]:
        """Return the rows that were added to the store after the one with this number."""
        return self._rows.since(number)


class CheckedRows:
    """The rows of a store; for one thread of one process. Other processes read, and wait while this one writes.

    A damaged file is replaced by one with its sound rows.

    Raises:
        LedgerError: The file can't be used, such as on a full disk; or it is damaged, and another process uses it.
    """

    def __init__(self, folder: Path, layout: Layout) -> None:
        self.path, self._layout, self._is_checked = folder / f"{layout.name}{SUFFIX}", layout, False
        self._database: sqlite3.Connection | None = None
        require_local(folder)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            # Held while the file is in use: only its last user may replace it.
            self._lock = os.open(self.path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise unusable(folder, error) from error
        self._unlock = finalize(self, os.close, self._lock)
        flock(self._lock, LOCK_SH)
        self._healing(self._opened)

    def close(self) -> None:
        """End the use of the file."""
        if self._database is not None:
            self._database.close()
            self._database = None
        self._unlock()

    def get(self, keys: Iterable[bytes]) -> dict[bytes, bytes]:
        """Return the values of those of the keys that are there."""
        wanted = [*keys]
        return self._healing(lambda: self._read(wanted))

    def put(self, rows: Sequence[tuple[bytes, bytes]]) -> int:
        """Add rows, all or none, and wait until they are on the disk; return how many are new or preferred."""
        return self._healing(lambda: self._write(rows)) if rows else 0

    def check(self) -> None:
        """Look for damage that hides rows: once in a process, before what seems to be missing is paid for."""
        if not self._is_checked:
            self._is_checked = True
            self._healing(lambda: require_whole(self._opened(), self.path))

    @property
    def newest(self) -> int:
        """The number of the row that was added last."""
        query = "SELECT max(rowid) FROM entries"
        return self._healing(lambda: int(self._opened().execute(query).fetchone()[0] or 0))

    def since(self, number: int) -> dict[bytes, bytes]:
        """Return the rows that were added after the one with this number."""
        query = f"{SELECT} WHERE rowid > ?"
        return self._healing(lambda: dict(sound(self._opened().execute(query, (number,)), self.path)))

    def _opened(self) -> sqlite3.Connection:
        """Return the connection, which is made if need be; rows that a damaged log holds are kept."""
        if self._database is None:
            log = content(log_of(self.path))
            self._database = connect(self.path)
            require_table(self._database, self.path)
            lost = committed(log) - recognized(self._database)
            # Another process may have begun the log again in between: then its header is another one.
            if lost > 0 and content(log_of(self.path))[:32] == log[:32]:
                added = self._write([*self._layout.find(log)])
                self._database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                logger.warning(
                    "%s: damaged: its last %d pages can't be read; %d rows of them were kept, the others are taken "
                    "from data/ledger, or asked again",
                    log_of(self.path),
                    lost,
                    added,
                )
        return self._database

    def _read(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        found: dict[bytes, bytes] = {}
        for start in range(0, len(keys), AT_ONCE):
            part = keys[start : start + AT_ONCE]
            query = f"{SELECT} WHERE key IN ({','.join('?' * len(part))})"
            found.update(sound(self._opened().execute(query, part), self.path))
        return found

    def _write(self, rows: Sequence[tuple[bytes, bytes]]) -> int:
        database = self._opened()
        database.execute("BEGIN IMMEDIATE")
        try:
            there, better = self._read([key for key, _ in rows]), dict[bytes, bytes]()
            for key, value in rows:
                other = better.get(key, there.get(key))
                if other is None or self._is_better(key, value, other):
                    better[key] = value
            insert(database, sorted(better.items()), replace=True)
            database.execute("COMMIT")
        except BaseException:
            with suppress(sqlite3.Error):
                database.execute("ROLLBACK")
            raise
        return len(better)

    def _is_better(self, key: bytes, value: bytes, other: bytes) -> bool:
        rank = self._layout.rank
        return (rank(value), checksum(key, value)) < (rank(other), checksum(key, other))

    def _healing(self, action: Callable[[], Result]) -> Result:
        """Do something with the file; if that finds damage, replace the file, and do it once more."""
        try:
            with errors(self.path):
                return action()
        except DamageError as damage:
            self._heal(damage)
        with errors(self.path):
            return action()

    def _heal(self, damage: DamageError) -> None:
        if self._database is not None:
            self._database.close()
            self._database = None
        try:
            flock(self._lock, LOCK_EX | LOCK_NB)
            if damage_of(self.path):  # else another process has replaced the file meanwhile
                with errors(self.path):
                    logger.warning("%s", replace_by_sound_rows(self.path, self._layout, damage))
        except BlockingIOError:
            raise damage from None
        except OSError as error:
            raise unusable(self.path, error) from error
        finally:
            flock(self._lock, LOCK_SH)


ASIDE = "damaged"


def replace_by_sound_rows(path: Path, layout: Layout, damage: DamageError) -> str:
    """Replace a damaged file that nobody else uses; return what was found and done.

    Raises:
        OSError, sqlite3.Error: The disk is full or not writable; the file is as it was.
    """
    aside, database, log = _set_aside(path), content(path), content(log_of(path))
    with temporary_in(path.parent) as temporary:
        with closing(connect(temporary)) as new:
            require_table(new, temporary)
            new.execute("BEGIN")
            for order in ("", "DESC"):  # to the first page that can't be read, and back from the end
                with suppress(sqlite3.Error):
                    insert(new, _readable(path, order), replace=False)
            for stored in (log, database):
                insert(new, layout.find(stored), replace=False)
            new.execute("COMMIT")
            [kept] = new.execute("SELECT count(*) FROM entries").fetchone()
        for left in (log_of(path), path.with_name(f"{path.name}-shm")):  # they must not be taken for the new file's
            left.unlink(missing_ok=True)
        move_durably(temporary, path)
    return (
        f"{damage.where}; {kept:,} rows are as they were written, and were kept. The file was copied to {aside}; the "
        "other rows are taken from data/ledger, or asked again"
    )


def _readable(path: Path, order: str) -> Iterator[tuple[bytes, bytes]]:
    """Yield the sound rows that SQLite can read, until it can't."""
    with closing(connect(path)) as database:
        for row in database.execute(f"{SELECT} ORDER BY rowid {order}"):
            if is_sound(*row):
                yield row[0], row[1]


def _set_aside(path: Path) -> Path:
    """Copy a damaged file, and its log, into `damaged`, named by its content, where nothing reads it."""
    folder = path.parent / ASIDE
    folder.mkdir(exist_ok=True)
    aside = folder / f"{path.stem}-{sha256(path).hex()[:12]}{path.suffix}"
    for source, target in ((path, aside), (log_of(path), log_of(aside))):
        with suppress(FileNotFoundError):
            shutil.copyfile(source, target)
    return aside
