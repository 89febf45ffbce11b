"""Kernel that splits chunks of visible ASCII characters into tokens; each rule equals a tokenizer in Python."""

from collections.abc import Mapping
from typing import Final

import numpy as np

from goldmeter.text.kernels import Bytes, Flags, Integers, compiled

_CHUNK, _RUNS, _LETTERS, _NORMAL, _MTEVAL, _TREEBANK, _WORDPUNCT, _CHRF = range(8)
# Rules by the name that a `Tokenizer` has for them.
# chunk: the chunk is a token. runs: runs of letters and digits. letters: the letters and digits of the chunk.
# normal: as `normalize`. mteval, treebank, wordpunct, chrf: as the tokenizers of these names.
RULES: Mapping[str, int] = {
    "chunk": _CHUNK,
    "runs": _RUNS,
    "letters": _LETTERS,
    "normal": _NORMAL,
    "mteval": _MTEVAL,
    "treebank": _TREEBANK,
    "wordpunct": _WORDPUNCT,
    "chrf": _CHRF,
}
# Words without an apostrophe that the rule treebank leaves to NLTK, which splits them.
CONTRACTIONS = ("cannot", "gimme", "gonna", "gotta", "lemme", "wanna")
# Kinds of chunks, as in goldmeter.text.kernels.pieces.
_INSIDE: Final = 0
_LAST: Final = 2
_FIRST_VISIBLE, _LAST_VISIBLE = ord("!"), ord("~")
# The bit that tells a lower-case letter from its capital, and none.
_CASE, _NO_BIT = np.uint8(0x20), np.uint8(0)
_STOP, _COMMA, _COLON, _DASH, _APOSTROPHE, _QUOTE, _BACKTICK, _DOLLAR = map(ord, ".,:-'\"`$")
# Stand for a quotation mark that treebank writes as two backticks or two apostrophes.
_OPENED, _CLOSED = 0, 1


def _flags(characters: str) -> Flags:
    return np.isin(np.arange(256), [*map(ord, characters)])


_LOWER, _UPPER, _DIGITS = "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789"
_IS_UPPER, _IS_DIGIT, _IS_LETTER = _flags(_UPPER), _flags(_DIGITS), _flags(_LOWER + _UPPER + _DIGITS)
_IS_WORD = _flags(_LOWER + _UPPER + _DIGITS + "_")
_IN_NUMBERS, _IS_SIGN = _flags(".:/"), _flags("+-")
_MTEVAL_MARKS, _MTEVAL_ENTITIES = _flags('{|}~[\\]^_`!"#$%&()*+:;<=>?@/'), _flags("&<")
_TREEBANK_MARKS, _OPENING = _flags('"?!*;@#$%&()[]{}<>'), _flags("([{<")
# d'ye and more'n are two tokens.
_AFTER_APOSTROPHE = _flags("nNyY")


def _padded(*words: str) -> Bytes:
    """Return words of different lengths as rows, padded with zeros."""
    longest = max(map(len, words))
    return np.array([[*word.ljust(longest, "\0").encode()] for word in words], np.uint8)


_ARTICLES, _CONTRACTIONS = _padded("a", "an", "the"), _padded(*CONTRACTIONS)
_CLITICS = _padded("'", *["'s", "'S", "'m", "'M", "'d", "'D", "'ll", "'LL", "'re", "'RE", "'ve", "'VE"])
_NEGATIONS = _padded("n't", "N'T")


@compiled
def split(
    data: Bytes,
    starts: Integers,
    stops: Integers,
    kinds: Bytes,
    rule: int,
    lower: bool,  # noqa: FBT001 (a kernel has no keywords)
    articles: bool,  # noqa: FBT001 (a kernel has no keywords)
) -> tuple[Bytes, Integers, Integers]:
    """Split the chunks `data[starts[k]:stops[k]]`; starts, stops and kinds have shape (n,).

    rule: a value of `RULES`. lower: lower the case first. articles: keep tokens that are a, an or the.

    Returns the tokens' bytes in sequence, the end of each token, and each chunk's number of tokens, shape (n,): -1 for
    a chunk that the rule does not cover, -2 for any with a character other than visible ASCII.
    """
    size = longest = 0
    for k in range(len(starts)):
        size += stops[k] - starts[k]
        longest = max(longest, stops[k] - starts[k])
    # A quotation mark becomes two characters.
    tokens, ends, counts = np.empty(2 * size, np.uint8), np.empty(size, np.int64), np.full(len(starts), -1)
    word, gaps, kept = np.empty(longest, np.uint8), np.empty(longest + 1, np.bool_), np.empty(longest, np.bool_)
    written = total = np.int64(0)
    for k in range(len(starts)):
        length = stops[k] - starts[k]
        if not _copy(data[starts[k] : stops[k]], word, lower):
            counts[k] = -2
            continue
        has_final_stop = _has_final_stop(word[:length]) and kinds[k] == _LAST
        length -= has_final_stop
        gaps[:length], kept[:length] = False, True
        if (kinds[k] != _INSIDE and not has_final_stop) or not _apply(rule, word[:length], gaps, kept):
            continue
        before = total
        written, total = _write(word[:length], gaps, kept, tokens, written, ends, total)
        begin = ends[before - 1] if before else np.int64(0)
        if not articles and total > before and _is_article(tokens[begin:written]):
            written, total = begin, before
        if has_final_stop:
            tokens[written], ends[total] = _STOP, written + 1
            written, total = written + 1, total + 1
        counts[k] = total - before
    return tokens[:written], ends[:total], counts


