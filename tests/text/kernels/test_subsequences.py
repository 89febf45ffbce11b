import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from tasks.text.kernels.subsequences import _positions, common_subsequences
from tests.text.kernels.ragged import arrays, long_rows, pairs, random_rows

SHORT = random_rows(3, st.integers(0, 12), most=6)
LENGTHS = [0, 1, 63, 64, 65, 127, 128, 129, 200]
LONG = long_rows(2, LENGTHS) | long_rows(100, LENGTHS)


def longest_common_subsequence(text, reference):
    """The textbook's table, row by row."""
    above = [0] * (len(reference) + 1)
    for token in text:
        here = [0]
        for j, other in enumerate(reference):
            here.append(above[j] + 1 if token == other else max(above[j + 1], here[j]))
        above = here
    return above[-1]


@given(SHORT | LONG)
@example([])
@example([([0, 1], []), ([], [[0]]), ([0], [[]])])
@example([([0] * 200, [[0] * 130, [0] * 64, [1] * 64 + [0]])])
@example([([1] * 64 + [0] * 65, [([1] * 64 + [0] * 65)[::-1], [0, 1] * 70])])
@example([([0] + [2] * 200, [[0] + [1] * 150 + [0]])])  # a carry through a word that has nothing to add
def test_lengths_are_those_of_the_textbooks_table(rows):
    ids, texts, references, owners = arrays(rows)

    lengths = common_subsequences(ids, texts, references, owners, 100)

    assert lengths.tolist() == [longest_common_subsequence(text, reference) for text, reference in pairs(rows)]


@given(st.integers(1, 400))
def test_a_text_is_its_own_longest_subsequence(length):
    text = list(range(length))
    ids, texts, references, owners = arrays([(text, [text, text[::2], text[::-1]])])

    assert common_subsequences(ids, texts, references, owners, length).tolist() == [length, (length + 1) // 2, 1]


def test_order_counts_and_adjacency_does_not():
    ids, texts, references, owners = arrays([([0, 1, 2, 3], [[0, 2, 3], [0, 9, 1, 9, 3], [3, 2, 1, 0]])])

    assert common_subsequences(ids, texts, references, owners, 10).tolist() == [3, 3, 1]


def test_there_is_a_row_of_positions_for_each_distinct_token():
    numbers, stamps = np.zeros(3, np.int64), np.full(3, -1, np.int64)

    positions = _positions(np.array([2, 0, 2] * 30, np.int32), 0, numbers, stamps)

    assert positions.shape == (2, 2)
    assert [sum(int(word).bit_count() for word in row) for row in positions] == [60, 30]
