"""Runs as DVC experiments: commits beside the branch, made without touching index, stash or working tree."""

import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from itertools import count
from pathlib import Path
from typing import NamedTuple

from tasks.errors import VersionError
from tasks.pipeline import git, params
from tasks.pipeline.files import exclusive
from tasks.pipeline.stages import DATA, REPORTS, stages
from tasks.pipeline.yaml import load_yaml
from tasks.versions.version import LOCK, PARAMS, WORKSPACE, Version

PIPELINE, IGNORED = "dvc.yaml", ".gitignore"
NAMESPACE = "refs/exps"
"""Where DVC keeps experiments: refs/exps/<first two digits of the commit they start from>/<the others>/<name>."""
LONGEST_NAME = 100
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_LIKE_A_COMMIT = re.compile(r"[0-9a-fA-F]{4,}")
_TEMPLATE = "${"
_WHATEVER_IS_THERE = ("-c", "core.sparseCheckout=false")
"""Else `git add` passes over files outside of a sparse checkout, though they lie there."""


class Facts(NamedTuple):
    """How a run was made.

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
    """What would be recorded now: git's tree, and the project's files in it: path → git's mode, type and id.

    Nothing refers to the tree before it is recorded: `git gc --prune=now` takes it, while a run lasts, too.
    """

    tree: str
    files: Mapping[str, str]


class NameTakenError(VersionError):
    """A version of this name is there already."""


def snapshot() -> Snapshot:
    """What would be recorded now: tracked files as they lie there, dvc.lock, new code of the stages.

    Untracked data is no part of it, and the index stays as it is. Raises VersionError without git, or a commit.
    """
    head()
    with tempfile.TemporaryDirectory(prefix="goldmeter-") as folder:
        index = Path(folder, "index")
        _copy_index(index)
        in_copy = partial(_git, *_WHATEVER_IS_THERE, environment={"GIT_INDEX_FILE": str(index)})
        _overlook_nothing(in_copy)
        in_copy("add", "--update")
        in_copy("update-index", "--add", "--remove", "-z", "--stdin", feed="\0".join(_new_files()))
        tree = in_copy("write-tree")
    return Snapshot(tree, _files(tree))


def head() -> str:
    """The commit that is checked out; VersionError when there is none yet, or no git."""
    _git("rev-parse", "--is-inside-work-tree")
    if (commit := git.answer("rev-parse", "--verify", "--quiet", "HEAD^{commit}")) is None:
        raise VersionError(
            "HEAD: no commit yet, so a run can't be recorded: an experiment starts from one. `git commit` first."
        )
    return commit


def params_id(version: Snapshot) -> str:
    """Git's id of the params.yaml in a snapshot; VersionError when it has none."""
    if PARAMS not in version.files:
        raise VersionError(
            f"{PARAMS}: not in {Path.cwd()}, so a run can't be recorded; run from the folder that holds it"
        )
    return version.files[PARAMS].rpartition(" ")[2]


def data_hash() -> str:
    """The data set's hash as the last run left it in dvc.lock; empty where it names none."""
    path = (params.raw().get("dataset") or {}).get("path")
    locked = load_yaml(Path(LOCK)) if Path(LOCK).exists() else {}
    deps = [dep for stage in (locked.get("stages") or {}).values() for dep in stage.get("deps", [])]
    found = [dep for dep in deps if path is not None and _same(dep["path"], str(path))]
    return next((str(dep[kind]) for dep in found for kind in ("md5", "etag", "checksum") if kind in dep), "")


def free_name(prefix: str, started: datetime) -> str:
    """A name such as nightly-2026-11-21-020000, in UTC; with -2 and so on when it is taken.

    Raises VersionError when the prefix makes no name.
    """
    name = f"{prefix}-{started.astimezone(UTC):%Y-%m-%d-%H%M%S}"
    _require_valid(name)
    return next(each for n in count(1) if not _is_taken(each := name if n == 1 else f"{name}-{n}"))


def require_free(name: str) -> None:
    """Raise VersionError when an experiment can't be called so, NameTakenError when something already is."""
    _require_valid(name)
    if _is_taken(name):
        raise NameTakenError(f"{name}: a version of this name is there already; choose another (`dvc exp show`)")


def record(name: str, facts: Facts, before: Snapshot) -> Experiment:
    """Record what lies in the working tree as an experiment that starts from `facts.code`.

    before: the snapshot when the run started. Raises VersionError when a file changed since, for then it is not
    what ran, when dvc.lock is older than what it is made from, or when the name can't be taken.
    """
    require_free(name)
    after = snapshot()
    _require_unchanged(before, after)
    every = [out for stage in stages().values() for out in stage.outs]
    Version(WORKSPACE, Path(), None).require_current(every)
    commit = _git("commit-tree", after.tree, "-p", facts.code, feed=_message(name, facts), environment=_identity())
    with _alone():
        require_free(name)
        place = f"{NAMESPACE}/{facts.code[:2]}/{facts.code[2:]}/{name}"
        _git("update-ref", place, commit, "")  # the empty old value: only where nothing is
    return Experiment(name, commit)


