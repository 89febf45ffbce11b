"""Features of rows: what reference, response and question have in common, and what surrounds a match."""

from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from goldmeter.models.offline.lexicon import SEPARATORS
from goldmeter.models.offline.vocabulary import Words, numbered, read, stem

if TYPE_CHECKING:
    import pyarrow as pa

    from goldmeter.models.offline.matching import Corpus
    from goldmeter.models.offline.stream import Stream

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class TextRows(NamedTuple):
    """n rows of texts.

    Attributes:
        texts: Distinct texts.
        questions: Index of each row's question, shape (n,).
        references: Indices of m references, row after row.
        offsets: Shape (n + 1,); row i has the references from `offsets[i]` to `offsets[i + 1]`.
        responses: Index of each row's response, shape (n,).
    """

    texts: Sequence[str]
    questions: Integers
    references: Integers
    offsets: Integers
    responses: Integers

    @classmethod
    def of(cls, questions: Sequence[str], references: Sequence[Sequence[str]], responses: Sequence[str]) -> "TextRows":
        """Number the distinct texts."""
        n = len(questions)
        ids, texts = numbered(chain(questions, responses, chain.from_iterable(references)))
        offsets = np.cumsum([0, *map(len, references)], dtype=np.int64)
        return cls(texts, ids[:n], ids[2 * n :], offsets, ids[n : 2 * n])

    @classmethod
    def of_columns(
        cls, questions: "pa.Array | None", references: "pa.Array", offsets: Integers, responses: "pa.Array"
    ) -> "TextRows":
        """Number the distinct texts of Arrow columns; a null, and a column that is None, is an empty text."""
        import pyarrow as pa

        n = len(responses)
        filled = pa.nulls(n, pa.string()) if questions is None else questions
        columns = [column.cast(pa.large_string()) for column in (filled, responses, references)]
        coded = pa.concat_arrays(columns).fill_null("").dictionary_encode()
        ids = coded.indices.to_numpy().astype(np.int64)
        return cls(coded.dictionary.to_pylist(), ids[:n], ids[2 * n :], offsets, ids[n : 2 * n])

    def question(self, i: int) -> str:
        """Return the question of a row."""
        return self.texts[int(self.questions[i])]

    def response(self, i: int) -> str:
        """Return the response of a row."""
        return self.texts[int(self.responses[i])]

    def references_of(self, i: int) -> list[str]:
        """Return the accepted answers of a row."""
        return [self.texts[k] for k in self.references[self.offsets[i] : self.offsets[i + 1]].tolist()]


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
    distinct: Sequence[str]
    words: Words
    stream: "Stream"

    def quoted(self, begins: Integers, ends: Integers) -> list[str]:
        """Return the words of the stream between pairs of positions, as written, without punctuation."""
        firsts, lasts = self.stream.sources[begins], self.stream.ends[ends - 1]
        ids, raw = self.words.ids, self.words.raw
        rows = (ids[first:last].tolist() for first, last in zip(firsts.tolist(), lasts.tolist(), strict=True))
        return [" ".join([raw[i] for i in row if raw[i] not in SEPARATORS]) for row in rows]


def row_features(rows: TextRows) -> RowFeatures:
    """Compute the features of each row, independently of the others."""
    from goldmeter.models.offline.row_features import described
    from goldmeter.models.offline.stream import stream  # importing numba takes half a second

    pairs = np.column_stack([rows.questions, rows.responses])
    words = read(rows.texts)
    streamed = stream(words)
    corpus = _corpus(words.forms, streamed)
    features, best, spans = described(corpus, streamed.offsets, pairs, rows.references, rows.offsets)
    matched = pairs[:, 1].copy()
    matched[best >= 0] = rows.references[(rows.offsets[:-1] + best)[best >= 0]]
    return RowFeatures(features, best, spans, np.column_stack([pairs, matched]), rows.texts, words, streamed)


def _corpus(forms: Sequence[str], streamed: "Stream") -> "Corpus":
    """Return the words with their letters and stems; a number's value is a form of one letter."""
    from goldmeter.models.offline.matching import Corpus, hashed

    count = max(int(streamed.types.max(initial=-1)) + 1 - len(forms), 0)
    letters = np.frombuffer("".join(forms).encode("utf-32-le", "surrogatepass"), np.uint32)
    codes = np.concatenate([letters, np.arange(_NUMBERS, _NUMBERS + count, dtype=np.uint32)])
    offsets = np.cumsum([0, *map(len, forms), *[1] * count], dtype=np.int64)
    stems, distinct = numbered(map(stem, forms))
    of_types = np.concatenate([stems, np.arange(len(distinct), len(distinct) + count)]).astype(np.int32)
    return Corpus(*streamed[:3], of_types[streamed.types], codes, offsets, *hashed(codes, offsets))


# First code beyond Unicode; values of numbers are coded from here on.
_NUMBERS = 0x110000
