"""Git commands in the repository around a folder.

Environment variables that name another repository, such as GIT_DIR in a hook, are ignored: git and DVC then agree on
the repository. No command runs the user's hooks, starts a file system monitor, or splits the index.
"""

import os
import subprocess
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from goldmeter.errors import VersionError

_SETTINGS = {"core.hooksPath": os.devnull, "core.fsmonitor": "false", "core.splitIndex": "false"}
# Editors set it around the hooks of a commit; git would take our patterns for names of files.
_MEANING_OF_PATHS = "GIT_LITERAL_PATHSPECS"
# Settings by environment, such as safe.directory in a container: needed by every command.
_CONFIGURATION = {"GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT"}


def run(
    *command: str, folder: Path = Path(), feed: str = "", environment: Mapping[str, str] | None = None
) -> "subprocess.CompletedProcess[str]":
    """Run a git command in a folder.

    Args:
        command: The arguments of git, such as "rev-parse", "HEAD".
        folder: Where git runs.
        feed: The standard input.
        environment: Variables to add.

    Returns:
        The finished process, whatever its exit status. Bytes that are not UTF-8 are surrogates in its output.

    Raises:
        VersionError: Git is not installed.
    """
    settings = [part for name, value in _SETTINGS.items() for part in ("-c", f"{name}={value}")]
    ignored = _repository_variables()
    own = {name: value for name, value in os.environ.items() if name not in ignored}
    return _run("-C", str(folder), *settings, *command, feed=feed, environment=own | dict(environment or {}))


def answer(*command: str) -> str | None:
    """Return the stripped output of a git command in the working folder; None when the command fails."""
    done = run(*command)
    return done.stdout.strip() if done.returncode == 0 else None


def described(*paths: str, with_day: bool = False) -> str | None:
    """Return the last commit that changed some paths, named by the last tag if there is one, and uncommitted changes.

    A later commit, such as that of dvc.lock, does not change the answer. None outside of a repository.

    Args:
        paths: Relative to the working folder; none for all.
        with_day: Say the day of the commit, too.
    """
    last = answer("rev-list", "--max-count=1", "HEAD", "--", *paths) or "HEAD"
    commit = answer("describe", "--tags", "--always", last)
    if not commit:
        return None
    named = f"{commit} of {answer('log', '-1', '--format=%cs', last)}" if with_day else commit
    return f"{named} with uncommitted changes" if answer("status", "--porcelain", "--", *paths) else named


def common_folder(folder: Path = Path()) -> Path:
    """Return the `.git` folder that all worktrees of the clone around a folder share.

    Raises:
        VersionError: The folder is in no repository, or git is not installed.
    """
    done = run("rev-parse", "--git-common-dir", folder=folder)
    if done.returncode:
        raise VersionError(f"{folder.absolute()}: not in a git repository: `git init`")
    return (folder / done.stdout.removesuffix("\n")).resolve()


def forget_surroundings() -> None:
    """Remove the variables that name a repository from our environment, and so from that of child processes.

    Raises:
        VersionError: Git is not installed.
    """
    for name in _repository_variables():
        os.environ.pop(name, None)


@cache
def _repository_variables() -> frozenset[str]:
    """Return the environment variables that name a repository or parts of it, or change the meaning of paths."""
    listed = _run("rev-parse", "--local-env-vars", feed="", environment=os.environ).stdout.split()
    return frozenset({*listed, _MEANING_OF_PATHS} - _CONFIGURATION)


def _run(*command: str, feed: str, environment: Mapping[str, str]) -> "subprocess.CompletedProcess[str]":
    """Run git as it is; line ends are not translated, because they may be part of a file's name."""
    try:
        done = subprocess.run(
            ["git", *command],
            input=feed.encode("utf-8", "surrogateescape"),
            env=environment,
            capture_output=True,
            check=False,
        )
    except FileNotFoundError:
        raise VersionError("git: not found; goldmeter keeps versions with git: install it") from None
    output, errors = (stream.decode("utf-8", "surrogateescape") for stream in (done.stdout, done.stderr))
    return subprocess.CompletedProcess(done.args, done.returncode, output, errors)
