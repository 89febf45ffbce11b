"""The ledger's replies to requests."""

from collections.abc import Iterable

from tasks.asking.requests import Request
from tasks.ledger.entries import Entry
from tasks.ledger.verdicts import Verdicts


def replies(requests: Iterable[Request], ledger: Verdicts) -> dict[str, Entry]:
    """Return the ledger's entries for the requests, by key."""
    return ledger.get(request.key for request in requests)
