import json
import statistics

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.metrics import accuracy, score
from goldmeter.metrics.lexical.accuracy import Accuracy
from goldmeter.metrics.pairs import Pairs

TEXTS = st.one_of(
    st.text(max_size=8),
    st.sampled_from(["Paris", "paris!", "Pariss", "1,000", "1000", "!!!", "???", "", "C++", "c#", "$5", "€5"]),
)
FLAGS = st.fixed_dictionaries({"case_sensitive": st.booleans(), "normalize_text": st.booleans()})


def rows(responses, references, **options):
    metric = Accuracy(**options)
    return metric.score(metric.stats(Pairs.of(responses, references)))


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, 1.0),
        ({"case_sensitive": True}, 0.5),
        ({"normalize_text": False}, 0.5),
        ({"normalize_text": False, "case_sensitive": True}, 0.5),
    ],
)
def test_four_modes(options, expected):
    result = accuracy(["Paris!", "London"], ["paris", "London"], **options)

    assert result["accuracy"] == result["exact_accuracy"] == expected
    assert rows(["Paris!", "London"], ["paris", "London"], **options).mean() == expected


@pytest.mark.parametrize(
    ("prediction", "reference", "match"),
    [
        ("1,000", "1000", "exact"),
        ("3.5", "35", "none"),
        ("-5", "5", "none"),
        ("12:30", "1230", "none"),
        ("1/2", "12", "none"),
        ("$5.00!", "5.00", "exact"),
        ("", "", "exact"),
        ("!!!", "!!!", "exact"),
        ("!!!", "???", "none"),
        ("❤️", "✌️", "none"),
        ("Paris", "", "none"),
        ("Straße", "STRASSE", "exact"),
        ("  New\tYork ", "new york", "exact"),
        ("C++", "C#", "none"),
        ("**c++**.", "C++", "exact"),
        ("O-", "O+", "none"),
        ("x==y", "x!=y", "none"),
        ("$5", "€5", "none"),
        ("2:1", "1:2", "none"),
        ("10/11/2023", "11/10/2023", "none"),
    ],
)
def test_normalised_texts_match(prediction, reference, match):
    assert accuracy([prediction], [reference])["match_types"] == [match]


def test_stripped_texts_match():
    options = {"normalize_text": False}

    assert accuracy([" Paris\n", "Paris!"], ["paris", "paris"], **options)["match_types"] == ["exact", "none"]
    assert accuracy([" Paris\n"], ["paris"], case_sensitive=True, **options)["match_types"] == ["none"]


def test_everything_the_function_returns():
    result = accuracy(["Paris", "Pariss", "Rome"], ["paris", "paris", "paris"], fuzzy_match=True)

    low, high = result.pop("accuracy_confidence_interval")
    assert result == {
        "accuracy": 2 / 3,
        "exact_accuracy": 1 / 3,
        "fuzzy_accuracy": 2 / 3,
        "correct": 1,
        "correct_fuzzy": 2,
        "total": 3,
        "mean_score": pytest.approx(1.8 / 3),
        "std_score": pytest.approx(statistics.pstdev([1.0, 0.8, 0.0])),
        "individual_scores": [1.0, 0.8, 0.0],
        "match_types": ["exact", "fuzzy", "none"],
    }
    assert 0.0 < low < 2 / 3 < high < 1.0


def test_fuzzy_keys_only_when_asked_for():
    result = accuracy(["Pariss"], ["paris"])

    assert result["accuracy"] == 0.0
    assert not {"fuzzy_accuracy", "correct_fuzzy"} & set(result)


def test_interval_of_no_error_in_three():
    low, high = accuracy(["a"] * 3, ["a"] * 3)["accuracy_confidence_interval"]

    assert (round(low, 4), high) == (0.3684, 1.0)  # mid-p: p³ / 2 = 0.025


def test_interval_can_be_left_out():
    assert "accuracy_confidence_interval" not in accuracy(["a"], ["a"], return_confidence=False)


def test_empty_lists_are_unmeasured():
    assert accuracy([], [], fuzzy_match=True) == {
        "accuracy": None,
        "exact_accuracy": None,
        "fuzzy_accuracy": None,
        "correct": 0,
        "correct_fuzzy": 0,
        "total": 0,
        "mean_score": None,
        "std_score": None,
        "individual_scores": [],
        "match_types": [],
        "accuracy_confidence_interval": None,
    }


