from itertools import product

import numpy as np
import pyarrow as pa
import pytest

from goldmeter.text.columns import distinct, equal, utf8

TEXTS = ["", "é", None, "東京", "a", "e\u0301"]
KINDS = [pa.string(), pa.large_string()]


@pytest.mark.parametrize(("kind", "other"), product(KINDS, KINDS))
@pytest.mark.parametrize(("start", "length"), [(0, 6), (2, 3), (6, 0)])
def test_texts_are_equal_as_pythons(kind, other, start, length):
    kept = slice(start, start + length)
    references = [text or "" for text in TEXTS for _ in TEXTS[kept]]
    rows = np.tile(np.arange(length), len(TEXTS))

    flags = equal(pa.array(TEXTS, kind).slice(start, length), pa.array(["x", *references], other).slice(1), rows)

    assert flags.dtype == np.bool_
    assert flags.tolist() == [(TEXTS[kept][row] or "") == text for row, text in zip(rows, references, strict=True)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("texts", [[], [None], [""], ["a", None], ["a", "é"]])
def test_a_kernel_never_gets_arrays_of_texts_that_it_could_write_to_and_always_ids_that_it_could(kind, texts):
    array = pa.array(texts, kind)

    for columns in ([array], [array, array], [array.slice(1)], [distinct(array)[0]]):
        data, offsets = utf8(*columns)
        assert (data.dtype, data.flags.writeable) == (np.uint8, False)
        assert (offsets.dtype, offsets.flags.writeable) == (np.int64, False)
        assert distinct(*columns)[1].flags.writeable
