import json

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tasks.dataset.kernels.json_members import LIST, OBJECT, VERBATIM
from tasks.dataset.kernels.lists import blank, parts, printed_lists
from tests.dataset.kernels.texts import ALPHABET, SPACES, cut, laid

TEXTS = st.text(ALPHABET, max_size=6)


@given(st.lists(TEXTS | st.text(SPACES, max_size=4), max_size=5))
@example(
    [chr(code) for code in (*range(0x300), *range(0x1600, 0x1700), *range(0x1F00, 0x2100), *range(0x2F00, 0x3100))]
)
def test_blank_is_what_strip_leaves_nothing_of(texts):
    assert blank(*laid(texts)).tolist() == [not text.strip() for text in texts]


@given(
    st.lists(st.tuples(st.lists(TEXTS, max_size=3), st.booleans()), max_size=4),
    st.sampled_from(["", "/", "é", ", ", "aa"]),
)
@example([([" /a//b "], True), (["/"], True), ([""], True)], "/")
def test_texts_are_divided_and_what_is_blank_is_left_out(lists, separator):
    given_lists = [(texts[:1] if is_text else texts, is_text and texts != []) for texts, is_text in lists]
    counts = np.array([len(texts) for texts, _ in given_lists], np.int64)
    is_text = np.array([is_text for _, is_text in given_lists], np.bool_)
    data, offsets = laid([text for texts, _ in given_lists for text in texts])
    signs = np.frombuffer(separator.encode(), np.uint8)

    kept, is_long, firsts, lasts = parts(data, offsets, counts, is_text, signs, 5)

    expected = [
        [part for text in texts for part in (_parts(text, separator) if is_one else [text]) if part.strip()]
        for texts, is_one in given_lists
    ]
    assert kept.tolist() == [len(each) for each in expected]
    assert cut(data, firsts, lasts) == [part for each in expected for part in each]
    assert is_long.tolist() == [any(len(text.encode()) > 5 for text in texts) for texts, _ in given_lists]


def _parts(text, separator):
    return [part.strip() for part in text.split(separator)] if separator else [text]


@given(st.lists(st.text('ab"\\é 😀', max_size=4) | st.none(), max_size=4), st.sampled_from(["", " ", "\n\t"]))
def test_a_list_of_strings_is_seen(strings, space):
    text = json.dumps(strings, ensure_ascii=False, separators=(f"{space},{space}", ":")) + space
    has_string = any(string is not None for string in strings)

    assert printed_lists(*laid([text])).tolist() == [LIST if has_string else OBJECT]


@pytest.mark.parametrize(
    "text",
    [
        "[", "[]", "[ ]", "[null]", "[1]", '["a", 1]', "['a']", '["a"', '["a",]', '["a" "b"]', '["a"]x', ' ["a"]',
        '["a\n"]', '["a',
        '["\\', '["\\u00e9"]', '["a",nul]', '["a"] null', "\u3000[x]", "[sic]", '["a"}',
    ],
)  # fmt: skip
def test_other_texts_with_a_bracket_are_neither(text):
    assert printed_lists(*laid(["a", text, ""])).tolist() == [VERBATIM, OBJECT, VERBATIM]
