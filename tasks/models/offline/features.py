"""Features of rows: what reference, response and question have in common, and what surrounds a match."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tasks.models.offline.lexicon import SEPARATORS
from tasks.models.offline.vocabulary import Words, read

if TYPE_CHECKING:
    from tasks.models.offline.numerals import Stream

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class RowFeatures(NamedTuple):
    """Features of n rows, and the words behind them.

    Attributes:
        features: Shape (n, k), float64, columns `feature_names.FEATURES`, never NaN.
        references: Index of the best matching reference of each row, shape (n,); -1 without one.
        spans: Begin and end, in the stream, of the words of the response that match it, shape (n, 2); or -1.
        clues: Position of a hedge, a refusal, a negation, another candidate and another number, shape (n, 5); or -1.
        texts: Question, response and best matching reference of each row as texts of the stream, shape (n, 3);
            without a reference the response stands for it.
        words: The distinct words.
        stream: The words of all texts.
    """

    features: Floats
    references: Integers
    spans: Integers
    clues: Integers
    texts: Integers
    words: Words
    stream: "Stream"

    def quoted(self, begin: int, end: int) -> str:
        """Return the words of the stream between two positions, as written, without punctuation."""
        first, last = self.stream.sources[begin], self.stream.ends[end - 1]
        words = (self.words.raw[i] for i in self.words.ids[first:last].tolist())
        return " ".join(word for word in words if word not in SEPARATORS)


def row_features(
    questions: Sequence[str], references: Sequence[Sequence[str]], responses: Sequence[str]
) -> RowFeatures:
    """Compute the features of each row, independently of the others."""
    from tasks.models.offline.numerals import stream  # importing numba takes half a second
    from tasks.models.offline.row_features import described

    numbers: dict[str, int] = {}
    rows = np.array(
        [[_number(numbers, text) for text in row] for row in zip(questions, responses, strict=True)], np.int64
    ).reshape(-1, 2)
    reference_texts = np.array([_number(numbers, text) for row in references for text in row], np.int64)
    offsets = np.cumsum([0, *map(len, references)]).astype(np.int64)
    words = read(numbers)
    streamed = stream(words)
    features, best, spans, clues = described(
        *streamed[:3], streamed.offsets, *_letters(words, streamed), rows, reference_texts, offsets
    )
    matched = rows[:, 1].copy()
    matched[best >= 0] = reference_texts[(offsets[:-1] + best)[best >= 0]]
    texts = np.column_stack([rows, matched])
    return RowFeatures(features, best, spans, clues, texts, words, streamed)


def stem(form: str) -> str:
    """Remove a word's inflection, roughly.

    >>> stem("cities"), stem("city"), stem("bus")
    ('cit', 'cit', 'bus')
    """
    if len(form) > 3 and not form.endswith("ss"):  # noqa: PLR2004  # "his" is no plural
        for ending in _ENDINGS:
            if form.endswith(ending) and len(form) - len(ending) > 2:  # noqa: PLR2004
                return form[: -len(ending)]
    return form


_ENDINGS = ("ies", "ing", "es", "ed", "s", "y", "e")


def _number(numbers: dict[str, int], text: str) -> int:
    return numbers.setdefault(text, len(numbers))


def _letters(words: Words, streamed: "Stream") -> tuple[NDArray[np.uint32], Integers, NDArray[np.int32]]:
    """Return the forms' letters, offsets of each form's, and the number of its stem; a number's value is a form."""
    count = max(int(streamed.types.max(initial=-1)) + 1 - len(words.forms), 0)
    letters = np.frombuffer("".join(words.forms).encode("utf-32-le", "surrogatepass"), np.uint32)
    codes = np.concatenate([letters, np.arange(_NUMBERS, _NUMBERS + count, dtype=np.uint32)])
    offsets = np.cumsum([0, *map(len, words.forms), *[1] * count]).astype(np.int64)
    stem_numbers: dict[str, int] = {}
    stems = [_number(stem_numbers, stem(form)) for form in words.forms]
    return codes, offsets, np.array([*stems, *range(len(stem_numbers), len(stem_numbers) + count)], np.int32)


# First code beyond Unicode; values of numbers are coded from here on.
_NUMBERS = 0x110000
