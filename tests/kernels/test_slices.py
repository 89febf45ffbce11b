import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from tasks.kernels.slices import contained, equal

TEXTS = st.lists(st.text("abé", max_size=6), min_size=1, max_size=5)


def arrays(texts, references):
    """What the kernels take: the bytes of both, their offsets, and for each reference a text, one after another."""
    data = [text.encode() for text in (*texts, *references)]
    offsets = np.cumsum([0, *map(len, data)])
    rows = np.arange(len(references)) % len(texts)
    return np.frombuffer(b"".join(data) or b"", np.uint8), offsets[: len(texts) + 1], offsets[len(texts) :], rows


@given(TEXTS, TEXTS)
@example(["", "a"], ["", ""])
@example(["é"], ["e", "é", "\u00a9"])
def test_equal_is_python_s(texts, references):
    *given_arrays, rows = arrays(texts, references)

    assert equal(*given_arrays, rows).tolist() == [texts[i] == text for i, text in zip(rows, references, strict=True)]


@given(TEXTS, TEXTS, st.integers(0, 8))
@example(["", "ab", "aab"], ["", "abc", "ab"], 8)
def test_contained_is_python_s_up_to_a_length(texts, references, longest):
    *given_arrays, rows = arrays(texts, references)

    assert contained(*given_arrays, rows, longest).tolist() == [
        text in texts[i] and len(text.encode()) <= longest for i, text in zip(rows, references, strict=True)
    ]
