from collections import defaultdict

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from tasks.text.kernels.alignment import alignments
from tests.text.kernels.ragged import arrays, long_rows, pairs, random_rows

VOCABULARY = 8
ROWS = random_rows(VOCABULARY, st.integers(0, 12), most=5) | long_rows(VOCABULARY, [0, 1, 5, 40])
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


@given(ROWS, NUMBERS | st.just(THEMSELVES), NUMBERS | st.just(THEMSELVES), SYNONYMS)
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
