"""Kernels of sequences: n-grams, overlaps, edit distances, longest common subsequences, and METEOR's alignment."""

from typing import NamedTuple

import numpy as np

from goldmeter.text.kernels import GOLDEN, Bytes, Flags, Ids, Integers, Words, compiled

_HALF = np.uint64(32)


class _Grams(NamedTuple):
    """A hash table of n-grams, all arrays by slot; a new stamp empties it.

    Attributes:
        keys: Key of the n-gram in the slot.
        stamps: The slot is in use if this is the current stamp.
        most: Largest count in any reference, less the matches so far.
        current: Count in the reference that was read last.
        reference: Index of that reference.
    """

    keys: Integers
    stamps: Integers
    most: Integers
    current: Integers
    reference: Integers


@compiled
def clipped_matches(
    ids: Ids, texts: Integers, references: Integers, rows: Integers, firsts: Integers, lasts: Integers, max_order: int
) -> Integers:
    """Return the n-grams of text `rows[k]` that references `firsts[k]:lasts[k]` contain; shape (len(rows), max_order).

    An n-gram counts at most as often as in the reference that contains it most. Text i is
    `ids[texts[i]:texts[i + 1]]`, reference j `ids[references[j]:references[j + 1]]`.

    The key of an n-gram is the slot of its prefix (the first n - 1 tokens) and its last token, so that each order only
    looks up n-grams whose prefix matched. Source: Papineni et al. 2002, section 2.1.
    """
    matches = np.zeros((len(rows), max_order), np.int64)
    longest = pooled = np.int64(1)
    for k in range(len(rows)):
        longest = max(longest, texts[rows[k] + 1] - texts[rows[k]])
        pooled = max(pooled, references[lasts[k]] - references[firsts[k]])
    slots = np.zeros((5, _capacity(pooled)), np.int64)
    grams = _Grams(slots[0], slots[1], slots[2], slots[3], slots[4])
    text_prefixes, reference_prefixes = np.empty(longest, np.int64), np.empty(pooled, np.int64)
    stamp = 0
    for k in range(len(rows)):
        text = ids[texts[rows[k]] : texts[rows[k] + 1]]
        pool = references[firsts[k]]
        mask = _capacity(references[lasts[k]] - pool) - 1
        text_prefixes[: len(text)] = 0
        reference_prefixes[: references[lasts[k]] - pool] = 0
        for order in range(min(max_order, len(text))):
            stamp += 1
            for j in range(firsts[k], lasts[k]):
                reference = ids[references[j] : references[j + 1]]
                _count(reference, order, j, reference_prefixes[references[j] - pool :], grams, stamp, mask)
            matches[k, order] = _match(text, order, text_prefixes, grams, stamp, mask)
            if matches[k, order] == 0:
                break
    return matches


@compiled
def _count(reference: Ids, order: int, j: int, prefixes: Integers, grams: _Grams, stamp: int, mask: int) -> None:
    """Count the n-grams of reference j; their slots become the next prefixes."""
    for i in range(len(reference) - order):
        key = prefixes[i] << 32 | np.int64(reference[i + order])
        slot = _slot(key, grams, stamp, mask)
        if grams.stamps[slot] != stamp:
            grams.keys[slot], grams.stamps[slot], grams.most[slot], grams.reference[slot] = key, stamp, 0, -1
        if grams.reference[slot] != j:
            grams.current[slot], grams.reference[slot] = 0, j
        grams.current[slot] += 1
        grams.most[slot] = max(grams.most[slot], grams.current[slot])
        prefixes[i] = slot


@compiled
def _match(text: Ids, order: int, prefixes: Integers, grams: _Grams, stamp: int, mask: int) -> int:
    """Return the matches of the text's n-grams; their slots become the next prefixes, -1 without a match."""
    matches = 0
    for i in range(len(text) - order):
        if prefixes[i] < 0:
            continue
        slot = _slot(prefixes[i] << 32 | np.int64(text[i + order]), grams, stamp, mask)
        prefixes[i] = slot if grams.stamps[slot] == stamp else -1
        if prefixes[i] >= 0 and grams.most[slot] > 0:
            grams.most[slot] -= 1
            matches += 1
    return matches


@compiled
def _slot(key: int, grams: _Grams, stamp: int, mask: int) -> int:
    """Return the slot of the n-gram, or the one where it would be inserted."""
    slot = np.int64((np.uint64(key) * GOLDEN) >> _HALF) & mask
    while grams.stamps[slot] == stamp and grams.keys[slot] != key:
        slot = (slot + 1) & mask
    return int(slot)


@compiled
def _capacity(length: np.int64) -> int:
    """Return a power of two, at least twice the length."""
    capacity = 2
    while capacity < 2 * length:
        capacity *= 2
    return capacity


