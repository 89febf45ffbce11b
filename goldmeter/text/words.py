"""Distinct words as slices of one buffer of UTF-8 bytes, and their stems: neither needs Python strings."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import count

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from goldmeter.text.columns import utf8

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
        from goldmeter.text.kernels.numbering import number  # importing numba takes half a second

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


# NLTK does not stem words of at most this length, counted before lower-casing turns "İ" into "i̇".
_SHORT = 2
# A byte that UTF-8 never contains.
_NO_TEXT = 0xFF
_SEPARATOR = np.frombuffer(bytes([_NO_TEXT]), np.uint8)


def stems(words: Words) -> tuple[NDArray[np.int32], Words]:
    """Return the number of each word's stem, and the distinct stems; the words are in lower case."""
    from goldmeter.text.kernels.pieces import join  # importing numba takes half a second
    from goldmeter.text.kernels.stems import stemmed

    codes = join(words.data, words.starts, words.stops, _SEPARATOR)
    data = stemmed(codes.astype(np.uint32), _NO_TEXT, words.stops - words.starts <= _SHORT).astype(np.uint8)
    stops = np.flatnonzero(data == _NO_TEXT)
    return words.changed(Words(data, np.concatenate([np.zeros(1, np.int64), stops + 1])[:-1], stops), porter_stems)


def porter_stems(words: Sequence[str]) -> list[str]:
    """Return the stem of each word, in lower case.

    Source: Porter 1980, "An algorithm for suffix stripping"; NLTK 3.10 `stem.porter`, mode NLTK_EXTENSIONS.

    >>> porter_stems(["relational", "Databases"])
    ['relat', 'databas']
    """
    from goldmeter.text.kernels.stems import stemmed  # importing numba takes half a second

    lowered = [word.lower() for word in words]
    text = "".join(lowered)
    separator = next(letter for letter in map(chr, count(128)) if letter not in text)  # no rule writes it
    codes = np.frombuffer(separator.join([*lowered, ""]).encode("utf-32-le", "surrogatepass"), np.uint32).copy()
    short = np.fromiter(map(len, words), np.int64, len(words)) <= _SHORT
    stems = stemmed(codes, ord(separator), short)
    return stems.tobytes().decode("utf-32-le", "surrogatepass").split(separator)[:-1]
