"""Consecutive records of a file as columns of texts, in which some rows may be left to `tasks.dataset.table`."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
import pyarrow as pa

from tasks.dataset.kernels.json_texts import items, unescaped
from tasks.dataset.kernels.lists import parts, printed_lists
from tasks.dataset.record import Record
from tasks.pipeline.division import Undivided
from tasks.text.kernels import Bytes, Flags, Integers
from tasks.text.utf8 import utf8

# As in the kernel json_members.
NULL, VERBATIM, ESCAPED, LIST, OBJECT = 1, 2, 3, 4, 5
# Bytes of a column: Arrow's 32-bit offsets.
LARGEST = 2**31 - 1


class Texts(NamedTuple):
    """A column of n texts.

    Attributes:
        values: The texts, null where the value is; shape (n,).
        is_odd: Rows whose value is no text, shape (n,), bool.
    """

    values: pa.StringArray
    is_odd: Flags


@dataclass(frozen=True)
class Lists:
    """A column of n lists of texts; a text is a list of one.

    Attributes:
        items: The items of all lists, one after another, without nulls.
        counts: Number of items of each list, shape (n,).
        is_null: Rows whose value is null, shape (n,), bool.
        is_text: Rows whose value is one text, shape (n,), bool.
        is_odd: Rows whose value can't be read as columns are, shape (n,), bool.
    """

    items: pa.StringArray
    counts: Integers
    is_null: Flags
    is_text: Flags
    is_odd: Flags

    def divided(self, separator: str, longest: int) -> "Lists":
        """Divide texts at the separator, if there is one, and leave out blank items; longer ones make their row odd."""
        data, offsets = utf8(self.items)
        signs = np.frombuffer(separator.encode(), np.uint8)
        counts, is_long, firsts, lasts = parts(data, offsets, self.counts, self.is_text, signs, longest)
        kept = self.items
        if len(firsts) < len(self.items) or separator:
            kinds = np.full(len(firsts), VERBATIM, np.uint8)
            kept = strings(*unescaped(data, kinds, firsts, lasts)[:2])
        return Lists(kept, counts, self.is_null, self.is_text, self.is_odd | is_long)


class Piece(Protocol):
    """Consecutive records of a file."""

    lines: Integers
    """Number of the line, or row, of each record, from 1; shape (n,)."""
    is_odd: Flags
    """Records that can't be read as columns are, shape (n,), bool."""

    @property
    def exact(self) -> AbstractSet[str]:
        """Names that are columns of a record, though they could be paths."""

    @property
    def nested(self) -> AbstractSet[str]:
        """Names that lead into nested values of a record."""

    def has(self, name: str) -> bool:
        """Whether a record that is not odd has the column."""

    def texts(self, name: str) -> Texts:
        """Return a column of texts."""

    def lists(self, name: str) -> Lists:
        """Return a column of lists, or of texts that may print one."""

    def record(self, row: int) -> Record:
        """Return one record as `tasks.dataset.sources` reads it.

        Raises:
            Undivided: It can't be read.
        """


def strings(data: Bytes, offsets: Integers, is_null: Flags | None = None) -> pa.StringArray:
    """Return texts as an Arrow array.

    Raises:
        Undivided: They are too long for one.
    """
    if offsets[-1] > LARGEST:
        raise Undivided
    validity = None if is_null is None or not is_null.any() else pa.array(~is_null).buffers()[1]
    buffers = [validity, pa.py_buffer(offsets.astype(np.int32)), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.string(), len(offsets) - 1, buffers)


def listed(data: Bytes, kinds: Bytes, firsts: Integers, lasts: Integers) -> Lists:
    """Return JSON values as lists, their places as the kernel `json_members` finds them."""
    is_text = (kinds == VERBATIM) | (kinds == ESCAPED)
    counts, is_odd, item_kinds, begins, ends = items(data, kinds, firsts, lasts)
    content, offsets, is_broken = unescaped(data, item_kinds, begins, ends)
    if is_broken.any():
        is_odd[np.repeat(np.arange(len(counts)), counts)[is_broken]] = True
    return Lists(strings(content, offsets), counts, kinds <= NULL, is_text, is_odd)


def lists_of_texts(texts: Texts) -> Lists:
    """Return texts as lists: those that print a JSON list of strings as its items, others as one text."""
    data, offsets = utf8(texts.values)
    is_null = np.array(texts.values.is_null())
    kinds = printed_lists(data, offsets)
    kinds[is_null] = NULL
    found = listed(data, kinds, offsets[:-1], offsets[1:])
    return Lists(found.items, found.counts, is_null, found.is_text, found.is_odd | texts.is_odd)


def encoded(names: Sequence[str]) -> tuple[Bytes, Integers]:
    """Return names as UTF-8, one after another, and where each ends."""
    return np.frombuffer("".join(names).encode(), np.uint8), np.cumsum([len(name.encode()) for name in names])
