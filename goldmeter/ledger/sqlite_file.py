"""SQLite files of the ledger: one table of rows (key, value, checksum); what is committed is on the disk."""

import logging
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from fcntl import LOCK_EX, LOCK_NB, LOCK_SH, flock
from pathlib import Path
from typing import Any, NamedTuple, Self, TypeVar
from weakref import finalize

import psutil

from goldmeter.errors import LedgerError
from goldmeter.ledger.vector_file import KeyArray
from goldmeter.pipeline.files import move_durably, temporary_in
from goldmeter.pipeline.hashing import sha256

SUFFIX = ".sqlite"
TABLE = "entries"
CREATE = "CREATE TABLE entries(key BLOB PRIMARY KEY, value BLOB NOT NULL, checksum BLOB NOT NULL)"
SCHEMA = [
    (b"table", b"entries", b"entries", CREATE.encode()),
    (b"index", b"sqlite_autoindex_entries_1", b"entries", None),
]
ADD, REPLACE = "INSERT OR IGNORE INTO entries VALUES (?, ?, ?)", "REPLACE INTO entries VALUES (?, ?, ?)"
SELECT = "SELECT key, value, checksum FROM entries"
# Bytes of a checksum: the first ones of a SHA-256.
SHORT = 16
# A page holds ten vectors of the bundled model, or a long reply; only larger rows are divided.
PAGE = 16_384
CACHE_KILOBYTES = 65_536
# Seconds to wait for another process that writes.
BUSY_SECONDS = 60.0
# SQLite keeps the index of its log in memory that processes share; machines do not share it over these.
NETWORK = frozenset({
    "afpfs", "afs", "beegfs", "ceph", "cifs", "davfs", "fuse.gcsfuse", "fuse.glusterfs", "fuse.s3fs", "fuse.sshfs",
    "glusterfs", "gpfs", "lustre", "nfs", "nfs4", "smb2", "smb3", "smbfs", "webdav",
})  # fmt: skip
# What is no damage of the file: a full disk, a missing permission, another process that writes.
_UNUSABLE = frozenset({
    sqlite3.SQLITE_AUTH, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_PERM, sqlite3.SQLITE_PROTOCOL,
})  # fmt: skip
# A log of SQLite: bytes of its header, in which the salts of its frames are, and of the header of a frame.
# Source: https://sqlite.org/fileformat2.html#walformat
_WAL_HEADER, _FRAME_HEADER = 32, 24


class Layout(NamedTuple):
    """What distinguishes the kinds.

    name: of the file. rank: of two values with one key, the one with the smaller rank is kept, else
    the one with the smaller checksum. find: yields the rows that state their own key, from the bytes of a damaged file.
    """

    name: str
    rank: Callable[[bytes], int] = lambda _: 0
    find: Callable[[bytes], Iterator[tuple[bytes, bytes]]] = lambda _: iter(())


class DamageError(LedgerError):
    """A file is not as it was written. key: of a row that is known to be damaged."""

    def __init__(self, path: Path, problem: str, key: bytes | None = None) -> None:
        row = f", key {key.hex()}" if key else ""
        self.where = f"{path}, table {TABLE}{row}: damaged ({problem})"
        super().__init__(
            f"{self.where}.\nRun again once no other run uses it: its sound rows are kept, and the others are taken "
            "from data/ledger, or asked again."
        )


def unusable(path: Path, error: OSError | sqlite3.Error) -> LedgerError:
    """Return the error for a store that the system does not let us use."""
    problem = error.strerror if isinstance(error, OSError) and error.strerror else error
    return LedgerError(
        f"{path}: the ledger's store can't be used: {problem}.\n"
        "Free disk space and make the folder writable, or name another folder in the variable GOLDMETER_LEDGER."
    )


@contextmanager
def errors(path: Path) -> Iterator[None]:
    """Raise LedgerError where the system refuses what SQLite wants, and DamageError where the file is not sound."""
    try:
        yield
    except sqlite3.ProgrammingError:
        raise
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF
        is_readonly = code == sqlite3.SQLITE_READONLY and not os.access(path, os.W_OK)
        if code in _UNUSABLE or is_readonly:
            raise unusable(path, error) from error
        raise DamageError(path, str(error)) from error


