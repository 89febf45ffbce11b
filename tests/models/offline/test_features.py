import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import OSA

from goldmeter.models.offline.feature_names import DIRECTIONS, FEATURES
from goldmeter.models.offline.features import TextRows, row_features
from goldmeter.models.offline.matching import distance
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
        ("Da Vinci", "Leonardo da Vinci", "last_word", 1),
        ("Da Vinci", "Leonardo da Vinci", "first_word", 0),
        ("da Vinci", "Leonardo da Vinci", "run", 2 / 3),
        ("18 May 2018", "May 18, 2018", "recall", 1),
        ("NYC", "New York City", "initials", 1),
        ("the National Aeronautics and Space Administration", "NASA", "initials", 1),
        ("the United States of America", "USA", "initials", 1),
        ("no yaks climb", "NYC", "initials", 0),
        ("NBA", "New York City", "initials", 0),
        ("Albert Einstien", "Albert Einstein", "misspelt", 1),
        ("F. L. Wright", "Frank Lloyd Wright", "abbreviated", 1),
        ("Frank Lloyd Wright", "F. L. Wright", "abbreviated", 1),
        ("David Herbert Lawrence", "D. H. Lawrence", "abbreviated", 1),
        ("Ben Franklin", "Benjamin Franklin", "abbreviated", 1),
        ("B. L. Wright", "Frank Lloyd Wright", "abbreviated", 0),
        ("Al Franklin", "Benjamin Franklin", "abbreviated", 0),
        ("brown and white", "black, brown and white", "parts", 2 / 3),
        ("white, black and brown", "black, brown and white", "parts", 1),
        ("Paris", "Paris, France", "parts", 1),
        ("20.07.1969", "20 July 1969", "exact", 1),
        ("1969-07-20", "July 20, 1969", "recall", 1),
        ("7/20/1969", "20 July 1969", "exact", 1),
        ("7/6/1969", "7 June 1969", "exact", 0),
        ("Australia", "Austria", "other_word", 1),
        ("Australia", "Austria", "misspelt", 0),
        ("in 1921", "1912", "number_conflict", 1),
        ("in 1921", "1912", "year_gap", 9),
        ("in 1912", "1912", "number_conflict", 0),
        ("about 90", "100", "number_gap", 0.1),
        ("It rained. It was Paris.", "Paris", "sentence", 1),
        ("Paris and then Paris", "Paris", "occurrences", 2),
        ("It might be Paris.", "Paris", "hedge_beside", 1),
        ("I think it is Paris.", "Paris", "hedge_near", 1),
        ("I'm not sure. It is Paris.", "Paris", "hedge_near", 0),
        ("I'm not sure. It is Paris.", "Paris", "hedges", 1),
        ("Paris in May", "Paris", "hedges", 0),
        ("I'm not sure. It is Paris.", "Paris", "doubts", 1),
        ("It is Paris, which is far from Rome.", "Paris", "doubts", 0),
        ("It is Paris, and it might rain.", "Paris", "hedge_clause", 0),
        ("It seems to be Paris.", "Paris", "hedge_clause", 1),
        ("It is one of these two: Paris and Rome.", "Paris", "one_of", 1),
        ("Paris is one of the largest towns.", "Paris", "one_of", 0),
        ("I don't know.", "Paris", "refusal", 1),
        ("Sorry, I cannot answer that.", "Paris", "refusal", 2),
        ("It is not Paris.", "Paris", "negation_near", 1),
        ("It is not only Paris.", "Paris", "negation_near", 0),
        ("It is not Rome but Paris.", "Paris", "negation_near", 0),
        ("It isn't Rome, it's Paris.", "Paris", "negation_near", 0),
        ("It is not Paris but Rome.", "Paris", "corrected", 1),
        ("It is not Rome but Paris.", "Paris", "corrected", 0),
        ("Rome rather than Paris", "Paris", "negation_near", 0.85),
        ("Paris is not the one", "Paris", "negation_near", 1),
        ("Paris, not Rome", "Paris", "negation_near", 0),
        ("Paris or Rome", "Paris", "or_near", 1),
        ("Rome or Paris", "Paris", "or_near", 1),
        ("Paris/Rome", "Paris", "or_near", 1),
        ("Paris", "Paris", "or_near", 0),
        ("Paris. Or Rome.", "Paris", "or_near", 1),
        ("Paris, in spring or summer", "Paris", "or_near", 0),
        ("Paris and Rome", "Paris", "and_near", 1),
        ("Paris, France", "Paris", "comma_near", 1),
        ("Rome, Milan and Paris", "Paris", "names_before", 2),
        ("Rome is older than Paris", "Paris", "aside_before", 1),
        ("It is Rome, as opposed to old Paris.", "Paris", "aside_clause", 1),
        ("It is Rome, which Paris admires.", "Paris", "answered_before", 1),
        ("It is the old town of Paris.", "Paris", "answered_before", 0),
        ("It is Rome, which Paris admires.", "Paris", "subordinate", 1),
        ("It is Rome, which Paris admires, or so they say.", "Paris", "clauses", 1),
        ("Rome is older than Paris", "Paris", "name_first", 1),
    ],
)
def test_a_row_says(response, reference, name, value):
    assert described(response, reference)[name] == pytest.approx(value)


def test_words_copied_from_the_question_are_told_apart():
    row = described("The capital of Peru is Lima.", "Lima", question="What is the capital of Peru?")

    assert (row["precision"], row["copied"]) == (1, pytest.approx(2 / 3))


def test_other_accepted_answers_are_no_alternatives():
    assert described("hit points or health points", "hit points", "health points")["or_near"] == 0
    assert described("the lion or, in Latin, Panthera leo", "lion", "Panthera leo")["or_near"] == 0
    assert described("the lion or, in Latin, Panthera leo", "lion")["or_near"] == 1


def test_the_question_is_answered_in_one_clause_of_the_sentence():
    question = "What is the first name of Liszt?"

    assert described("His first name is Franz, and Paul is a friend.", "Paul", question=question)["asked_clause"] == 0
    assert described("His first name is Franz, and Paul is a friend.", "Franz", question=question)["asked_clause"] == 1


def test_the_reference_that_fits_best_counts():
    rows = row_features(TextRows.of([""], [["Rome", "Paris", "Lyon"]], ["It is Paris."]))

    assert rows.references.tolist() == [1]
    assert rows.quoted(*rows.spans.T) == ["Paris"]


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
