"""What git answers of the repository around a folder, as DVC finds it too, whichever one the environment names.

A hook, or a shell's `GIT_DIR`, would have us reset, record and read another one, or the index of a commit that is
being made. No command of ours runs a hook of the user's, starts a daemon, or splits the index.
"""

import os
import subprocess
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from tasks.errors import VersionError

_SETTINGS = {"core.hooksPath": os.devnull, "core.fsmonitor": "false", "core.splitIndex": "false"}
_MEANING_OF_PATHS = "GIT_LITERAL_PATHSPECS"
"""Set by editors around the hooks of a commit; our patterns would be taken for names of files."""
_CONFIGURE = {"GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT"}
"""Settings by environment, such as safe.directory in a container: git hands these on to submodules as well."""


def run(
    *command: str, folder: Path = Path(), feed: str = "", environment: Mapping[str, str] | None = None
) -> "subprocess.CompletedProcess[str]":
    """Run a git command in the folder; what is no UTF-8 comes as surrogates. Raises VersionError without git."""
    settings = [part for name, value in _SETTINGS.items() for part in ("-c", f"{name}={value}")]
    named = _of_a_repository()
    kept = {name: value for name, value in os.environ.items() if name not in named}
    return _run("-C", str(folder), *settings, *command, feed=feed, environment=kept | dict(environment or {}))


def answer(*command: str) -> str | None:
    """What git says in the working folder, without blanks around it; None when it fails."""
    done = run(*command)
    return done.stdout.strip() if done.returncode == 0 else None


def forget_surroundings() -> None:
    """Take out of our environment what names a repository, for the sake of the commands that we start.

    Raises VersionError without git.
    """
    for name in _of_a_repository():
        os.environ.pop(name, None)


@cache
def _of_a_repository() -> frozenset[str]:
    """The variables by which git is told of a repository, of its parts, or how to take a path."""
    listed = _run("rev-parse", "--local-env-vars", feed="", environment=os.environ).stdout.split()
    return frozenset({*listed, _MEANING_OF_PATHS} - _CONFIGURE)


def _run(*command: str, feed: str, environment: Mapping[str, str]) -> "subprocess.CompletedProcess[str]":
    """A git command; line ends stay as they are, for they may be part of a name."""
    try:
        done = subprocess.run(
            ["git", *command],
            input=feed.encode("utf-8", "surrogateescape"),
            env=environment,
            capture_output=True,
            check=False,
        )
    except FileNotFoundError:
        raise VersionError("git: not found; versions are kept by it: install it") from None
    output, errors = (each.decode("utf-8", "surrogateescape") for each in (done.stdout, done.stderr))
    return subprocess.CompletedProcess(done.args, done.returncode, output, errors)
