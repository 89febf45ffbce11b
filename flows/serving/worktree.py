"""The worktree of a schedule: its runs compute in a copy of what is committed, while people edit the checkout."""

import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import psutil

from flows.system import dvc_rwlock, locks, processes
from tasks.errors import GoldmeterError, VersionError
from tasks.pipeline import git
from tasks.pipeline.files import exclusive
from tasks.versions.version import LOCK

Say = Callable[[str], object]
FOLDER = "goldmeter/worktrees"
"""Where the worktrees of schedules are, and their locks, below git's folder of all worktrees."""
LONGEST_CHECKOUT = 3600.0
ENDING = 15.0
"""Seconds that processes of a killed run have to end: two supervisors, one in the other, each with its grace."""


class StillRunningError(GoldmeterError):
    """A run of the same schedule holds the worktree."""


class _Repository(NamedTuple):
    """The checkout. common: git's folder of all worktrees. prefix: from top to dvc.yaml. dvc: from top to `.dvc`."""

    top: Path
    common: Path
    prefix: str
    commit: str
    dvc: Path


@contextmanager
def prepared(name: str, checkout: Path, say: Say = print) -> Iterator[Path]:
    """The folder of dvc.yaml in the schedule's own worktree, as the checkout's HEAD has it, held until the end.

    Ignored files, such as outputs of DVC, are kept between runs. say: gets a line where something is not as it
    should be. Raises StillRunningError when a run holds it, VersionError when there is no commit to run.
    """
    repository = _repository(checkout)
    home = repository.common / FOLDER
    home.mkdir(parents=True, exist_ok=True)
    running = StillRunningError(f"{name}: a run of this schedule is still running")
    with exclusive(home / f"{name}.lock", refusal=running):
        tree = home / name
        _end_leftovers(tree)
        if not _reset(tree, repository):
            _rebuild(tree, repository)
        project = tree / repository.prefix
        _require_committed(project / "dvc.yaml", tree / repository.dvc)
        _share_dvc(repository.top / repository.dvc, tree / repository.dvc)
        _take_lock_of_last_run(name, project, repository.commit)
        _check_out_outputs(project, say)
        yield project


def _repository(checkout: Path) -> _Repository:
    def ask(*question: str) -> str:
        answer = git.run("rev-parse", *question, folder=checkout)
        if answer.returncode:
            raise VersionError(f"{checkout}: scheduled runs need a commit to run: `git init`, `git add`, `git commit`")
        return answer.stdout.rstrip("\n")

    top, commit = Path(ask("--show-toplevel")), ask("--verify", "HEAD^{commit}")
    common = git.common_folder(checkout)
    dvc = locks.dvc_tmp(checkout.resolve()).parent
    if not dvc.is_relative_to(top):
        raise VersionError(f"{dvc}: outside of the git repository {top}; run `dvc init` in there, and commit it")
    return _Repository(top, common, ask("--show-prefix"), commit, dvc.relative_to(top))


def _end_leftovers(tree: Path) -> None:
    """See the end of what a killed run left in the worktree: the lock is free before its processes are gone."""
    if left := _working_in(tree):
        _, left = psutil.wait_procs(left, timeout=ENDING)
    while left := _working_in(tree):
        for process in left:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        psutil.wait_procs(left, timeout=ENDING)


def _working_in(tree: Path) -> list[psutil.Process]:
    """Processes of flows in the worktree; a person's shell there carries no mark."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):
            marked = process.status() != psutil.STATUS_ZOMBIE and processes.MARK in process.environ()
            if marked and Path(process.cwd().removesuffix(" (deleted)")).is_relative_to(tree):
                found.append(process)
    return found


def _reset(tree: Path, repository: _Repository) -> bool:
    """Make an existing worktree as the commit is, ignored files apart; whether that could be done."""
    own = _administration(tree, repository.common)
    if own is None:
        return False
    for lock in own.glob("*.lock"):  # of a git that was killed: no other works here while we hold the schedule
        lock.unlink()
    detached = ("checkout", "--quiet", "--force", "--detach", repository.commit)
    return all(git.run(*command, folder=tree).returncode == 0 for command in (detached, ("clean", "--quiet", "-ffd")))


def _administration(tree: Path, common: Path) -> Path | None:
    """Where git keeps the index of this worktree; None when the folder is none of this repository."""
    if not tree.is_dir():
        return None
    asked = git.run("rev-parse", "--show-toplevel", "--absolute-git-dir", "--git-common-dir", folder=tree)
    if asked.returncode:
        return None
    top, own, shared = map(Path, asked.stdout.splitlines())
    ours = top == tree and (tree / shared).resolve() == common
    return own if ours and own.parent == common / "worktrees" and _belongs_to(tree, own) else None


def _belongs_to(tree: Path, own: Path) -> bool:
    """Whether git's folder names the worktree: what the worktree names may be the checkout's, or another one's."""
    named = own / "gitdir"
    return named.is_file() and (own / named.read_text(errors="replace").rstrip("\n")).resolve() == tree / ".git"


