import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tasks.text.kernels.expansion import expand

PARTS = st.lists(st.lists(st.integers(0, 9), max_size=4), min_size=1, max_size=5)


def flat(rows):
    return np.array([each for row in rows for each in row], np.int32), np.cumsum([0, *map(len, rows)])


@given(st.data())
def test_each_number_is_replaced_by_its_part(data):
    parts = data.draw(PARTS)
    rows = data.draw(st.lists(st.lists(st.integers(0, len(parts) - 1), max_size=6), max_size=6))
    order = data.draw(st.permutations(range(len(parts))))  # parts may stand in any order
    lengths = np.array([len(part) for part in parts])
    starts = np.zeros(len(parts), np.int64)
    starts[order] = np.cumsum(lengths[order]) - lengths[order]
    laid_out, _ = flat([parts[k] for k in order])

    ids, offsets = expand(*flat(rows), laid_out, starts, lengths)

    expected_ids, expected_offsets = flat([[each for k in row for each in parts[k]] for row in rows])
    assert ids.dtype == np.int32
    assert ids.tolist() == expected_ids.tolist()
    assert offsets.tolist() == expected_offsets.tolist()


def test_no_rows_have_one_offset():
    nothing = np.zeros(0, np.int64)

    ids, offsets = expand(np.zeros(0, np.int32), np.zeros(1, np.int64), np.zeros(0, np.int32), nothing, nothing)

    assert (ids.tolist(), offsets.tolist()) == ([], [0])


def test_a_part_may_be_empty_and_stand_twice():
    numbers, offsets = flat([[0, 1], [1], [2, 0, 2]])
    parts, starts, lengths = np.array([7, 8, 9], np.int32), np.array([0, 2, 2]), np.array([2, 0, 1])

    ids, expanded = expand(numbers, offsets, parts, starts, lengths)

    assert ids.tolist() == [7, 8, 9, 7, 8, 9]
    assert expanded.tolist() == [0, 2, 2, 6]
