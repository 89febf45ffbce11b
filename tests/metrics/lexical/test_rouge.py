import itertools
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer

from goldmeter.metrics.base import Metric
from goldmeter.metrics.lexical.rouge import Rouge
from goldmeter.metrics.pairs import Pairs

WORDS = ["the", "The", "cats", "cat", "running", "ran", "été", "-", "42", "ties", "İ"]
TEXTS = st.one_of(st.text(max_size=20), st.lists(st.sampled_from(WORDS), max_size=9).map(" ".join))
PROFILES = {"rouge_score": False, "azure": False, "ragas": True}  # and whether it stems


def columns(responses, references, **options):
    metric = Rouge(**options)
    by_name = metric.column_scores(metric.stats(Pairs.of(responses, references)))
    return np.stack([by_name[f"rouge_{name}"] for name in ("precision", "recall", "f1_score")], axis=1)


def f1(response, reference, **options):
    return float(columns([response], [reference], **options)[0, 2])


def rouge_score_of(scorer, response, reference):
    [score] = scorer.score(reference, response).values()
    return [score.precision, score.recall, score.fmeasure]


@pytest.mark.parametrize(
    ("response", "reference", "expected"),
    [
        ("Paris", "Paris", 1.0),
        ("New York", "New York", 1.0),
        ("London", "Paris", 0.0),
        ("Marie Curie was birthed in Warsaw.", "Marie Curie was born in Warsaw.", 0.8333),
        (
            "According to wikipedia, Marie Curie was not born in Paris but in Warsaw.",
            "Marie Curie was born in Warsaw.",
            0.6316,
        ),
        ("42", "forty-two", 0.0),
    ],
)
@pytest.mark.parametrize("profile", ["default", *PROFILES])
def test_known_values(response, reference, expected, profile):
    assert f1(response, reference, profile=profile) == pytest.approx(expected, abs=5e-5)


@pytest.mark.parametrize(
    ("n", "response", "reference", "expected"),
    [
        (1, "the cat the", "the the dog dog", [2 / 3, 1 / 2, 4 / 7]),
        (2, "the cat sat down", "a cat sat", [1 / 3, 1 / 2, 2 / 5]),
        (2, "cat sat", "sat cat", [0.0, 0.0, 0.0]),
        (2, "Paris", "PARIS", [1.0, 1.0, 1.0]),
        (2, "Paris", "Rome", [0.0, 0.0, 0.0]),
        (2, "Paris", "Paris it is", [0.0, 0.0, 0.0]),
    ],
)
def test_common_tokens_and_pairs_of_tokens(n, response, reference, expected):
    assert columns([response], [reference], n=n)[0].tolist() == pytest.approx(expected)


def test_precision_and_recall_are_shares_of_response_and_reference():
    assert columns(["the quick brown fox"], ["the fox"])[0].tolist() == pytest.approx([0.5, 1.0, 2 / 3])


def test_all_columns_are_of_the_reference_with_the_best_f1():
    references = ["a", "a b", "a b c d e f g h"]

    # F1 of 2/5, 2/3 and 2/3: of equal ones the first counts
    assert columns(["a b c d"], [references])[0].tolist() == pytest.approx([0.5, 1.0, 2 / 3])


def test_the_columns_and_the_one_that_is_gated():
    assert Rouge().columns == ("rouge_precision", "rouge_recall", "rouge_f1_score")
    assert Rouge().column == "rouge_f1_score"
    assert (Rouge().threshold, Rouge(profile="azure").threshold) == ("none", 0.5)


def test_the_corpus_score_is_the_mean_of_each_column():
    metric = Rouge()
    stats = metric.stats(Pairs.of(["a b", "x", None], ["a c", "x", "y"]))

    assert {name: float(value) for name, value in metric.column_scores(stats.sum(0)).items()} == {
        "rouge_precision": 0.75,
        "rouge_recall": 0.75,
        "rouge_f1_score": 0.75,
    }


def test_the_stemmer_leaves_tokens_up_to_three_letters_alone():
    assert f1("running cats", "run cat", stemmer=True) == 1.0
    assert f1("was", "wa", stemmer=True) == 0.0
    assert f1("running", "run", stemmer=False) == 0.0


def test_case_is_ignored_under_every_tokenizer():
    assert f1("THE CAT", "the cat", tokenizer="13a") == 1.0


def test_japanese_is_compared_character_by_character():
    assert f1("東京です", "東京") == pytest.approx(2 / 3)


