"""The requests that the ledger has no reply to."""

from collections.abc import Iterable, Iterator
from itertools import compress

from tasks.asking.earlier_replies import EarlierReplies
from tasks.asking.requests import Request
from tasks.ledger.verdicts import Verdicts


def unanswered(
    blocks: Iterable[Iterable[Request]],
    ledger: Verdicts,
    *,
    retry_failed: bool,
    earlier: EarlierReplies | None = None,
) -> Iterator[Request]:
    """Yield each request that the ledger has no reply to, once, in order.

    Args:
        blocks: The requests; those of one block are in memory at once.
        ledger: The store of replies.
        retry_failed: Yield requests whose reply is not usable, too.
        earlier: Of replies, to which those of the ledger are added.
    """
    asked = set[str]()
    for requests in blocks:
        by_key = {request.key: request for request in requests}
        is_missing = ledger.unanswered([*by_key], retry_failed=retry_failed)
        if earlier:
            earlier.add(compress(by_key.values(), ~is_missing))
        new = {*compress(by_key, is_missing)} - asked
        asked |= new
        yield from (request for key, request in by_key.items() if key in new)
