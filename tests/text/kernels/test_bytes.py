"""Kernels on the bytes of texts: what they find is what Python finds."""

import re
from itertools import product

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from goldmeter.text.kernels.numbering import _FEWEST_SLOTS, find, number, table
from goldmeter.text.kernels.pieces import FIRST, INSIDE, LAST, contained, cut, cut_ends, expand
from goldmeter.text.kernels.sequences import edits
from goldmeter.text.kernels.stems import replaced
from goldmeter.text.words import Words

# chunks


PIECES = st.sampled_from([" ", "  ", "a", "bc", ".", "'", '"', ")", "]", "»", "é", "\n", "\x1f", "\u3000", "?"])
TEXTS = st.lists(st.text(max_size=6) | st.lists(PIECES, max_size=8).map("".join), max_size=6)
QUOTES_AND_STOPS = b"\"'."
CLOSING = frozenset(b"])}>\"' \t\n\r\v\f\x1c\x1d\x1e\x1f") | frozenset(range(0x80, 0x100))  # some marks are not ASCII


def chunks(texts, kernel, *arguments):
    """(chunk, kind) of every text."""
    data = [text.encode() for text in texts]
    whole, offsets = b"".join(data), np.cumsum([0, *map(len, data)])
    cuts = kernel(np.frombuffer(whole, np.uint8), offsets[:-1].copy(), offsets[1:].copy(), *arguments)
    starts, stops, kinds, begins = (each.tolist() for each in cuts)
    found = [(whole[start:stop].decode(), kind) for start, stop, kind in zip(starts, stops, kinds, strict=True)]
    assert len(begins) == len(texts) + 1
    return [found[begins[i] : begins[i + 1]] for i in range(len(texts))]


def chunks_with_ends(text):
    """What the docstring of `cut` says."""
    data = text.encode()
    spans = [match.span() for match in re.finditer(rb"[^ ]+", data)]
    tail = tail_of(data, spans)
    kinds = [FIRST if start == 0 and data[0] in QUOTES_AND_STOPS else INSIDE for start, _ in spans]
    if tail is not None:
        spans[tail:], kinds[tail:] = [(spans[tail][0], len(data))], [kinds[tail] + LAST]
    return [(data[start:stop].decode(), kind) for (start, stop), kind in zip(spans, kinds, strict=True)]


def tail_of(data, spans):
    """Which chunk is LAST, if one is; in a text of closing marks only, the first, if no blank is before it."""
    more = [k for k, (start, stop) in enumerate(spans) if not CLOSING.issuperset(data[start:stop])]
    if not more and not data[:1].strip(b" "):
        return None
    tail = more[-1] if more else 0
    return tail if b"." in data[spans[tail][0] :] or data.endswith(b"'") else None


@given(TEXTS)
@example([])
@example(["", " ", "  a  ", "\xa0 b"])
def test_chunks_are_what_stands_between_blanks(texts):
    expected = [[(piece, INSIDE) for piece in text.split(" ") if piece] for text in texts]

    assert chunks(texts, cut, False) == expected


@given(TEXTS)
@example([])
def test_ends_are_kept_apart_as_described(texts):
    assert chunks(texts, cut_ends) == list(map(chunks_with_ends, texts))


def test_ends_of_every_short_text_are_kept_apart_as_described():
    texts = ["".join(text) for length in range(6) for text in product("a .'\"»)", repeat=length)]

    assert chunks(texts, cut_ends) == list(map(chunks_with_ends, texts))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("it is.", [("it", INSIDE), ("is.", LAST)]),
        ('"it is', [('"it', FIRST), ("is", INSIDE)]),
        ('it "is', [("it", INSIDE), ('"is', INSIDE)]),
        (".", [(".", FIRST + LAST)]),
        ("the end. ) » ", [("the", INSIDE), ("end. ) » ", LAST)]),
        ("the end )", [("the", INSIDE), ("end", INSIDE), (")", INSIDE)]),
        ("the dogs'", [("the", INSIDE), ("dogs'", LAST)]),
        ("the dogs' ", [("the", INSIDE), ("dogs'", INSIDE)]),
        ("a. b", [("a.", INSIDE), ("b", INSIDE)]),
        ("a.b c", [("a.b", INSIDE), ("c", INSIDE)]),
        ("'a' 'b'", [("'a'", FIRST), ("'b'", LAST)]),
    ],
)
def test_the_ends_of_one_text(text, expected):
    assert chunks([text], cut_ends) == [expected]


