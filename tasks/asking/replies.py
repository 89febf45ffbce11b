"""The ledger's replies to requests; those from before a key held an address are copied to the new key."""

from collections.abc import Iterable, Mapping
from itertools import compress

from tasks.asking.requests import Request
from tasks.ledger.entries import Entry
from tasks.ledger.old_keys import owner
from tasks.ledger.verdicts import Verdicts
from tasks.models.servers import address


def replies(requests: Iterable[Request], ledger: Verdicts) -> dict[str, Entry]:
    """Return the ledger's entries for the requests, by key."""
    by_key = {request.key: request for request in requests}
    carry(by_key, ledger)
    return ledger.get(by_key)


def carry(requests: Mapping[str, Request], ledger: Verdicts) -> None:
    """Copy the entries that have a key without an address to the keys that the ledger lacks; requests: by key."""
    keys = [key for key, request in requests.items() if request.address]
    lacking = [requests[key] for key in compress(keys, ledger.absent(keys))]
    absent = {request.key_without_address: request for request in lacking}
    carried = [
        Entry({**entry, "key": absent[key].key, "server": absent[key].address, "carried": True})
        for key, entry in ledger.get(absent).items()
        if _same_server(key, absent[key], ledger)
    ]
    ledger.add(carried)
    ledger.carried += len(carried)


def _same_server(old_key: str, request: Request, ledger: Verdicts) -> bool:
    """Return whether an old entry is a reply of the server that the request would go to.

    Evidence and dvc.lock are written together: old evidence is of the address that dvc.lock states.
    """
    before = request.address if ledger.asked_at is None else address(ledger.asked_at)
    if ledger.is_old_evidence(old_key):
        return before == request.address
    return owner(ledger.folder, request.server, before or request.address) == request.address
