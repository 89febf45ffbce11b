"""Kernels on sequences of token ids: what they find is what a slow and obvious implementation finds."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import reduce
from operator import or_
from typing import NamedTuple

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from goldmeter.text.kernels.sequences import alignments, clipped_matches, common_subsequences, overlaps, positions

# ragged


Text = list[int]
Row = tuple[Text, list[Text]]


class Arrays(NamedTuple):
    """Text i is `ids[texts[i]:texts[i + 1]]`; reference j, of row `rows[j]`, `ids[references[j]:references[j + 1]]`."""

    ids: NDArray[np.int32]
    texts: NDArray[np.int64]
    references: NDArray[np.int64]
    rows: NDArray[np.int64]


def arrays(rows: list[Row]) -> Arrays:
    """The texts of all rows, then the references of all rows, in one array."""
    n, counts = len(rows), [len(references) for _, references in rows]
    each = [text for text, _ in rows] + [reference for _, reference in pairs(rows)]
    offsets = np.cumsum([0, *map(len, each)])
    ids = np.array([token for text in each for token in text], np.int32)
    return Arrays(ids, offsets[: n + 1], offsets[n:], np.repeat(np.arange(n), np.array(counts, np.int64)))


def pairs(rows: list[Row]) -> Iterator[tuple[Text, Text]]:
    """Each reference, after its row's text."""
    return ((text, reference) for text, references in rows for reference in references)


def random_rows(vocabulary: int, lengths: st.SearchStrategy[int], most: int) -> st.SearchStrategy[list[Row]]:
    """Up to that many rows with up to three references; few words, so that they repeat; texts may be empty."""
    token = st.integers(0, vocabulary - 1)
    text = lengths.flatmap(lambda length: st.lists(token, min_size=length, max_size=length))
    return st.lists(st.tuples(text, st.lists(text, max_size=3)), max_size=most)


def long_rows(vocabulary: int, lengths: list[int]) -> st.SearchStrategy[list[Row]]:
    """Rows with texts of these lengths, drawn from a seed: too long for lists of drawn tokens."""

    def drawn(seed: int, sizes: list[tuple[int, list[int]]]) -> list[Row]:
        integers = np.random.default_rng(seed).integers
        texts = {size: integers(vocabulary, size=(9, size)).tolist() for size in lengths}
        return [(texts[size].pop(), [texts[each].pop() for each in references]) for size, references in sizes]

    length = st.sampled_from(lengths)
    sizes = st.lists(st.tuples(length, st.lists(length, max_size=2)), max_size=3)
    return st.builds(drawn, st.integers(0, 2**32), sizes)


# ngrams


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


ROWS = random_rows(4, st.integers(0, 12), most=6)


@given(ROWS)
@example([])
@example([([0, 1], []), ([], [[0]]), ([0], [[]])])
def test_tokens_in_common_are_the_intersection_of_multisets(rows):
    ids, texts, references, owners = arrays(rows)

    common = overlaps(ids, texts, references, owners, 4)

    assert common.tolist() == [(Counter(text) & Counter(reference)).total() for text, reference in pairs(rows)]


SHORT_OF_SUBSEQUENCES = random_rows(3, st.integers(0, 12), most=6)
LENGTHS = [0, 1, 63, 64, 65, 127, 128, 129, 200]
LONG_OF_SUBSEQUENCES = long_rows(2, LENGTHS) | long_rows(100, LENGTHS)


def longest_common_subsequence(text, reference):
    """The textbook's table, row by row."""
    above = [0] * (len(reference) + 1)
    for token in text:
        here = [0]
        for j, other in enumerate(reference):
            here.append(above[j] + 1 if token == other else max(above[j + 1], here[j]))
        above = here
    return above[-1]


@given(SHORT_OF_SUBSEQUENCES | LONG_OF_SUBSEQUENCES)
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

    places = positions(np.array([2, 0, 2] * 30, np.int32), 0, numbers, stamps)

    assert places.shape == (2, 2)
    assert [sum(int(word).bit_count() for word in row) for row in places] == [60, 30]


# alignment