def test_bytes_outside_the_offsets_are_not_read():
    data = np.frombuffer(b"x. a b. y.", np.uint8)

    found = cut_ends(data, np.array([3, 5]), np.array([5, 7]))

    assert found.starts.tolist() == [3, 5]
    assert found.stops.tolist() == [4, 7]
    assert found.kinds.tolist() == [INSIDE, LAST]
    assert found.begins.tolist() == [0, 1, 2]


@given(TEXTS)
@example(["a.", "1, 2. b.c é. a., .", ",.", "a,  b", "", "(x). y..", "Z,"])
def test_a_stop_after_a_letter_or_digit_is_peeled_off(texts):
    assert chunks(texts, cut, True) == [
        [
            (piece, INSIDE)
            for chunk in text.split(" ")
            if chunk
            for piece in re.split(r"(?<=[A-Za-z0-9])([.,])$(?!\n)", chunk)
            if piece
        ]
        for text in texts
    ]


# edits


TEXTS_OF_EDITS = st.lists(
    st.text("abcé東🙂", max_size=8) | st.text("ab", min_size=55, max_size=75), min_size=1, max_size=5
)


def covered(text):
    return text.isascii() and 1 <= len(text) <= 64


@given(TEXTS_OF_EDITS, TEXTS_OF_EDITS)
@example(["", "a", "ab" * 40, "é" * 70], ["", "é", "b" * 64, "b" * 65, "aé東🙂b"])
@example(["kitten", "ab" * 32], ["sitting", "ba" * 32, "x" + "ab" * 32])
def test_edits_are_rapidfuzz_s_where_one_text_is_short_and_ascii(texts, references):
    pairs = [(text, reference) for text in texts for reference in references]
    sides = [[each.encode() for each in side] for side in (texts, [reference for _, reference in pairs])]
    (data, offsets), (others, bounds) = (
        (np.frombuffer(b"".join(side), np.uint8), np.cumsum([0, *map(len, side)])) for side in sides
    )

    distances = edits(data, offsets, others, bounds, np.repeat(np.arange(len(texts)), len(references)))

    assert distances.tolist() == [Levenshtein.distance(*pair) if any(map(covered, pair)) else -1 for pair in pairs]


# endings


TEXTS_OF_ENDINGS = st.text("abs", max_size=4)


@given(
    st.lists(st.tuples(TEXTS_OF_ENDINGS, st.booleans()), min_size=1),
    st.lists(st.tuples(TEXTS_OF_ENDINGS, TEXTS_OF_ENDINGS)),
)
@example(
    [("cats", False), ("s", False), ("", False), ("boxes", True)], [("s", ""), ("es", "e"), ("", "x"), ("ts", "tty")]
)
def test_every_ending_of_a_word_is_replaced(texts, rules):
    words = Words.of([text for text, _ in texts])
    endings = Words.of([text for rule in rules for text in rule])
    bounds = np.concatenate([np.zeros(1, np.int64), endings.stops])

    data, ends, owners = replaced(
        words.data, words.starts, words.stops, np.array([skip for _, skip in texts]), endings.data, bounds
    )

    found = (
        [data[start:end].tobytes().decode() for start, end in zip([0, *ends[:-1]], ends, strict=True)]
        if len(ends)
        else []
    )
    assert list(zip(owners.tolist(), found, strict=True)) == [
        (i, text[: len(text) - len(old)] + new)
        for i, (text, skip) in enumerate(texts)
        for old, new in rules
        if not skip and text.endswith(old)
    ]


# expansion


PARTS = st.lists(st.lists(st.integers(0, 9), max_size=4), min_size=1, max_size=5)


def flat(rows):
    return np.array([each for row in rows for each in row], np.int32), np.cumsum([0, *map(len, rows)])


@given(st.data())
def test_each_number_is_replaced_by_its_part(data):
    parts = data.draw(PARTS)
    rows = data.draw(st.lists(st.lists(st.integers(0, len(parts) - 1), max_size=6), max_size=6))
    order = data.draw(st.permutations(range(len(parts))))  # parts may stand in any order
    lengths = np.array([len(part) for part in parts])
    starts = np.zeros(len(parts), np.int64)
    starts[order] = np.cumsum(lengths[order]) - lengths[order]
    laid_out, _ = flat([parts[k] for k in order])

    ids, offsets = expand(*flat(rows), laid_out, starts, lengths)

    expected_ids, expected_offsets = flat([[each for k in row for each in parts[k]] for row in rows])
    assert ids.dtype == np.int32
    assert ids.tolist() == expected_ids.tolist()
    assert offsets.tolist() == expected_offsets.tolist()


