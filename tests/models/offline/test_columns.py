"""The offline judge by column against the same by row, on texts of every kind."""

from itertools import chain

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.models.offline import domain, judge, judge_columns
from goldmeter.models.offline.features import TextRows, row_features
from goldmeter.models.offline.verdict import OBJECTIONS, reasons
from goldmeter.models.offline.vocabulary import stem
from tests.hostile_texts import TEXTS
from tests.models.offline import by_row

WORDS = (
    "why", "cien", "is",
    "Paris", "paris", "PARIS", "Rome", "rome's", "ROME'S", "O'Brien", "rock'n'roll", "a", "A", "AN", "an", "THE", "the",
    "May", "may", "MAY", "not", "or", "I", "think", "don't", "know", "might", "be", "XIV", "IV", "VL", "iv", "five",
    "two", "hundred", "and", "5", "1,500.5", "1,2345", "-3", "(-3", "x-3", "2nd", "10s", "1999-07-20", "20.07.1969",
    "7/20/1969", "1.2.3", "J. K.", "U.S.A.", "U.S.A", "A. B", "A.  B.", "km", "Jr.", "%", "&", "/", ",", ".", "\n", "'",
    "''", "cities", "seeing", "ss", "s", "'s", "é", "É", "’", "–", "“Rome”", "…", "−", "−5", "½", "™", "ﬁ", "\xa0",
    "\u3000", "¨", "！", "。", "・", "€", "㎏", "\u0301", "°", "東京", "नमस्ते", "Это", "ſ", "İ", "👩‍👧",
    "\u202e", "\x00", "\x1c", "\x85", "\u2028", "\ud800", "der", "das", "ist", "nicht", "New", "York", "City", "NYC",
)  # fmt: skip
PHRASE = st.lists(st.sampled_from(WORDS), max_size=9).flatmap(
    lambda words: st.sampled_from([" ", "", ", "]).map(lambda blank: blank.join(words))
)
ASCII = st.text(st.characters(max_codepoint=127))
TEXT = PHRASE | ASCII | st.text(st.characters()) | st.sampled_from([text[:400] for text in TEXTS])
ROWS = st.lists(st.tuples(TEXT, st.lists(TEXT, max_size=3), TEXT), max_size=5)


@given(TEXT)
def test_a_stem_is_that_of_pythons_text(text):
    assert stem(text) == by_row.stem(text)


@given(ROWS, st.data())
def test_reasons_and_domain_are_those_of_each_row(rows, data):
    rows = [(question, references or ["Paris"], response) for question, references, response in rows]
    columns = [[row[i] for row in rows] for i in range(3)]
    features = row_features(TextRows.of(*columns))
    verdicts = [data.draw(st.booleans()) for _ in rows]
    kinds = [data.draw(st.integers(-1, len(OBJECTIONS) - 1)) for _ in rows]

    found = reasons(features, np.array(verdicts, np.bool_), np.array(kinds, np.int8))

    assert found == [*by_row.reasons(features, columns[1], verdicts, kinds)]
    expected = [by_row.outside(features, i) for i in range(len(rows))]
    assert [domain.REASONS[k] if k >= 0 else None for k in domain.reasons(features).tolist()] == expected


@given(st.lists(st.tuples(st.none() | TEXT, st.lists(st.none() | TEXT, max_size=3), st.none() | TEXT), max_size=5))
def test_rows_are_judged_together_as_alone(rows):
    together = judge(*([row[i] for row in rows] for i in range(3)))
    alone = [judge([q], [r], [a]) for q, r, a in rows]

    assert repr(together.probabilities.tolist()) == repr([float(each.probabilities[0]) for each in alone])
    assert together.reasons == [each.reasons[0] for each in alone]
    assert together.outside == [each.outside[0] for each in alone]


ARROW = TEXT.filter(lambda text: text.isascii() or not any(0xD800 <= ord(letter) < 0xE000 for letter in text))


@given(st.lists(st.tuples(st.none() | ARROW, st.lists(st.none() | ARROW, max_size=3), st.none() | ARROW), max_size=5))
def test_arrow_columns_are_judged_as_texts(rows):
    questions, references, responses = ([row[i] for row in rows] for i in range(3))
    offsets = np.cumsum([0, *map(len, references)])
    columns = [pa.array(texts, pa.string()) for texts in (questions, [*chain.from_iterable(references)], responses)]

    found = judge_columns(columns[0], columns[1], offsets, columns[2])

    assert repr(found) == repr(judge(questions, references, responses))
