"""The ledger: verdicts and vectors by content, kept in a store of this clone and as evidence of each version."""

import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tasks.ledger.vectors import VectorEvidence, Vectors
    from tasks.ledger.verdicts import VerdictEvidence, Verdicts

ROOT_VARIABLE = "GOLDMETER_LEDGER"


def root() -> Path:
    """The folder of the stores: `<git common dir>/goldmeter/ledger`, one for all worktrees of a clone.

    The environment variable GOLDMETER_LEDGER overrides it; outside git it is ./.goldmeter/ledger.
    """
    if override := os.environ.get(ROOT_VARIABLE):
        return Path(override).expanduser().absolute()
    common = _git_common_dir()
    return (common / "goldmeter" if common else Path(".goldmeter").absolute()) / "ledger"


def open_store(kind: str) -> "Verdicts | Vectors":
    """Open the store of a kind for reading and writing: judge (verdicts) or embed (vectors)."""
    if kind == "judge":
        from tasks.ledger.verdicts import Verdicts

        return Verdicts(root() / kind)
    from tasks.ledger.vectors import Vectors

    return Vectors(root() / kind)


def open_evidence(kind: str, folder: Path) -> "VectorEvidence | VerdictEvidence":
    """Open the evidence of a kind for reading: the folder data/ledger/<kind> of a version."""
    if kind == "judge":
        from tasks.ledger.verdicts import VerdictEvidence

        return VerdictEvidence(folder)
    from tasks.ledger.vectors import VectorEvidence

    return VectorEvidence(folder)


def _git_common_dir() -> Path | None:
    try:
        command = ["git", "rev-parse", "--git-common-dir"]
        answer = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return Path(answer.stdout.rstrip("\n")).resolve()
