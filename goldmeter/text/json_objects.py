"""Members of JSON objects, each key once."""

from collections import Counter
from collections.abc import Sequence
from typing import Any


def unique_members(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Return the members of an object; an `object_pairs_hook` of `json`.

    Raises:
        ValueError: A key appears twice.
    """
    members = dict(pairs)
    if len(members) < len(pairs):
        counts = Counter(key for key, _ in pairs)
        repeated = next(key for key in members if counts[key] > 1)
        raise ValueError(f"the key {repeated[:60]!r} appears twice in one object")
    return members