def _copy_index(copy: Path) -> None:
    """The user's index, to change the copy: what it knows of the files saves reading them all."""
    index = Path(_git("rev-parse", "--git-path", "index"))
    if not index.exists():
        _git("read-tree", "HEAD", environment={"GIT_INDEX_FILE": str(copy)})
        return
    written = index.stat().st_mtime_ns
    shutil.copyfile(index, copy)
    os.utime(copy, ns=(written, written))  # git reads files again that are not older than its index


def _overlook_nothing(in_copy: Callable[..., str]) -> None:
    """Undo what git was told to take for unchanged, or to leave alone where it lies there: runs read those files.

    What a sparse checkout left out stays in the version.
    """
    listed = in_copy("ls-files", "-v", "-z", "--", ":/").split("\0")
    unchanged = [line[2:] for line in listed if line[:1] in ("h", "s")]
    left_alone = [line[2:] for line in listed if line[:1] in ("S", "s") and os.path.lexists(line[2:])]
    for flag, paths in (("--no-assume-unchanged", unchanged), ("--no-skip-worktree", left_alone)):
        if paths:
            in_copy("update-index", flag, "-z", "--stdin", feed="\0".join(paths))


def _files(tree: str) -> dict[str, str]:
    """Path → mode, type and id of the files of a tree that lie in the working folder."""
    entries = _git("ls-tree", "-r", "-z", tree).split("\0")
    return {path: what for what, _, path in (entry.partition("\t") for entry in entries if entry)}


def _new_files() -> list[str]:
    """What belongs to a version though git may not track it: DVC's files, and code that the stages name."""
    code = {dep for stage in stages().values() for dep in stage.deps if _is_code(dep)}
    listed = [":(glob)**/*.dvc", f":(glob)**/{IGNORED}", *(f":(literal){dep}" for dep in sorted(code))]
    found = _git("ls-files", "--others", "--exclude-standard", "-z", "--", *listed).split("\0")
    return [LOCK, PIPELINE, PARAMS, *(path for path in found if path and not path.endswith("/"))]


def _is_code(dep: str) -> bool:
    """Whether a dependency is code of this project: not data, a report, or what a param names."""
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
    """Whether runs write the file: dvc.lock, what stages make where git keeps it, and what DVC has git ignore."""
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
    """Whether an experiment, or anything else that git finds by one word, has the name: both would be ambiguous."""
    experiments = _git("for-each-ref", "--format=%(refname)", NAMESPACE).split()
    found = git.answer("rev-parse", "--verify", "--quiet", "--end-of-options", name)
    return found is not None or any(ref.rpartition("/")[2] == name for ref in experiments)


@contextmanager
def _alone() -> Iterator[None]:
    """Alone among all worktrees of this clone; the kernel lets go when we die."""
    folder = git.common_folder() / "goldmeter"
    folder.mkdir(exist_ok=True)
    with exclusive(folder / "experiments.lock"):
        yield


def _message(name: str, facts: Facts) -> str:
    """What names the experiment, and its facts as git trailers."""
    cost = "unknown" if facts.cost is None else f"{facts.cost:.6f} USD"
    trailers = {
        "Data": facts.data,
        "Params": facts.params,
        "Code": facts.code,
        "Started": facts.started.astimezone(UTC).isoformat(timespec="seconds"),
        "Duration": f"{facts.seconds:.1f} s",
        "Cost": cost,
        "Prefect-Run": facts.flow_run,
    }
    return f"goldmeter: {name}\n\n" + "".join(f"{key}: {value}\n" for key, value in trailers.items() if value)


def _identity() -> dict[str, str]:
    """Who commits: whom git knows, else goldmeter."""
    roles = ("AUTHOR", "COMMITTER")
    if all(git.answer("var", f"GIT_{role}_IDENT") for role in roles):
        return {}
    who = {"NAME": "goldmeter", "EMAIL": "goldmeter@localhost"}
    return {f"GIT_{role}_{what}": value for role in roles for what, value in who.items()}


def _same(one: str, other: str) -> bool:
    return os.path.normpath(one) == os.path.normpath(other)


def _git(*command: str, feed: str = "", environment: Mapping[str, str] | None = None) -> str:
    """What git answers; VersionError with what it says when it fails."""
    done = git.run(*command, feed=feed, environment=environment)
    if done.returncode:
        raise VersionError(f"{WORKSPACE}: can't be recorded: git {' '.join(command)}: {done.stderr.strip()}")
    return done.stdout.rstrip("\n")
