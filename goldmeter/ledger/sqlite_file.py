"""SQLite files of the ledger: one table of rows (key, value, checksum); what is committed is on the disk."""

import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import psutil

from goldmeter.errors import LedgerError

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
        return bool(sha256(key + value).digest()[:SHORT] == stated)
    except TypeError:  # damage has changed the type of a column
        return False


def checksum(key: bytes, value: bytes) -> bytes:
    """Return the checksum of a row."""
    return sha256(key + value).digest()[:SHORT]


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
