"""Import of another version's evidence into the store of this clone, such as both sides of a merge."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from goldmeter.errors import LedgerError
from goldmeter.ledger import REPLIES, open_store
from goldmeter.pipeline.dvc_yaml import LEDGER
from goldmeter.versions.version import Version, versions

# Store below `root()` → the DVC out with its evidence.
EVIDENCE = {kind: f"{LEDGER}{kind}" for kind in (*REPLIES, "embed")}
NOUNS = {"answer": "answers", "judge": "verdicts", "embed": "vectors"}


def import_revisions(revisions: Sequence[str]) -> str:
    """Add the evidence of versions, from DVC's cache or else its remote, to the store; return a summary.

    The working tree is not read: it may be in the middle of a merge conflict.

    Raises:
        VersionError: A version is unknown, or its evidence can't be fetched.
        LedgerError: A version has no evidence.
    """
    if not revisions:
        raise LedgerError("ledger import: name at least one git revision, such as a branch, a tag, HEAD or MERGE_HEAD.")
    with versions(revisions) as named:
        return "\n".join(line for version in named for line in _import(version))


def _import(version: Version) -> Iterator[str]:
    found = {name: out for name, out in EVIDENCE.items() if version.has(out)}
    if not found:
        raise LedgerError(
            f"{version.name}: this version has no evidence ({', '.join(EVIDENCE.values())}).\n"
            "Nothing was judged or embedded there, or its dvc.lock was not committed."
        )
    for name, out in found.items():
        yield f"{version.name}: {_take_in(name, version.path(out))}"


def _take_in(name: str, folder: Path) -> str:
    ledger = open_store(name)
    added = ledger.take_in(folder)
    ledger.close()
    return f"{added} {NOUNS[name]} added, {ledger.disagreements} differ from the store's"
