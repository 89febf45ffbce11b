"""The sound rows of a damaged file: kept in a new one; the damaged one is kept in the store's folder `damaged`."""

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

from tasks.ledger.sqlite_file import (
    SELECT,
    DamageError,
    Layout,
    connect,
    content,
    insert,
    is_sound,
    log_of,
    require_table,
)
from tasks.pipeline.files import move_durably, temporary_in
from tasks.pipeline.hashing import sha256

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
