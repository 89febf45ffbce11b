"""The parts in storage that no version of the project names, and their removal."""

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tasks.errors import ParamsError, VersionError
from tasks.pipeline import git, params
from tasks.pipeline.dvc_yaml import stages, tables
from tasks.pipeline.storage import FILES, MANIFEST, Manifest, Storage, manifest_of
from tasks.pipeline.yaml import parse_yaml
from tasks.versions.version import LOCK, PARAMS

if TYPE_CHECKING:
    from dvc.repo import Repo

# A run writes parts long before a commit names them, maybe in another clone.
KEPT_DAYS = 14
_DAY = 86_400
_LISTED = 5
_DIGITS = 12
# In dvc.lock, the hash of a folder ends so.
_FOLDER = ".dir"


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
        remove: Remove those that are older than KEPT_DAYS.

    Raises:
        ParamsError: `run.storage` is not set, or can't be used.
        VersionError: What a version names is not known: its manifest is neither in DVC's cache nor in the remote.
        DataError: The storage is not there, or may not be changed.
        StorageError: It does not answer.
    """
    address = params.run_params().storage
    if address is None:
        raise ParamsError("run.storage: not set, so no part is in a storage")
    storage = Storage(address)
    named = {part.path for manifest in _manifests() if manifest.storage == storage.address for part in manifest.parts}
    with storage.naming(FILES):
        found = _listed(storage)
        unnamed = {path: about for path, about in found.items() if path not in named}
        old = {path: about for path, about in unnamed.items() if time.time() - _written(about) > KEPT_DAYS * _DAY}
        for path in old if remove else ():
            storage.files.rm_file(storage.locate(path))
    return Collection(storage.address, _count(found), _count(unnamed), _count(old))


def _listed(storage: Storage) -> dict[str, Mapping[str, Any]]:
    """Path below the address → what the file system knows, for all parts."""
    found = storage.files.find(storage.locate(FILES), detail=True, refresh=True)
    start = len(storage.locate(""))
    return {name[start:]: about for name, about in found.items()}


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
    unknown: list[str] = []
    with Repo() as repo:
        for hashed, commit in _table_hashes().items():
            if (listing := _object(repo, hashed)) is not None:
                for entry in json.loads(listing):
                    if entry["relpath"] != MANIFEST:
                        continue
                    if (content := _object(repo, entry["md5"])) is not None:
                        yield Manifest.parse(content, f"{commit}: {MANIFEST}")
                    else:
                        unknown.append(commit)
            elif _knows_storage(commit):
                unknown.append(commit)
    if unknown:
        some = ", ".join([*dict.fromkeys(unknown)][:_LISTED])
        raise VersionError(
            f"{some}: {len(unknown)} tables are neither in DVC's cache nor in the remote, so which parts they name is "
            "unknown, and nothing is removed. Whoever made them has to `dvc push` them."
        )


def _table_hashes() -> dict[str, str]:
    """Hash of a table's folder → a commit that has it, for tables that may be a manifest."""
    found: dict[str, str] = {}
    for commit, text in _locks():
        for stage in (parse_yaml(text, f"{commit}: {LOCK}") or {}).get("stages", {}).values():
            for out in stage.get("outs", []):
                if [*tables([out["path"]])] and out.get("nfiles", 1) == 1 and str(out.get("md5")).endswith(_FOLDER):
                    found.setdefault(out["md5"], commit)
    return found


def _locks() -> Iterator[tuple[str, str]]:
    """Yield each dvc.lock that there was in a commit of a branch, tag, experiment or reflog, and its commit."""
    selected = ["--all", "--reflog", "--full-history", "-m"]
    changes = git.answer("log", *selected, "--format=commit %H", "--raw", "--no-abbrev", "--", LOCK) or ""
    blobs: set[str] = set()
    commit = ""
    for line in changes.splitlines():
        if line.startswith("commit "):
            commit = line.split()[1][:_DIGITS]
        elif line.startswith(":") and (blob := line.split()[3]).strip("0") and blob not in blobs:
            blobs.add(blob)
            yield commit, git.answer("cat-file", "blob", blob) or ""


def _knows_storage(commit: str) -> bool:
    """Return whether a version's params.yaml has the option `run.storage`: no older one has a manifest."""
    content = parse_yaml(git.answer("show", f"{commit}:./{PARAMS}") or "", f"{commit}: {PARAMS}")
    return isinstance(content, dict) and "storage" in (content.get("run") or {})


def _object(repo: "Repo", hashed: str) -> bytes | None:
    """Return a file that DVC keeps, from its cache or else from the remote; None if neither has it."""
    from dvc.exceptions import DvcException

    with suppress(DvcException):  # there is no remote
        for database in (lambda: repo.cache.local, repo.cloud.get_remote_odb):
            place = database().oid_to_path(hashed)
            if database().fs.exists(place):
                return bytes(database().fs.cat_file(place))
    return None
