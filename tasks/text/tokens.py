"""Texts as token ids: chunks between blanks are numbered, and each distinct chunk is tokenised once."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, count

import numpy as np
from numpy.typing import NDArray

from tasks.text.tokenizers import Cut, Tokenizer

Split = Callable[[str], list[str]]
Integers = NDArray[np.int64]
FIRST, LAST = 1, 2  # kinds of chunks: tasks.text.kernels.chunks
# Separates chunks that are tokenised together; any word of lower-case letters would do.
MARK = "qzx"
# Number of chunks that are tokenised together.
JOINED = 1000


@dataclass(frozen=True)
class Ragged:
    """Lists of ids: row i is `ids[offsets[i]:offsets[i + 1]]`.

    Attributes:
        ids: int32.
        offsets: Shape (rows + 1,), int64.
    """

    ids: NDArray[np.int32]
    offsets: NDArray[np.int64]

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        """Number of ids of each row; shape (rows,)."""
        return np.diff(self.offsets)

    def take(self, rows: NDArray[np.int32]) -> "Ragged":
        """Return the given rows, in that order; `rows` has shape (n,)."""
        from tasks.text.kernels.expansion import expand  # importing numba takes half a second

        return Ragged(*expand(rows, np.arange(len(rows) + 1), self.ids, self.offsets[:-1], self.lengths))


@dataclass(frozen=True)
class Chunked:
    """Texts as the numbers of their distinct chunks.

    Attributes:
        texts: The chunks of each text.
        data: UTF-8 bytes; chunk k is `data[starts[k]:stops[k]]`.
        starts: Shape (chunks,).
        stops: Shape (chunks,).
        kinds: FIRST, LAST, their sum, or INSIDE.
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
        """Return these chunks in one string, each followed by the separator."""
        from tasks.text.kernels.joining import join

        after = np.frombuffer(separator.encode(), np.uint8)
        return join(self.data, self.starts[chunks], self.stops[chunks], after).tobytes().decode()

    @cached_property
    def sorts(self) -> tuple[Integers, Integers, Integers, Integers]:
        """The chunks of ASCII letters and digits, of other ASCII, of other characters, and those at ends of texts.

        They are separated because most of the first are one token each, and rules are faster on ASCII.
        """
        from tasks.text.kernels.chunks import ENDS, FOREIGN, MARKED, PLAIN, sorts

        chunk_sorts = sorts(self.data, self.starts, self.stops, self.kinds)
        plain, marked, foreign, ends = (np.flatnonzero(chunk_sorts == s) for s in (PLAIN, MARKED, FOREIGN, ENDS))
        return plain, marked, foreign, ends


def chunked(data: NDArray[np.uint8], offsets: Integers, cut: Cut) -> Chunked:
    """Split texts, given as by `utf8`, into numbered chunks; the cut "ends" distinguishes kinds of chunks."""
    from tasks.text.kernels import chunks as kernel  # importing numba takes half a second
    from tasks.text.kernels.numbering import number

    chunks = kernel.cut(data, offsets, cut == "ends")
    if cut == "stops":
        chunks = kernel.peel(data, chunks)
    numbers, firsts = number(data, chunks.starts, chunks.stops, chunks.kinds)
    texts = Ragged(numbers, chunks.begins)
    return Chunked(texts, data, chunks.starts[firsts], chunks.stops[firsts], chunks.kinds[firsts])


def tokens(texts: Chunked, tokenizer: Tokenizer, *, lowercase: bool) -> tuple[Ragged, list[str]]:
    """Return the token ids of the texts, and the vocabulary: the token of each id."""
    from tasks.text.kernels.expansion import expand

    ids, starts, lengths, vocabulary = _Splitting(texts, tokenizer, lowercase=lowercase).split()
    return Ragged(*expand(texts.texts.ids, texts.texts.offsets, ids, starts, lengths)), vocabulary


def numbered(words: Sequence[str]) -> tuple[NDArray[np.int32], list[str]]:
    """Number words from 0 in the order of first occurrence; return the number of each word, and the distinct words."""
    firsts: dict[str, int] = {}
    places = np.fromiter(map(firsts.setdefault, words, count()), np.int32, len(words))
    numbers = np.cumsum(places == np.arange(len(words)), dtype=np.int32) - 1
    return numbers[places], [*firsts]


def ngram_counts(lengths: Integers, max_order: int) -> Integers:
    """Return the number of n-grams of each order in texts of these lengths; shape (len(lengths), max_order).

    >>> ngram_counts(np.array([5, 2]), 4)
    array([[5, 4, 3, 2],
           [2, 1, 0, 0]])
    """
    counts: Integers = np.maximum(lengths[:, None] - np.arange(max_order), 0)
    return counts


