"""Sequences of three letters that a reference shares with the words of a response."""

import numpy as np

from tasks.models.offline import feature_names
from tasks.models.offline.matching import Codes
from tasks.text.kernels import Floats, Ids, Integers, compiled

# Letters of a reference, words of a response and of the window on it that are compared; more are ignored.
LETTERS, WORDS, WINDOW = 48, 256, 12
# Beyond Unicode: stands for the begin and the end of a word.
EDGE = 0x1FFFFF


@compiled
def compare_trigrams(
    types: Ids, codes: Codes, letters: Integers, text: Integers, reference: Integers, row: Floats
) -> None:
    """Write the largest share of the reference's trigrams in as many words of the text, and their Jaccard similarity.

    A word of n letters has n trigrams, with its edges; a trigram that occurs twice counts twice.
    """
    wanted = np.empty(LETTERS, np.uint64)
    count = 0
    for j in range(reference[0], reference[1]):
        first, last = letters[types[j]], letters[types[j] + 1]
        for k in range(first, last):
            if count < LETTERS:
                wanted[count] = _trigram(codes, first, last, k)
                count += 1
    if count == 0:
        return
    size = min(max(reference[1] - reference[0], 1) + 1, WINDOW)
    common, own = np.zeros(WORDS, np.int64), np.zeros(WORDS, np.int64)
    recall = jaccard = 0.0
    words = min(text[1] - text[0], WORDS)
    for i in range(words):
        word = types[text[0] + i]
        first, last = letters[word], letters[word + 1]
        own[i] = min(last - first, LETTERS)
        for k in range(first, first + own[i]):
            found = _trigram(codes, first, last, k)
            for j in range(count):
                if wanted[j] == found:
                    common[i] += 1
                    break
        shared = total = 0
        for k in range(i, max(i - size, -1), -1):
            shared, total = shared + common[k], total + own[k]
            hit = min(shared, count)
            recall = max(recall, hit / count)
            jaccard = max(jaccard, hit / max(total + count - hit, 1))
    row[feature_names.TRIGRAM_RECALL], row[feature_names.TRIGRAM_JACCARD] = recall, jaccard


@compiled
def _trigram(codes: Codes, first: int, last: int, k: int) -> np.uint64:
    before = codes[k - 1] if k > first else EDGE
    after = codes[k + 1] if k + 1 < last else EDGE
    joined: np.uint64 = (np.uint64(before) << np.uint64(42)) | (np.uint64(codes[k]) << np.uint64(21)) | np.uint64(after)
    return joined
