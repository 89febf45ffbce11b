"""Texts as UTF-8 in one buffer, for kernels; lone surrogates, which Python's texts may have, are encoded likewise."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pyarrow as pa

    from goldmeter.text.kernels.numbering import Table

Integers = NDArray[np.int64]
# Bytes around the visible ASCII characters.
_SPACE, _DELETE = 0x20, 0x7F


@dataclass(frozen=True)
class Texts:
    """n texts.

    Attributes:
        data: uint8; text i is `data[starts[i]:stops[i]]`.
        starts: Shape (n,), int64.
        stops: Shape (n,), int64.
    """

    data: NDArray[np.uint8]
    starts: Integers
    stops: Integers

    @classmethod
    def of(cls, texts: Iterable[str]) -> "Texts":
        """Encode texts."""
        encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
        ends = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
        return cls(np.frombuffer(bytearray(b"".join(encoded)), np.uint8), ends[:-1], ends[1:])

    @classmethod
    def of_column(cls, column: "pa.Array") -> "Texts":
        """Take an Arrow array of strings; a null is an empty text."""
        from goldmeter.text.columns import utf8

        data, offsets = utf8(column)
        return cls(data, offsets[:-1], offsets[1:])

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, i: int) -> str:
        return self.data[self.starts[i] : self.stops[i]].tobytes().decode("utf-8", "surrogatepass")

    def __iter__(self) -> Iterator[str]:
        return map(self.__getitem__, range(len(self)))

    def take(self, which: Integers) -> "Texts":
        """Return some of the texts."""
        return Texts(self.data, self.starts[which], self.stops[which])

    def followed_by(self, others: "Texts") -> "Texts":
        """Return the texts, and then others."""
        return Texts(
            np.concatenate([self.data, others.data]),
            np.concatenate([self.starts, others.starts + len(self.data)]),
            np.concatenate([self.stops, others.stops + len(self.data)]),
        )

    def numbered(self) -> tuple[NDArray[np.int32], "Texts"]:
        """Return the number of each text, and the distinct texts in the order of their first occurrence."""
        from goldmeter.text.kernels.numbering import number  # importing numba takes half a second

        numbers, firsts = number(self.data, self.starts, self.stops, np.zeros(len(self), np.uint8))
        return numbers, self.take(firsts)

    def found_in(self, known: "Table") -> NDArray[np.int32]:
        """Return the number of each text in a table of `table_of`, or -1; shape (n,)."""
        from goldmeter.text.kernels.numbering import find
        from goldmeter.text.kernels.pieces import join  # importing numba takes half a second

        data = join(self.data, self.starts, self.stops, np.zeros(0, np.uint8))
        return find(known, data, np.concatenate([[0], np.cumsum(self.stops - self.starts)]))

    def are_blank(self) -> NDArray[np.bool_]:
        """Return which texts are empty or white space; shape (n,)."""
        blank = np.asarray(self.stops == self.starts, np.bool_)
        firsts = self.data[np.where(blank, 0, self.starts)] if len(self.data) else np.zeros(len(self), np.uint8)
        # Text that begins with a visible ASCII character is not blank.
        for i in np.flatnonzero(~blank & ((firsts <= _SPACE) | (firsts >= _DELETE))).tolist():
            blank[i] = not self[i].strip()
        return blank

    def are_ascii(self) -> NDArray[np.bool_]:
        """Return which texts have only ASCII characters; shape (n,)."""
        beyond = np.concatenate([[0], np.cumsum(self.data > _DELETE, dtype=np.int64)])
        return np.asarray(beyond[self.starts] == beyond[self.stops], np.bool_)


def table_of(texts: Iterable[str]) -> "Table":
    """Return a table of distinct texts, for `Texts.found_in`; their numbers are their positions."""
    from goldmeter.text.kernels.numbering import table

    encoded = Texts.of(texts)
    return table(encoded.data, np.concatenate([[0], encoded.stops]))
