import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import OSA

from goldmeter.models.offline.feature_names import DIRECTIONS, FEATURES
from goldmeter.models.offline.features import TextRows, row_features
from goldmeter.models.offline.matching import distance
from tests.hostile_texts import TEXTS
from tests.models.offline.pairs import described

TEXT = st.text() | st.lists(
    st.sampled_from(["Paris", "Rome", "not", "or", "the", "5", "five", "might", "NYC", ".", ",", "I"])
).map(" ".join)


@pytest.mark.parametrize(
    ("response", "reference", "name", "value"),
    [
        ("It is Paris.", "Paris", "exact", 1),
        ("It is Parisian.", "Paris", "exact", 0),
        ("PARIS!", "paris", "equal", 1),
        ("Paris, France", "Paris", "equal", 0),
        ("spiderman", "Spider-Man", "exact", 1),
        ("Bogota", "Bogotá", "exact", 1),
        ("forty-two", "42", "exact", 1),
        ("1,500,000 dollars", "$1.5 million", "exact", 1),
        ("He saw cities", "city", "recall", 1),
        ("18 May 2018", "May 18, 2018", "recall", 1),
        ("NYC", "New York City", "initials", 1),
        ("the National Aeronautics and Space Administration", "NASA", "initials", 1),
        ("the United States of America", "USA", "initials", 1),
        ("no yaks climb", "NYC", "initials", 0),
        ("NBA", "New York City", "initials", 0),
        ("Albert Einstien", "Albert Einstein", "misspelt", 1),
        ("20.07.1969", "20 July 1969", "exact", 1),
        ("1969-07-20", "July 20, 1969", "recall", 1),
        ("7/20/1969", "20 July 1969", "exact", 1),
        ("7/6/1969", "7 June 1969", "exact", 0),
        ("Australia", "Austria", "other_word", 1),
        ("Australia", "Austria", "misspelt", 0),
        ("in 1921", "1912", "number_conflict", 1),
        ("in 1912", "1912", "number_conflict", 0),
        ("about 90", "100", "number_gap", 0.1),
        ("Paul Smith", "Paul Jones", "missing_names", 1),
        ("Paul Jones", "Paul Jones", "missing_names", 0),
        ("de", "Charles de Gaulle", "missing_names", 2),
        ("Pariss", "Paris", "trigram_recall", 4 / 5),
        ("Rome", "Paris", "trigram_recall", 0),
    ],
)
def test_a_row_says(response, reference, name, value):
    assert described(response, reference)[name] == pytest.approx(value)


def test_words_copied_from_the_question_are_told_apart():
    row = described("The capital of Peru is Lima.", "Lima", question="What is the capital of Peru?")

    assert (row["precision"], row["extra_words"]) == (1, 0)


def test_the_reference_that_fits_best_counts():
    rows = row_features(TextRows.of([""], [["Rome", "Paris", "Lyon"]], ["It is Paris."]))

    assert rows.references.tolist() == [1]
    assert rows.quoted(*rows.spans.T) == ["Paris"]


def test_the_share_of_the_references_that_are_said():
    row = described("Oslo and Lima", "Oslo", "Lima", "Rome", "Cairo")

    assert (row["references"], row["references_found"]) == (4, 0.5)


@pytest.mark.parametrize(
    ("response", "reference"),
    [("hrad v lese", "bitva v poli"), ("z", "kníže z hor"), ("de la", "rue de la paix"), ("a y b", "pan y vino")],
)
def test_single_letters_and_particles_name_nothing(response, reference):
    assert described(response, reference)["soft_recall"] < 0.2


def test_a_letter_in_upper_case_does():
    assert described("vitamin C", "vitamin B")["soft_recall"] == 0.5


def test_thousands_by_blanks_are_one_number():
    assert described("33 000", "$33 000")["exact"] == 1
    assert described("000", "$33 000")["number_recall"] == 0
    assert described("33 0000", "330000")["exact"] == 0


@pytest.mark.parametrize("text", TEXTS)
def test_hostile_texts_have_finite_features(text):
    row = described(text, text, "Paris", question=text)

    assert np.isfinite([*row.values()]).all()


def test_every_feature_has_a_direction():
    assert row_features(TextRows.of([""], [["a"]], ["b"])).features.shape == (1, len(FEATURES))
    assert set(DIRECTIONS.values()) <= {-1, 0, 1}


@given(st.text("abc", max_size=8), st.text("abc", max_size=8), st.integers(0, 3))
def test_distance_is_that_of_rapidfuzz_up_to_its_limit(a, b, limit):
    codes = [np.array([*map(ord, text)], np.uint32) for text in (a, b)]

    assert distance(*codes, limit) == min(OSA.distance(a, b), limit + 1)


@given(st.lists(st.tuples(TEXT, st.lists(TEXT, max_size=3), TEXT), max_size=4))
def test_features_of_any_texts_are_finite_and_do_not_depend_on_other_rows(rows):
    questions, references, responses = ([row[i] for row in rows] for i in range(3))
    together = row_features(TextRows.of(questions, references, responses))
    alone = [row_features(TextRows.of([q], [r], [a])) for q, r, a in rows]

    assert np.isfinite(together.features).all()
    assert together.features.tolist() == [each.features[0].tolist() for each in alone]
    assert together.references.tolist() == [int(each.references[0]) for each in alone]
