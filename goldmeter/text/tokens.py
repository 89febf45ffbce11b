"""Texts as token ids: chunks between blanks are numbered, and each distinct chunk is tokenised once."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from goldmeter.text.columns import distinct
from goldmeter.text.tokenizers import Cut, Tokenizer
from goldmeter.text.words import Words

Split = Callable[[str], list[str]]
Integers = NDArray[np.int64]
FIRST, LAST = 1, 2  # kinds of chunks: goldmeter.text.kernels.pieces
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
        from goldmeter.text.kernels.pieces import expand  # importing numba takes half a second

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
        from goldmeter.text.kernels.pieces import join

        after = np.frombuffer(separator.encode(), np.uint8)
        return join(self.data, self.starts[chunks], self.stops[chunks], after).tobytes().decode()


def chunked(data: NDArray[np.uint8], offsets: Integers, cut: Cut) -> Chunked:
    """Split texts, given as by `utf8`, into numbered chunks; the cut "ends" distinguishes kinds of chunks.

    Each distinct text is split once.
    """
    from goldmeter.text.kernels import pieces as kernel  # importing numba takes half a second
    from goldmeter.text.kernels.numbering import number

    which, texts = Words(data, offsets[:-1].copy(), offsets[1:].copy()).numbered()
    if cut == "ends":
        chunks = kernel.cut_ends(data, texts.starts, texts.stops)
    else:
        chunks = kernel.cut(data, texts.starts, texts.stops, cut == "stops")
    numbers, firsts = number(data, chunks.starts, chunks.stops, chunks.kinds)
    return Chunked(
        Ragged(numbers, chunks.begins).take(which),
        data,
        chunks.starts[firsts],
        chunks.stops[firsts],
        chunks.kinds[firsts],
    )


def tokens(texts: Chunked, tokenizer: Tokenizer, *, lowercase: bool) -> tuple[Ragged, Words]:
    """Return the token ids of the texts, and the vocabulary: the token of each id."""
    from goldmeter.text.kernels.pieces import expand

    plain, counts = _by_rule(texts, tokenizer, lowercase=lowercase)
    others = _Splitting(texts, tokenizer, lowercase=lowercase)
    # Together, because patterns are faster on ASCII.
    chunks, others_counts = others.split([np.flatnonzero(counts == -1), np.flatnonzero(counts < -1)])
    lengths = np.maximum(counts, 0)
    starts = np.cumsum(lengths) - lengths
    starts[chunks], lengths[chunks] = len(plain) + np.cumsum(others_counts) - others_counts, others_counts
    ids, vocabulary = plain.followed_by(Words.of(others.tokens)).numbered()
    return Ragged(*expand(texts.texts.ids, texts.texts.offsets, ids, starts, lengths)), vocabulary


def _by_rule(texts: Chunked, tokenizer: Tokenizer, *, lowercase: bool) -> tuple[Words, Integers]:
    """Return the tokens of the chunks that the tokenizer's rule covers, and each chunk's number of them.

    It is -1 for other chunks of visible ASCII, -2 for the rest.
    """
    if tokenizer.rule is None:
        return Words.of([]), np.full(len(texts), -1, np.int64)
    from goldmeter.text.kernels.splitting import RULES, split

    lower = lowercase or tokenizer.lowers
    data, ends, counts = split(
        texts.data, texts.starts, texts.stops, texts.kinds, RULES[tokenizer.rule], lower, tokenizer.keeps_articles
    )
    return Words(data, np.concatenate([np.zeros(1, np.int64), ends])[:-1], ends), counts


def ngram_counts(lengths: Integers, max_order: int) -> Integers:
    """Return the number of n-grams of each order in texts of these lengths; shape (len(lengths), max_order).

    >>> ngram_counts(np.array([5, 2]), 4)
    array([[5, 4, 3, 2],
           [2, 1, 0, 0]])
    """
    counts: Integers = np.maximum(lengths[:, None] - np.arange(max_order), 0)
    return counts


class _Splitting:
    """Splits chunks into tokens by the tokenizer's function, most of them by the thousand, with the mark after each."""

    def __init__(self, texts: Chunked, tokenizer: Tokenizer, *, lowercase: bool) -> None:
        self._texts = texts
        self._joins = tokenizer.joins
        self._split = _lowering(tokenizer.split) if lowercase else tokenizer.split
        self.tokens: list[str] = []
        self._chunks: list[Integers] = [np.zeros(0, np.int64)]
        self._counts: list[Integers] = [np.zeros(0, np.int64)]

    def split(self, sorts: Iterable[Integers]) -> tuple[Integers, Integers]:
        """Add the chunks' tokens to `tokens`; return the chunks in the order of these, and their numbers of tokens."""
        for chunks in sorts:
            if self._joins:
                self._split_most(chunks)
            else:
                self._count(chunks, [self._split(self._texts[k]) for k in chunks.tolist()])
        return np.concatenate(self._chunks), np.concatenate(self._counts)

    def _split_most(self, chunks: Integers) -> None:
        ends = self._texts.kinds[chunks] > 0
        for block in _blocks(chunks[~ends]):
            self._split_joined(block, self._texts.joined(block, f" {MARK} "))
        inside = {k: _as_inside(self._texts[k], self._texts.kinds[k]) for k in chunks[ends].tolist()}
        for block in _blocks(np.array([k for k in inside if inside[k]], np.int64)):
            self._split_joined(block, "".join(f"{inside[k]} {MARK} " for k in block.tolist()))
        self._split_alone(np.array([k for k in inside if not inside[k]], np.int64))

    def _split_joined(self, chunks: Integers, joined: str) -> None:
        """Split joined chunks, each followed by the mark."""
        words = self._split(f"{MARK} {joined}")
        if words.count(MARK) == len(chunks) + 1:
            marks = np.flatnonzero(np.fromiter(map(MARK.__eq__, words), np.bool_, len(words)))
            self._add(chunks, filter(MARK.__ne__, words), np.diff(marks) - 1)
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
        self._add(chunks, chain.from_iterable(rows), np.array([*map(len, rows)], np.int64))

    def _add(self, chunks: Integers, words: Iterable[str], counts: Integers) -> None:
        self.tokens += words
        self._chunks.append(chunks)
        self._counts.append(counts)


