import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from tasks.text.kernels.slices import contained

TEXTS = st.lists(st.text("abé", max_size=6), min_size=1, max_size=5)


def arrays(texts, references):
    """What the kernels take: the bytes of both, their offsets, and for each reference a text, one after another."""
    sides = [[text.encode() for text in side] for side in (texts, references)]
    buffers = [(np.frombuffer(b"".join(data), np.uint8), np.cumsum([0, *map(len, data)])) for data in sides]
    return *buffers[0], *buffers[1], np.arange(len(references)) % len(texts)


@given(TEXTS, TEXTS, st.integers(0, 8))
@example(["", "ab", "aab"], ["", "abc", "ab"], 8)
def test_contained_is_python_s_up_to_a_length(texts, references, longest):
    *given_arrays, rows = arrays(texts, references)

    assert contained(*given_arrays, rows, longest).tolist() == [
        text in texts[i] and len(text.encode()) <= longest for i, text in zip(rows, references, strict=True)
    ]
