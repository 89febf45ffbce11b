"""Kernels that find a reference in a response: whole, misspelt, as initials, or by three letters in a row."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from goldmeter.models.offline.lexicon import CAPITAL, KNOWN, NUMBER, STOP, UPPER
from goldmeter.text.kernels import Floats, Ids, Integers, compiled

Codes = NDArray[np.uint32]
Hashes = NDArray[np.uint64]

# Base of the polynomial hash of a word's letters (FNV-1's prime): the hash of joined words follows from their hashes.
BASE = np.uint64(1_099_511_628_211)
# Letters. Longer words are not searched for typing errors.
LONGEST_WORD = 32


class Corpus(NamedTuple):
    """w words of all texts, of t types.

    Attributes:
        types: Shape (w,), int32.
        flags: Classes of the lexicon, shape (w,), int32.
        values: NaN if the word is no number, shape (w,).
        stems: Shape (w,), int32.
        codes: Letters of the types, uint32.
        letters: Type i has the letters from `letters[i]` to `letters[i + 1]`, shape (t + 1,).
        hashes: Hash of each type's letters, shape (t,).
        powers: `BASE` to the power of their number, shape (t,).
    """

    types: Ids
    flags: Ids
    values: Floats
    stems: Ids
    codes: Codes
    letters: Integers
    hashes: Hashes
    powers: Hashes


@compiled
def hashed(codes: Codes, offsets: Integers) -> tuple[Hashes, Hashes]:
    """Return `hashes` and `powers` of `Corpus`."""
    hashes, powers = np.zeros(len(offsets) - 1, np.uint64), np.ones(len(offsets) - 1, np.uint64)
    for word in range(len(offsets) - 1):
        for code in codes[offsets[word] : offsets[word + 1]]:
            hashes[word] = hashes[word] * BASE + np.uint64(code + 1)
            powers[word] *= BASE
    return hashes, powers


@compiled
def _letters(words: Corpus, word: int) -> Codes:
    return words.codes[words.letters[words.types[word]] : words.letters[words.types[word] + 1]]


@compiled
def _size(words: Corpus, word: int) -> int:
    size: int = words.letters[words.types[word] + 1] - words.letters[words.types[word]]
    return size


@compiled
def find(words: Corpus, text: Integers, reference: Integers) -> tuple[int, int]:
    """Return begin and end of the first words whose joined letters equal the reference's, or -1, -1."""
    wanted, size = np.uint64(0), 0
    for i in range(reference[0], reference[1]):
        wanted = wanted * words.powers[words.types[i]] + words.hashes[words.types[i]]
        size += _size(words, i)
    if size == 0:
        return -1, -1
    for begin in range(text[0], text[1]):
        joined, length, end = np.uint64(0), 0, begin
        while end < text[1] and length < size:
            joined = joined * words.powers[words.types[end]] + words.hashes[words.types[end]]
            length += _size(words, end)
            end += 1
        if length == size and joined == wanted:
            return begin, end
    return -1, -1


@compiled
def distance(a: Codes, b: Codes, limit: int) -> int:
    """Return the insertions, deletions, substitutions and swaps of neighbours from a to b, at most limit + 1.

    Source: Damerau 1964 (optimal string alignment).
    """
    if abs(len(a) - len(b)) > limit:
        return limit + 1
    older, old, new = np.zeros(len(b) + 1, np.int64), np.arange(len(b) + 1), np.zeros(len(b) + 1, np.int64)
    for i in range(len(a)):
        new[0], least = i + 1, i + 1
        for j in range(len(b)):
            change = old[j] + (a[i] != b[j])
            cost = min(change, old[j + 1] + 1, new[j] + 1)
            if i > 0 and j > 0 and a[i] == b[j - 1] and a[i - 1] == b[j]:
                cost = min(cost, older[j - 1] + 1)
            new[j + 1] = cost
            least = min(least, cost)
        if least > limit:
            return limit + 1
        older, old, new = old, new, older
    changes: int = min(old[len(b)], limit + 1)
    return changes


