"""Texts as token ids: the chunks between blanks are numbered, and each distinct chunk is tokenised once."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from tasks.metrics.tokenizers import Cut, Tokenizer

Split = Callable[[str], list[str]]
Integers = NDArray[np.int64]
INSIDE, FIRST, LAST = 0, 1, 2  # kinds of chunks: tasks.kernels.chunks
ENDS = 3  # after the sorts of tasks.kernels.joining
MARK = "qzx"
"""Stands between chunks that are tokenised together; any word of lower-case letters would do."""
JOINED = 1000
"""Chunks that are tokenised together."""


@dataclass(frozen=True)
class Ragged:
    """Lists of ids: row i is `ids[offsets[i]:offsets[i + 1]]`.

    ids: int32. offsets: shape (rows + 1,), int64.
    """

    ids: NDArray[np.int32]
    offsets: NDArray[np.int64]

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        """The number of ids of each row; shape (rows,)."""
        return np.diff(self.offsets)

    def take(self, rows: NDArray[np.int32]) -> "Ragged":
        """These rows; shape of rows: (n,)."""
        from tasks.kernels.expansion import expand  # importing numba takes half a second

        return Ragged(*expand(rows, np.arange(len(rows) + 1), self.ids, self.offsets[:-1], self.lengths))


@dataclass(frozen=True)
class Chunked:
    """Texts as the numbers of their distinct chunks.

    data: UTF-8; chunk k is `data[starts[k]:stops[k]]`. kinds: whether it is FIRST, LAST, both (the sum), or INSIDE.
    """

    texts: Ragged
    data: NDArray[np.uint8]
    starts: Integers
    stops: Integers
    kinds: NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, k: int) -> str:
        return self.data[self.starts[k] : self.stops[k]].tobytes().decode()

    def joined(self, chunks: Integers, separator: str) -> str:
        """These chunks, each with the separator after it."""
        from tasks.kernels.joining import join

        after = np.frombuffer(separator.encode(), np.uint8)
        return join(self.data, self.starts[chunks], self.stops[chunks], after).tobytes().decode()

    @cached_property
    def sorts(self) -> tuple[Integers, Integers, Integers, Integers]:
        """The chunks of ASCII letters and digits, those of more of ASCII, all others, and those at ends of texts.

        Apart, because most of the first are a token each, and rules are faster on ASCII.
        """
        from tasks.kernels import joining

        found = joining.sorts(self.data, self.starts, self.stops)
        found[self.kinds != INSIDE] = ENDS
        plain, marked, foreign, ends = (np.flatnonzero(found == each) for each in range(ENDS + 1))
        return plain, marked, foreign, ends


def chunked(data: NDArray[np.uint8], offsets: Integers, cut: Cut) -> Chunked:
    """The chunks of texts, given as by `utf8`; those that the cut "ends" tells apart have their kind."""
    from tasks.kernels import chunks as kernel  # importing numba takes half a second
    from tasks.kernels.numbering import number

    chunks = kernel.cut(data, offsets, cut == "ends")
    if cut == "stops":
        chunks = kernel.peel(data, chunks)
    numbers, firsts = number(data, chunks.starts, chunks.stops, chunks.kinds)
    places = (each[firsts] for each in (chunks.starts, chunks.stops, chunks.kinds))
    return Chunked(Ragged(numbers, chunks.begins), data, *places)


def tokens(texts: Chunked, tokenizer: Tokenizer, *, lowercase: bool) -> tuple[Ragged, list[str]]:
    """Token ids of the texts, and the vocabulary: the token of each id."""
    from tasks.kernels.expansion import expand

    split = _lowering(tokenizer.split) if lowercase else tokenizer.split
    found = _Found()
    if tokenizer.joins:
        _split_all(texts, split, found)
    else:
        found.count(np.arange(len(texts)), (split(texts[k]) for k in range(len(texts))))
    chunks, ids, counts, vocabulary = found.numbered()
    starts, lengths = np.zeros((2, len(texts)), np.int64)
    starts[chunks], lengths[chunks] = np.cumsum(counts) - counts, counts
    return Ragged(*expand(texts.texts.ids, texts.texts.offsets, ids, starts, lengths)), vocabulary


def numbered(words: Sequence[str]) -> tuple[NDArray[np.int32], list[str]]:
    """The number of each word, from 0 in the order of first occurrence, and each distinct word."""
    distinct = [*dict.fromkeys(words)]
    return _numbers(words, dict(zip(distinct, range(len(distinct)), strict=True))), distinct


class _Found:
    """Tokens of chunks, chunk after chunk: marked ones with a MARK after each chunk's, the others counted."""

    def __init__(self) -> None:
        self._marked: list[str] = []
        self._counted: list[str] = []
        self._chunks: tuple[list[Integers], list[Integers]] = ([], [])
        self._counts = [np.zeros(0, np.int64)]

    def mark(self, chunks: Integers, tokens: Sequence[str]) -> None:
        """Add tokens with a MARK after those of each chunk."""
        self._marked += tokens
        self._chunks[0].append(chunks)

    def count(self, chunks: Integers, rows: Iterable[Sequence[str]]) -> None:
        """Add the tokens of each chunk."""
        each = [*rows]
        self._counted += chain.from_iterable(each)
        self._chunks[1].append(chunks)
        self._counts.append(np.array([*map(len, each)], np.int64))

    def numbered(self) -> tuple[Integers, NDArray[np.int32], Integers, list[str]]:
        """Chunks, the ids of all their tokens, how many each has, and the vocabulary."""
        marks = dict.fromkeys(self._marked)
        marks.pop(MARK, None)
        vocabulary = [*dict.fromkeys(chain(marks, self._counted))]
        numbers = dict(zip(vocabulary, range(len(vocabulary)), strict=True))
        mark = numbers.setdefault(MARK, len(vocabulary))
        ids = _numbers(self._marked, numbers)
        counts = np.diff(np.flatnonzero(ids == mark), prepend=-1) - 1
        chunks = [np.zeros(0, np.int64), *chain(*self._chunks)]
        return (
            np.concatenate(chunks),
            np.concatenate([ids[ids != mark], _numbers(self._counted, numbers)]),
            np.concatenate([counts, *self._counts]),
            vocabulary,
        )


