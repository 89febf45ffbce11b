"""Versions of the project, named by git, DVC or a path, and their tables, from the cache or else a remote."""

import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from os.path import normpath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goldmeter.console.terminal import say
from goldmeter.errors import ParamsError, VersionError
from goldmeter.pipeline import contents, git
from goldmeter.pipeline.contents import dvc_hash, md5_of
from goldmeter.pipeline.credentials import without_credentials
from goldmeter.pipeline.dvc_yaml import GOLDMETER_YAML, locked, outs, tables
from goldmeter.pipeline.tables import Parts
from goldmeter.pipeline.yaml import load_yaml, parse_yaml

if TYPE_CHECKING:
    from dvc.fs import DVCFileSystem

# The name of the version in the working tree.
WORKSPACE = "workspace"
LOCK, PARAMS, PIPELINE = "dvc.lock", "params.yaml", "dvc.yaml"


@dataclass(frozen=True)
class Version:
    """A version. folder: where its files are, or are fetched to on demand. commit: None for a folder outside of git."""

    name: str
    folder: Path
    commit: str | None

    def parts(self, table: str) -> Parts:
        """Return the table data/<table>, whose parts in storage are as they were written.

        Raises:
            VersionError: This version has none.
            DataError: A part is damaged.
        """
        parts = Parts(self.path(f"data/{table}"))
        if parts.in_storage and table not in self._checked:
            for number in range(len(parts)):
                parts.require_whole(number)
            self._checked.add(table)
        return parts

    def path(self, out: str) -> Path:
        """Return a file or folder of the version by its path in the project.

        Raises:
            VersionError: The version has none, or it came back damaged.
            DataError: That in the folder is damaged.
        """
        target = self.folder / out
        if self.commit is not None and not target.exists():
            self._fetch(out, target)
        if not target.exists():
            raise VersionError(f"{self.name}: no {out} there. `dvc repro` makes it, `dvc checkout` brings it back.")
        if self.commit is None and out not in self._checked:
            if problem := contents.problem_if_newer(out, self.folder):
                say(f"warning: {self.name}: {problem}", sys.stderr)
            self._checked.add(out)
        return target

    def has(self, out: str) -> bool:
        """Return whether the version has this out by dvc.lock: dvc.yaml also lists stages that never ran."""
        return out in self.hashes() if self.commit is not None else (self.folder / out).exists()

    def plans(self, out: str) -> bool:
        """Return whether a stage of its dvc.yaml makes this out, even if that stage never ran."""
        stages = self._yaml(PIPELINE).get("stages")
        try:
            return any(out in outs(body) for body in (stages or {}).values())
        except (AttributeError, TypeError) as error:
            raise VersionError(f"{self.name}: its {PIPELINE} can't be read: {error!r}") from None

    def tables_read(self, stage: str) -> list[str]:
        """Return the tables that a stage of its dvc.yaml reads; none without such a stage."""
        body = (self._yaml(PIPELINE).get("stages") or {}).get(stage) or {}
        return [*tables(body.get("deps") or [])] if isinstance(body, dict) else []

    def hashes(self) -> dict[str, str | None]:
        """Return the hash of each out in dvc.lock; None for one without."""
        return {out["path"]: out.get("md5") for stage in self._stages.values() for out in stage.get("outs", [])}

    def dep_hash(self, path: str) -> str:
        """Return the hash of a dep in dvc.lock; empty for one that is not in it."""
        deps = [dep for stage in self._stages.values() for dep in stage.get("deps", [])]
        found = [dep for dep in deps if normpath(dep["path"]) == normpath(path)]
        return next((str(dep[kind]) for dep in found for kind in ("md5", "etag", "checksum") if kind in dep), "")

    def require_current(self, outs: Sequence[str]) -> None:
        """Raise VersionError when dvc.lock says that these outs were made with other params or from other tables."""
        if stale := [line for stage in _makers(self._stages, outs) for line in self._stale(stage)]:
            raise VersionError(
                f"{self.name}: its dvc.lock is older than its params.yaml or tables: {'; '.join(stale)}. "
                "`dvc repro` there, and commit dvc.lock."
            )

    def _fetch(self, out: str, target: Path) -> None:
        if not self.has(out):
            raise VersionError(
                f"{self.name}: this version has no {out}: its stage never ran there, or dvc.lock was not committed."
            )
        try:
            self._files.get(f"{self._prefix}{out}", str(target), recursive=True)
        except Exception as error:  # DVC's layers raise classes without a common base
            raise VersionError(f"{self.name}: its {out} can't be fetched: {_reason(error)}") from error
        if (hashed := self.hashes()[out]) and dvc_hash(target) != hashed:
            raise VersionError(
                f"{self.name}: its {out} came back damaged from DVC's cache or the remote; "
                f"`python -m tasks verify {self.name}` says which file, and what to do"
            )

    def _stale(self, name: str) -> Iterator[str]:
        """What one stage was run with that is different now."""
        hashes, stage = self.hashes(), self._stages[name]
        for file in (PARAMS, GOLDMETER_YAML):
            params, values = self._yaml(file), stage.get("params", {}).get(file, {})
            yield from (
                f"{name} was run with another `{at}`" for at, value in values.items() if _at(params, at) != value
            )
        for dep in stage.get("deps", []):
            now = hashes[dep["path"]] if dep["path"] in hashes else self._file_now(dep)
            if now != dep.get("md5"):
                yield f"{name} was run with another {dep['path']}"

    def _file_now(self, dep: Mapping[str, Any]) -> str | None:
        """Return the current hash of a file in the workspace that no stage makes; in a commit it can't have changed."""
        path = self.folder / dep["path"]
        if self.name != WORKSPACE or not path.is_file():
            return dep.get("md5")
        return md5_of(path)

    @cached_property
    def _checked(self) -> set[str]:
        """The outs in the folder that were found to be as they were written."""
        return set()

    @cached_property
    def _stages(self) -> dict[str, Any]:
        """The stages of dvc.lock, by name."""
        try:
            return locked(self._content(LOCK))
        except ParamsError as error:
            raise VersionError(
                f"{self.name}: its {LOCK} can't be read: {error}; restore it from version control, or remove it: "
                "`dvc repro` writes it again"
            ) from None

    def _yaml(self, name: str) -> dict[str, Any]:
        """A file of the version that git keeps, as sections; empty where there is none."""
        try:
            content = self._content(name) or {}
        except ParamsError as error:
            raise VersionError(f"{self.name}: its {name} can't be read: {error}") from None
        if not isinstance(content, dict):
            raise VersionError(
                f"{self.name}: its {name} can't be read: expected sections, found a {type(content).__name__}"
            )
        return content

    def _content(self, name: str) -> Any:
        """The document of such a file; None where there is none. Raises ParamsError when it is not YAML."""
        if self.commit is None:
            return load_yaml(path) if (path := self.folder / name).is_file() else None
        return parse_yaml(git.answer("show", f"{self.commit}:./{name}") or "", name)

    @cached_property
    def _prefix(self) -> str:
        """The folder of the project in its repository, such as `evaluation/`; empty at the top."""
        return git.answer("rev-parse", "--show-prefix") or ""

    @cached_property
    def _files(self) -> "DVCFileSystem":
        from dvc.api import DVCFileSystem  # takes a second
        from dvc.repo import Repo

        with Repo() as repo:  # the remote of today: the version may be older than any
            remote = repo.config["core"].get("remote")
        return DVCFileSystem(rev=self.commit, subrepos=bool(self._prefix), remote=remote)