def _rebuild(tree: Path, repository: _Repository) -> None:
    """Make the worktree anew, whatever is there, and whatever git believes is there."""
    if tree.is_symlink() or tree.is_file():
        tree.unlink()
    shutil.rmtree(tree, ignore_errors=True)
    # Once does not do for one that is locked, as after a killed `add`. `git worktree prune` would do for all, but
    # take with it the worktrees of people that lie on a disk which is away now.
    over_what_is_missing = ("--force", "--force")
    command = ("worktree", "add", "--quiet", *over_what_is_missing, "--detach", str(tree), repository.commit)
    added = git.run(*command, folder=repository.top)
    if added.returncode:
        raise VersionError(f"{tree}: git can't make a worktree there: {' '.join(added.stderr.split())}")


def _require_committed(*needed: Path) -> None:
    for path in needed:
        if not path.exists():
            raise VersionError(f"{path.name}: HEAD has none, and scheduled runs compute what is committed: commit it")


def _share_dvc(ours: Path, theirs: Path) -> None:
    """Give the worktree the cache and the settings of the checkout; both are told by their folders `.dvc`.

    A relative path means what it means in the checkout, whether it stands in the committed or in the local settings.
    """
    from configobj import ConfigObj  # type: ignore[import-untyped]
    from dvc.config import Config, ConfigError, merge

    local = theirs / Config.CONFIG_LOCAL
    local.unlink(missing_ok=True)
    try:
        there, mixed = Config(str(theirs)), Config(str(theirs), str(ours))
        settings = {} if "dir" in mixed["cache"] else {"cache": {"dir": str(ours / "cache")}}
        for each in (_relative_ones(there.load_one("repo"), theirs, ours), mixed.load_one("local")):
            merge(settings, each)
    except ConfigError as error:
        raise VersionError(f"{ours}: DVC's settings can't be read: {error}") from error
    local.touch(mode=0o600)  # it may hold secrets
    with local.open("wb") as file:
        ConfigObj(_as_sections(settings), encoding="utf-8").write(file)  # DVC itself writes ASCII only


def _as_sections(settings: Mapping[str, Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """The settings as sections of DVC's file: those of one remote, database or the like as `['remote "name"']`."""
    sections: dict[str, Mapping[str, Any]] = {}
    for section, options in settings.items():
        named = {name: value for name, value in options.items() if isinstance(value, Mapping)}
        sections |= {f'{section} "{name}"': value for name, value in named.items()}
        if plain := {name: value for name, value in options.items() if name not in named}:
            sections[section] = plain
    return sections


def _relative_ones(settings: dict[str, Any], source: Path, target: Path) -> dict[str, Any]:
    """The relative paths among settings of the folder `source`, as they are from the folder `target`."""
    from dvc.config_schema import RelPath

    kept: dict[str, Any] = {}
    for key, value in settings.items():
        if isinstance(value, dict):
            kept[key] = _relative_ones(value, source, target)
        elif isinstance(value, RelPath):
            kept[key] = os.path.normpath(target / os.path.relpath(value, source))
    return kept


def _take_lock_of_last_run(name: str, project: Path, commit: str) -> None:
    """Begin with dvc.lock of the schedule's newest run of this commit, so that only what changed since is computed.

    DVC's run cache alone would not do: it leaves out stages whose outputs persist.
    """
    started = "-".join("[0-9]" * digits for digits in (4, 2, 2, 6))  # nightly-2 is a schedule, too
    first = f"refs/exps/{commit[:2]}/{commit[2:]}/{name}-{started}"
    newest = ("for-each-ref", "--sort=-committerdate", "--count=1", "--format=%(objectname)", first, f"{first}-[0-9]*")
    if run := git.run(*newest, folder=project).stdout.strip():
        lock = git.run("show", f"{run}:./{LOCK}", folder=project)
        if lock.returncode == 0:
            (project / LOCK).write_text(lock.stdout, encoding="utf-8", errors="surrogateescape", newline="")


def _check_out_outputs(project: Path, say: Say) -> None:
    """Bring back the outputs that dvc.lock names from the cache; stages make again what is not there."""
    dvc_rwlock.release_stale(locks.dvc_tmp(project))
    lines: list[str] = []
    command = [sys.executable, "-m", "dvc", "--wait-for-lock", "checkout", "--force", "--allow-missing"]
    status = processes.run(command, os.environ, LONGEST_CHECKOUT, lambda _, line: lines.append(line), cwd=project)
    if status:
        say("\n".join([f"dvc checkout in {project}: exit status {status}; the run goes on without", *lines]))