def _numbers(words: Sequence[str], numbers: Mapping[str, int]) -> NDArray[np.int32]:
    return np.fromiter(map(numbers.__getitem__, words), np.int32, len(words))


def _split_all(texts: Chunked, split: Split, found: _Found) -> None:
    """Find the tokens of every chunk."""
    plain, *others, ends = texts.sorts
    inside = {k: _as_inside(texts[k], int(texts.kinds[k])) for k in ends.tolist()}
    for block in _blocks(plain):
        words = split(texts.joined(block, " "))
        if len(words) == len(block):  # a tokenizer drops some words, or parts some, but not both
            found.count(block, zip(words, strict=True))
        else:
            others.append(block)
    for block in chain(*map(_blocks, others)):
        _split_joined(block, texts.joined(block, f" {MARK} "), texts, split, found)
    for block in _blocks(np.array([k for k in inside if inside[k]], np.int64)):
        _split_joined(block, "".join(f"{inside[k]} {MARK} " for k in block.tolist()), texts, split, found)
    alone = [k for k in inside if not inside[k]]
    found.count(np.array(alone, np.int64), (_split_alone(texts[k], int(texts.kinds[k]), split) for k in alone))


def _blocks(chunks: Integers) -> Iterator[Integers]:
    return (chunks[start : start + JOINED] for start in range(0, len(chunks), JOINED))


def _as_inside(chunk: str, kind: int) -> str:
    """What gives the same tokens inside a text as a chunk at an end of one; nothing where that is hard to say."""
    simple = kind == LAST and chunk[-1] == "." and chunk[-2:-1] not in {"", "."}
    return f"{chunk[:-1]} ." if simple else ""  # treebank: a full stop that ends the text is a token


def _split_joined(chunks: Integers, joined: str, texts: Chunked, split: Split, found: _Found) -> None:
    words = split(f"{MARK} {joined}")
    if words.count(MARK) == len(chunks) + 1:
        found.mark(chunks, words[1:])
    else:  # a chunk has the mark inside
        found.count(chunks, (_split_alone(texts[k], int(texts.kinds[k]), split) for k in chunks.tolist()))


def _split_alone(chunk: str, kind: int, split: Split) -> list[str]:
    """Tokens of a chunk where it stands."""
    before, after = ("" if kind & FIRST else f"{MARK} "), ("" if kind & LAST else f" {MARK}")
    found = split(f"{before}{chunk}{after}")
    return found[bool(before) : len(found) - bool(after)]


def _lowering(split: Split) -> Split:
    return lambda text: split(text.lower())
