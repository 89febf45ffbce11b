"""The parts in storage that no version of the project names, and their removal."""

import json
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from goldmeter.errors import DataError, ParamsError, StorageError, VersionError
from goldmeter.pipeline import git, params
from goldmeter.pipeline.contents import FOLDER
from goldmeter.pipeline.credentials import without_credentials
from goldmeter.pipeline.dvc_yaml import locked, stages, tables
from goldmeter.pipeline.storage import FILES, MANIFEST, PART, Manifest, Storage, manifest_of
from goldmeter.pipeline.yaml import parse_yaml
from goldmeter.versions.version import LOCK, PARAMS, WORKSPACE

if TYPE_CHECKING:
    from dvc.repo import Repo

# A run writes parts long before a commit names them, maybe in another clone.
KEPT_DAYS = 14
_DAY = 86_400
_LISTED = 5
_DIGITS = 12


class StoredFiles(NamedTuple):
    """Files in a storage, and their bytes."""

    files: int
    size: int

    def __str__(self) -> str:
        return f"{self.files:,} parts, {self.size / 1e9:,.3f} GB"


class Collection(NamedTuple):
    """What a storage holds, what of it no version names, and how much of that is old enough to be removed."""

    address: str
    all: StoredFiles
    unnamed: StoredFiles
    old: StoredFiles

    def __str__(self) -> str:
        return (
            f"{self.address}: {self.all}\n"
            f"named by no version: {self.unnamed}; of these, written more than {KEPT_DAYS} days ago: {self.old}"
        )


def collect(*, remove: bool) -> Collection:
    """Find the parts in `run.storage` that neither a commit or experiment of this clone names, nor its workspace.

    Args:
        remove: Remove those that are older than KEPT_DAYS, by the clock that dates the parts; without it, nothing is
            written, and ages are by this machine's clock.

    Raises:
        ParamsError: `run.storage` is not set, or can't be used.
        VersionError: What a version names is not known: its manifest is neither in DVC's cache nor in the remote.
        DataError: The storage is not there, or may not be changed.
        StorageError: It does not answer.
    """
    address = params.run_params().storage
    if address is None:
        raise ParamsError("run.storage: not set; set it to the storage whose parts you want to count or remove")
    storage = Storage(address)
    named = {part.path for manifest in _manifests() for part in manifest.parts}
    with storage.naming(FILES):
        found = _listed(storage)
        unnamed = {path: about for path, about in found.items() if path not in named}
        now = _now(storage) if remove and unnamed else time.time()
        old = {path: about for path, about in unnamed.items() if _is_old(about, now)}
        for path in old if remove else ():
            _remove(storage, path, now)
    return Collection(storage.address, _count(found), _count(unnamed), _count(old))


def _listed(storage: Storage) -> dict[str, Mapping[str, Any]]:
    """Path below the address → what the file system knows, for all parts."""
    found = storage.files.find(storage.locate(FILES), detail=True, refresh=True)
    start = len(storage.locate(""))
    return {name[start:]: about for name, about in found.items() if re.match(PART, name[start:])}


def _remove(storage: Storage, path: str, now: float) -> None:
    """Remove a part, if no run has written it again meanwhile."""
    with suppress(FileNotFoundError):  # another one has removed it
        if _is_old(storage.files.info(storage.locate(path), refresh=True), now):
            storage.files.rm_file(storage.locate(path))


def _now(storage: Storage) -> float:
    """The time by the clock that dates the parts, in seconds since 1970: this machine's may be years ahead."""
    dated = storage.locate(f"{FILES}/.time")
    storage.files.pipe_file(dated, b"time")
    try:
        return _written(storage.files.info(dated, refresh=True))
    finally:
        with suppress(FileNotFoundError):  # another one has removed it
            storage.files.rm_file(dated)


def _is_old(about: Mapping[str, Any], now: float) -> bool:
    return now - _written(about) > KEPT_DAYS * _DAY


def _count(files: Mapping[str, Mapping[str, Any]]) -> StoredFiles:
    return StoredFiles(len(files), sum(int(about["size"]) for about in files.values()))


def _written(about: Mapping[str, Any]) -> float:
    """When a file was written, in seconds since 1970; now, if its file system does not say that."""
    when = about.get("mtime") or about.get("LastModified") or about.get("last_modified")
    return when.timestamp() if isinstance(when, datetime) else float(when or time.time())


