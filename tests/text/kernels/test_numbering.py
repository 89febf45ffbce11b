import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from tasks.text.kernels.numbering import _FEWEST_SLOTS, find, number, table

LONG = b"eight by"
BYTES = st.sampled_from([b"", b"a", b"ab", b"\xc3\xa9", b"\0", b"\0\0", LONG, LONG + b"t", LONG * 2, LONG * 2 + b"e"])
BYTES |= st.binary(max_size=20)
SLICES = st.lists(st.tuples(BYTES, st.integers(0, 3)))


def numbered(slices):
    """Numbers and firsts of (bytes, kind)."""
    stops = np.cumsum([len(content) for content, _ in slices], dtype=np.int64)
    starts = stops - np.array([len(content) for content, _ in slices], np.int64)
    data = np.frombuffer(b"".join(content for content, _ in slices), np.uint8)
    numbers, firsts = number(data, starts, stops, np.array([kind for _, kind in slices], np.uint8))
    assert numbers.dtype == np.int32
    return numbers.tolist(), firsts.tolist()


def numbered_by_a_dict(slices):
    numbers = {}
    found = [numbers.setdefault(each, len(numbers)) for each in slices]
    return found, [slices.index(each) for each in numbers]


@given(SLICES)
@example([])
@example([(b"1234567\0", 0), (b"1234567\x10", 1), (b"1234567\0", 1), (b"123456\0", 0), (b"123456", 0)])
@example([(b"a", 0), (b"a", 1), (b"", 0), (b"", 2), (b"a", 0), (b"", 2)])
def test_equal_bytes_of_one_kind_have_one_number(slices):
    assert numbered(slices) == numbered_by_a_dict(slices)


@given(st.sets(BYTES), st.lists(BYTES))
def test_slices_are_found_in_a_table_of_others(known, slices):
    words = sorted(known)

    numbers = find(table(*joined(words)), *joined(slices))

    assert numbers.dtype == np.int32
    assert numbers.tolist() == [words.index(each) if each in known else -1 for each in slices]


def joined(slices):
    return np.frombuffer(b"".join(slices), np.uint8), np.cumsum([0, *map(len, slices)])


def test_tables_grow_with_what_is_known():
    generator = np.random.default_rng(3)
    words = [str(each).encode() for each in generator.integers(0, 30_000, 60_000)]
    slices = [(word, place % 2) for place, word in enumerate(words)]

    numbers, firsts = numbered(slices)

    known = {}
    assert numbers == [known.setdefault(each, len(known)) for each in slices]
    assert len(firsts) == len(known) > 4 * _FEWEST_SLOTS
    assert [slices[first] for first in firsts] == list(known)
    assert firsts == sorted(firsts)


def test_slices_may_overlap_and_leave_bytes_out():
    data = np.frombuffer(b"abcabc", np.uint8)
    starts, stops = np.array([0, 3, 1, 4, 0]), np.array([2, 5, 3, 6, 6])

    numbers, firsts = number(data, starts, stops, np.zeros(5, np.uint8))

    assert numbers.tolist() == [0, 0, 1, 1, 2]
    assert firsts.tolist() == [0, 2, 4]