def test_texts_without_tokens_are_compared_as_they_are():
    pairs = (["!!!", "!!!", "!!! a", "😀"], ["!!!", "?", "!!!", "a 😀"])

    assert columns(*pairs)[:, 2].tolist() == [1.0, 0.0, 0.0, 0.0]
    assert columns(*pairs, fallback=False)[:, 2].tolist() == [0.0, 0.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, "rouge|type:L|stem:no|tok:words|case:lc|refs:best|v:1"),
        (
            {"profile": "ragas"},
            "rouge|type:L|stem:porter>3|tok:rouge_score|case:lc|refs:best|fallback:no|v:1",
        ),
    ],
)
def test_the_signature_says_how_the_number_was_made(options, expected):
    assert Rouge(**options).signature() == expected


def test_every_option_is_in_the_signature():
    changed = {"n": 2, "stemmer": True, "tokenizer": "rouge_score", "fallback": False}

    assert set(changed) == set(Rouge.model_fields) - set(Metric.model_fields)
    for name, value in changed.items():
        assert Rouge(**{name: value}).signature() != Rouge().signature()


@given(TEXTS.filter(str.strip), TEXTS)
@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("n", [None, "Lsum", 1, 2, 3, 4, 5])
def test_equals_rouge_score(n, profile, response, reference):
    scorer = RougeScorer([f"rouge{n or 'L'}"], use_stemmer=PROFILES[profile])

    ours = columns([response], [reference], profile=profile, n=n)[0]

    assert ours.tolist() == pytest.approx(rouge_score_of(scorer, response, reference), abs=1e-12)


@pytest.mark.parametrize("profile", PROFILES)
def test_equals_rouge_score_on_real_answers(real_pairs, profile):
    assert len(real_pairs[0]) > 2500
    assert_equals_rouge_score(*real_pairs, profile)


def assert_equals_rouge_score(responses, references, profile):
    scorer = RougeScorer(["rougeL"], use_stemmer=PROFILES[profile])
    theirs = [rouge_score_of(scorer, *pair) for pair in zip(responses, references, strict=True)]

    difference = np.abs(columns(responses, references, profile=profile) - np.array(theirs))

    assert difference.max() <= 1e-12, f"{difference.max()} in row {difference.max(axis=1).argmax()}"


LINES = st.lists(TEXTS, max_size=4).map("\n".join)


@given(LINES.filter(str.strip), LINES)
@pytest.mark.parametrize("profile", PROFILES)
def test_lsum_equals_rouge_score_on_several_lines(profile, response, reference):
    scorer = RougeScorer(["rougeLsum"], use_stemmer=PROFILES[profile])

    ours = columns([response], [reference], profile=profile, n="Lsum")[0]

    assert ours.tolist() == pytest.approx(rouge_score_of(scorer, response, reference), abs=1e-12)


def test_lsum_takes_the_union_of_what_the_lines_have_in_common():
    response, reference = "w1 w2 w6 w7 w8\nw1 w3 w8 w9 w5", "w1 w2 w3 w4 w5"  # the example of Lin 2004, section 3.2

    assert columns([response], [reference], n="Lsum")[0].tolist() == pytest.approx([4 / 10, 4 / 5, 8 / 15])
    assert columns(["b\na"], ["a b"], n="Lsum")[0, 1] == 1.0
    assert columns(["b\na"], ["a b"], n="L")[0, 1] == 0.5


@pytest.mark.parametrize("n", ["L", "Lsum", 1, 3, 5])
def test_equals_rouge_score_on_generated_summaries(n):
    chance = random.Random(f"{n}")  # noqa: S311 (no secret)
    words = ["the", "cat", "sat", "on", "a", "mat", "running", "runs", "dogs", ".", "it", "3.5", "été", "x"]
    texts = [
        "\n".join(" ".join(chance.choices(words, k=chance.randint(0, 12))) for _ in range(chance.randint(1, 4)))
        for _ in range(600)
    ]
    pairs = [pair for pair in itertools.pairwise(texts) if all(map(str.strip, pair))]
    scorer = RougeScorer([f"rouge{n}"])

    ours = columns(*zip(*pairs, strict=True), profile="rouge_score", n=n)

    theirs = [rouge_score_of(scorer, *pair) for pair in pairs]
    assert np.abs(ours - np.array(theirs)).max() <= 1e-12