@compiled
def overlaps(ids: Ids, texts: Integers, references: Integers, rows: Integers, vocabulary: int) -> Integers:
    """Return the number of common tokens of each reference and text `rows[j]`; shape (m,).

    Text i is `ids[texts[i]:texts[i + 1]]`, reference j `ids[references[j]:references[j + 1]]`; ids are from 0
    to vocabulary - 1.
    """
    common = np.zeros(len(rows), np.int64)
    left, stamps = np.zeros(vocabulary, np.int64), np.full(vocabulary, -1, np.int64)
    for j in range(len(rows)):
        for token in ids[references[j] : references[j + 1]]:
            if stamps[token] != j:
                stamps[token], left[token] = j, 0
            left[token] += 1
        for token in ids[texts[rows[j]] : texts[rows[j] + 1]]:
            if stamps[token] == j and left[token] > 0:
                left[token] -= 1
                common[j] += 1
    return common


_WORD = 64
_ASCII, _LAST_CONTINUATION = 0x7F, 0xBF
_ONE = np.uint64(1)


@compiled
def edits(data: Bytes, texts: Integers, others: Bytes, references: Integers, rows: Integers) -> Integers:
    """Return the Levenshtein distance of the characters of each reference and text `rows[j]`; shape (m,).

    Text i is `data[texts[i]:texts[i + 1]]`, reference j `others[references[j]:references[j + 1]]`, both UTF-8. It is -1
    where neither has from 1 to 64 characters, all of them ASCII.

    Source: Hyyrö 2003, "A bit-vector algorithm for computing Levenshtein and Damerau edit distances".
    """
    distances = np.full(len(rows), -1, np.int64)
    places = np.zeros(256, np.uint64)
    for j in range(len(rows)):
        text, reference = data[texts[rows[j]] : texts[rows[j] + 1]], others[references[j] : references[j + 1]]
        if _mark(reference, places):
            distances[j] = _distance(text, places, len(reference))
            places[reference] = 0
        elif _mark(text, places):
            distances[j] = _distance(reference, places, len(text))
            places[text] = 0
    return distances


@compiled
def _mark(pattern: Bytes, places: Words) -> bool:
    """Set the places of each character, as bits, unless the pattern is empty, long or not ASCII."""
    if not 0 < len(pattern) <= _WORD:
        return False
    for byte in pattern:
        if byte > _ASCII:
            return False
    for i in range(len(pattern)):
        places[pattern[i]] |= _ONE << np.uint64(i)
    return True


@compiled
def _distance(text: Bytes, places: Words, length: int) -> int:
    """Return the distance of the text from the pattern whose places are given; a later byte of a character is none."""
    distance = length
    last = np.uint64(length - 1)
    above, below = ~np.uint64(0), np.uint64(0)
    for byte in text:
        if _ASCII < byte <= _LAST_CONTINUATION:
            continue
        same = places[byte]
        diagonal = (((same & above) + above) ^ above) | same | below
        right, left = below | ~(diagonal | above), diagonal & above
        distance += int((right >> last) & _ONE) - int((left >> last) & _ONE)
        right = (right << _ONE) | _ONE
        above, below = (left << _ONE) | ~(diagonal | right), right & diagonal
    return distance


@compiled
def common_subsequences(ids: Ids, texts: Integers, references: Integers, rows: Integers, vocabulary: int) -> Integers:
    """Return the length of the longest common subsequence of each reference and text `rows[j]`; shape (m,).

    Text i is `ids[texts[i]:texts[i + 1]]`, reference j `ids[references[j]:references[j + 1]]`; ids are from 0
    to vocabulary - 1.

    Source: Hyyrö 2004, "Bit-parallel LCS-length computation revisited".
    """
    lengths = np.empty(len(rows), np.int64)
    numbers, stamps = np.zeros(vocabulary, np.int64), np.full(vocabulary, -1, np.int64)
    for j in range(len(rows)):
        short, long = ids[references[j] : references[j + 1]], ids[texts[rows[j]] : texts[rows[j] + 1]]
        if len(short) > len(long):
            short, long = long, short
        lengths[j] = _length(long, positions(short, j, numbers, stamps), j, numbers, stamps)
    return lengths


