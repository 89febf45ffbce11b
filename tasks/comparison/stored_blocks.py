"""Blocks of paired rows in files, each mapped to memory while it is used, so that memory holds one of them."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

Block = TypeVar("Block")
# Arrays begin at multiples of so many bytes.
ALIGNED = 64


class _Place(NamedTuple):
    """Where an array stands in the file of its block."""

    offset: int
    dtype: np.dtype[Any]
    shape: tuple[int, ...]


class StoredBlocks(Sequence[Block], Generic[Block]):
    """Blocks of one type, whose arrays are in files, one file a block.

    A block is a dataclass or a named tuple of arrays, of lists and mappings of arrays, and of such values again; all
    else stays in memory. Arrays of a block that is read are mapped, and can't be written to.
    """

    def __init__(self, folder: Path, blocks: Iterable[Block]) -> None:
        folder.mkdir(parents=True)
        self._folder = folder
        self._blocks = [_stored(block, self._path(number)) for number, block in enumerate(blocks)]
        self._last: tuple[int, Block] | None = None

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
        if self._last is None or self._last[0] != number:
            self._last = number, self._mapped(number)
        return self._last[1]

    def _mapped(self, number: int) -> Block:
        path = self._path(number)
        content = np.memmap(path, np.uint8, "r") if path.stat().st_size else np.empty(0, np.uint8)

        def mapped(place: Any) -> Any:
            if not isinstance(place, _Place):
                return place
            size = place.dtype.itemsize * int(np.prod(place.shape, dtype=np.int64))
            some: NDArray[Any] = content[place.offset : place.offset + size].view(np.ndarray)
            return some.view(place.dtype).reshape(place.shape)

        found: Block = _each(self._blocks[number], mapped, _Place)
        return found

    def _path(self, number: int) -> Path:
        return self._folder / f"block-{number:05d}"


def _stored(block: Any, path: Path) -> Any:
    """Write the arrays of a block; the block with their places instead."""
    with path.open("wb") as file:

        def written(array: Any) -> _Place:
            file.write(b"\0" * (-file.tell() % ALIGNED))
            place = _Place(file.tell(), array.dtype, array.shape)
            file.write(np.ascontiguousarray(array).data)
            return place

        return _each(block, written, np.ndarray)


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
