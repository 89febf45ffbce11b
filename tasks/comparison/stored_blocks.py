"""Blocks of paired rows in a file that is mapped to memory, which holds the pages of one block at a time."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields, is_dataclass, replace
from mmap import ACCESS_READ, ALLOCATIONGRANULARITY, MADV_DONTNEED, mmap
from pathlib import Path
from typing import Any, BinaryIO, Generic, NamedTuple, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

Block = TypeVar("Block")
# Arrays begin at multiples of so many bytes.
ALIGNED = 64


class _Place(NamedTuple):
    """Where an array stands in the file."""

    offset: int
    dtype: np.dtype[Any]
    shape: tuple[int, ...]


class StoredBlocks(Sequence[Block], Generic[Block]):
    """Blocks of one type, whose arrays are in one file.

    A block is a dataclass or a named tuple of arrays, of lists and mappings of arrays, and of such values again; all
    else stays in memory. Arrays can't be written to. A pickled sequence maps the same file.

    Args:
        path: The file, which is created, with its folder.
        blocks: What is stored, one block after the other.
    """

    def __init__(self, path: Path, blocks: Iterable[Block]) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        starts, places = [], []
        with path.open("wb") as file:
            for block in blocks:
                starts.append(_pad(file, ALLOCATIONGRANULARITY))
                places.append(_stored(block, file))
            starts.append(_pad(file, ALLOCATIONGRANULARITY))
            file.write(b"\0")  # nothing maps an empty file
        self.__setstate__((path, starts, places))

    def __getstate__(self) -> tuple[Path, list[int], list[Any]]:
        return self._path, self._starts, self._places

    def __setstate__(self, state: tuple[Path, list[int], list[Any]]) -> None:
        self._path, self._starts, self._places = state
        with self._path.open("rb") as file:
            self._content = mmap(file.fileno(), 0, access=ACCESS_READ)
        self._blocks: list[Block] = [_each(places, self._array, _Place) for places in self._places]
        self._last = 0

    def __len__(self) -> int:
        return len(self._blocks)

    @overload
    def __getitem__(self, number: int) -> Block: ...
    @overload
    def __getitem__(self, number: slice) -> Sequence[Block]: ...
    def __getitem__(self, number: int | slice) -> Block | Sequence[Block]:
        if isinstance(number, slice):
            return [self[i] for i in range(*number.indices(len(self)))]
        number = range(len(self))[number]
        start, end = self._starts[self._last : self._last + 2]
        if number != self._last and start < end:
            self._content.madvise(MADV_DONTNEED, start, end - start)  # read again from the file when they are used
        self._last = number
        return self._blocks[number]

    def _array(self, place: _Place) -> NDArray[Any]:
        return np.ndarray(place.shape, place.dtype, self._content, place.offset)


def _stored(block: Any, file: BinaryIO) -> Any:
    """Write the arrays of a block; the block with their places instead."""

    def written(array: Any) -> _Place:
        place = _Place(_pad(file, ALIGNED), array.dtype, array.shape)
        file.write(np.ascontiguousarray(array).data)
        return place

    return _each(block, written, np.ndarray)


def _pad(file: BinaryIO, multiple: int) -> int:
    """Write zeros up to a multiple of so many bytes; where the file ends then."""
    file.write(b"\0" * (-file.tell() % multiple))
    return file.tell()


def _each(value: Any, change: Callable[[Any], Any], kind: type) -> Any:
    """The value with each object of a kind in it changed."""
    if isinstance(value, kind):
        return change(value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(_each(each, change, kind) for each in value))
    if isinstance(value, list):
        return [_each(each, change, kind) for each in value]
    if isinstance(value, dict):
        return {name: _each(each, change, kind) for name, each in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        inside = {one.name: getattr(value, one.name) for one in fields(value)}
        changed = {
            name: _each(each, change, kind)
            for name, each in inside.items()
            if isinstance(each, (np.ndarray, tuple, list, dict)) or is_dataclass(each)
        }
        return replace(value, **changed) if changed else value
    return value
