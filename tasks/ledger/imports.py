"""Taking another version's evidence into this clone's store; after a merge, those of both sides."""

import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

from tasks.errors import LedgerError
from tasks.ledger import open_store

if TYPE_CHECKING:
    from dvc.fs import DVCFileSystem

EVIDENCE = {"judge": "data/ledger/judge", "embed": "data/ledger/embed"}
"""Store below `root()`, and the DVC out that is its evidence."""


def import_revisions(revisions: Sequence[str]) -> str:
    """Take the evidence of git revisions into the store, from DVC's cache or else its remote; returns a summary.

    The working tree is not read, so that it may be in the middle of a merge conflict.
    Raises LedgerError when a revision is unknown, has no evidence, or its evidence can't be fetched.
    """
    if not revisions:
        raise LedgerError("ledger import: name at least one git revision, such as a branch, a tag, HEAD or MERGE_HEAD.")
    commits = {revision: _commit(revision) for revision in revisions}
    lines = [line for revision, commit in commits.items() for line in _import(revision, commit)]
    return "\n".join(lines)


def _import(revision: str, commit: str) -> list[str]:
    lines = []
    with tempfile.TemporaryDirectory(prefix="goldmeter-") as folder:
        for name, out in EVIDENCE.items():
            if _fetch(revision, commit, out, Path(folder) / name):
                lines.append(f"{revision}: {_take_in(name, Path(folder) / name)}")
    if not lines:
        raise LedgerError(
            f"ledger import {revision}: this version has no evidence ({', '.join(EVIDENCE.values())}).\n"
            "Nothing was judged or embedded there, or its dvc.lock was not committed."
        )
    return lines


def _take_in(name: str, folder: Path) -> str:
    ledger = open_store(name)
    added = ledger.take_in(folder)
    ledger.close()
    noun = "verdicts" if name == "judge" else "vectors"
    return f"{added} {noun} added, {ledger.disagreements} differ from the store's"


def _fetch(revision: str, commit: str, out: str, folder: Path) -> bool:
    """Copy an out of a version to a folder; whether it has that out."""
    if out not in _locked(commit):
        return False
    try:
        _files(commit).get(out, str(folder), recursive=True)
    except Exception as error:  # DVC's layers raise classes without a common base
        raise LedgerError(
            f"ledger import {revision}: its {out} can't be fetched: {error}\n"
            "It is in neither DVC's cache nor a remote. Whoever made that version has to `dvc push` it first."
        ) from error
    return True


def _locked(commit: str) -> set[str]:
    """The outs that a version has: dvc.yaml names those of stages that never ran there, dvc.lock does not."""
    lock = subprocess.run(["git", "show", f"{commit}:./dvc.lock"], capture_output=True, text=True, check=False)
    stages = ((yaml.safe_load(lock.stdout) if lock.returncode == 0 else None) or {}).get("stages", {})
    return {out["path"] for stage in stages.values() for out in stage.get("outs", [])}


def _files(commit: str) -> "DVCFileSystem":
    from dvc.api import DVCFileSystem  # takes a second

    return DVCFileSystem(rev=commit)


def _commit(revision: str) -> str:
    command = ["git", "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}"]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    if answer.returncode:
        raise LedgerError(
            f"ledger import {revision}: git knows no such revision. Fetch it first, or name a branch, a tag, "
            "a commit, HEAD or MERGE_HEAD."
        )
    return answer.stdout.strip()
