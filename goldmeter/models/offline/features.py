"""Features of rows: what reference, response and question have in common, and what surrounds a match."""

from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from goldmeter.models.offline.lexicon import SEPARATORS
from goldmeter.models.offline.texts import Texts
from goldmeter.models.offline.vocabulary import Words, read, stem

if TYPE_CHECKING:
    from goldmeter.models.offline.stream import Stream

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class TextRows(NamedTuple):
    """n rows of texts.

    Attributes:
        questions: n texts.
        references: m texts, row after row.
        offsets: Shape (n + 1,); row i has the references from `offsets[i]` to `offsets[i + 1]`.
        responses: n texts.
    """

    questions: Texts
    references: Texts
    offsets: Integers
    responses: Texts

    @classmethod
    def of(cls, questions: Sequence[str], references: Sequence[Sequence[str]], responses: Sequence[str]) -> "TextRows":
        """Encode texts."""
        offsets = np.cumsum([0, *map(len, references)], dtype=np.int64)
        return cls(Texts.of(questions), Texts.of(chain.from_iterable(references)), offsets, Texts.of(responses))

    def references_of(self, i: int) -> list[str]:
        """Return the accepted answers of a row."""
        return [self.references[k] for k in range(*self.offsets[i : i + 2].tolist())]

    def take(self, which: Integers) -> "TextRows":
        """Return some of the rows."""
        counts = np.diff(self.offsets)[which]
        offsets = np.concatenate([[0], np.cumsum(counts)])
        places = np.arange(offsets[-1]) + np.repeat(self.offsets[which] - offsets[:-1], counts)
        return TextRows(self.questions.take(which), self.references.take(places), offsets, self.responses.take(which))


class RowFeatures(NamedTuple):
    """Features of n rows, and the words behind them.

    Attributes:
        features: Shape (n, k), float64, columns `feature_names.FEATURES`, never NaN.
        references: Index of the best matching reference of each row, shape (n,); -1 without one.
        spans: Begin and end, in the stream, of the words of the response that match it, shape (n, 2); or -1.
        texts: Question, response and best matching reference of each row as texts of the stream, shape (n, 3);
            without a reference the response stands for it.
        distinct: The texts of the stream.
        words: The distinct words.
        stream: The words of all texts.
    """

    features: Floats
    references: Integers
    spans: Integers
    texts: Integers
    distinct: Texts
    words: Words
    stream: "Stream"

    def quoted(self, begins: Integers, ends: Integers) -> list[str]:
        """Return the words of the stream between pairs of positions, as written, without punctuation."""
        firsts, lasts = self.stream.sources[begins], self.stream.ends[ends - 1]
        ids, raw = self.words.ids, _Decoded(self.words.raw)
        rows = (ids[first:last].tolist() for first, last in zip(firsts.tolist(), lasts.tolist(), strict=True))
        return [" ".join([word for i in row if (word := raw[i]) not in SEPARATORS]) for row in rows]


def row_features(rows: TextRows) -> RowFeatures:
    """Compute the features of each row, independently of the others."""
    from goldmeter.models.offline.row_features import Synonyms, described
    from goldmeter.models.offline.stream import stream  # importing numba takes half a second

    n = len(rows.responses)
    numbers, texts = rows.questions.followed_by(rows.responses).followed_by(rows.references).numbered()
    pairs = np.column_stack([numbers[:n], numbers[n : 2 * n]]).astype(np.int64)
    reference_texts = numbers[2 * n :].astype(np.int64)
    words = read(texts)
    streamed = stream(words)
    features, best, spans = described(
        *streamed[:3],
        streamed.offsets,
        *_letters(words.forms, streamed),
        pairs,
        reference_texts,
        rows.offsets,
        Synonyms(*_synonyms(words.forms)),
    )
    matched = pairs[:, 1].copy()
    matched[best >= 0] = reference_texts[(rows.offsets[:-1] + best)[best >= 0]]
    return RowFeatures(features, best, spans, np.column_stack([pairs, matched]), texts, words, streamed)


class _Decoded(dict[int, str]):
    """Number → text, each decoded once."""

    def __init__(self, texts: Texts) -> None:
        self._texts = texts

    def __missing__(self, number: int) -> str:
        self[number] = text = self._texts[number]
        return text


def _letters(forms: Texts, streamed: "Stream") -> tuple[NDArray[np.uint32], Integers, NDArray[np.int32]]:
    """Return the forms' letters, offsets of each form's, and the number of its stem; a number's value is a form."""
    count = max(int(streamed.types.max(initial=-1)) + 1 - len(forms), 0)
    written = [*forms]
    codes = np.frombuffer("".join(written).encode("utf-32-le", "surrogatepass"), np.uint32)
    offsets = np.cumsum([0, *map(len, written)], dtype=np.int64)
    stems, distinct = Texts.of(map(stem, written)).numbered()
    return (
        np.concatenate([codes, np.arange(_NUMBERS, _NUMBERS + count, dtype=np.uint32)]),
        np.concatenate([offsets, offsets[-1] + 1 + np.arange(count)]),
        np.concatenate([stems, np.arange(len(distinct), len(distinct) + count, dtype=np.int32)]),
    )


def _synonyms(forms: Texts) -> tuple[Integers, NDArray[np.int32]]:
    """Return the synonyms of each form among the forms, and their offsets."""
    from goldmeter.text.wordnet import wordnet
    from goldmeter.text.words import Words as Plain

    return wordnet().related(Plain(forms.data, forms.starts, forms.stops))


# First code beyond Unicode; values of numbers are coded from here on.
_NUMBERS = 0x110000
