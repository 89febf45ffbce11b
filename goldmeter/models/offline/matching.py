"""Kernels that find a reference in a response: whole, in part, misspelt, as initials, or by three letters in a row."""

import numpy as np
from numpy.typing import NDArray

from goldmeter.models.offline import feature_names
from goldmeter.models.offline.lexicon import CAPITAL, KNOWN, NUMBER, STOP, UPPER
from goldmeter.text.kernels import Floats, Ids, Integers, compiled

Codes = NDArray[np.uint32]
Hashes = NDArray[np.uint64]

# Base of the polynomial hash of a word's letters (FNV-1's prime): the hash of joined words follows from their hashes.
BASE = np.uint64(1_099_511_628_211)
# Words of a reference that are compared in sequence; later ones are ignored.
LONGEST_RUN = 64
# Letters. Longer words are not searched for typing errors.
LONGEST_WORD = 32


@compiled
def hashed(codes: Codes, offsets: Integers) -> tuple[Hashes, Hashes]:
    """Return the hash of each word's letters, and the base to the power of their number; shape (t,) each."""
    hashes, powers = np.zeros(len(offsets) - 1, np.uint64), np.ones(len(offsets) - 1, np.uint64)
    for word in range(len(offsets) - 1):
        for code in codes[offsets[word] : offsets[word + 1]]:
            hashes[word] = hashes[word] * BASE + np.uint64(code + 1)
            powers[word] *= BASE
    return hashes, powers


@compiled
def find(
    types: Ids, hashes: Hashes, powers: Hashes, lengths: Integers, text: Integers, reference: Integers, start: int
) -> tuple[int, int]:
    """Return begin and end of the first words from `start` whose joined letters equal the reference's, or -1, -1."""
    wanted, size = np.uint64(0), 0
    for i in range(reference[0], reference[1]):
        wanted = wanted * powers[types[i]] + hashes[types[i]]
        size += lengths[types[i]]
    if size == 0:
        return -1, -1
    for begin in range(start, text[1]):
        joined, length, end = np.uint64(0), 0, begin
        while end < text[1] and length < size:
            joined = joined * powers[types[end]] + hashes[types[end]]
            length += lengths[types[end]]
            end += 1
        if length == size and joined == wanted:
            return begin, end
    return -1, -1


@compiled
def longest_run(types: Ids, stems: Ids, text: Integers, reference: Integers) -> tuple[int, int, int]:
    """Return length, begin and end in the text of the longest common sequence of words, compared by stem."""
    best, begin = 0, -1
    last = min(reference[1], reference[0] + LONGEST_RUN)
    for i in range(text[0], text[1]):
        for j in range(reference[0], last):
            if last - j <= best:
                break
            k = 0
            while j + k < last and i + k < text[1] and stems[types[i + k]] == stems[types[j + k]]:
                k += 1
            if k > best:
                best, begin = k, i
    return best, begin, begin + best


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
def closest(
    types: Ids, flags: Ids, codes: Codes, offsets: Integers, text: Integers, word: int
) -> tuple[float, bool, int]:
    """Return how well a word of the text matches the one at `word` (0 to 1), whether both are known, and where."""
    a = codes[offsets[types[word]] : offsets[types[word] + 1]]
    size = len(a)
    best, known, place = 0.0, False, -1
    if size < 4 or size > LONGEST_WORD:  # noqa: PLR2004  # a letter more or less makes another short word
        return best, known, place
    limit = 1 if size < 7 else 2  # noqa: PLR2004
    for i in range(text[0], text[1]):
        if flags[i] & (NUMBER | STOP):
            continue
        b = codes[offsets[types[i]] : offsets[types[i] + 1]]
        if len(b) < 4 or len(b) > LONGEST_WORD or abs(len(b) - size) > 6:  # noqa: PLR2004
            continue
        common = 0
        while common < min(size, len(b)) and a[common] == b[common]:
            common += 1
        both = bool(flags[i] & KNOWN and flags[word] & KNOWN)
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
def initials(
    types: Ids, flags: Ids, codes: Codes, offsets: Integers, text: Integers, reference: Integers
) -> tuple[int, int]:
    """Return begin and end of words of the text whose initials are the reference, or the reverse; or -1, -1."""
    if reference[1] - reference[0] == 1:
        word = reference[0]
        if not flags[word] & UPPER:
            return -1, -1
        for begin in range(text[0], text[1]):
            end = _spelt(types, flags, codes, offsets, begin, text[1], types[word], CAPITAL | STOP)
            if end > 0:
                return begin, end
        return -1, -1
    for i in range(text[0], text[1]):
        if (
            flags[i] & UPPER
            and _spelt(types, flags, codes, offsets, reference[0], reference[1], types[i], 0) == reference[1]
        ):
            return i, i + 1
    return -1, -1