@compiled
def closest(words: Corpus, text: Integers, word: int) -> tuple[float, bool, int]:
    """Return how well a word of the text matches the one at `word` (0 to 1), whether both are known, and where."""
    a = _letters(words, word)
    size = len(a)
    best, known, place = 0.0, False, -1
    if size < 4 or size > LONGEST_WORD:  # noqa: PLR2004  # a letter more or less makes another short word
        return best, known, place
    limit = 1 if size < 7 else 2  # noqa: PLR2004
    for i in range(text[0], text[1]):
        length = _size(words, i)
        is_like = 4 <= length <= LONGEST_WORD and abs(length - size) <= 6  # noqa: PLR2004
        if words.flags[i] & (NUMBER | STOP) or not is_like:
            continue
        b = _letters(words, i)
        common = 0
        while common < min(size, len(b)) and a[common] == b[common]:
            common += 1
        both = bool(words.flags[i] & KNOWN and words.flags[word] & KNOWN)
        score = 0.0
        changes = distance(a, b, 2)
        if both and changes <= 2 and common < min(size, len(b)):  # noqa: PLR2004
            score = 0.2
        elif not both and changes <= (limit if common > 0 else 1):
            score = 0.95 - 0.05 * changes
        elif common >= 4 and common >= 0.55 * max(size, len(b)):  # noqa: PLR2004
            score = 0.5
        if score > best:
            best, known, place = score, score < 0.5, i  # noqa: PLR2004
    return best, known, place


@compiled
def initials(words: Corpus, text: Integers, reference: Integers) -> tuple[int, int]:
    """Return begin and end of words of the text whose initials are the reference, or the reverse; or -1, -1."""
    if reference[1] - reference[0] == 1:
        for begin in range(text[0], text[1]):
            end = _spelt(words, begin, text[1], reference[0], CAPITAL | STOP)
            if end > 0:
                return begin, end
        return -1, -1
    for i in range(text[0], text[1]):
        if _spelt(words, reference[0], reference[1], i, 0) == reference[1]:
            return i, i + 1
    return -1, -1


@compiled
def _spelt(words: Corpus, begin: int, end: int, short: int, wanted: int) -> int:
    """Return the end of words whose initials are the capitals at `short`, stop words aside; or -1.

    wanted: classes of which each such word must have one; 0 for none.
    """
    if not words.flags[short] & UPPER or not 2 <= _size(words, short) <= 8:  # noqa: PLR2004
        return -1
    letters = _letters(words, short)
    found, i = 0, begin
    while i < end and found < len(letters):
        first = _letters(words, i)[:1]
        is_initial = len(first) > 0 and first[0] == letters[found] and not words.flags[i] & NUMBER
        if is_initial and (not wanted or words.flags[i] & wanted):
            found += 1
        elif found == 0 or not words.flags[i] & STOP:
            return -1
        i += 1
    return i if found == len(letters) else -1


# Letters of a reference, words of a response and of the window on it that are compared; more are ignored.
LETTERS, WORDS, WINDOW = 48, 256, 12
# Beyond Unicode: stands for the begin and the end of a word.
EDGE = 0x1FFFFF


@compiled
def trigram_recall(words: Corpus, text: Integers, reference: Integers) -> float:
    """Return the largest share of the reference's trigrams in as many words of the text and one more.

    A word of n letters has n trigrams, with its edges; a trigram that occurs twice counts twice.
    """
    wanted = np.empty(LETTERS, np.uint64)
    count = 0
    for j in range(reference[0], reference[1]):
        letters = _letters(words, j)
        for k in range(min(len(letters), LETTERS - count)):
            wanted[count] = _trigram(letters, k)
            count += 1
    size = min(max(reference[1] - reference[0], 1) + 1, WINDOW)
    common, most = np.zeros(WORDS, np.int64), 0
    for i in range(min(text[1] - text[0], WORDS)):
        letters = _letters(words, text[0] + i)
        for k in range(min(len(letters), LETTERS)):
            found = _trigram(letters, k)
            for j in range(count):
                if wanted[j] == found:
                    common[i] += 1
                    break
        most = max(most, common[max(i - size + 1, 0) : i + 1].sum())
    return min(most, count) / max(count, 1)


@compiled
def _trigram(letters: Codes, k: int) -> np.uint64:
    before = letters[k - 1] if k > 0 else EDGE
    after = letters[k + 1] if k + 1 < len(letters) else EDGE
    joined: np.uint64 = (
        (np.uint64(before) << np.uint64(42)) | (np.uint64(letters[k]) << np.uint64(21)) | np.uint64(after)
    )
    return joined
