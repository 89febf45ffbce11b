"""Marks of words by the second lexicon: the phrases that begin there, the signs before, and the possessive."""

from functools import cache
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tasks.models.offline.lexicon import ARTICLE, FLAGS
from tasks.models.offline.phrases import LETTER, OF_LAST_WORD, PHRASES, POSSESSIVE
from tasks.models.offline.texts import Texts, table_of
from tasks.text.kernels import Flags, Ids, Integers, compiled

if TYPE_CHECKING:
    from tasks.models.offline.numerals import Stream
    from tasks.models.offline.vocabulary import Words
    from tasks.text.kernels.numbering import Table

_QUOTE, _SMALL_S = ord("'"), ord("s")


class Phrases(NamedTuple):
    """p phrases of v distinct words, in the order of their first words.

    Attributes:
        words: Numbers of all phrases' words, one phrase after another.
        offsets: Shape (p + 1,).
        classes: Shape (p,), int32.
        firsts: Shape (v + 1,); the phrases that begin with word i are `firsts[i]` to `firsts[i + 1]`.
    """

    words: Ids
    offsets: Integers
    classes: Ids
    firsts: Integers


def cues(words: "Words", streamed: "Stream") -> Ids:
    """Return the classes of `phrases` of each word of the stream; shape (n,), int32."""
    ids = words.ids[streamed.sources]
    table, phrases = _lexicon()
    numbers = words.forms.found_in(table)[words.types[ids]] if len(ids) else np.zeros(0, np.int32)
    marks = streamed.signs.copy()
    mark(numbers, streamed.offsets, phrases, OF_LAST_WORD, marks)
    own = _of_spelling(words.raw)
    marks |= own[ids]
    return marks


def _of_spelling(raw: Texts) -> Ids:
    """Return POSSESSIVE and LETTER of each word as written."""
    sizes = raw.stops - raw.starts
    marks = np.zeros(len(raw), np.int32)
    if not len(raw.data):
        return marks
    last, before = raw.data[np.maximum(raw.stops - 1, 0)], raw.data[np.maximum(raw.stops - 2, 0)]
    marks[(sizes > 3) & (last == _SMALL_S) & (before == _QUOTE)] = POSSESSIVE  # noqa: PLR2004  # as `vocabulary.fold`
    first = raw.data[np.minimum(raw.starts, len(raw.data) - 1)]
    marks[(sizes == 1) & (first >= ord("a")) & (first <= ord("z"))] |= LETTER
    for word in np.flatnonzero((sizes > 1) & (sizes <= 4) & (first >= 0x80)).tolist():  # noqa: PLR2004
        text = raw[word]
        marks[word] |= LETTER * (len(text) == 1 and text.islower())
    return marks


@cache
def _lexicon() -> tuple["Table", Phrases]:
    """Return a table of the phrases' words, and the phrases by the numbers of these words."""
    from tasks.models.offline.vocabulary import fold, split  # imports this package's lexicon

    classes: dict[tuple[str, ...], int] = {}
    for number, listed in PHRASES.items():
        for text in listed.split(";"):
            forms = [fold(word) for word in split(text)]
            kept = tuple(form for form in forms if not FLAGS.get(form, 0) & ARTICLE) or tuple(forms)
            if kept:
                classes[kept] = classes.get(kept, 0) | number
    forms = sorted({form for phrase in classes for form in phrase})
    numbers = {form: i for i, form in enumerate(forms)}
    phrases = sorted((numbers[phrase[0]], phrase) for phrase in classes)
    firsts = np.searchsorted([first for first, _ in phrases], np.arange(len(forms) + 1))
    words = [numbers[form] for _, phrase in phrases for form in phrase]
    offsets = [*accumulate((len(phrase) for _, phrase in phrases), initial=0)]
    return table_of(forms), Phrases(
        np.array(words, np.int32),
        np.array(offsets, np.int64),
        np.array([classes[phrase] for _, phrase in phrases], np.int32),
        firsts.astype(np.int64),
    )


@compiled
def mark(numbers: Ids, offsets: Integers, phrases: Phrases, of_last: int, marks: Ids) -> None:
    """Add the class of every phrase to its first word, classes of `of_last` to its last one.

    numbers: of each word of the texts, the number of its form among the phrases' words, or -1.
    """
    words, starts, classes, firsts = phrases
    for text in range(len(offsets) - 1):
        for i in range(offsets[text], offsets[text + 1]):
            if numbers[i] < 0:
                continue
            for phrase in range(firsts[numbers[i]], firsts[numbers[i] + 1]):
                size = starts[phrase + 1] - starts[phrase]
                if i + size > offsets[text + 1]:
                    continue
                k = 1
                while k < size and numbers[i + k] == words[starts[phrase] + k]:
                    k += 1
                if k == size:
                    marks[i] |= classes[phrase] & ~of_last
                    marks[i + size - 1] |= classes[phrase] & of_last


def is_marked(marks: NDArray[np.int32], which: int) -> Flags:
    """Return which words have one of the marks; shape (n,)."""
    marked: Flags = marks & which != 0
    return marked
