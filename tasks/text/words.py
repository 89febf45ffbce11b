"""Distinct words as slices of one buffer of UTF-8 bytes: what is done to each needs no Python string."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tasks.text.utf8 import utf8

Integers = NDArray[np.int64]
Ids = NDArray[np.int32]
Change = Callable[[Sequence[str]], Sequence[str]]
_ASCII = 0x7F
_LOWERED = np.arange(256, dtype=np.uint8)
_LOWERED[ord("A") : ord("Z") + 1] += ord("a") - ord("A")


@dataclass(frozen=True, eq=False)
class Words:
    """n words: word i is `data[starts[i]:stops[i]]`.

    Attributes:
        data: UTF-8 bytes, read-only, because numba would compile a kernel again for writable ones.
        starts: Shape (n,).
        stops: Shape (n,).
    """

    data: NDArray[np.uint8]
    starts: Integers
    stops: Integers

    @classmethod
    def of(cls, words: Sequence[str]) -> "Words":
        """Return the words in one buffer."""
        data, offsets = utf8(pa.array(words, pa.large_string()))
        return cls(data, offsets[:-1].copy(), offsets[1:].copy())

    def __post_init__(self) -> None:
        data = self.data.view()
        data.flags.writeable = False
        object.__setattr__(self, "data", data)

    def __len__(self) -> int:
        return len(self.starts)

    @cached_property
    def strings(self) -> list[str]:
        """The words as Python strings."""
        content = self.data.tobytes()
        slices = zip(self.starts.tolist(), self.stops.tolist(), strict=True)
        return [content[start:stop].decode() for start, stop in slices]

    def followed_by(self, others: "Words") -> "Words":
        """Return these words, then the others."""
        after = len(self.data)
        return Words(
            np.concatenate([self.data, others.data]),
            np.concatenate([self.starts, others.starts + after]),
            np.concatenate([self.stops, others.stops + after]),
        )

    def numbered(self) -> tuple[Ids, "Words"]:
        """Number equal words alike, from 0 in the order of first occurrence; return numbers and distinct words."""
        from tasks.text.kernels.numbering import number  # importing numba takes half a second

        numbers, firsts = number(self.data, self.starts, self.stops, np.zeros(len(self), np.uint8))
        return numbers, Words(self.data, self.starts[firsts], self.stops[firsts])

    def lowered(self) -> tuple[Ids, "Words"]:
        """Return the number of each word's lower-case form, and the distinct forms."""
        return self.changed(Words(_LOWERED[self.data], self.starts, self.stops), lambda words: [*map(str.lower, words)])

    def changed(self, plain: "Words", change: Change) -> tuple[Ids, "Words"]:
        """Return the numbers and the distinct ones of `plain`, but of words that are not ASCII, their `change`."""
        before = np.concatenate([np.zeros(1, np.int64), np.cumsum(self.data > _ASCII)])
        foreign = np.flatnonzero(before[self.stops] > before[self.starts])
        if not len(foreign):
            return plain.numbered()
        changed = Words.of(change(Words(self.data, self.starts[foreign], self.stops[foreign]).strings))
        both = plain.followed_by(changed)
        starts, stops = both.starts[: len(self)].copy(), both.stops[: len(self)].copy()
        starts[foreign], stops[foreign] = both.starts[len(self) :], both.stops[len(self) :]
        return Words(both.data, starts, stops).numbered()