LONG = b"eight by"
BYTES = st.sampled_from([b"", b"a", b"ab", b"\xc3\xa9", b"\0", b"\0\0", LONG, LONG + b"t", LONG * 2, LONG * 2 + b"e"])
BYTES |= st.binary(max_size=20)
SLICES = st.lists(st.tuples(BYTES, st.integers(0, 3)))


def numbered(slices):
    """Numbers and firsts of (bytes, kind)."""
    stops = np.cumsum([len(content) for content, _ in slices], dtype=np.int64)
    starts = stops - np.array([len(content) for content, _ in slices], np.int64)
    data = np.frombuffer(b"".join(content for content, _ in slices), np.uint8)
    numbers, firsts = number(data, starts, stops, np.array([kind for _, kind in slices], np.uint8))
    assert numbers.dtype == np.int32
    return numbers.tolist(), firsts.tolist()


def numbered_by_a_dict(slices):
    numbers = {}
    found = [numbers.setdefault(each, len(numbers)) for each in slices]
    return found, [slices.index(each) for each in numbers]


@given(SLICES)
@example([])
@example([(b"1234567\0", 0), (b"1234567\x10", 1), (b"1234567\0", 1), (b"123456\0", 0), (b"123456", 0)])
@example([(b"a", 0), (b"a", 1), (b"", 0), (b"", 2), (b"a", 0), (b"", 2)])
def test_equal_bytes_of_one_kind_have_one_number(slices):
    assert numbered(slices) == numbered_by_a_dict(slices)


@given(st.sets(BYTES), st.lists(BYTES))
def test_slices_are_found_in_a_table_of_others(known, slices):
    words = sorted(known)

    numbers = find(table(*joined(words)), *joined(slices))

    assert numbers.dtype == np.int32
    assert numbers.tolist() == [words.index(each) if each in known else -1 for each in slices]


def joined(slices):
    return np.frombuffer(b"".join(slices), np.uint8), np.cumsum([0, *map(len, slices)])


def test_tables_grow_with_what_is_known():
    generator = np.random.default_rng(3)
    words = [str(each).encode() for each in generator.integers(0, 30_000, 60_000)]
    slices = [(word, place % 2) for place, word in enumerate(words)]

    numbers, firsts = numbered(slices)

    known = {}
    assert numbers == [known.setdefault(each, len(known)) for each in slices]
    assert len(firsts) == len(known) > 4 * _FEWEST_SLOTS
    assert [slices[first] for first in firsts] == list(known)
    assert firsts == sorted(firsts)


def test_slices_may_overlap_and_leave_bytes_out():
    data = np.frombuffer(b"abcabc", np.uint8)
    starts, stops = np.array([0, 3, 1, 4, 0]), np.array([2, 5, 3, 6, 6])

    numbers, firsts = number(data, starts, stops, np.zeros(5, np.uint8))

    assert numbers.tolist() == [0, 0, 1, 1, 2]
    assert firsts.tolist() == [0, 2, 4]


# slices


TEXTS_OF_SLICES = st.lists(st.text("abé", max_size=6), min_size=1, max_size=5)


def arrays(texts, references):
    """What the kernels take: the bytes of both, their offsets, and for each reference a text, one after another."""
    sides = [[text.encode() for text in side] for side in (texts, references)]
    buffers = [(np.frombuffer(b"".join(data), np.uint8), np.cumsum([0, *map(len, data)])) for data in sides]
    return *buffers[0], *buffers[1], np.arange(len(references)) % len(texts)


@given(TEXTS_OF_SLICES, TEXTS_OF_SLICES, st.integers(0, 8))
@example(["", "ab", "aab"], ["", "abc", "ab"], 8)
def test_contained_is_python_s_up_to_a_length(texts, references, longest):
    *given_arrays, rows = arrays(texts, references)

    assert contained(*given_arrays, rows, longest).tolist() == [
        text in texts[i] and len(text.encode()) <= longest for i, text in zip(rows, references, strict=True)
    ]
