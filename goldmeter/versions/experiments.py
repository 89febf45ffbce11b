"""Runs recorded as DVC experiments: commits outside of the branch, made without touching index, stash or files.

Not by `dvc exp save`, which first runs `dvc commit --force`: it would declare every stage up to date.
"""

import os
import re
import shutil
import tempfile
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import partial
from itertools import count
from pathlib import Path
from typing import NamedTuple

from goldmeter.errors import VersionError
from goldmeter.pipeline import git, params
from goldmeter.pipeline.dvc_yaml import DATA, GOLDMETER_YAML, REPORTS, stages
from goldmeter.pipeline.files import exclusive
from goldmeter.versions.version import LOCK, PARAMS, WORKSPACE, Version

PIPELINE, IGNORED = "dvc.yaml", ".gitignore"
# DVC's namespace of experiments: refs/exps/<first two digits of the commit they start from>/<the others>/<name>.
NAMESPACE = "refs/exps"
LONGEST_NAME = 100
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_LIKE_A_COMMIT = re.compile(r"[0-9a-fA-F]{4,}")
_TEMPLATE = "${"
# Without it, `git add` skips existing files outside of a sparse checkout.
_ALL_FILES = ("-c", "core.sparseCheckout=false")


class Facts(NamedTuple):
    """When, from what and at what cost a run was made.

    started: aware, UTC. data: the data set's hash as dvc.lock has it, empty where it names none.
    params: git's id of params.yaml. code: the commit it started from.
    cost: US dollars of its model calls, None when a price is unknown. flow_run: Prefect's id.
    """

    started: datetime
    seconds: float
    data: str
    params: str
    code: str
    cost: float | None
    flow_run: str | None


class Experiment(NamedTuple):
    """A recorded run: the name of a DVC experiment, and its commit."""

    name: str
    commit: str


class Snapshot(NamedTuple):
    """A git tree of the working tree, and the project's files in it: path → mode, type and id.

    No ref points to the tree before it is recorded, so `git gc --prune=now` during a run removes it.
    """

    tree: str
    files: Mapping[str, str]


class NameTakenError(VersionError):
    """A version of this name already exists."""


def snapshot() -> Snapshot:
    """Write a git tree of the tracked files, dvc.lock and new code of the stages, as they are in the working tree.

    It leaves out untracked data, and does not change the index.

    Raises:
        VersionError: There is no git repository, or no commit in it.
    """
    head()
    with tempfile.TemporaryDirectory(prefix="goldmeter-") as folder:
        index = Path(folder, "index")
        _copy_index(index)
        in_copy = partial(_git, *_ALL_FILES, environment={"GIT_INDEX_FILE": str(index)})
        _clear_flags(in_copy)
        in_copy("add", "--update")
        in_copy("update-index", "--add", "--remove", "-z", "--stdin", feed="\0".join(_new_files()))
        tree = in_copy("write-tree")
    return Snapshot(tree, _files(tree))


def head() -> str:
    """Return the checked-out commit. Raises VersionError when there is none yet, or no git repository."""
    _git("rev-parse", "--is-inside-work-tree")
    if (commit := git.answer("rev-parse", "--verify", "--quiet", "HEAD^{commit}")) is None:
        raise VersionError(
            "HEAD: no commit yet, so a run can't be recorded: an experiment starts from one. `git commit` first."
        )
    return commit


def params_id(version: Snapshot) -> str:
    """Return git's id of params.yaml in a snapshot. Raises VersionError when it has none."""
    if PARAMS not in version.files:
        raise VersionError(
            f"{PARAMS}: not in {Path.cwd()}, so a run can't be recorded; run from the folder that holds it"
        )
    return version.files[PARAMS].rpartition(" ")[2]


def data_hash() -> str:
    """Return the hash of the data set in dvc.lock; empty if it has none. Raises VersionError when it is no dvc.lock."""
    path = (params.raw().get("dataset") or {}).get("path")
    return "" if path is None else Version(WORKSPACE, Path(), None).dep_hash(str(path))


def free_name(prefix: str, started: datetime) -> str:
    """Return a free name such as nightly-2026-11-21-020000 (UTC), with -2, -3, … if it is taken.

    Raises:
        VersionError: The prefix can't begin a name.
    """
    name = f"{prefix}-{started.astimezone(UTC):%Y-%m-%d-%H%M%S}"
    _require_valid(name)
    return next(each for n in count(1) if not _is_taken(each := name if n == 1 else f"{name}-{n}"))


def require_free(name: str) -> None:
    """Raise VersionError when a name is invalid for an experiment, NameTakenError when it is taken."""
    _require_valid(name)
    if _is_taken(name):
        raise NameTakenError(f"{name}: a version of this name already exists; choose another (`dvc exp show`)")


def record(name: str, facts: Facts, before: Snapshot) -> Experiment:
    """Record the working tree as an experiment that starts from the commit `facts.code`.

    Args:
        name: The name of the experiment.
        facts: Stored as trailers of the commit's message.
        before: The snapshot when the run started.

    Raises:
        VersionError: A file changed since `before`, dvc.lock is older than its inputs, or the name can't be used.
    """
    require_free(name)
    after = snapshot()
    _require_unchanged(before, after)
    Version(WORKSPACE, Path(), None).require_current([out for stage in stages().values() for out in stage.outs])
    commit = _git("commit-tree", after.tree, "-p", facts.code, feed=_message(name, facts), environment=_identity())
    folder = git.common_folder() / "goldmeter"
    folder.mkdir(exist_ok=True)
    with exclusive(folder / "experiments.lock"):  # of all worktrees of this clone
        require_free(name)
        place = f"{NAMESPACE}/{facts.code[:2]}/{facts.code[2:]}/{name}"
        _git("update-ref", place, commit, "")  # the empty old value: only where nothing is
    return Experiment(name, commit)


