"""What git answers: no command of ours runs a hook of the user's, starts a daemon, or splits the index."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from tasks.errors import VersionError

_SETTINGS = {"core.hooksPath": os.devnull, "core.fsmonitor": "false", "core.splitIndex": "false"}


def run(
    *command: str, folder: Path = Path(), feed: str = "", environment: Mapping[str, str] | None = None
) -> "subprocess.CompletedProcess[str]":
    """Run a git command in the folder; what is no UTF-8 comes as surrogates. Raises VersionError without git."""
    settings = [part for name, value in _SETTINGS.items() for part in ("-c", f"{name}={value}")]
    try:
        return subprocess.run(
            ["git", "-C", str(folder), *settings, *command],
            input=feed,
            env=os.environ | (environment or {}),
            capture_output=True,
            encoding="utf-8",
            errors="surrogateescape",
            check=False,
        )
    except FileNotFoundError:
        raise VersionError("git: not found; versions are kept by it: install it") from None


def answer(*command: str) -> str | None:
    """What git says in the working folder, without blanks around it; None when it fails."""
    done = run(*command)
    return done.stdout.strip() if done.returncode == 0 else None
