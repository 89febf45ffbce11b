"""Kernel of METEOR's alignment: pairs the words of two texts by form, by stem and by synonym."""

import numpy as np

from tasks.text.kernels import Flags, Ids, Integers, compiled


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
            _match(i, form, partners, free, lasts, befores)
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
            _match(i, latest, partners, free, lasts, befores)
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
def _match(i: int, form: np.int32, partners: Integers, free: Flags, lasts: Integers, befores: Integers) -> None:
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