def require_local(folder: Path) -> None:
    """Raise LedgerError if a folder is on a network file system."""
    where = folder.resolve()
    mounted = [each for each in psutil.disk_partitions(all=True) if where.is_relative_to(each.mountpoint)]
    kind = max(mounted, key=lambda each: len(each.mountpoint)).fstype if mounted else ""
    if kind in NETWORK:
        raise LedgerError(
            f"{folder}: the ledger's store can't be on a network file system ({kind}): SQLite can't lock it safely."
            "\nName a local folder in the variable GOLDMETER_LEDGER; nothing that data/ledger holds is paid for again."
        )


def connect(path: Path) -> sqlite3.Connection:
    """Open or create a file; a commit returns when it is on the disk."""
    database = sqlite3.connect(path, BUSY_SECONDS, isolation_level=None, check_same_thread=False)
    database.text_factory = bytes
    settings = {"page_size": PAGE, "auto_vacuum": "NONE", "synchronous": "FULL", "cache_size": -CACHE_KILOBYTES}
    try:
        for name, value in settings.items():
            database.execute(f"PRAGMA {name}={value}")
    except UnicodeDecodeError as error:  # Python can't read SQLite's message, which quotes the damaged schema
        raise sqlite3.DatabaseError("malformed database schema") from error
    database.execute("PRAGMA journal_mode=WAL")
    return database


def require_table(database: sqlite3.Connection, path: Path) -> None:
    """Create the table if the file is new. Raises DamageError if the file has other ones."""
    database.execute("BEGIN IMMEDIATE")  # of two processes, one creates the table
    try:
        schema = database.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema").fetchall()
        if not schema:
            database.execute(CREATE)
        elif schema != SCHEMA:
            raise DamageError(path, "its table is another one")
    finally:
        database.execute("COMMIT")


def insert(database: sqlite3.Connection, rows: Iterable[tuple[bytes, bytes]], *, replace: bool) -> None:
    """Add rows; replace: also where a key is there."""
    checked = ((key, value, checksum(key, value)) for key, value in rows)
    database.executemany(REPLACE if replace else ADD, checked)


def sound(rows: Iterable[Sequence[Any]], path: Path) -> Iterator[tuple[bytes, bytes]]:
    """Yield keys and values. Raises DamageError when a row is not as it was written."""
    for key, value, stated in rows:
        if not is_sound(key, value, stated):
            raise DamageError(path, "its checksum is not that of its content", key if isinstance(key, bytes) else None)
        yield key, value


def is_sound(key: Any, value: Any, stated: Any) -> bool:
    """Return whether a row is as it was written."""
    try:
        return bool(sha256(key + value)[:SHORT] == stated)
    except TypeError:  # damage has changed the type of a column
        return False


def checksum(key: bytes, value: bytes) -> bytes:
    """Return the checksum of a row."""
    return sha256(key + value)[:SHORT]


def require_whole(database: sqlite3.Connection, path: Path) -> None:
    """Raise DamageError unless the file's structure is sound, and every row is as it was written."""
    [result] = database.execute("PRAGMA integrity_check(1)").fetchone()
    if result != b"ok":
        raise DamageError(path, result.decode(errors="replace").replace("\n", " "))
    for _ in sound(database.execute(SELECT), path):
        pass


def damage_of(path: Path) -> str | None:
    """Return what is wrong with a file; None if it is whole."""
    try:
        with errors(path):
            database = connect(path)
            try:
                require_table(database, path)
                require_whole(database, path)
            finally:
                database.close()
    except DamageError as damage:
        return damage.where
    except LedgerError as error:
        return str(error)
    return None


def log_of(path: Path) -> Path:
    """Return the path of a file's log, which holds what is committed and not yet in the file."""
    return path.with_name(f"{path.name}-wal")


def content(path: Path) -> bytes:
    """Return the bytes of a file; none if there is no file."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""


def committed(log: bytes) -> int:
    """Return the number of the last page in a log that ends a transaction, whether or not the log is sound."""
    size = _FRAME_HEADER + PAGE
    frames = (log[start : start + _FRAME_HEADER] for start in range(_WAL_HEADER, len(log) - size + 1, size))
    # Of the log's header and of its first frame; after these frames, those of an older log may follow.
    salts = {log[16:24], log[40:48]}
    # Bytes 4 to 8 are zero but for the end of a transaction.
    return max((n for n, frame in enumerate(frames, 1) if frame[8:16] in salts and any(frame[4:8])), default=0)


def recognized(database: sqlite3.Connection) -> int:
    """Return the number of pages that SQLite reads from the log."""
    return max(int(database.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()[1]), 0)


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
