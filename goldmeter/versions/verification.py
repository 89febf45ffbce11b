"""Whether all that a version consists of is as it was written: its files, DVC's copies of them, parts in storage.

DVC itself believes each file of its cache that may not be written to, whatever is in it.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from goldmeter.errors import DataError, StorageError, VersionError
from goldmeter.ledger import root
from goldmeter.ledger.sqlite_file import SUFFIX, damage_of
from goldmeter.pipeline import contents, git
from goldmeter.pipeline.contents import FOLDER
from goldmeter.pipeline.dvc_yaml import tables
from goldmeter.pipeline.storage import MANIFEST, Manifest, Storage, manifest_of
from goldmeter.versions.version import WORKSPACE, Version, versions


class Verified(NamedTuple):
    """What was looked at. files: their number. problems: one line each, with what to do."""

    name: str
    files: int
    problems: tuple[str, ...]

    def __str__(self) -> str:
        if not self.files:
            return f"{self.name}: nothing there"
        if not self.problems:
            return f"{self.name}: {self.files:,} files, all as they were written"
        count = f"{len(self.problems):,} of {self.files:,} files"
        return "\n  ".join([f"{self.name}: damaged or missing: {count}", *self.problems])


def verify(names: Sequence[str]) -> list[Verified]:
    """Check versions as `verified` does.

    Raises:
        DataError: Something is damaged or missing; the message is the list.
    """
    done = verified(names)
    if any(each.problems for each in done):
        raise DataError("\n".join(map(str, done)))
    return done


def verified(names: Sequence[str]) -> list[Verified]:
    """Check versions by the hashes in dvc.lock and manifests; and the ledger's store.

    Args:
        names: As of `versions`; the workspace if there are none.

    Raises:
        VersionError: A version is unknown, or its dvc.lock can't be read.
    """
    with versions(names or [WORKSPACE]) as found:
        done = [_verified(version.name, _version(version)) for version in found]
    done.append(_verified(f"the ledger's store, {root()}", _store()))
    return done


def _verified(name: str, looked_at: Iterable[str | None]) -> Verified:
    found = [*looked_at]
    return Verified(name, len(found), tuple(filter(None, found)))


def _version(version: Version) -> Iterator[str | None]:
    """Yield for each file of a version what is wrong with it; None if nothing is."""
    cache = _Cache()
    for out, hashed in version.hashes().items():
        for check in _checks(version, cache, out, hashed):
            try:
                yield from check
            except (DataError, StorageError) as error:  # of a report, a manifest or a storage: the others are looked at
                yield str(error)


def _checks(version: Version, cache: "_Cache", out: str, hashed: str | None) -> Iterator[Iterator[str | None]]:
    is_here = version.commit is None and (version.folder / out).exists()
    if is_here:
        yield _files(out, hashed, version.folder)
    elif version.commit is None:
        yield iter([f"{out}: missing; `dvc checkout {out}` brings it back, or `dvc repro` makes it again"])
    if hashed and not (_is_in_git(version, out) or (is_here and not cache.has(hashed))):
        yield cache.check(out, hashed)
    if hashed and [*tables([out])]:
        yield _parts(version, cache, out, hashed)


def _files(out: str, hashed: str | None, folder: Path) -> Iterator[str | None]:
    """Check an out in the workspace."""
    remedy = (
        f"remove it, then `dvc checkout {out}` brings it back, or `dvc repro` makes it again; "
        "what a stage wrote that failed or was run by hand is not in dvc.lock"
    )
    if hashed:
        damages = contents.damages(out, hashed, folder)
        yield from (f"{damage}; {remedy}" for damage in damages)
        yield from () if damages else (None,)


def _parts(version: Version, cache: "_Cache", out: str, hashed: str) -> Iterator[str | None]:
    """Check the parts in storage of a table, if it has any."""
    manifest = cache.manifest(hashed) or (manifest_of(version.folder / out) if version.commit is None else None)
    if manifest is None:
        return
    storage = Storage(manifest.storage)
    for part in manifest.parts:
        try:
            storage.require_whole(part)
        except DataError as error:
            yield str(error)
        else:
            yield None


def _is_in_git(version: Version, out: str) -> bool:
    """Whether git keeps an out, which DVC then does not."""
    return (
        git.answer("ls-files", "--error-unmatch", "--", out) is not None
        if version.commit is None
        else (git.answer("cat-file", "-e", f"{version.commit}:./{out}") is not None)
    )


def _store() -> Iterator[str | None]:
    for path in sorted(root().glob(f"*/*{SUFFIX}")):
        damage = damage_of(path)
        yield damage and f"{damage}; the next run keeps its sound rows, and asks again for what is not in data/ledger"


class _Cache:
    """DVC's cache of this clone."""

    @cached_property
    def _folder(self) -> Path:
        from dvc.exceptions import NotDvcRepoError

        try:
            return contents.cache_folder()
        except NotDvcRepoError as error:
            raise VersionError(f"{error}; `python -m tasks verify` compares with DVC's copies") from None

    def has(self, hashed: str) -> bool:
        """Return whether there is an object of this hash."""
        return self._path(hashed).exists()

    def check(self, out: str, hashed: str) -> Iterator[str | None]:
        """Check the object of an out and, if that is a folder, those of its files."""
        problem = self._problem(out, hashed)
        yield problem
        if problem is None and hashed.endswith(FOLDER):
            for entry in self._entries(hashed):
                yield self._problem(f"{out}/{entry['relpath']}", entry["md5"])

    def manifest(self, hashed: str) -> Manifest | None:
        """Return the manifest in a folder; None if there is none, or the folder is not here as it was written."""
        for entry in self._entries(hashed) if hashed.endswith(FOLDER) and not self._problem("", hashed) else ():
            if entry["relpath"] == MANIFEST and not self._problem("", entry["md5"]):
                return Manifest.parse(self._path(entry["md5"]).read_bytes(), MANIFEST)
        return None

    def _entries(self, hashed: str) -> list[dict[str, str]]:
        entries: list[dict[str, str]] = json.loads(self._path(hashed).read_bytes())
        return entries

    def _problem(self, out: str, hashed: str) -> str | None:
        path = self._path(hashed)
        if not path.exists():
            return f"{out}: not in DVC's cache; `dvc fetch --all-commits` brings it from the remote, if it is there"
        if contents.md5_of(path) != hashed.removesuffix(FOLDER):
            return (
                f"{out}: {path}, DVC's copy of it: {contents.CHANGED}; remove that copy, then `dvc fetch "
                "--all-commits` brings it from the remote, or else `dvc repro` makes it again"
            )
        return None

    def _path(self, hashed: str) -> Path:
        return self._folder / hashed[:2] / hashed[2:]
