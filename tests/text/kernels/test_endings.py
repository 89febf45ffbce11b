import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from tasks.text.kernels.endings import replaced
from tasks.text.words import Words

TEXTS = st.text("abs", max_size=4)


@given(st.lists(st.tuples(TEXTS, st.booleans()), min_size=1), st.lists(st.tuples(TEXTS, TEXTS)))
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
