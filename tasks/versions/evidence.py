"""Taking another version's evidence into this clone's store; after a merge, those of both sides."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from tasks.errors import LedgerError
from tasks.ledger import open_store
from tasks.versions.version import Version, versions

EVIDENCE = {"judge": "data/ledger/judge", "embed": "data/ledger/embed"}
"""Store below `root()`, and the DVC out that is its evidence."""


def import_revisions(revisions: Sequence[str]) -> str:
    """Take the evidence of versions into the store, from DVC's cache or else its remote; returns a summary.

    The working tree is not read, so that it may be in the middle of a merge conflict.
    Raises VersionError when one is unknown or its evidence can't be fetched, LedgerError when it has none.
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
    noun = "verdicts" if name == "judge" else "vectors"
    return f"{added} {noun} added, {ledger.disagreements} differ from the store's"
