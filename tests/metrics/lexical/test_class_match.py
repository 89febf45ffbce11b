import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter import score
from goldmeter.errors import ParamsError
from goldmeter.metrics.catalogue import configure
from goldmeter.metrics.pairs import Pairs

MAIL = {"classes": ["spam", "ham"]}


def details(options, responses, references):
    metric = configure("lexical", "class_match", options)
    return [json.loads(text or "{}") for text in metric.row_details(Pairs.of(responses, references))]


def test_right_wrong_no_class_and_two():
    responses = ["It's spam.", "ham", "I can't say", "spam or ham", "", None]

    scores = score("class_match", responses, ["spam"] * 6, **MAIL)

    assert scores.tolist() == pytest.approx([1, 0, 0, 0, 0, np.nan], nan_ok=True)
    assert details(MAIL, responses, ["spam"] * 6) == [
        {"class": "spam", "expected": "spam"},
        {"class": "ham", "expected": "spam"},
        {"note": "no class named", "expected": "spam"},
        {"note": "two classes named", "named": ["spam", "ham"], "expected": "spam"},
        {"note": "empty response", "expected": "spam"},
        {"unmeasured": "no response"},
    ]


def test_a_reference_that_is_no_class_is_unmeasured_whatever_the_response():
    responses, references = ["spam", "eggs", "", "ham"], ["eggs", "eggs", "eggs", ["eggs", "ham"]]

    scores = score("class_match", responses, references, **MAIL)

    assert scores.tolist() == pytest.approx([np.nan, np.nan, np.nan, 1], nan_ok=True)
    assert (
        details(MAIL, responses, references)[:3]
        == [{"unmeasured": "the reference is no class", "reference": "eggs"}] * 3
    )


def test_options_by_letter_or_text():
    options = {"classes": {"A": "Paris", "B": ["Rome", "Roma"], "C": None}}

    scores = score("class_match", ["Paris", "(a)", "B) Roma", "Rome", "A"], ["A", "Paris", "B", "A", "C"], **options)

    assert scores.tolist() == [1, 1, 1, 0, 0]


def test_the_texts_of_the_options_are_those_of_the_row():
    responses = ["Rome", "The answer is Rome.", "B", "Paris", "Rome or Paris", "Paris, not Rome", "no", "Rome", "Oslo"]
    phrases = [["Paris", "Rome"]] * 7 + [["B", "Rome"], ["Oslo", "oslo"]]
    metric = configure("lexical", "class_match", {"classes": ["A", "B"]})
    pairs = Pairs.of(responses, ["B"] * 9, phrases=phrases)

    assert metric.score(metric.stats(pairs)).tolist() == [1, 1, 1, 0, 0, 0, 0, 1, 0]
    assert [json.loads(text or "{}") for text in metric.row_details(pairs)[3:5]] == [
        {"class": "A", "expected": "B"},
        {"note": "two classes named", "named": ["B", "A"], "expected": "B"},
    ]


def test_of_several_references_the_one_that_is_named_is_expected():
    assert details(MAIL, ["ham", "?"], [["spam", "ham"], ["spam", "ham"]]) == [
        {"class": "ham", "expected": "ham"},
        {"note": "no class named", "expected": "spam"},
    ]


def test_without_classes_the_answer_must_equal_the_reference_after_normalisation():
    responses = ["Spam!", "It's spam.", "x" * 300]

    assert score("class_match", responses, ["spam"] * 3).tolist() == [1, 0, 0]
    assert details({}, responses, ["spam"] * 3) == [
        {"class": "spam", "expected": "spam"},
        {"class": "its spam", "expected": "spam"},
        {"class": "x" * 200 + "…", "expected": "spam"},
    ]


def test_numbers_and_truths_of_yaml_are_names():
    assert score("class_match", ["true", "2"], ["True", "1"], classes=[True, False, 1, 2]).tolist() == [1, 0]


@given(st.lists(st.text() | st.none(), min_size=1, max_size=8))
def test_any_response_is_right_or_wrong(responses):
    scores = score("class_match", responses, ["spam"] * len(responses), **MAIL)

    assert [np.isnan(one) for one in scores] == [text is None for text in responses]
    assert set(scores[~np.isnan(scores)]) <= {0.0, 1.0}


def test_the_classes_are_part_of_the_signature():
    signatures = {
        configure("lexical", "class_match", options).signature()
        for options in ({}, MAIL, {"classes": ["ham", "spam", "eggs"]}, {"classes": {"spam": ["junk"], "ham": []}})
    }

    assert len(signatures) == 4
    assert "class_match|classes:references|refs:best|v:1" in signatures


@pytest.mark.parametrize(
    ("classes", "message"),
    [
        (["spam", "Spam"], "'Spam' names two classes"),
        ([], "lexical.class_match.classes"),
        ("spam", "lexical.class_match.classes"),
        ([None], "lexical.class_match.classes"),
        ({"spam": {"a": "b"}}, "lexical.class_match.classes"),
        ([["spam"]], "lexical.class_match.classes"),
    ],
)
def test_what_is_no_list_of_classes_is_refused(classes, message):
    with pytest.raises(ParamsError, match=message):
        configure("lexical", "class_match", {"classes": classes})