@compiled
def positions(text: Ids, stamp: int, numbers: Integers, stamps: Integers) -> Words:
    """Return bit sets of the positions of each distinct token, shape (tokens, words); its row is put into `numbers`."""
    distinct = 0
    for token in text:
        if stamps[token] != stamp:
            stamps[token], numbers[token] = stamp, distinct
            distinct += 1
    positions = np.zeros((distinct, (len(text) + _WORD - 1) // _WORD), np.uint64)
    for i in range(len(text)):
        positions[numbers[text[i]], i // _WORD] |= _ONE << np.uint64(i % _WORD)
    return positions


@compiled
def _length(text: Ids, positions: Words, stamp: int, numbers: Integers, stamps: Integers) -> int:
    """Return the number of bits that become 0, one for each token of the subsequence."""
    row = np.full(positions.shape[1], ~np.uint64(0), np.uint64)
    for token in text:
        if stamps[token] != stamp:
            continue
        carry: np.uint64 = np.uint64(0)
        for k in range(len(row)):
            matched = row[k] & positions[numbers[token], k]
            total = row[k] + matched
            carried = total + carry
            carry = np.uint64(total < matched or carried < carry)
            row[k] = carried | (row[k] - matched)
    return _ones(~row)


@compiled
def _ones(words: Words) -> int:
    """Return the number of set bits."""
    ones = 0
    for word in words:
        left = word
        while left != 0:
            left &= left - _ONE  # clears the lowest set bit
            ones += 1
    return ones


@compiled
def alignments(
    ids: Ids,
    texts: Integers,
    references: Integers,
    rows: Integers,
    forms: Ids,
    stems: Ids,
    offsets: Integers,
    synonyms: Ids,
) -> Integers:
    """Return the matched words, and their chunks, of each reference with text `rows[j]`; shape (m, 2).

    Text i is `ids[texts[i]:texts[i + 1]]`, reference j `ids[references[j]:references[j + 1]]`. forms, stems: the
    lower-case form and the stem of each id. Stem s has the synonyms `synonyms[offsets[s]:offsets[s + 1]]`.

    Each stage goes through the text from its end, and matches each word with the last free word that fits.
    Source: NLTK 3.10 `translate.meteor_score`.
    """
    counts = np.zeros((len(rows), 2), np.int64)
    partners, free = np.empty(_longest(texts), np.int64), np.empty(_longest(references), np.bool_)
    lasts, befores = np.full(len(forms), -1, np.int64), np.empty(len(free), np.int64)
    for j in range(len(rows)):
        text, reference = ids[texts[rows[j]] : texts[rows[j] + 1]], ids[references[j] : references[j + 1]]
        partners[: len(text)] = -1
        free[: len(reference)] = True
        matched = _match_equal(text, reference, forms, partners, free, lasts, befores)
        if matched < min(len(text), len(reference)):
            matched += _match_equal(text, reference, stems, partners, free, lasts, befores)
        if matched < min(len(text), len(reference)):
            matched += _match_related(text, reference, stems, offsets, synonyms, partners, free, lasts, befores)
        counts[j, 0], counts[j, 1] = matched, _chunks(partners[: len(text)])
    return counts


@compiled
def _match_equal(
    text: Ids, reference: Ids, forms: Ids, partners: Integers, free: Flags, lasts: Integers, befores: Integers
) -> int:
    """Match words of equal form; return their number."""
    matched = 0
    _list_free(reference, forms, free, lasts, befores)
    for i in range(len(text) - 1, -1, -1):
        form = forms[text[i]]
        if partners[i] < 0 and lasts[form] >= 0:
            _align(i, form, partners, free, lasts, befores)
            matched += 1
    _clear(reference, forms, lasts)
    return matched


@compiled
def _match_related(
    text: Ids,
    reference: Ids,
    stems: Ids,
    offsets: Integers,
    synonyms: Ids,
    partners: Integers,
    free: Flags,
    lasts: Integers,
    befores: Integers,
) -> int:
    """Match words with the last free word whose stem is one of their synonyms; return their number."""
    matched = 0
    _list_free(reference, stems, free, lasts, befores)
    for i in range(len(text) - 1, -1, -1):
        if partners[i] >= 0:
            continue
        stem, latest = stems[text[i]], np.int32(-1)
        for synonym in synonyms[offsets[stem] : offsets[stem + 1]]:
            if lasts[synonym] >= 0 and (latest < 0 or lasts[synonym] > lasts[latest]):
                latest = synonym
        if latest >= 0:
            _align(i, latest, partners, free, lasts, befores)
            matched += 1
    _clear(reference, stems, lasts)
    return matched


@compiled
def _list_free(reference: Ids, forms: Ids, free: Flags, lasts: Integers, befores: Integers) -> None:
    """List the free places of each form in the reference, linked from the last to the first."""
    for place in range(len(reference)):
        if free[place]:
            form = forms[reference[place]]
            befores[place], lasts[form] = lasts[form], place


@compiled
def _clear(reference: Ids, forms: Ids, lasts: Integers) -> None:
    for place in range(len(reference)):
        lasts[forms[reference[place]]] = -1


@compiled
def _align(i: int, form: np.int32, partners: Integers, free: Flags, lasts: Integers, befores: Integers) -> None:
    place = lasts[form]
    partners[i], free[place], lasts[form] = place, False, befores[place]


@compiled
def _chunks(partners: Integers) -> int:
    """Return the number of runs of matches that are adjacent and in order in both texts."""
    chunks = 0
    for i in range(len(partners)):
        follows = i > 0 and partners[i - 1] >= 0 and partners[i - 1] == partners[i] - 1
        chunks += partners[i] >= 0 and not follows
    return chunks


@compiled
def _longest(offsets: Integers) -> int:
    """Return the length of the longest row."""
    most = 0
    for i in range(len(offsets) - 1):
        most = max(most, offsets[i + 1] - offsets[i])
    return most
