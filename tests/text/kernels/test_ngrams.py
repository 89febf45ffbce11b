from collections import Counter
from functools import reduce
from operator import or_

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from tasks.text.kernels.ngrams import clipped_matches
from tests.text.kernels.ragged import arrays, long_rows, random_rows

SHORT = random_rows(3, st.integers(0, 12), most=6)
LONG = long_rows(20, [0, 1, 5, 100, 300])
ORDERS = st.integers(1, 6) | st.just(15)  # also beyond the length of any short text


def ngrams(text, order):
    return Counter(tuple(text[i : i + order]) for i in range(len(text) - order + 1))


def matches_by_counting(text, references, max_order):
    orders = range(1, max_order + 1)
    most = [reduce(or_, (ngrams(reference, order) for reference in references), Counter()) for order in orders]
    return [(ngrams(text, order) & most[order - 1]).total() for order in orders]


@given(SHORT | LONG, ORDERS)
@example([], 4)
@example([([0, 1], []), ([], [[0]]), ([0], [[]]), ([], [])], 4)
def test_matches_with_pooled_references_are_clipped_by_the_largest_count(rows, max_order):
    ids, texts, references, _ = arrays(rows)
    offsets = np.cumsum([0, *(len(each) for _, each in rows)])

    matches = clipped_matches(ids, texts, references, np.arange(len(rows)), offsets[:-1], offsets[1:], max_order)

    assert matches.shape == (len(rows), max_order)
    assert matches.tolist() == [matches_by_counting(text, each, max_order) for text, each in rows]


@given(SHORT | LONG, ORDERS)
def test_matches_with_each_reference_alone(rows, max_order):
    ids, texts, references, owners = arrays(rows)
    each = np.arange(len(owners))

    matches = clipped_matches(ids, texts, references, owners, each, each + 1, max_order)

    assert matches.tolist() == [
        matches_by_counting(text, [reference], max_order) for text, each in rows for reference in each
    ]


def test_ids_may_be_as_large_as_they_come():
    large = 2**31 - 1
    ids, texts, references, _ = arrays([([large, 0, large, 0], [[0, large, 0], [large, large]])])

    matches = clipped_matches(ids, texts, references, np.arange(1), np.array([0]), np.array([2]), 3)

    assert matches.tolist() == [[4, 2, 1]]


def test_an_ngram_does_not_reach_into_the_next_reference():
    ids, texts, references, _ = arrays([([0, 1, 2, 3], [[0, 1], [2, 3]])])

    matches = clipped_matches(ids, texts, references, np.arange(1), np.array([0]), np.array([2]), 4)

    assert matches.tolist() == [[4, 2, 0, 0]]
