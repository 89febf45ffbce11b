from collections import Counter

from hypothesis import example, given
from hypothesis import strategies as st

from tasks.text.kernels.overlap import overlaps
from tests.text.kernels.ragged import arrays, pairs, random_rows

ROWS = random_rows(4, st.integers(0, 12), most=6)


@given(ROWS)
@example([])
@example([([0, 1], []), ([], [[0]]), ([0], [[]])])
def test_tokens_in_common_are_the_intersection_of_multisets(rows):
    ids, texts, references, owners = arrays(rows)

    common = overlaps(ids, texts, references, owners, 4)

    assert common.tolist() == [(Counter(text) & Counter(reference)).total() for text, reference in pairs(rows)]


def test_a_token_counts_as_often_as_both_texts_have_it():
    ids, texts, references, owners = arrays([([7, 7, 7, 2], [[7, 2, 7], [7, 7, 7, 7], [3]])])

    assert overlaps(ids, texts, references, owners, 8).tolist() == [3, 3, 0]
