import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tasks.dataset.kernels.canonical_json import canonical
from tasks.dataset.mapping import CANONICAL_JSON
from tests.dataset.kernels.texts import cut, laid

TEXTS = st.text('ab"\\/é東😀\x7f\u2028' + "".join(map(chr, range(33))), max_size=8)


@given(st.lists(st.tuples(TEXTS | st.none(), st.lists(TEXTS, max_size=3)), max_size=4))
def test_it_is_the_encoder_s(rows):
    is_null = np.array([text is None for text, _ in rows], np.bool_)
    counts = np.array([len(items) for _, items in rows], np.int64)

    data, offsets = canonical(
        *laid([text or "" for text, _ in rows]), is_null, *laid([item for _, items in rows for item in items]), counts
    )

    assert cut(data, offsets[:-1], offsets[1:]) == [CANONICAL_JSON.encode([text, items]) for text, items in rows]
