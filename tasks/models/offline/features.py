"""Facts of each row, as numbers: what its reference, response and question have in common, and what stands between."""

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


class Facts(NamedTuple):
    """What n rows say.

    features: shape (n, k), float64, columns `columns.FEATURES`, never NaN.
    references: shape (n,), the place among the row's references of the one that fits best; -1 when there is none.
    spans: shape (n, 2), where the words of the response that match it begin and end in the stream; or -1.
    clues: shape (n, 5), where a hedge, a refusal, a negation, another candidate and another number stand; or -1.
    """

    features: Floats
    references: Integers
    spans: Integers
    clues: Integers
    words: Words
    stream: "Stream"

    def quoted(self, begin: int, end: int) -> str:
        """The words of the stream between two places, as they were written, without punctuation."""
        first, last = self.stream.sources[begin], self.stream.ends[end - 1]
        words = (self.words.raw[each] for each in self.words.ids[first:last].tolist())
        return " ".join(word for word in words if word not in SEPARATORS)


def facts(questions: Sequence[str], references: Sequence[Sequence[str]], responses: Sequence[str]) -> Facts:
    """The facts of each row; no row changes another's."""
    from tasks.models.offline.numerals import stream  # importing numba takes half a second
    from tasks.models.offline.row_features import described

    numbers: dict[str, int] = {}
    rows = np.array(
        [[_number(numbers, text) for text in row] for row in zip(questions, responses, strict=True)], np.int64
    ).reshape(-1, 2)
    each = np.array([_number(numbers, text) for row in references for text in row], np.int64)
    offsets = np.cumsum([0, *map(len, references)]).astype(np.int64)
    words = read(numbers)
    streamed = stream(words)
    features, best, spans, clues = described(
        *streamed[:3], streamed.offsets, *_letters(words, streamed), rows, each, offsets
    )
    return Facts(features, best, spans, clues, words, streamed)


def stem(form: str) -> str:
    """A word freed of its inflection, roughly.

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
    """Letters of the forms, where each form's begin, and the number of its stem; a number's value is one form."""
    count = max(int(streamed.types.max(initial=-1)) + 1 - len(words.forms), 0)
    letters = np.frombuffer("".join(words.forms).encode("utf-32-le", "surrogatepass"), np.uint32)
    codes = np.concatenate([letters, np.arange(_NUMBERS, _NUMBERS + count, dtype=np.uint32)])
    offsets = np.cumsum([0, *map(len, words.forms), *[1] * count]).astype(np.int64)
    numbered: dict[str, int] = {}
    stems = [_number(numbered, stem(form)) for form in words.forms]
    return codes, offsets, np.array([*stems, *range(len(numbered), len(numbered) + count)], np.int32)


_NUMBERS = 0x110000
"""The first code that is no character's; values of numbers have codes from there on."""
