"""Kernels of summaries and of translations: what they find is what a slow and obvious implementation finds."""

from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from rouge_score import rouge_scorer
from sacrebleu.metrics.lib_ter import translation_edit_rate

from goldmeter.text.kernels.fragments import union_subsequences
from goldmeter.text.kernels.shifts import translation_edits

WORDS = st.lists(st.integers(0, 4), max_size=12)
LONG = st.lists(st.integers(0, 9), max_size=150)


@given(st.lists(WORDS, max_size=4), st.lists(WORDS | LONG, max_size=4))
def test_the_union_of_common_subsequences_is_that_of_rouge_score(
    text: list[list[int]], reference: list[list[int]]
) -> None:
    lines = [*text, *reference]
    ids = np.array([token for line in lines for token in line], np.int32)
    ends = np.cumsum([0, *map(len, lines)])
    texts, references = np.array([0, len(text)]), np.array([len(text), len(lines)])

    [found] = union_subsequences(ids, ends, texts, references, np.array([0]), 10)

    assert found == hits(reference, text)


def hits(reference: list[list[int]], text: list[list[int]]) -> int:
    """The hits of rouge-score's `_summary_level_lcs`."""
    left = [Counter(token for line in side for token in line) for side in (text, reference)]
    count = 0
    for line in reference:
        for token in rouge_scorer._union_lcs(line, text):
            if all(side[token] > 0 for side in left):
                count += 1
                for side in left:
                    side[token] -= 1
    return count


@settings(max_examples=60)
@given(WORDS | LONG, WORDS | LONG)
def test_translation_edits_are_those_of_sacrebleu(text: list[int], reference: list[int]) -> None:
    ids = np.array([*text, *reference], np.int32)
    ends = np.array([0, len(text), len(ids)])

    [found] = translation_edits(ids, ends[:2], ends[1:], np.array([0]))

    expected, length = translation_edit_rate([*map(str, text)], [*map(str, reference)])
    assert found == (expected if length else len(text))


def test_a_text_far_longer_than_its_reference_and_the_other_way_round() -> None:
    short, long = [7], list(range(400))
    for text, reference in ((short, long), (long, short)):
        ids = np.array([*text, *reference], np.int32)
        ends = np.array([0, len(text), len(ids)])

        [found] = translation_edits(ids, ends[:2], ends[1:], np.array([0]))

        assert found == translation_edit_rate([*map(str, text)], [*map(str, reference)])[0]