@compiled
def _write(
    word: Bytes, gaps: Flags, kept: Flags, tokens: Bytes, written: np.int64, ends: Integers, total: np.int64
) -> tuple[np.int64, np.int64]:
    """Write what is kept between gaps; return the numbers of bytes and of tokens that are written then."""
    begin = written
    for i in range(len(word)):
        if gaps[i] and written > begin:
            ends[total] = begin = written
            total += 1
        if kept[i]:
            tokens[written] = word[i]
            written += 1
        if kept[i] and word[i] <= _CLOSED:
            tokens[written - 1] = tokens[written] = _BACKTICK if word[i] == _OPENED else _APOSTROPHE
            written += 1
    if written > begin:
        ends[total] = written
        total += 1
    return written, total


@compiled
def _has_final_stop(word: Bytes) -> bool:
    """Return whether the word ends with one full stop, which is a token at the end of a text."""
    return len(word) > 1 and word[len(word) - 1] == _STOP and word[len(word) - 2] != _STOP


@compiled
def _copy(chunk: Bytes, word: Bytes, lower: bool) -> bool:  # noqa: FBT001 (a kernel has no keywords)
    """Copy the chunk, in lower case or as it is; return whether all of it is visible ASCII."""
    for i in range(len(chunk)):
        byte = chunk[i]
        if byte < _FIRST_VISIBLE or byte > _LAST_VISIBLE:
            return False
        word[i] = byte + _CASE if lower and _IS_UPPER[byte] else byte
    return True


@compiled
def _apply(rule: int, word: Bytes, gaps: Flags, kept: Flags) -> bool:
    """Set the gaps before characters, and which characters are kept; return whether the rule covers the word."""
    if rule == _MTEVAL:
        return _mteval(word, gaps)
    if rule == _TREEBANK:
        return _treebank(word, gaps)
    if rule == _CHRF:
        last = len(word) - 1
        if last > 0 and not _IS_LETTER[word[last]]:
            gaps[last] = True
        elif last > 0 and not _IS_LETTER[word[0]]:
            gaps[1] = True
    elif rule == _WORDPUNCT:
        for i in range(1, len(word)):
            gaps[i] = _IS_WORD[word[i]] != _IS_WORD[word[i - 1]]
    elif rule != _CHUNK:
        for i in range(len(word)):
            kept[i] = _IS_LETTER[word[i]] or (rule == _NORMAL and _is_in_number(word, i))
            gaps[i] = rule == _RUNS and i > 0 and not kept[i - 1]
    return True


@compiled
def _is_in_number(word: Bytes, i: int) -> bool:
    """Return whether a mark is between digits, or a sign before a number."""
    if _IS_SIGN[word[i]]:
        number = i + 2 if i + 1 < len(word) and word[i + 1] == _DOLLAR else i + 1
        return number < len(word) and _IS_DIGIT[word[number]]
    is_between = 0 < i < len(word) - 1 and _IS_DIGIT[word[i - 1]] and _IS_DIGIT[word[i + 1]]
    return bool(is_between and _IN_NUMBERS[word[i]])


@compiled
def _is_article(token: Bytes) -> bool:
    for article in _ARTICLES:  # noqa: SIM110 (numba has no any())
        if _equals(token, article, _CASE):
            return True
    return False


@compiled
def _equals(word: Bytes, padded: Bytes, case: np.uint8) -> bool:
    """Return whether the word is the one that zeros pad; case: the bit that is set in each character first."""
    if len(word) > len(padded) or (len(word) < len(padded) and padded[len(word)] != 0):
        return False
    for i in range(len(word)):  # noqa: SIM110
        if word[i] | case != padded[i]:
            return False
    return True