@pytest.mark.parametrize("missing", [None, float("nan"), np.nan, pd.NA, pd.NaT])
def test_a_missing_prediction_is_unmeasured(missing):
    result = accuracy(["Paris", missing, "Rome"], ["paris", "Oslo", []])

    assert (result["accuracy"], result["correct"], result["total"], result["unmeasured"]) == (1.0, 1, 1, 2)
    assert result["match_types"] == ["exact", "unmeasured", "unmeasured"]
    assert result["individual_scores"] == [1.0, None, None]
    assert accuracy([missing], ["Oslo"])["accuracy"] is None
    json.dumps(result, allow_nan=False)


@pytest.mark.parametrize("column", [list, tuple, np.array, pd.Series, pa.array, lambda texts: np.array(texts, object)])
def test_any_kind_of_column(column):
    result = accuracy(column(["Paris!", "London"]), column(["paris", "Rome"]))

    assert result["match_types"] == ["exact", "none"]


@pytest.mark.parametrize(
    ("predictions", "references", "error", "message"),
    [
        ([1], ["1"], TypeError, r"^predictions, row 0: expected text, found 1 \(int\); str\(\) makes a text"),
        (["1", "2"], ["1", 2.5], TypeError, r"^references, row 1: expected text, found 2\.5"),
        ([["a"]], ["a"], TypeError, r"^predictions, row 0: expected text"),
        (["a"], [None], ValueError, r"^references, row 0: a reference is a string; found None"),
        ("Paris", "Paris", TypeError, r"^predictions: expected a list with one entry per row, not one string"),
        (["\ud800"], ["a"], ValueError, r"^predictions, row 0: not a Unicode text"),
    ],
)
def test_what_is_no_column_of_texts_is_named(predictions, references, error, message):
    with pytest.raises(error, match=message):
        accuracy(predictions, references)


def test_the_best_of_several_references_counts():
    result = accuracy(["Pariss", "Rome"], [["Oslo", "paris"], ["rome", "x"]], fuzzy_match=True)

    assert result["match_types"] == ["fuzzy", "exact"]


VISIBLE = TEXTS.filter(str.strip)


@given(st.lists(st.tuples(VISIBLE | st.none(), st.lists(VISIBLE, max_size=2)), max_size=5), st.booleans())
def test_the_scores_are_those_of_score(rows, fuzzy):
    predictions, references = [text for text, _ in rows], [texts for _, texts in rows]

    result = accuracy(predictions, references, fuzzy_match=fuzzy)

    scores = score("accuracy", predictions, references, fuzzy_match=fuzzy)
    assert result["total"] == np.count_nonzero(~np.isnan(scores))
    assert result["accuracy"] == (pytest.approx(np.nanmean(scores)) if result["total"] else None)


def test_unequal_lengths():
    with pytest.raises(ValueError, match="2 predictions, but 1 references"):
        accuracy(["a", "b"], ["a"])


def test_the_result_is_json():
    assert json.loads(json.dumps(accuracy(["a", "b"], ["a", "c"])))["match_types"] == ["exact", "none"]


def test_the_fuzzy_threshold_is_inclusive():
    # Indel similarity of abcd and abce: 1 - 2/8
    options = {"fuzzy_match": True}

    assert accuracy(["abcd"], ["abce"], fuzzy_threshold=0.75, **options)["match_types"] == ["fuzzy"]
    assert accuracy(["abcd"], ["abce"], fuzzy_threshold=0.76, **options)["match_types"] == ["none"]


def test_fuzzy_compares_normalised_texts():
    assert accuracy(["P-A-R-I-S-S!"], ["paris"], fuzzy_match=True)["match_types"] == ["fuzzy"]


def test_partial_credit_stands_in_details():
    metric = Accuracy(fuzzy_match=True)
    pairs = Pairs.of(["Paris", "Pariss", "Rome", None, " "], [["paris"], ["Oslo", "paris"], ["oslo"], ["x"], ["y"]])

    details = [text and json.loads(text) for text in metric.details(pairs)]

    assert metric.score(metric.stats(pairs)).tolist() == pytest.approx([1.0, 1.0, 0.0, np.nan, 0.0], nan_ok=True)
    assert details == [
        None,
        {"match": "fuzzy", "score": 0.8, "similarity": 0.909091},
        {"match": "none", "score": 0.0, "similarity": 0.25},
        {"unmeasured": "no response"},
        {"note": "empty response"},
    ]


