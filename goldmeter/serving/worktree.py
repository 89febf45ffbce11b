"""The git worktree of a schedule: its runs compute what is committed, while users edit the checkout."""

import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import psutil

from goldmeter.errors import GoldmeterError, VersionError
from goldmeter.pipeline import git
from goldmeter.pipeline.files import exclusive
from goldmeter.system import locks, processes
from goldmeter.versions.version import LOCK

Log = Callable[[str], object]
# where worktrees of schedules and their locks are, in git's folder that all worktrees share
FOLDER = "goldmeter/worktrees"
LONGEST_CHECKOUT = 3600.0
# seconds that processes of a killed run need to end: two nested supervisors, each with its GRACE
ENDING = 15.0


class StillRunningError(GoldmeterError):
    """Another run of the schedule holds the worktree."""


class _Repository(NamedTuple):
    """The checkout at `top`.

    Attributes:
        common: git's folder that all worktrees share.
        prefix: The path from `top` to the folder of dvc.yaml.
        dvc: The path from `top` to `.dvc`.
    """

    top: Path
    common: Path
    prefix: str
    commit: str
    dvc: Path


@contextmanager
def prepared(name: str, checkout: Path, log: Log = print) -> Iterator[Path]:
    """Hold the schedule's worktree, reset to the checkout's HEAD, and yield its folder of dvc.yaml.

    Ignored files, such as outputs of DVC, stay between runs.

    Args:
        log: Called with a line when the outputs of an earlier run can't be checked out.

    Raises:
        StillRunningError: Another run holds the worktree.
        VersionError: There is no commit to run.
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
        _check_out_outputs(project, log)
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
    """Wait for the processes of a killed run, which outlive its lock, and kill them when they take too long."""
    if left := _working_in(tree):
        _, left = psutil.wait_procs(left, timeout=ENDING)
    while left := _working_in(tree):
        for process in left:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        psutil.wait_procs(left, timeout=ENDING)


def _working_in(tree: Path) -> list[psutil.Process]:
    """Processes of flows in the worktree; a user's shell there carries no mark."""
    working = []
    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):
            marked = process.status() != psutil.STATUS_ZOMBIE and processes.MARK in process.environ()
            if marked and Path(process.cwd().removesuffix(" (deleted)")).is_relative_to(tree):
                working.append(process)
    return working


def _reset(tree: Path, repository: _Repository) -> bool:
    """Reset an existing worktree to the commit, except ignored files; returns whether that succeeded."""
    own = _administration(tree, repository.common)
    if own is None:
        return False
    for lock in own.glob("*.lock"):  # left by a killed git: no other one works here while the schedule's lock is held
        lock.unlink()
    detached = ("checkout", "--quiet", "--force", "--detach", repository.commit)
    return all(git.run(*command, folder=tree).returncode == 0 for command in (detached, ("clean", "--quiet", "-ffd")))


def _administration(tree: Path, common: Path) -> Path | None:
    """The folder where git keeps the worktree's index; None when it is no worktree of this repository."""
    if not tree.is_dir():
        return None
    asked = git.run("rev-parse", "--show-toplevel", "--absolute-git-dir", "--git-common-dir", folder=tree)
    if asked.returncode:
        return None
    top, own, shared = map(Path, asked.stdout.splitlines())
    ours = top == tree and (tree / shared).resolve() == common
    return own if ours and own.parent == common / "worktrees" and _belongs_to(tree, own) else None


def _belongs_to(tree: Path, own: Path) -> bool:
    """Whether git's folder points to the worktree: the worktree itself may point to the folder of another one."""
    pointer = own / "gitdir"
    return pointer.is_file() and (own / pointer.read_text(errors="replace").rstrip("\n")).resolve() == tree / ".git"


def _rebuild(tree: Path, repository: _Repository) -> None:
    """Create the worktree, whatever is in its place, and whatever git has registered for it."""
    if tree.is_symlink() or tree.is_file():
        tree.unlink()
    shutil.rmtree(tree, ignore_errors=True)
    # One --force is not enough for a locked worktree, as after a killed `add`. `git worktree prune` would remove all of
    # them, but also the user's worktrees on a disk that is not mounted now.
    over_registered = ("--force", "--force")
    command = ("worktree", "add", "--quiet", *over_registered, "--detach", str(tree), repository.commit)
    added = git.run(*command, folder=repository.top)
    if added.returncode:
        raise VersionError(f"{tree}: git can't make a worktree there: {' '.join(added.stderr.split())}")


def _require_committed(*needed: Path) -> None:
    for path in needed:
        if not path.exists():
            raise VersionError(f"{path.name}: HEAD has none, and scheduled runs compute what is committed: commit it")


def _share_dvc(ours: Path, theirs: Path) -> None:
    """Give the worktree the cache and the settings of the checkout.

    A relative path keeps its meaning, whether it is in the committed or in the local settings.

    Args:
        ours: The checkout's folder `.dvc`.
        theirs: The worktree's folder `.dvc`.
    """
    from configobj import ConfigObj  # type: ignore[import-untyped]
    from dvc.config import Config, ConfigError, merge

    local = theirs / Config.CONFIG_LOCAL
    local.unlink(missing_ok=True)
    try:
        committed, mixed = Config(str(theirs)), Config(str(theirs), str(ours))
        settings = {} if "dir" in mixed["cache"] else {"cache": {"dir": str(ours / "cache")}}
        merge(settings, _relative_paths(committed.load_one("repo"), theirs, ours))
        merge(settings, mixed.load_one("local"))
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


def _relative_paths(settings: dict[str, Any], source: Path, target: Path) -> dict[str, Any]:
    """The settings that are paths relative to the folder `source`, as absolute paths from the folder `target`."""
    from dvc.config_schema import RelPath

    paths: dict[str, Any] = {}
    for key, value in settings.items():
        if isinstance(value, dict):
            paths[key] = _relative_paths(value, source, target)
        elif isinstance(value, RelPath):
            paths[key] = os.path.normpath(target / os.path.relpath(value, source))
    return paths


def _take_lock_of_last_run(name: str, project: Path, commit: str) -> None:
    """Start from dvc.lock of the schedule's newest run of this commit, so that DVC runs only what changed since.

    DVC's run cache does not suffice: it leaves out stages whose outputs persist.
    """
    # digits only: a run of the schedule `nightly-2` is none of `nightly`
    started = "-".join("[0-9]" * digits for digits in (4, 2, 2, 6))
    first = f"refs/exps/{commit[:2]}/{commit[2:]}/{name}-{started}"
    newest = ("for-each-ref", "--sort=-committerdate", "--count=1", "--format=%(objectname)", first, f"{first}-[0-9]*")
    if run := git.run(*newest, folder=project).stdout.strip():
        lock = git.run("show", f"{run}:./{LOCK}", folder=project)
        if lock.returncode == 0:
            (project / LOCK).write_text(lock.stdout, encoding="utf-8", errors="surrogateescape", newline="")


def _check_out_outputs(project: Path, log: Log) -> None:
    """Check out the outputs in dvc.lock from DVC's cache; stages compute again what is missing there."""
    locks.release_stale(locks.dvc_tmp(project))
    lines: list[str] = []
    command = [sys.executable, "-m", "dvc", "--wait-for-lock", "checkout", "--force", "--allow-missing"]
    status = processes.run(command, os.environ, LONGEST_CHECKOUT, lambda _, line: lines.append(line), cwd=project)
    if status:
        log("\n".join([f"dvc checkout in {project}: exit status {status}; the run goes on without", *lines]))
