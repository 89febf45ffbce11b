import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from tasks.text.kernels.edits import edits

TEXTS = st.lists(st.text("abcé東🙂", max_size=8) | st.text("ab", min_size=55, max_size=75), min_size=1, max_size=5)


def covered(text):
    return text.isascii() and 1 <= len(text) <= 64


@given(TEXTS, TEXTS)
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
