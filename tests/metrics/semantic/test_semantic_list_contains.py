"""Semantic list contains: the golden example, any and all, windows, and what counts as phrases."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.errors import ParamsError
from goldmeter.metrics.catalogue import configure
from goldmeter.metrics.pairs import Pairs
from goldmeter.metrics.semantic import default_embed
from goldmeter.metrics.semantic.semantic_list_contains import phrases_of

FOX = "The quick brown fox jumps over the lazy dog."
PHRASES = ["Brown fox!", "lazy dog", "dancing giraffe"]


def measure(responses, references, *, phrases=None, **options):
    metric = configure("semantic", "semantic_list_contains", options)
    pairs = Pairs.of(responses, references, phrases=phrases, embed=default_embed())
    details = [json.loads(each) for each in metric.details(pairs)]
    return metric.score(metric.stats(pairs)).tolist(), details


def test_the_golden_example():
    scores, [details] = measure([FOX], [PHRASES], similarity_threshold=0.6)

    assert scores == [1.0]
    assert details == {
        "matches": [True, False, False],
        "similarities": {
            "Brown fox!": pytest.approx(0.6240063, abs=1e-6),
            "lazy dog": pytest.approx(0.5937520, abs=1e-6),
            "dancing giraffe": pytest.approx(0.2875657, abs=1e-6),
        },
        "threshold": 0.6,
        "match_all": False,
    }


def test_every_phrase_must_match_when_told_so():
    assert measure([FOX], [PHRASES], similarity_threshold=0.6, match_all=True)[0] == [0.0]
    assert measure([FOX], [PHRASES[:2]], similarity_threshold=0.59, match_all=True)[0] == [1.0]


def test_the_default_threshold_is_0_7():
    assert measure([FOX], [PHRASES])[0] == [0.0]


def test_duplicates_are_kept_apart():
    _, [details] = measure([FOX], [["brown fox", "brown fox", "brown fox #2"]], similarity_threshold=0.6)

    assert details["matches"][:2] == [True, True]
    assert list(details["similarities"]) == ["brown fox", "brown fox #2", "brown fox #2 #2"]


def test_windows_keep_long_answers_from_diluting_a_phrase():
    answer = "I looked it up. The capital of France is Paris! Bread is sold there, and the weather was cold in May."
    found = {
        window: measure([answer], [["the capital of France is Paris", "bread"]], window=window)[1][0]["similarities"]
        for window in ("response", "sentence", "ngram")
    }

    assert found["sentence"]["the capital of France is Paris"] == 1.0
    assert found["ngram"] == {"the capital of France is Paris": 1.0, "bread": 1.0}
    assert found["response"]["bread"] < found["sentence"]["bread"] < 1.0


@pytest.mark.parametrize("window", ["response", "sentence", "ngram"])
def test_identity_in_every_window(window):
    texts = ["One. Two. Three.", "東京は日本の首都です。大きい。", "!!!", "a", "Привет, мир"]

    assert measure(texts, texts, window=window)[0] == [1.0] * 5


def test_han_characters_are_words_of_an_ngram():
    _, [details] = measure(["東京は日本の首都です"], [["日本"]], window="ngram")

    assert details["similarities"] == {"日本": 1.0}


def test_case_and_punctuation_count_when_told_so():
    metric = configure("semantic", "semantic_list_contains", {"case_insensitive": False, "remove_punctuation": False})

    assert metric.texts(Pairs.of(["It's Paris."], ["PARIS!"])) == ["It's Paris.", "PARIS!"]
    assert configure("semantic", "semantic_list_contains", {}).texts(Pairs.of(["It's Paris."], ["PARIS!"])) == [
        "its paris",
        "paris",
    ]


def test_texts_that_nothing_is_left_of():
    scores, details = measure(["!!!", "!!!", "Paris", "!!!"], [["!!!"], ["???"], ["!!!"], ["Paris"]])

    assert scores == [1.0, 0.0, 0.0, 0.0]
    assert [list(each["similarities"].values()) for each in details] == [[1.0], [0.0], [0.0], [0.0]]


def test_own_phrases_come_before_references_and_a_row_with_none_is_not_measured():
    scores, details = measure(
        ["Paris", "Paris", "Paris", None, " ", None, " ", "Rome", "Paris"],
        [["Rome"], ["Paris"], ["Paris"], ["Paris"], ["Paris"], [], [], [], []],
        phrases=[["Paris"], None, [], ["Paris"], ["Paris"], [], [], None, ["Paris"]],
    )

    assert scores[:2] == [1.0, 1.0]
    assert np.isnan([scores[2], scores[3], *scores[5:8]]).all()
    assert scores[4] == 0.0
    assert scores[8] == 1.0
    assert details[2:8] == [
        {"unmeasured": "no phrases"},
        {"unmeasured": "no response"},
        {"note": "empty response"},
        {"unmeasured": "no response"},
        {"unmeasured": "no phrases"},
        {"unmeasured": "no phrases"},
    ]
    assert details[8]["similarities"] == {"Paris": 1.0}


@pytest.mark.parametrize(
    ("given", "phrases"),
    [
        (["a", "b"], ["a", "b"]),
        (['["a", "b"]'], ["a", "b"]),
        (["one phrase"], ["one phrase"]),
        (["[not json"], ["[not json"]),
        (['["a", ["b"]]'], ['["a", ["b"]]']),
        (['["a", null]'], ['["a", null]']),
        (["[1.50, 2]"], ["1.50", "2"]),
        (['["a"]', "b"], ['["a"]', "b"]),
        (["a", " ", ""], ["a"]),
        (["[]"], []),
        ([], []),
    ],
)
def test_what_counts_as_phrases(given, phrases):
    assert phrases_of(given) == phrases


@given(st.lists(st.text()))
def test_any_list_of_phrases_survives_json(texts):
    wanted = [text for text in texts if text.strip()]

    assert phrases_of([json.dumps(texts)]) == wanted


def test_it_is_binary_and_does_without_references():
    metric = configure("semantic", "semantic_list_contains", {})

    assert (metric.threshold, metric.bounds) == (None, (0.0, 1.0))
    with pytest.raises(ParamsError, match="takes no threshold"):
        configure("semantic", "semantic_list_contains", {"threshold": 0.5})
    with pytest.raises(ParamsError, match="similarity_threshold"):
        configure("semantic", "semantic_list_contains", {"similarity_threshold": 1.5})