def _blocks(chunks: Integers) -> Iterator[Integers]:
    return (chunks[start : start + JOINED] for start in range(0, len(chunks), JOINED))


def _as_inside(chunk: str, kind: int) -> str:
    """Return a chunk that gives the same tokens inside a text as this one at an end, or "" if that is uncertain."""
    simple = kind == LAST and chunk[-1] == "." and chunk[-2:-1] not in {"", "."}
    return f"{chunk[:-1]} ." if simple else ""  # treebank: a full stop that ends the text is a token


def _lowering(split: Split) -> Split:
    return lambda text: split(text.lower())


_BLANKS = np.array([code for code in range(0x10000) if chr(code).isspace()], np.int32)
_LAST_BLANK = int(_BLANKS[-1])
_IS_BLANK = np.isin(np.arange(_LAST_BLANK + 2), _BLANKS)


def code_points(*texts: pa.Array, blanks: bool) -> Ragged:
    """Return the code points of all texts, one array after another; a null is an empty text.

    Args:
        *texts: Arrays of strings.
        blanks: White space counts as characters.

    >>> code_points(pa.array(["a b", None]), blanks=False).ids.tolist()
    [97, 98]
    """
    unique, which = distinct(*texts)
    codes = np.frombuffer("".join(unique.to_pylist()).encode("utf-32-le"), np.int32)
    ends = np.cumsum(pc.utf8_length(unique).to_numpy(zero_copy_only=False), dtype=np.int64)
    offsets = np.concatenate([np.zeros(1, np.int64), ends])
    visible = Ragged(codes.copy(), offsets) if blanks else _without_blanks(codes, offsets)
    return visible.take(which)


def _without_blanks(codes: NDArray[np.int32], offsets: NDArray[np.int64]) -> Ragged:
    kept = ~_IS_BLANK[np.minimum(codes, _LAST_BLANK + 1)]
    before = np.concatenate([np.zeros(1, np.int64), np.cumsum(kept, dtype=np.int64)])
    return Ragged(codes[kept], before[offsets])