VOCABULARY = 8
ROWS_OF_ALIGNMENT = random_rows(VOCABULARY, st.integers(0, 12), most=5) | long_rows(VOCABULARY, [0, 1, 5, 40])
NUMBERS = st.lists(st.integers(0, VOCABULARY - 1), min_size=VOCABULARY, max_size=VOCABULARY)
SYNONYMS = st.lists(st.sets(st.integers(0, VOCABULARY - 1), max_size=3), min_size=VOCABULARY, max_size=VOCABULARY)
THEMSELVES = list(range(VOCABULARY))
NONE = [set() for _ in range(VOCABULARY)]


def aligned(rows, forms, stems, synonyms):
    """Matches and chunks of every pair."""
    offsets = np.cumsum([0, *map(len, synonyms)])
    related = np.array([stem for each in synonyms for stem in sorted(each)], np.int32)
    return alignments(*arrays(rows), np.array(forms, np.int32), np.array(stems, np.int32), offsets, related).tolist()


def align(text, reference, forms, stems, synonyms):
    """Positions in the text → positions in the reference, stage by stage as NLTK does it."""
    matched, free = {}, set(range(len(reference)))
    for stage in (forms, stems):
        positions = free_positions([stage[token] for token in reference], free)
        for i in unmatched(text, matched):
            if positions[stage[text[i]]]:
                matched[i] = positions[stage[text[i]]].pop()
        free -= set(matched.values())
    positions = free_positions([stems[token] for token in reference], free)
    for i in unmatched(text, matched):
        places = [positions[stem] for stem in synonyms[stems[text[i]]] if positions[stem]]
        if places:
            matched[i] = max(places, key=lambda place: place[-1]).pop()
    return matched


def free_positions(reference, free):
    """Where each word still free stands, in ascending order."""
    positions = defaultdict(list)
    for j in sorted(free):
        positions[reference[j]].append(j)
    return positions


def unmatched(text, matched):
    """The positions without a match, from the last to the first."""
    return [i for i in reversed(range(len(text))) if i not in matched]


def counts(matched):
    """Matches, and runs of them that are adjacent and in order on both sides."""
    return [len(matched), sum(matched.get(i - 1, -2) != j - 1 for i, j in matched.items())]


@given(ROWS_OF_ALIGNMENT, NUMBERS | st.just(THEMSELVES), NUMBERS | st.just(THEMSELVES), SYNONYMS)
@example([], THEMSELVES, THEMSELVES, NONE)
@example([([0, 1], []), ([], [[0]]), ([0], [[]])], THEMSELVES, THEMSELVES, NONE)
def test_matches_and_chunks_are_nltks(rows, forms, stems, synonyms):
    found = aligned(rows, forms, stems, synonyms)

    assert found == [counts(align(*pair, forms, stems, synonyms)) for pair in pairs(rows)]


def test_words_match_by_form_before_stem_and_by_stem_before_synonym():
    forms, stems = [0, 1, 2, 3], [0, 0, 1, 2]  # 0 and 1 have one stem; a synonym of 2 is 3's stem
    synonyms = [set(), {2}, set(), set()]

    assert aligned([([0], [[1, 0]]), ([0], [[1]]), ([2], [[3]]), ([3], [[2]])], forms, stems, synonyms) == [
        [1, 1],
        [1, 1],
        [1, 1],
        [0, 0],
    ]


def test_of_several_synonyms_the_last_free_one_is_matched():
    synonyms = [{1, 2}, *NONE[1:]]

    assert aligned([([3, 0], [[3, 1, 2], [3, 2, 1], [3, 2, 4]])], THEMSELVES, THEMSELVES, synonyms) == [
        [2, 2],
        [2, 2],
        [2, 1],
    ]


def test_words_are_matched_from_the_end_backwards():
    assert aligned([([0, 1, 0], [[0, 1, 0, 2, 0]])], THEMSELVES, THEMSELVES, NONE) == [[3, 3]]


def test_matches_in_another_order_are_chunks_of_their_own():
    rows = [([0, 1, 2], [[0, 1, 2], [1, 2, 0], [2, 1, 0], [0, 3, 1, 2]])]

    assert aligned(rows, THEMSELVES, THEMSELVES, NONE) == [[3, 1], [3, 2], [3, 3], [3, 2]]