class _Splitting:
    """Splits every chunk into tokens, most of them by the thousand.

    Tokens are listed either with known counts per chunk, or with the mark after each chunk. Both lists are numbered
    together, because a token may be in both; the mark's number shows where chunks end without comparing strings.
    """

    def __init__(self, texts: Chunked, tokenizer: Tokenizer, *, lowercase: bool) -> None:
        self._texts = texts
        self._joins = tokenizer.joins
        self._split = _lowering(tokenizer.split) if lowercase else tokenizer.split
        self._split_plain = (_lowering(str.split) if lowercase else str.split) if tokenizer.keeps else self._split
        self._parts = tokenizer.parts
        self._counted_tokens: list[str] = []
        self._counted_chunks: list[Integers] = []
        self._counts: list[Integers] = []
        self._marked_tokens: list[str] = []
        self._marked_chunks: list[Integers] = []

    def split(self) -> tuple[NDArray[np.int32], Integers, Integers, list[str]]:
        """Return token ids, the start and number of each chunk's tokens, and the vocabulary."""
        if self._joins:
            self._split_most()
        else:
            rows = [self._split(self._texts[k]) for k in range(len(self._texts))]
            self._count(np.arange(len(rows)), rows)
        every, vocabulary = numbered([*self._counted_tokens, *self._marked_tokens])
        counted, marked = np.split(every, [len(self._counted_tokens)])
        mark = marked[-1] if len(marked) else -1
        ids = np.concatenate([counted, marked[marked != mark]])
        if mark >= 0 and mark not in counted:  # no text contains it
            vocabulary.pop(mark)
            ids -= ids > mark
        counts = np.concatenate([*self._counts, np.diff(np.flatnonzero(marked == mark), prepend=-1) - 1])
        chunks = np.concatenate([*self._counted_chunks, *self._marked_chunks])
        starts, lengths = np.zeros((2, len(self._texts)), np.int64)
        starts[chunks], lengths[chunks] = np.cumsum(counts) - counts, counts
        return ids, starts, lengths, vocabulary

    def _split_most(self) -> None:
        plain, *others, ends = self._texts.sorts
        for block in _blocks(plain):
            words = self._split_plain(self._texts.joined(block, " "))
            # A tokenizer that changes words either drops some or splits some, but never both.
            if len(words) == len(block) and (not self._parts or self._parts.isdisjoint(map(str.lower, words))):
                self._add_counted(block, words, np.ones(len(block), np.int64))
            else:
                others.append(block)
        for block in chain.from_iterable(map(_blocks, others)):
            self._split_joined(block, self._texts.joined(block, f" {MARK} "))
        inside = {k: _as_inside(self._texts[k], self._texts.kinds[k]) for k in ends.tolist()}
        for block in _blocks(np.array([k for k in inside if inside[k]], np.int64)):
            self._split_joined(block, "".join(f"{inside[k]} {MARK} " for k in block.tolist()))
        self._split_alone(np.array([k for k in inside if not inside[k]], np.int64))

    def _split_joined(self, chunks: Integers, joined: str) -> None:
        """Split joined chunks, each followed by the mark."""
        words = self._split(f"{MARK} {joined}")
        if words.count(MARK) == len(chunks) + 1:
            self._marked_tokens += words[1:]
            self._marked_chunks.append(chunks)
        else:  # a chunk contains the mark
            self._split_alone(chunks)

    def _split_alone(self, chunks: Integers) -> None:
        """Split each chunk by itself, at its place in the text."""
        rows = []
        for k in chunks.tolist():
            before = "" if self._texts.kinds[k] & FIRST else f"{MARK} "
            after = "" if self._texts.kinds[k] & LAST else f" {MARK}"
            words = self._split(f"{before}{self._texts[k]}{after}")
            rows.append(words[bool(before) : len(words) - bool(after)])
        self._count(chunks, rows)

    def _count(self, chunks: Integers, rows: Sequence[Sequence[str]]) -> None:
        self._add_counted(chunks, chain.from_iterable(rows), np.array([*map(len, rows)], np.int64))

    def _add_counted(self, chunks: Integers, words: Iterable[str], counts: Integers) -> None:
        self._counted_tokens += words
        self._counted_chunks.append(chunks)
        self._counts.append(counts)


def _blocks(chunks: Integers) -> Iterator[Integers]:
    return (chunks[start : start + JOINED] for start in range(0, len(chunks), JOINED))


def _as_inside(chunk: str, kind: int) -> str:
    """Return a chunk that gives the same tokens inside a text as this one at an end, or "" if that is uncertain."""
    simple = kind == LAST and chunk[-1] == "." and chunk[-2:-1] not in {"", "."}
    return f"{chunk[:-1]} ." if simple else ""  # treebank: a full stop that ends the text is a token


def _lowering(split: Split) -> Split:
    return lambda text: split(text.lower())
