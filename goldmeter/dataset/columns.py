"""Columns of a batch of records: values of a name or path, texts and lists; hashes, and rows with the same key."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from goldmeter.dataset.paths import leads, lookup, steps_into
from goldmeter.dataset.record import TEXT_OR_NULL, Value, are_texts, as_text
from goldmeter.dataset.texts import UnusableValueError, checked_text
from goldmeter.pipeline.hashing import sha256

NO_DIGEST = bytes(32)
Problems = dict[int, str]
"""Row → the first reason why it can't be used."""
Found = TypeVar("Found")
_steps = cache(steps_into)


class Presence(NamedTuple):
    """Which names are in some record: as columns, and as paths into nested values; of a path both are looked for."""

    exact: frozenset[str]
    nested: frozenset[str]


class Columns:
    """The values of consecutive records by column.

    rows: The values of each record.
    """

    def __init__(self, rows: Sequence[Mapping[str, Any]]) -> None:
        self.rows = rows
        self._values: dict[str, list[Value]] = {}

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, name: str) -> list[Value]:
        """Return the values of a column or path, null where a record has none."""
        if name not in self._values:
            values, steps = [row.get(name) for row in self.rows], _steps(name)
            if steps is not None:
                pairs = zip(self.rows, values, strict=True)
                values = [value if name in row else lookup(row, steps) for row, value in pairs]
            self._values[name] = values if are_texts(values) else [as_text(value) for value in values]
        return self._values[name]

    def take(self, rows: Sequence[int]) -> "Columns":
        """Return some of the records."""
        return self if len(rows) == len(self.rows) else Columns([self.rows[row] for row in rows])

    def presence(self, names: Iterable[str]) -> Presence:
        """Return which of the names are in a record."""
        exact = frozenset(name for name in names if any(name in row for row in self.rows))
        paths = {name: steps for name in names if (steps := _steps(name)) is not None}
        nested = (name for name, steps in paths.items() if any(leads(row, steps) for row in self.rows))
        return Presence(exact, frozenset(nested))


def each(values: Sequence[Value], function: Callable[[Value], Found | None], problems: Problems) -> list[Found | None]:
    """Return the result of a function for each value; None where it raises UnusableValueError, which is noted."""
    found: list[Found | None] = []
    for row, value in enumerate(values):
        try:
            found.append(function(value))
        except UnusableValueError as reason:
            problems.setdefault(row, str(reason))
            found.append(None)
    return found


def texts_of(
    values: Sequence[Value], column: str, max_chars: int, problems: Problems, limit: str = ""
) -> Sequence[str | None]:
    """Return texts and nulls as they are; the arguments are those of `texts.checked_text`."""
    if _can_be_stored(values, max_chars):
        return values  # type: ignore[return-value]  # texts and nulls, as was just seen
    return each(values, lambda value: checked_text(value, column, max_chars, limit), problems)


def lists_of(
    values: Sequence[Value], function: Callable[[Value], list[str]], max_chars: int, problems: Problems
) -> list[list[str]]:
    """Return `texts.texts` of values that all are lists, else the result of a function for each, as `each`."""
    if set(map(type, values)) == {list} and _can_be_stored([*chain.from_iterable(values)], max_chars):  # type: ignore[arg-type]  # lists
        return [[text for text in value if text and text.strip()] for value in values]  # type: ignore[union-attr, misc]  # of texts
    return [found or [] for found in each(values, function, problems)]


def _can_be_stored(values: Sequence[Any], max_chars: int) -> bool:
    """Return whether all values are null, or texts that `texts.checked_text` returns."""
    if not set(map(type, values)) <= TEXT_OR_NULL:
        return False
    texts = [*filter(None, values)]
    if max(map(len, texts), default=0) > max_chars:
        return False
    try:
        "".join(texts).encode()
    except UnicodeEncodeError:
        return False
    return True


def hashes(texts: Iterable[str | bytes | None]) -> NDArray[np.uint64]:
    """Return the first 16 bytes of the SHA-256 of each text, 0 for null.

    Returns:
        Shape (n, 2), uint64; they order as the hashes do.
    """
    digests = b"".join([NO_DIGEST if text is None else sha256(text) for text in texts])
    return np.frombuffer(digests, ">u8").reshape(-1, 4)[:, :2].astype(np.uint64)


def mask(rows: AbstractSet[int] | Mapping[int, Any], length: int) -> NDArray[np.bool_]:
    """Return which of the rows are in a set, shape (length,)."""
    found = np.zeros(length, np.bool_)
    found[[*rows]] = True
    return found


@dataclass(frozen=True)
class Groups:
    """The groups of n rows with the same key; rows keep their order within a group.

    Attributes:
        order: The rows, group by group, shape (n,).
        group: Number of the group of each row, shape (n,); groups are numbered in the order of their keys.
        first: First row of each group, shape (groups,).
        rank: Number of each row in its group, from 0, shape (n,).
    """

    order: NDArray[np.int64]
    group: NDArray[np.int64]
    first: NDArray[np.int64]
    rank: NDArray[np.int64]


def groups(*keys: NDArray[np.generic]) -> Groups:
    """Group rows by keys.

    keys: Columns of shape (n,), or of shape (n, k) for k columns; the first ones count most.
    """
    columns = [column for key in keys for column in np.atleast_2d(key.T)]
    rows = len(columns[0])
    order = np.lexsort(columns[::-1])
    begins = np.ones(rows, np.bool_)
    begins[1:] = np.logical_or.reduce([column[order][1:] != column[order][:-1] for column in columns])
    starts = np.flatnonzero(begins)
    counts = np.diff(np.append(starts, rows))
    group, rank = np.empty(rows, np.int64), np.empty(rows, np.int64)
    group[order] = np.repeat(np.arange(len(starts)), counts)
    rank[order] = np.arange(rows) - np.repeat(starts, counts)
    return Groups(order, group, order[starts], rank)