def test_profile_benchwise_counts_exact_matches_and_credits_similarity():
    predictions, references = ["Paris", "Pariss", "a - b", "1.5"], ["paris", "paris", "a b", "15"]

    result = accuracy(predictions, references, fuzzy_match=True, profile="benchwise")

    # "a - b" keeps two blanks: punctuation goes after white space was collapsed; "1.5" becomes "15"
    assert result["match_types"] == ["exact", "fuzzy", "fuzzy", "exact"]
    assert result["individual_scores"] == pytest.approx([1.0, 10 / 11, 6 / 7, 1.0])
    assert (result["accuracy"], result["fuzzy_accuracy"]) == (0.5, 1.0)
    assert rows(predictions, references, fuzzy_match=True, profile="benchwise").tolist() == [
        1.0,
        0.0,
        0.0,
        1.0,
    ]


def test_takes_no_threshold_and_a_fuzzy_one_between_0_and_1():
    with pytest.raises(ValueError, match="binary"):
        Accuracy(threshold=0.5)
    with pytest.raises(ValueError, match="less than or equal to 1"):
        Accuracy(fuzzy_threshold=80)


def test_signature_has_what_defines_the_number():
    assert Accuracy().signature() == Accuracy(fuzzy_threshold=0.5).signature()
    assert "|fuzzy:0.5|" in Accuracy(fuzzy_match=True, fuzzy_threshold=0.5).signature()
    assert Accuracy(profile="benchwise").signature() != Accuracy().signature()


@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=5), FLAGS, st.booleans())
def test_metric_and_function_agree(pairs, flags, fuzzy):
    pairs = [(prediction, reference) for prediction, reference in pairs if prediction.strip()]
    predictions, references = [p for p, _ in pairs], [r for _, r in pairs]

    result = accuracy(predictions, references, fuzzy_match=fuzzy, **flags)

    scores = rows(predictions, references, fuzzy_match=fuzzy, **flags)
    assert scores.tolist() == [float(kind != "none") for kind in result["match_types"]]


@given(TEXTS, FLAGS)
def test_equal_texts_match_exactly(text, flags):
    assert accuracy([text], [text], **flags)["match_types"] == ["exact"]


def test_signs_are_compared_in_every_mode_that_normalises_and_not_as_benchwise_does():
    pair = ["C++"], ["C#"]

    assert accuracy(*pair, case_sensitive=True)["accuracy"] == rows(*pair, case_sensitive=True) == 0
    assert accuracy(*pair, fuzzy_match=True)["accuracy"] == rows(*pair, fuzzy_match=True) == 0
    assert accuracy(*pair, profile="benchwise")["accuracy"] == 1


@given(st.lists(st.tuples(TEXTS.filter(str.strip), TEXTS, TEXTS), max_size=5), st.booleans())
def test_the_column_and_the_function_agree_on_signs(triples, fuzzy):
    responses, references = [one for one, *_ in triples], [[*others] for _, *others in triples]

    assert rows(responses, references, fuzzy_match=fuzzy).tolist() == [
        float(one != "none") for one in accuracy(responses, references, fuzzy_match=fuzzy)["match_types"]
    ]


@pytest.mark.parametrize(
    ("response", "reference", "expected"),
    [
        ("1,000", "1e3", 1), ("five", "5", 1), ("5 km", "5000 m", 1), ("3 million people", "3,000,000 people", 1),
        ("Boeing 747", "Airbus 747", 0), ("5 apples", "5 pears", 0), ("12:00", "1:00", 0), ("<5", ">5", 0),
        ("5 thousand", "5 million", 0), ("Paris", "five", 0), ("1 " * 50, "1", 0),
    ],
)  # fmt: skip
def test_quantities_are_read_if_that_is_asked_for(response, reference, expected):
    assert rows([response], [reference], quantities=True) == expected
    assert rows([response], [reference], quantities=True, fuzzy_match=True, fuzzy_threshold=1) == expected
    if expected:
        assert rows([response], [reference]) == 0


def test_the_signature_names_what_is_read():
    assert "quantities:yes" in Accuracy(quantities=True).signature()
    assert "quantities" not in Accuracy().signature()