@compiled
def _mteval(word: Bytes, gaps: Flags) -> bool:
    """The replacements of `mteval_13a` are left to Python; its four patterns follow one another here as there."""
    padded = False  # by the second pattern, which does not match twice in a row
    for i in range(len(word)):
        if _MTEVAL_ENTITIES[word[i]]:
            return False
        if _MTEVAL_MARKS[word[i]]:
            _pad(gaps, i, i + 1)
        is_point = word[i] == _STOP or word[i] == _COMMA
        after_point = i > 0 and (word[i - 1] == _STOP or word[i - 1] == _COMMA)
        padded = is_point and (not padded if after_point else i == 0 or not _IS_DIGIT[word[i - 1]])
        if padded or (word[i] == _DASH and i > 0 and _IS_DIGIT[word[i - 1]]):
            _pad(gaps, i, i + 1)
    for i in range(len(word)):
        is_point = word[i] == _STOP or word[i] == _COMMA
        if is_point and (i + 1 == len(word) or gaps[i + 1] or not _IS_DIGIT[word[i + 1]]):
            _pad(gaps, i, i + 1)
    return True


@compiled
def _treebank(word: Bytes, gaps: Flags) -> bool:
    """Leave backticks and contractions to NLTK, and apostrophes that are several or not after a letter or digit."""
    if _has_contraction(word):
        return False
    apostrophe = np.int64(-1)
    for i in range(len(word)):
        before, after = word[i - 1] if i > 0 else 0, word[i + 1] if i + 1 < len(word) else 0
        if word[i] == _APOSTROPHE:
            if apostrophe >= 0 or not _IS_WORD[before] or _AFTER_APOSTROPHE[after]:
                return False
            apostrophe = np.int64(i)
        elif word[i] == _BACKTICK:
            return False
        elif word[i] == _STOP:
            gaps[i] |= after == _STOP and before != _STOP
            gaps[i + 1] |= after != _STOP and before == _STOP
        elif _TREEBANK_MARKS[word[i]]:
            _pad(gaps, i, i + 1)
    _pad_pairs(word, gaps)
    if apostrophe >= 0:
        gaps[_clitic(word, gaps, apostrophe)] = True
    _open_quotes(word)
    return True


@compiled
def _open_quotes(word: Bytes) -> None:
    """Put their marks in the place of quotation marks."""
    for i in range(len(word) - 1, -1, -1):
        if word[i] == _QUOTE:
            word[i] = _OPENED if i == 0 or _OPENING[word[i - 1]] else _CLOSED


@compiled
def _pad_pairs(word: Bytes, gaps: Flags) -> None:
    """Pad commas and colons before a character that is no digit, which is skipped then, and double dashes."""
    skipped_point = skipped_dash = -1
    for i in range(len(word)):
        ends = i + 1 == len(word)
        if (word[i] == _COMMA or word[i] == _COLON) and i != skipped_point and (ends or not _IS_DIGIT[word[i + 1]]):
            _pad(gaps, i, i + 1)
            skipped_point = i + 1
        if word[i] == _DASH and i != skipped_dash and not ends and word[i + 1] == _DASH:
            _pad(gaps, i, i + 2)
            skipped_dash = i + 1


@compiled
def _clitic(word: Bytes, gaps: Flags, apostrophe: np.int64) -> np.int64:
    """Return the start of 's, 'm, 'd, ', n't, 'll, 're or 've if a gap is after it, else the start of the word."""
    end = apostrophe + 1
    while end < len(word) and not gaps[end]:
        end += 1
    for clitic in _CLITICS:
        if _equals(word[apostrophe:end], clitic, _NO_BIT):
            return apostrophe
    for clitic in _NEGATIONS:
        if apostrophe > 1 and not gaps[apostrophe - 1] and _equals(word[apostrophe - 1 : end], clitic, _NO_BIT):
            return apostrophe - 1
    return np.int64(0)


@compiled
def _has_contraction(word: Bytes) -> bool:
    """Whether a contraction stands alone or before n't."""
    start = 0
    for i in range(len(word) + 1):
        if i == len(word) or not _IS_WORD[word[i]]:
            before = max(start, i - 1)
            for contraction in _CONTRACTIONS:
                if _equals(word[start:i], contraction, _CASE) or _equals(word[start:before], contraction, _CASE):
                    return True
            start = i + 1
    return False


@compiled
def _pad(gaps: Flags, start: int, stop: int) -> None:
    gaps[start] = gaps[stop] = True
