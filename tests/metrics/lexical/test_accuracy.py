import json
import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.metrics import accuracy
from goldmeter.metrics.lexical.accuracy import Accuracy
from goldmeter.metrics.pairs import Pairs

TEXTS = st.one_of(
    st.text(max_size=8), st.sampled_from(["Paris", "paris!", "Pariss", "1,000", "1000", "!!!", "???", ""])
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


def test_empty_lists():
    assert accuracy([], [], fuzzy_match=True) == {
        "accuracy": 0.0,
        "exact_accuracy": 0.0,
        "fuzzy_accuracy": 0.0,
        "correct": 0,
        "correct_fuzzy": 0,
        "total": 0,
        "mean_score": 0.0,
        "std_score": 0.0,
        "individual_scores": [],
        "match_types": [],
        "accuracy_confidence_interval": (0.0, 1.0),
    }


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
