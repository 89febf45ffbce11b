import json

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tasks.dataset.kernels.json_members import ESCAPED, LIST, NULL, OBJECT, VERBATIM
from tasks.dataset.kernels.json_texts import items, unescaped
from tests.dataset.kernels.texts import cut, laid

TEXTS = st.text('ab"\\/é東😀\n\t\x00\x1f\x7f\u2028', max_size=5)


def kinds_of(values):
    return np.array(values, np.uint8)


@given(st.lists(st.tuples(TEXTS, st.booleans()), max_size=5))
def test_escapes_mean_what_json_says(texts):
    inner = [json.dumps(text, ensure_ascii=is_ascii)[1:-1] for text, is_ascii in texts]
    data, offsets = laid(inner)
    kinds = kinds_of([ESCAPED if "\\" in text else VERBATIM for text in inner])

    content, ends, is_odd = unescaped(data, kinds, offsets[:-1], offsets[1:])

    assert cut(content, ends[:-1], ends[1:]) == [text for text, _ in texts]
    assert not is_odd.any()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r"\/\b\f\n\r\t\"\\", '/\b\f\n\r\t"\\'), (r"\u0041\u00e9\u6771\uD83D\uDE00", "Aé東😀"), (r"\u0000", "\0"),
        (r"\ud83d", None), (r"\ude00", None), (r"\ud83dx", None), (r"\ud83d\u0041", None), (r"\ud83d\ud83d\ude00",
        None),
        (r"x\ud83d\n", None),
    ],
)  # fmt: skip
def test_half_of_a_surrogate_pair_is_odd(text, expected):
    data, offsets = laid(["a", text, "b"])

    content, ends, is_odd = unescaped(data, kinds_of([VERBATIM, ESCAPED, VERBATIM]), offsets[:-1], offsets[1:])

    assert is_odd.tolist() == [False, expected is None, False]
    texts = cut(content, ends[:-1], ends[1:])
    assert (texts[0], texts[2]) == ("a", "b")
    assert expected is None or texts[1] == expected


def test_what_is_no_text_is_odd_and_null_is_empty():
    data, offsets = laid(["null", "[1]", "{}"])

    content, ends, is_odd = unescaped(data, kinds_of([NULL, LIST, OBJECT]), offsets[:-1], offsets[1:])

    assert (len(content), ends.tolist(), is_odd.tolist()) == (0, [0, 0, 0, 0], [False, True, True])


@given(st.lists(st.lists(TEXTS | st.none() | st.integers() | st.booleans(), max_size=4), max_size=3), st.booleans())
@example([[], [""], [None], ["", ""]], False)
def test_items_of_lists(lists, has_space):
    separators = (" , ", ":") if has_space else (",", ":")
    data, offsets = laid([json.dumps(each, separators=separators) for each in lists])

    counts, is_odd, kinds, firsts, lasts = items(data, kinds_of([LIST] * len(lists)), offsets[:-1], offsets[1:])
    content, ends, _ = unescaped(data, kinds, firsts, lasts)

    assert counts.tolist() == [len(each) - each.count(None) for each in lists]
    assert cut(content, ends[:-1], ends[1:]) == [
        item if isinstance(item, str) else json.dumps(item) for each in lists for item in each if item is not None
    ]
    assert not is_odd.any()


@pytest.mark.parametrize("text", ["[[]]", "[1,[2]]", '[{"a":1}]', '["a", {}]'])
def test_nested_lists_are_odd(text):
    data, offsets = laid(["x", text, "[1]"])

    counts, is_odd, *_ = items(data, kinds_of([VERBATIM, LIST, LIST]), offsets[:-1], offsets[1:])

    assert (counts.tolist(), is_odd.tolist()) == ([1, 0, 1], [False, True, False])
