"""Porter's stemmer over the code points of a vocabulary, its rules the table at the end; and other endings of words.

Source: Porter 1980, "An algorithm for suffix stripping"; NLTK 3.10 `stem.porter`, mode NLTK_EXTENSIONS, which it
equals on any text: whatever is no vowel, such as a digit or a letter of another script, is a consonant.
"""

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from goldmeter.text.kernels import Bytes, Flags, Integers, compiled

Codes = NDArray[np.uint32]


@compiled
def stemmed(codes: Codes, separator: int, short: Flags) -> Codes:
    """Return the stems of lower-case words; in input and output a separator ends each word, and occurs nowhere else.

    short: words that are not stemmed, shape (words,).
    """
    stems = np.empty_like(codes)
    read = written = 0
    for i in range(len(short)):
        word = stems[written:]
        length = 0
        while codes[read + length] != separator:
            word[length] = codes[read + length]
            length += 1
        read += length + 1
        if not short[i]:
            length = _stem(word, length)
        word[length] = separator
        written += length + 1
    return stems[:written]


@compiled
def _stem(word: Codes, length: int) -> int:
    """Write the stem over the first `length` letters and return its length; `_replace` and `_restore` do likewise.

    In each step only the rule with the longest suffix is tried, even if its condition fails.
    """
    for step in range(N_STEPS):
        rule, node = np.int64(0), np.int64(step)
        for i in range(length - 1, -1, -1):
            node = NEXT[node, word[i]] if word[i] < NEXT.shape[1] else np.int64(0)
            if node == 0:
                break
            if CONDITION[node] != NO_RULE:
                rule = node
        if rule and _holds(word, length, rule):
            length = _replace(word, length, rule)
            if CONDITION[rule] == WORD:
                break
            if CONDITION[rule] == VOWEL:
                length = _restore(word, length)
    return length


@compiled
def _holds(word: Codes, length: int, rule: np.int64) -> bool:
    """Return whether the stem, the letters before the suffix, meets the rule's condition."""
    condition = CONDITION[rule]
    stem = length - CUT[rule]
    measure = _measure(word, stem)
    return (
        condition == ALWAYS
        or (condition == WORD and stem == 0)
        or (condition == LETTER and stem == 1)
        or (condition == MEASURE_1 and measure > 0)
        or (condition == MEASURE_2 and measure > 1)
        or (condition == VOWEL and (measure > 0 or (stem > 0 and not _is_consonant(word, stem - 1))))
        or (condition == CONSONANT and stem > 1 and _is_consonant(word, stem - 1))
        or (condition == LONG and (measure > 1 or (measure == 1 and not _ends_cvc(word, stem))))
    )


@compiled
def _replace(word: Codes, length: int, rule: np.int64) -> int:
    start: int = length - CUT[rule]
    end: int = start + ADDED[rule]
    for i in range(start, end):
        word[i] = REPLACEMENT[rule, i - start]
    return end


@compiled
def _restore(word: Codes, length: int) -> int:
    """Restore the ending after -ed or -ing is removed: conflat(ed) → conflate, fil(ing) → file, hopp(ing) → hop."""
    before, last = word[length - 2 if length > 1 else 0], word[length - 1]
    if (before, last) in AT_BL_IZ or (_measure(word, length) == 1 and _ends_cvc(word, length)):
        word[length] = E
        return length + 1
    doubled = before == last or (before, last) == STAR_D  # NLTK takes Porter's "*d" literally as well
    if length > 1 and doubled and last not in L_S_Z and _is_consonant(word, length - 1):
        word[length - 2] = last
        return length - 1
    return length


@compiled
def _measure(word: Codes, length: int) -> int:
    """Return how often a consonant follows a vowel: Porter's m in [C](VC)^m[V]."""
    measure = 0
    consonant = False
    for i in range(length):
        after_consonant = consonant
        consonant = word[i] not in A_E_I_O_U and not (word[i] == Y and after_consonant)
        measure += consonant and i > 0 and not after_consonant
    return measure


@compiled
def _is_consonant(word: Codes, i: int) -> bool:
    """Return whether letter i is a consonant; in a run of y, every other one after a consonant is a vowel."""
    first = i
    while first > 0 and word[first] == Y:
        first -= 1
    return (word[first] not in A_E_I_O_U) == ((i - first) % 2 == 0)


@compiled
def _ends_cvc(word: Codes, length: int) -> bool:
    """Return whether the word ends with consonant, vowel, consonant but w, x, y (NLTK: or is vowel, consonant)."""
    vowel = length - 2
    if vowel < 0 or _is_consonant(word, vowel) or not _is_consonant(word, vowel + 1):
        return False
    return vowel == 0 or (_is_consonant(word, vowel - 1) and word[vowel + 1] not in W_X_Y)


def _letters(*texts: str) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(map(ord, text)) for text in texts)


A_E_I_O_U, L_S_Z, W_X_Y, STAR_D = _letters("aeiou", "lsz", "wxy", "*d")
AT_BL_IZ = _letters("at", "bl", "iz")
E, Y = map(ord, "ey")

# Conditions that `_holds` tests.
NO_RULE, WORD, LETTER, ALWAYS, MEASURE_1, MEASURE_2, VOWEL, CONSONANT, LONG = range(9)

