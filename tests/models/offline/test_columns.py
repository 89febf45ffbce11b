"""The offline judge by column against the same by row, on texts of every kind."""

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from goldmeter.models.offline import domain, judge
from goldmeter.models.offline.features import TextRows, row_features
from goldmeter.models.offline.texts import Texts, table_of
from goldmeter.models.offline.verdict import OBJECTIONS, reasons
from goldmeter.models.offline.vocabulary import LONGEST, read, stem
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


@given(st.lists(TEXT, max_size=5))
@example(["…" * LONGEST, " " * 9 + "…" * LONGEST + "\n", "\u0301 \n a", "–\n", "1999–07–20", "…20.07.1969"])
@example(["・-3", "“-3", "(−3", "™", "a™", "\u3000a\u3000-3", "x\u2028-3"])
@example(["x" * (LONGEST + 5), "a " * LONGEST + "b", "é" * (LONGEST + 1) + "b", "12." * LONGEST])
def test_words_are_those_of_the_regular_expressions(texts):
    words = read(Texts.of(texts))

    for text, begin, end in zip(texts, words.offsets, words.offsets[1:], strict=False):
        ids = words.ids[begin:end]
        kinds = zip(words.kinds[ids].tolist(), words.values[ids].tolist(), strict=True)
        forms = [words.forms[i] for i in words.types[ids]]
        found = [*zip([words.raw[i] for i in ids], forms, words.flags[ids].tolist(), kinds, strict=True)]
        assert repr(found) == repr(by_row.words_of(text))


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


@given(st.lists(TEXT, max_size=6), st.lists(TEXT, unique=True, max_size=6))
def test_texts_in_one_buffer_are_the_texts(texts, others):
    encoded = Texts.of(texts)
    both = encoded.followed_by(Texts.of(others))
    numbers, distinct = both.numbered()

    assert [*encoded] == texts
    assert [distinct[i] for i in numbers] == [*both] == [*texts, *others]
    assert len(distinct) == len({*texts, *others})
    assert encoded.are_blank().tolist() == [not text.strip() for text in texts]
    assert encoded.are_ascii().tolist() == [*map(str.isascii, texts)]
    places = {text: i for i, text in enumerate(others)}
    assert encoded.found_in(table_of(others)).tolist() == [places.get(text, -1) for text in texts]
