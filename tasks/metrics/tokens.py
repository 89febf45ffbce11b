"""Texts as token ids: the chunks between blanks are numbered, and each distinct chunk is tokenised once."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from tasks.metrics.tokenizers import Cut, Tokenizer

Split = Callable[[str], list[str]]
Integers = NDArray[np.int64]
INSIDE, FIRST, LAST = 0, 1, 2  # kinds of chunks: tasks.kernels.chunks
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

    @property
    def lengths(self) -> NDArray[np.int64]:
        """The number of ids of each row; shape (rows,)."""
        return np.diff(self.offsets)

    def take(self, rows: NDArray[np.int32]) -> "Ragged":
        """These rows; shape of rows: (n,)."""
        from tasks.kernels.expansion import expand  # importing numba takes half a second

        return Ragged(*expand(rows, np.arange(len(rows) + 1), self.ids, self.offsets[:-1], self.lengths))


@dataclass(frozen=True)
class Chunked:
    """Texts as the numbers of their chunks.

    distinct: the text of each chunk. kinds: whether it is FIRST, LAST, both (the sum), or INSIDE.
    """

    texts: Ragged
    distinct: list[str]
    kinds: list[int]

    @cached_property
    def sorts(self) -> tuple[list[int], list[int], list[int], list[int]]:
        """The chunks of ASCII letters and digits, those of more of ASCII, all others, and those at ends of texts.

        Apart, because most of the first are a token each, and rules are faster on ASCII.
        """
        found: tuple[list[int], ...] = ([], [], [], [])
        for k, (chunk, kind) in enumerate(zip(self.distinct, self.kinds, strict=True)):
            found[3 if kind != INSIDE else 2 if not chunk.isascii() else 1 if not chunk.isalnum() else 0].append(k)
        return found[0], found[1], found[2], found[3]


def chunked(data: NDArray[np.uint8], offsets: Integers, cut: Cut) -> Chunked:
    """The chunks of texts, given as by `utf8`; those that the cut "ends" tells apart have their kind."""
    from tasks.kernels import chunks as kernel  # importing numba takes half a second
    from tasks.kernels.numbering import number

    chunks = kernel.cut(data, offsets, cut == "ends")
    if cut == "stops":
        chunks = kernel.peel(data, chunks)
    numbers, firsts = number(data, chunks.starts, chunks.stops, chunks.kinds)
    places = zip(chunks.starts[firsts].tolist(), chunks.stops[firsts].tolist(), strict=True)
    whole = data.tobytes()
    distinct = [whole[start:stop].decode() for start, stop in places]
    return Chunked(Ragged(numbers, chunks.begins), distinct, chunks.kinds[firsts].tolist())


def tokens(texts: Chunked, tokenizer: Tokenizer, *, lowercase: bool) -> tuple[Ragged, list[str]]:
    """Token ids of the texts, and the vocabulary: the token of each id."""
    from tasks.kernels.expansion import expand

    split = _lowering(tokenizer.split) if lowercase else tokenizer.split
    found, (starts, lengths) = list[str](), np.zeros((2, len(texts.distinct)), np.int64)
    for chunks, here, counts in _split_all(texts, tokenizer, split):
        starts[chunks], lengths[chunks] = len(found) + np.cumsum(counts) - counts, counts
        found += here
    ids, vocabulary = numbered(found)
    return Ragged(*expand(texts.texts.ids, texts.texts.offsets, ids, starts, lengths)), vocabulary


def numbered(words: Sequence[str]) -> tuple[NDArray[np.int32], list[str]]:
    """The number of each word, from 0 in the order of first occurrence, and each distinct word."""
    distinct = dict.fromkeys(words)
    numbers = dict(zip(distinct, range(len(distinct)), strict=True))
    return np.fromiter(map(numbers.__getitem__, words), np.int32, len(words)), list(distinct)


def _split_all(texts: Chunked, tokenizer: Tokenizer, split: Split) -> Iterator[tuple[list[int], list[str], Integers]]:
    """Numbers of chunks, their tokens one chunk's after another's, and how many each has; every chunk once."""
    if not tokenizer.joins:
        yield [*range(len(texts.distinct))], *_flat(map(split, texts.distinct))
        return
    plain, marked, foreign, ends = texts.sorts
    inside = {k: _as_inside(texts.distinct[k], texts.kinds[k]) for k in ends}
    marked = [*marked, *(k for k in ends if inside[k])]
    for chunks, split_block in ((plain, _split_plain), (marked, _split_joined), (foreign, _split_joined)):
        for start in range(0, len(chunks), JOINED):
            block = chunks[start : start + JOINED]
            yield block, *split_block([inside.get(k) or texts.distinct[k] for k in block], split)
    alone = [k for k in ends if not inside[k]]
    yield alone, *_flat(_split_alone(texts.distinct[k], texts.kinds[k], split) for k in alone)


def _as_inside(chunk: str, kind: int) -> str:
    """What gives the same tokens inside a text as a chunk at an end of one; nothing where that is hard to say."""
    simple = kind == LAST and chunk[-1] == "." and chunk[-2:-1] not in {"", "."}
    return f"{chunk[:-1]} ." if simple else ""  # treebank: a full stop that ends the text is a token


def _split_plain(words: Sequence[str], split: Split) -> tuple[list[str], Integers]:
    """Tokens of chunks that are likely one token each; a tokenizer drops some words, or parts some, but not both."""
    found = split(" ".join(words))
    return (found, np.ones(len(words), np.int64)) if len(found) == len(words) else _split_joined(words, split)


def _split_joined(chunks: Sequence[str], split: Split) -> tuple[list[str], Integers]:
    found = split(f" {MARK} ".join(["", *chunks, ""]))
    marks = [i for i, token in enumerate(found) if token == MARK]
    if len(marks) != len(chunks) + 1:  # a chunk has the mark inside
        return _flat(_split_alone(chunk, INSIDE, split) for chunk in chunks)
    return [token for token in found if token != MARK], np.diff(marks) - 1


def _split_alone(chunk: str, kind: int, split: Split) -> list[str]:
    """Tokens of a chunk where it stands."""
    before, after = ("" if kind & FIRST else f"{MARK} "), ("" if kind & LAST else f" {MARK}")
    found = split(f"{before}{chunk}{after}")
    return found[bool(before) : len(found) - bool(after)]


def _flat(rows: Iterable[list[str]]) -> tuple[list[str], Integers]:
    each = list(rows)
    return list(chain.from_iterable(each)), np.array([*map(len, each)], np.int64)


def _lowering(split: Split) -> Split:
    return lambda text: split(text.lower())
