"""Semantic similarity: scales, the best reference, texts without words, and the laws of the family."""

import json

import numpy as np
import pytest

from goldmeter.metrics import score
from goldmeter.metrics.catalogue import configure, names
from goldmeter.metrics.cosine import cosines
from goldmeter.metrics.pairs import Pairs
from goldmeter.metrics.semantic import default_embed

IDENTICAL = [
    "Paris", "New York", "The", "a", "It is Paris. It is big.", "Привет, мир", "مرحبا بالعالم", "नमस्ते दुनिया",
    "東京タワー", "ひらがな カタカナ", "안녕하세요 세계", "42", "-5", "3.5", "!!!", "...", "?", "-\n-", "😀",
    "👩🏽‍🚀 🇫🇷", "\u200b", "\x00", " padded ", "x " * 400,
]  # fmt: skip
UNIT = {"east": [1.0, 0.0], "north": [0.0, 1.0], "west": [-1.0, 0.0], "north-east": [3.0, 3.0], "3/4": [3.0, 4.0]}


def compass(asked=None):
    """Vectors of directions, some of them not of length 1; notes what it is asked for."""

    def embed(texts):
        if asked is not None:
            asked.extend(texts)
        return np.array([UNIT[text] for text in texts])

    return embed


def scores(name, responses, references, *, asked=None, **options):
    metric = configure("semantic", name, options)
    pairs = Pairs.of(responses, references, embed=compass(asked))
    return metric.score(metric.stats(pairs)).tolist()


@pytest.mark.parametrize(
    ("scale", "expected"),
    [("clip", [1, 0, 0, 0.707107, 0.6]), ("raw", [1, 0, -1, 0.707107, 0.6]), ("half", [1, 0.5, 0, 0.853553, 0.8])],
)
def test_the_scales(scale, expected):
    responses = ["east", "north", "west", "north-east", "3/4"]

    assert scores("semantic_similarity", responses, ["east"] * 5, scale=scale) == expected


@pytest.mark.parametrize(("scale", "bounds"), [("clip", (0, 1)), ("raw", (-1, 1)), ("half", (0, 1))])
def test_the_bounds_follow_the_scale(scale, bounds):
    metric = configure("semantic", "semantic_similarity", {"scale": scale})

    assert (metric.bounds, metric.threshold) == (bounds, 0.7)


def test_the_most_similar_reference_counts():
    assert scores("semantic_similarity", ["east", "east"], [["north", "north-east"], ["west"]]) == [0.707107, 0]


@pytest.mark.parametrize(("scale", "lowest"), [("clip", 0), ("raw", -1), ("half", 0)])
def test_blank_and_missing_texts_are_not_asked_for(scale, lowest):
    asked = []

    found = scores(
        "semantic_similarity", [" ", None, "east"], [["east"], ["east"], ["", " "]], asked=asked, scale=scale
    )

    assert found[0] == lowest
    assert np.isnan(found[1])
    assert found[2] == lowest
    assert asked == []


def test_each_text_is_asked_for_once():
    asked = []

    scores("semantic_similarity", ["east", "east", "north"], [["east", "north"], ["north"], ["east"]], asked=asked)

    assert sorted(asked) == ["east", "north"]


def test_cosines_do_not_depend_on_the_chunks(monkeypatch):
    monkeypatch.setattr("goldmeter.metrics.cosine.PAIRS_AT_ONCE", 2)
    left, right = ["east", "", "3/4", "west", "north"], ["3/4", "east", "north", "east", "north-east"]

    assert cosines(compass(), left, right) == pytest.approx([0.6, -1, 0.8, -1, np.sqrt(0.5)])


def test_cosines_without_vectors_are_an_error():
    with pytest.raises(ValueError, match="need pairs with `embed`"):
        cosines(None, ["a"], ["b"])


@pytest.mark.parametrize("name", names("semantic"))
def test_the_texts_asked_for_are_those_that_were_declared(name):
    metric = configure("semantic", name, {})
    asked = set()

    def embed(texts):
        asked.update(texts)
        return default_embed()(texts)

    pairs = Pairs.of(["Paris!", None, " ", "Rome"], [["paris", "The city"], ["x"], ["y"], ["z", ""]], embed=embed)
    metric.stats(pairs)

    assert asked == set(metric.texts(pairs))
    assert not asked & {"x", "y", "", " "}


@pytest.mark.parametrize("name", names("semantic"))
def test_laws(name):
    metric, others = configure("semantic", name, {}), [*IDENTICAL[1:], IDENTICAL[0]]

    found = score(name, IDENTICAL, others)

    assert ((found >= metric.bounds[0]) & (found <= metric.bounds[1])).all()
    assert score(name, IDENTICAL[::-1], others[::-1])[::-1] == pytest.approx(found, abs=1e-6)
    best = [[other, text] for other, text in zip(others, IDENTICAL, strict=True)]  # one more reference lowers no score
    assert score(name, IDENTICAL, best).tolist() == [metric.bounds[1]] * len(IDENTICAL)
    assert score(name, IDENTICAL, IDENTICAL).tolist() == [metric.bounds[1]] * len(IDENTICAL)


@pytest.mark.parametrize("name", names("semantic"))
def test_details_say_why_there_is_no_score(name):
    metric = configure("semantic", name, {})
    pairs = Pairs.of([None, "  "], [["x"], ["x"]], embed=compass())

    assert [json.loads(each) for each in metric.details(pairs)] == [
        {"unmeasured": "no response"},
        {"note": "empty response"},
    ]


@pytest.mark.parametrize("name", ["semantic_similarity", "similarity", "reference_match"])
def test_no_reference_is_unmeasured_whatever_the_response(name):
    metric = configure("semantic", name, {})
    pairs = Pairs.of(["east", " ", None], [[], [], []], embed=compass())

    assert np.isnan(metric.score(metric.stats(pairs))).all()
    assert [json.loads(each) for each in metric.details(pairs)] == [
        {"unmeasured": "no reference"},
        {"unmeasured": "no reference"},
        {"unmeasured": "no response"},
    ]


def test_signature():
    metric = configure("semantic", "semantic_similarity", {"scale": "half"})

    assert metric.signature(weights="53aa51172d14") == "semantic_similarity|scale:half|weights:53aa51172d14|v:1"
