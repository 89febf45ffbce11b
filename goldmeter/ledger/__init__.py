"""The ledger: paid verdicts and vectors by content, in the store of this clone and as evidence of each version."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from goldmeter.errors import VersionError
from goldmeter.pipeline import git

if TYPE_CHECKING:
    from goldmeter.ledger.vectors import VectorEvidence, Vectors
    from goldmeter.ledger.verdicts import VerdictEvidence, Verdicts

# Kinds of ledgers that hold the replies of models.
REPLIES = ("answer", "judge")
ROOT_VARIABLE = "GOLDMETER_LEDGER"


def root() -> Path:
    """Return the folder of the stores: `<git common dir>/goldmeter/ledger`, shared by all worktrees of a clone.

    The environment variable GOLDMETER_LEDGER overrides it; outside of a git repository it is ./.goldmeter/ledger.
    """
    if override := os.environ.get(ROOT_VARIABLE):
        return Path(override).expanduser().absolute()
    try:
        return git.common_folder() / "goldmeter" / "ledger"
    except VersionError:
        return Path(".goldmeter").absolute() / "ledger"


def open_store(kind: str) -> "Verdicts | Vectors":
    """Open the store of replies (kinds "answer" and "judge") or vectors (kind "embed") for reading and writing."""
    if kind in REPLIES:
        from goldmeter.ledger.verdicts import Verdicts

        return Verdicts(root() / kind)
    from goldmeter.ledger.vectors import Vectors

    return Vectors(root() / kind)


def open_evidence(kind: str, folder: Path) -> "VectorEvidence | VerdictEvidence":
    """Open the evidence in a version's folder data/ledger/<kind> for reading; kinds as in `open_store`."""
    if kind in REPLIES:
        from goldmeter.ledger.verdicts import VerdictEvidence

        return VerdictEvidence(folder)
    from goldmeter.ledger.vectors import VectorEvidence

    return VectorEvidence(folder)
