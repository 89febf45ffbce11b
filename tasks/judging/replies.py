"""The ledger's replies to requests; those from before a key held an address are copied to the new key."""

from collections.abc import Iterable

from tasks.judging.requests import Request
from tasks.ledger.old_keys import owner
from tasks.ledger.verdicts import Entry, Verdicts
from tasks.models.servers import address


def replies(requests: Iterable[Request], ledger: Verdicts) -> dict[str, Entry]:
    """Return the ledger's entries for the requests, by key."""
    by_key = {request.key: request for request in requests}
    entries = ledger.get(by_key)
    absent = {
        request.key_without_address: request
        for key, request in by_key.items()
        if request.address and key not in entries
    }
    if absent:
        carried = [
            Entry({**entry, "key": absent[key].key, "server": absent[key].address, "carried": True})
            for key, entry in ledger.get(absent).items()
            if _same_server(key, absent[key], ledger)
        ]
        ledger.add(carried)
        ledger.carried += len(carried)
        entries |= {entry["key"]: entry for entry in carried}
    return entries


def _same_server(old_key: str, request: Request, ledger: Verdicts) -> bool:
    """Return whether an old entry is a reply of the server that the request would go to.

    Evidence and dvc.lock are written together: old evidence is of the address that dvc.lock states.
    """
    before = request.address if ledger.asked_at is None else address(ledger.asked_at)
    if ledger.is_old_evidence(old_key):
        return before == request.address
    return owner(ledger.folder, request.server, before or request.address) == request.address