@compiled
def acronym(types: Ids, flags: Ids, codes: Codes, offsets: Integers, text: Integers, reference: Integers) -> bool:
    """Return whether a word of one text in capitals is the initials of some words of the other."""
    return _spelt_anywhere(types, flags, codes, offsets, text, reference) or _spelt_anywhere(
        types, flags, codes, offsets, reference, text
    )


@compiled
def _spelt_anywhere(types: Ids, flags: Ids, codes: Codes, offsets: Integers, short: Integers, long: Integers) -> bool:
    for i in range(short[0], short[1]):
        if flags[i] & UPPER and not flags[i] & NUMBER:
            for begin in range(long[0], long[1]):
                if _spelt(types, flags, codes, offsets, begin, long[1], types[i], 0) > 0:
                    return True
    return False


@compiled
def abbreviated(
    types: Ids, flags: Ids, stems: Ids, codes: Codes, offsets: Integers, text: Integers, reference: Integers
) -> tuple[int, int]:
    """Return begin and end of the reference in the text, with its first words shortened or expanded; or -1, -1."""
    for end in range(text[0] + 2, text[1] + 1):
        same = 0
        while (
            same < min(end - text[0], reference[1] - reference[0]) - 1
            and stems[types[end - 1 - same]] == stems[types[reference[1] - 1 - same]]
        ):
            same += 1
        if same == 0:
            continue
        short, rest = end - 1 - same, reference[1] - same
        if rest - reference[0] == 1 and _prefix(types, codes, offsets, short, reference[0]):
            return short, end
        if _initialled(types, flags, codes, offsets, short, reference[0], rest):
            return short, end
        if rest - reference[0] == 1:
            for begin in range(max(text[0], short - 3), short + 1):
                if _initialled(types, flags, codes, offsets, reference[0], begin, short + 1):
                    return begin, end
    return -1, -1


@compiled
def _prefix(types: Ids, codes: Codes, offsets: Integers, i: int, j: int) -> bool:
    """Return whether one of the words is a prefix of the other, of at least three letters."""
    a = codes[offsets[types[i]] : offsets[types[i] + 1]]
    b = codes[offsets[types[j]] : offsets[types[j] + 1]]
    size = min(len(a), len(b))
    if size < 3:  # noqa: PLR2004
        return False
    return bool((a[:size] == b[:size]).all())


@compiled
def _initialled(types: Ids, flags: Ids, codes: Codes, offsets: Integers, short: int, first: int, last: int) -> bool:
    """Return whether the word at `short` consists of initials of the words from first to last, from the first on."""
    letters = codes[offsets[types[short]] : offsets[types[short] + 1]]
    if not 1 <= len(letters) <= last - first or not flags[short] & (UPPER if len(letters) > 1 else CAPITAL):
        return False
    for k in range(len(letters)):
        if flags[first + k] & NUMBER or codes[offsets[types[first + k]]] != letters[k]:
            return False
    return True


@compiled
def _spelt(
    types: Ids, flags: Ids, codes: Codes, offsets: Integers, begin: int, end: int, short: int, wanted: int
) -> int:
    """Return the end of words whose initials are the letters of `short`, skipping stop words where necessary; or -1.

    wanted: classes of which each such word must have one; 0 for none.
    """
    letters = codes[offsets[short] : offsets[short + 1]]
    if len(letters) < 2 or len(letters) > 8:  # noqa: PLR2004
        return -1
    found, i = 0, begin
    while i < end and found < len(letters):
        letter = codes[offsets[types[i]]] if not flags[i] & NUMBER and offsets[types[i] + 1] > offsets[types[i]] else 0
        if letter == letters[found] and (not wanted or flags[i] & wanted):
            found += 1
        elif found == 0 or not flags[i] & STOP:
            return -1
        i += 1
    return i if found == len(letters) else -1


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
