import re
from itertools import product

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tasks.text.kernels.chunks import FIRST, INSIDE, LAST, cut, cut_ends

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