def _manifests() -> Iterator[Manifest]:
    """Yield the manifests of all versions."""
    from dvc.repo import Repo

    for name in {table for stage in stages().values() for table in stage.tables_written}:
        if manifest := manifest_of(Path("data", name)):
            yield manifest
    lost: list[str] = []
    with _reading("the repository"), Repo() as repo:
        for hashed, table in _tables().items():
            with _reading(table.version):
                try:
                    found = _manifest_in(repo, hashed, table.version)
                except FileNotFoundError as error:
                    is_folder = error.args == (hashed,)  # which may be one without a manifest
                    if not is_folder or (table.files == 1 and _knows_storage(table.version)):
                        lost.append(table.version)
                    continue
            if found:
                yield found
    if lost:
        some = ", ".join([*dict.fromkeys(lost)][:_LISTED])
        raise VersionError(
            f"{some}: {len(lost)} tables are neither in DVC's cache nor in the remote, so which parts they name is "
            "unknown, and nothing is removed. `dvc push` them from a clone that has them; if none has, remove the "
            "branch, tag or experiment that leads there, and expire its reflog."
        )


def _manifest_in(repo: "Repo", hashed: str, version: str) -> Manifest | None:
    """Return the manifest in a table's folder; None if the parts are there.

    Raises:
        FileNotFoundError: DVC has neither the folder nor, if it has one, the manifest.
    """
    for entry in json.loads(_object(repo, hashed)):
        if entry["relpath"] == MANIFEST:
            return Manifest.parse(_object(repo, entry["md5"]), f"{version}: {MANIFEST}")
    return None


class _Table(NamedTuple):
    """A table's folder in dvc.lock: a version that has it, and how many files are in it."""

    version: str
    files: int


def _tables() -> dict[str, _Table]:
    """Hash of a table's folder → where it was found."""
    found: dict[str, _Table] = {}
    for version, text in _locks():
        with _reading(version):
            for stage in locked(parse_yaml(text, LOCK)).values():
                for out in stage.get("outs", []):
                    if [*tables([out["path"]])] and str(out.get("md5")).endswith(FOLDER):
                        found.setdefault(out["md5"], _Table(version, int(out.get("nfiles", 1))))
    return found


def _locks() -> Iterator[tuple[str, str]]:
    """Yield each dvc.lock of the repository, of any folder, in a commit of a branch, tag, experiment or reflog.

    Raises:
        VersionError: Git can't list them all.
    """
    if (lock := Path(LOCK)).exists():
        yield WORKSPACE, lock.read_text(encoding="utf-8", errors="surrogateescape")
    if _git("rev-parse", "--is-shallow-repository").strip() == "true":
        raise VersionError("this clone is shallow, so what older commits name is unknown; `git fetch --unshallow`")
    commits = ["--all", "--reflog", "--full-history", "--diff-merges=separate", "--format=commit %H"]
    places, blobs, commit = f":(top,glob)**/{LOCK}", set[str](), ""
    for line in _git("-c", "log.showRoot=true", "log", *commits, "--raw", "--no-abbrev", "--", places).splitlines():
        if line.startswith("commit "):
            commit = line.split()[1][:_DIGITS]
        elif line.startswith(":") and (blob := line.split()[3]).strip("0") and blob not in blobs:
            blobs.add(blob)
            yield commit, _git("cat-file", "blob", blob)


def _git(*command: str) -> str:
    """Return what a git command prints. Raises VersionError when it fails: what it does not list would be removed."""
    done = git.run(*command)
    if done.returncode:
        raise VersionError(f"git: {(done.stderr.splitlines() or ['it failed'])[-1]}; nothing is removed")
    return done.stdout


def _knows_storage(version: str) -> bool:
    """Return whether a version's params.yaml has the option `run.storage`: no older one has a manifest."""
    text = git.answer("show", f"{version}:./{PARAMS}") if version != WORKSPACE else None
    content = parse_yaml(text, PARAMS) if text else None
    return not isinstance(content, dict) or "storage" in (content.get("run") or {})


def _object(repo: "Repo", hashed: str) -> bytes:
    """Return a file that DVC keeps, from its cache or else from the remote. Raises FileNotFoundError without it."""
    from dvc.config import NoRemoteError

    with suppress(NoRemoteError):
        for open_database in (lambda: repo.cache.local, repo.cloud.get_remote_odb):
            database = open_database()
            place = database.oid_to_path(hashed)
            if database.fs.exists(place):
                return bytes(database.fs.cat_file(place))
    raise FileNotFoundError(hashed)


@contextmanager
def _reading(version: str) -> Iterator[None]:
    """Raise VersionError for all that reading a version may raise: DVC's layers have classes without a common base."""
    try:
        yield
    except (DataError, StorageError, VersionError, MemoryError):
        raise
    except Exception as error:
        problem = without_credentials(next(iter(str(error).splitlines()), "") or type(error).__name__)
        raise VersionError(f"{version}: what it references can't be read ({problem}); nothing is removed") from error
