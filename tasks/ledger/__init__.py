"""The ledger: verdicts and vectors by content, kept in a store of this clone and as evidence of each version."""

import os
import subprocess
from pathlib import Path

ROOT_VARIABLE = "GOLDMETER_LEDGER"


def root() -> Path:
    """The folder of the stores: `<git common dir>/goldmeter/ledger`, one for all worktrees of a clone.

    The environment variable GOLDMETER_LEDGER overrides it; outside git it is ./.goldmeter/ledger.
    """
    if override := os.environ.get(ROOT_VARIABLE):
        return Path(override).expanduser().absolute()
    common = _git_common_dir()
    return (common / "goldmeter" if common else Path(".goldmeter").absolute()) / "ledger"


def _git_common_dir() -> Path | None:
    try:
        command = ["git", "rev-parse", "--git-common-dir"]
        answer = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return Path(answer.stdout.rstrip("\n")).resolve()