def _reason(error: Exception) -> str:
    """Return why nothing could be fetched, and who can help if neither cache nor remote has it."""
    if isinstance(error, FileNotFoundError) or isinstance(error.__cause__, FileNotFoundError):
        return (
            f"{error}\nIt is in neither DVC's cache nor a remote. Whoever made that version has to `dvc push` it first."
        )
    return without_credentials(f"{error}: {error.__cause__}" if error.__cause__ else str(error))


def _at(params: Mapping[str, Any], path: str) -> Any:
    """Return the value at a path of params, such as `report` or `run.judge.prices`; None if there is none."""
    found: Any = params
    for name in path.split("."):
        found = found.get(name) if isinstance(found, Mapping) else None
    return found


def _makers(stages: Mapping[str, Any], outs: Sequence[str]) -> list[str]:
    """Return the stages that made these outs, and those upstream of them, in the order of dvc.lock."""
    wanted, before = set(outs), -1
    while len(wanted) > before:
        before = len(wanted)
        for stage in stages.values():
            if any(out["path"] in wanted for out in stage.get("outs", [])):
                wanted |= {dep["path"] for dep in stage.get("deps", [])}
    return [name for name, stage in stages.items() if any(out["path"] in wanted for out in stage.get("outs", []))]


@contextmanager
def versions(names: Sequence[str]) -> Iterator[list[Version]]:
    """Yield the versions of these names; the files fetched for them are removed at the end.

    Args:
        names: `workspace`, or a commit, tag, branch, experiment, or a folder of an earlier run.

    Raises:
        VersionError: A name is unknown.
    """
    with tempfile.TemporaryDirectory(prefix="goldmeter-") as folder:
        yield [_version(name, Path(folder, str(number))) for number, name in enumerate(names)]


def commit_of(name: str) -> str | None:
    """Return the commit that git or DVC knows by this name; None if neither does."""
    return _commit(name) or _commit(_experiment(name))


def _version(name: str, folder: Path) -> Version:
    if name == WORKSPACE:
        return Version(name, Path(), None)
    if name and (commit := commit_of(name)):
        return Version(name, folder, commit)
    if name and Path(name).is_dir():
        return Version(name, Path(name), None)
    raise VersionError(
        f"{name}: neither git nor DVC knows such a version, and it is no folder. Name a commit, tag, branch, "
        f"experiment (`dvc exp show`), `{WORKSPACE}`, or the folder of an earlier run."
    )


def _commit(name: str | None) -> str | None:
    """Return the commit of this name; None if git knows none, or the name is that of another object."""
    return git.answer("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}") if name else None


def _experiment(name: str) -> str | None:
    """Return the commit of a DVC experiment; None if there is none."""
    from dvc.exceptions import DvcException
    from dvc.repo import Repo
    from dvc.scm import resolve_rev
    from scmrepo.exceptions import SCMError

    try:
        with Repo() as repo:
            return str(resolve_rev(repo.scm, name))
    except (DvcException, SCMError):  # SCMError: nothing is committed yet
        return None