# Step → condition → suffixes and their replacements. Letters before "|" belong to the stem and stay.
STEPS: Mapping[str, Mapping[int, str]] = {
    "irregular": {
        WORD: "sky→sky skies→sky dying→die lying→lie tying→tie news→news inning→inning innings→inning outing→outing "
        "outings→outing canning→canning cannings→canning howe→howe proceed→proceed exceed→exceed succeed→succeed"
    },
    "1a, four letters": {LETTER: "ies→ie"},
    "1a": {ALWAYS: "sses→ss ies→i ss→ss s→"},
    "1b, four letters": {LETTER: "ied→ie"},
    "1b": {ALWAYS: "ied→i", MEASURE_1: "eed→ee", VOWEL: "ed→ ing→"},
    "1c": {CONSONANT: "y→i"},
    "2, first": {MEASURE_1: "alli→al"},
    "2": {
        MEASURE_1: "ational→ate tional→tion enci→ence anci→ance izer→ize bli→ble entli→ent eli→e ousli→ous ization→ize "
        "ation→ate ator→ate alism→al iveness→ive fulness→ful ousness→ous aliti→al iviti→ive biliti→ble fulli→ful "
        "l|ogi→og"
    },
    "3": {MEASURE_1: "icate→ic ative→ alize→al iciti→ic ical→ic ful→ ness→"},
    "4": {
        MEASURE_2: "al→ ance→ ence→ er→ ic→ able→ ible→ ant→ ement→ ment→ ent→ s|ion→ t|ion→ ou→ ism→ ate→ iti→ ous→ "
        "ive→ ize→"
    },
    "5a": {LONG: "e→"},
    "5b": {MEASURE_2: "l|l→"},
}
N_STEPS = len(STEPS)
# Condition, number of letters to cut, replacement.
_Rule = tuple[int, int, str]


def _rules(texts: Mapping[int, str]) -> Iterator[tuple[str, _Rule]]:
    """Yield each suffix of a step, and its rule."""
    for condition, text in texts.items():
        for rule in text.split():
            suffix, _, replacement = rule.partition("→")
            yield suffix.replace("|", ""), (condition, len(suffix.rpartition("|")[2]), replacement)


def _tree(rules: Mapping[tuple[int, str], _Rule]) -> tuple[Integers, Integers, Integers, Integers, Codes]:
    """Return the rules by node: a node is the end of a suffix, `NEXT[node, letter]` the end with one letter more, or 0.

    The empty ends come first: node s is the root of step s.
    """
    ends = {(step, suffix[i:]) for step, suffix in rules for i in range(len(suffix) + 1)}
    nodes = {end: node for node, end in enumerate(sorted(ends, key=lambda end: (len(end[1]), end)))}
    following = np.zeros((len(nodes), 128), np.int64)
    for (step, letters), node in nodes.items():
        if letters:
            following[nodes[step, letters[1:]], ord(letters[0])] = node
    condition, cut, added = np.zeros((3, len(nodes)), np.int64)
    replacement = np.zeros((len(nodes), 8), np.uint32)
    for end, (when, removed, new) in rules.items():
        node = nodes[end]
        condition[node], cut[node], added[node] = when, removed, len(new)
        replacement[node, : added[node]] = [*map(ord, new)]
    return following, condition, cut, added, replacement


NEXT, CONDITION, CUT, ADDED, REPLACEMENT = _tree(
    {(step, suffix): rule for step, texts in enumerate(STEPS.values()) for suffix, rule in _rules(texts)}
)


@compiled
def replaced(
    data: Bytes, starts: Integers, stops: Integers, skipped: Flags, endings: Bytes, bounds: Integers
) -> tuple[Bytes, Integers, Integers]:
    """Replace each ending that a word has; return the results' bytes in sequence, their ends, and the word of each.

    Word i is `data[starts[i]:stops[i]]`; skipped, shape (n,): words without results. Ending r is
    `endings[bounds[2 * r]:bounds[2 * r + 1]]`, its replacement `endings[bounds[2 * r + 1]:bounds[2 * r + 2]]`.
    """
    size = results = 0
    for i in range(len(starts)):
        for r in range(len(bounds) // 2):
            if not skipped[i] and _ends(data[starts[i] : stops[i]], endings[bounds[2 * r] : bounds[2 * r + 1]]):
                size += stops[i] - starts[i] + bounds[2 * r + 2] - bounds[2 * r + 1]
                results += 1
    content, ends, words = np.empty(size, np.uint8), np.empty(results, np.int64), np.empty(results, np.int64)
    written = result = 0
    for i in range(len(starts)):
        for r in range(len(bounds) // 2):
            ending = endings[bounds[2 * r] : bounds[2 * r + 1]]
            if skipped[i] or not _ends(data[starts[i] : stops[i]], ending):
                continue
            for j in range(starts[i], stops[i] - len(ending)):
                content[written] = data[j]
                written += 1
            for j in range(bounds[2 * r + 1], bounds[2 * r + 2]):
                content[written] = endings[j]
                written += 1
            ends[result], words[result] = written, i
            result += 1
    return content[:written], ends, words


@compiled
def _ends(word: Bytes, ending: Bytes) -> bool:
    """Return whether the word has the ending."""
    before = len(word) - len(ending)
    if before < 0:
        return False
    for i in range(len(ending) - 1, -1, -1):  # noqa: SIM110 (numba has no all())
        if word[before + i] != ending[i]:
            return False
    return True