def _copy_index(copy: Path) -> None:
    """Copy the user's index, to be changed; with its information, git need not read all files again."""
    index = Path(_git("rev-parse", "--git-path", "index"))
    if not index.exists():
        _git("read-tree", "HEAD", environment={"GIT_INDEX_FILE": str(copy)})
        return
    written = index.stat().st_mtime_ns
    shutil.copyfile(index, copy)
    os.utime(copy, ns=(written, written))  # git reads a file again if it is not older than the index


def _clear_flags(in_copy: Callable[..., str]) -> None:
    """Clear the flags assume-unchanged and, for existing files, skip-worktree: runs read these files.

    Files that a sparse checkout left out stay in the version.
    """
    listed = in_copy("ls-files", "-v", "-z", "--", ":/").split("\0")
    unchanged = [line[2:] for line in listed if line[:1] in ("h", "s")]
    left_alone = [line[2:] for line in listed if line[:1] in ("S", "s") and os.path.lexists(line[2:])]
    for flag, paths in (("--no-assume-unchanged", unchanged), ("--no-skip-worktree", left_alone)):
        if paths:
            in_copy("update-index", flag, "-z", "--stdin", feed="\0".join(paths))


def _files(tree: str) -> dict[str, str]:
    """Return path → mode, type and id for the files of a tree below the working folder."""
    entries = _git("ls-tree", "-r", "-z", tree).split("\0")
    return {path: what for what, _, path in (entry.partition("\t") for entry in entries if entry)}


def _new_files() -> list[str]:
    """Return files that belong to a version even if git does not track them: those of DVC, and code of the stages."""
    code = {dep for stage in stages().values() for dep in stage.deps if _is_code(dep)}
    listed = [":(glob)**/*.dvc", f":(glob)**/{IGNORED}", *(f":(literal){dep}" for dep in sorted(code))]
    found = _git("ls-files", "--others", "--exclude-standard", "-z", "--", *listed).split("\0")
    return [LOCK, PIPELINE, PARAMS, GOLDMETER_YAML, *(path for path in found if path and not path.endswith("/"))]


def _is_code(dep: str) -> bool:
    """Return whether a dependency is code of this project: not data, a report, or named by a param."""
    outside = dep.startswith(("/", "..")) or "://" in dep
    return not outside and not dep.startswith((DATA, REPORTS)) and _TEMPLATE not in dep


def _require_unchanged(before: Snapshot, after: Snapshot) -> None:
    changed = sorted({path for path, _ in before.files.items() ^ after.files.items()})
    if theirs := [path for path in changed if not _is_made_by_run(path)]:
        raise VersionError(
            f"{WORKSPACE}: changed while the run went on: {', '.join(theirs)}. Its numbers may come from either "
            "version, so it is not recorded: run again."
        )


def _is_made_by_run(path: str) -> bool:
    """Return whether runs write the file: dvc.lock, outs that git tracks, and the .gitignore files of DVC."""
    outs = [out for stage in stages().values() for out in stage.outs]
    return path == LOCK or Path(path).name == IGNORED or any(Path(path).is_relative_to(out) for out in outs)


def _require_valid(name: str) -> None:
    if not _NAME.fullmatch(name) or ".." in name or name.endswith((".", ".lock")) or len(name) > LONGEST_NAME:
        raise VersionError(
            f"{name!r}: no name for an experiment; allowed: up to {LONGEST_NAME} letters, digits, single dots, - and _,"
            " the first a letter or digit, such as nightly-2026-11-21; .lock and a dot can't be its end"
        )
    if name == WORKSPACE or _LIKE_A_COMMIT.fullmatch(name):
        raise VersionError(f"{name}: no name for an experiment: it would be taken for the workspace or a commit")


def _is_taken(name: str) -> bool:
    """Return whether an experiment or another git object has the name, which would make it ambiguous."""
    experiments = _git("for-each-ref", "--format=%(refname)", NAMESPACE).split()
    found = git.answer("rev-parse", "--verify", "--quiet", "--end-of-options", name)
    return found is not None or any(ref.rpartition("/")[2] == name for ref in experiments)


def _message(name: str, facts: Facts) -> str:
    """Return the commit's message: the name of the experiment, and its facts as git trailers."""
    trailers = {
        "Data": facts.data,
        "Params": facts.params,
        "Code": facts.code,
        "Started": facts.started.astimezone(UTC).isoformat(timespec="seconds"),
        "Duration": f"{facts.seconds:.1f} s",
        "Cost": "unknown" if facts.cost is None else f"{facts.cost:.6f} USD",
        "Prefect-Run": facts.flow_run,
    }
    return f"goldmeter: {name}\n\n" + "".join(f"{key}: {value}\n" for key, value in trailers.items() if value)


def _identity() -> dict[str, str]:
    """Return variables that name goldmeter as author and committer, unless the user has configured git."""
    roles = ("AUTHOR", "COMMITTER")
    if all(git.answer("var", f"GIT_{role}_IDENT") for role in roles):
        return {}
    who = {"NAME": "goldmeter", "EMAIL": "goldmeter@localhost"}
    return {f"GIT_{role}_{what}": value for role in roles for what, value in who.items()}


def _git(*command: str, feed: str = "", environment: Mapping[str, str] | None = None) -> str:
    """Return the output of a git command. Raises VersionError with its error output when it fails."""
    done = git.run(*command, feed=feed, environment=environment)
    if done.returncode:
        raise VersionError(f"{WORKSPACE}: can't be recorded: git {' '.join(command)}: {done.stderr.strip()}")
    return done.stdout.rstrip("\n")
