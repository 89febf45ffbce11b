import math
import warnings

import numpy as np
import pytest
import sacrebleu
from hypothesis import given
from hypothesis import strategies as st
from nltk.translate.bleu_score import SmoothingFunction, corpus_bleu, sentence_bleu

from goldmeter.metrics.lexical.bleu import Bleu
from goldmeter.metrics.pairs import Pairs
from goldmeter.text.tokenizers import tokenizer

NLTK_METHODS = {"none": "method0", "floor": "method1", "add-k": "method2", "exp": "method3"}
SACREBLEU_METHODS = ["none", "floor", "add-k", "exp"]
WORDS = st.lists(st.sampled_from(["a", "b", "c", "A", "dog", "."]), min_size=1, max_size=9).map(" ".join)
ROWS = st.lists(st.tuples(WORDS, st.lists(WORDS, min_size=1, max_size=3)), min_size=1, max_size=8)


def rows(metric, responses, references):
    return metric.score(metric.stats(Pairs.of(responses, references)))


def corpus(metric, responses, references):
    return float(metric.score(metric.stats(Pairs.of(responses, references)).sum(axis=0)))


def nltk_tokens(name, responses, references):
    split = tokenizer(name).split
    return [split(text) for text in responses], [[split(text) for text in texts] for texts in references]


def nltk_rows(method, responses, references):
    with warnings.catch_warnings(action="ignore"):
        smooth = getattr(SmoothingFunction(), NLTK_METHODS.get(method, method))
        return [sentence_bleu(r, h, smoothing_function=smooth) for h, r in zip(responses, references, strict=True)]


def nltk_corpus(method, responses, references):
    with warnings.catch_warnings(action="ignore"):
        smooth = getattr(SmoothingFunction(), NLTK_METHODS.get(method, method))
        return corpus_bleu(references, responses, smoothing_function=smooth)


def sacrebleu_rows(responses, references, **options):
    metric = sacrebleu.BLEU(effective_order=True, **options)
    return [metric.sentence_score(h, r).score for h, r in zip(responses, references, strict=True)]


def sacrebleu_corpus(responses, references, **options):
    most = max(map(len, references))
    streams = [[texts[i] if i < len(texts) else None for texts in references] for i in range(most)]
    return sacrebleu.BLEU(force=True, **options).corpus_score(responses, streams).score


def answered(real_rows):
    return zip(*[(h, r) for h, r in zip(*real_rows, strict=True) if h is not None], strict=True)


@pytest.mark.parametrize(
    ("response", "reference", "azure", "default"),
    [
        ("Paris", "Paris", 1.0, 1.0),
        ("New York", "New York", 0.2214, 1.0),
        ("London", "Paris", 0.0, 0.0),
        ("Marie Curie was birthed in Warsaw.", "Marie Curie was born in Warsaw.", 0.3247, 0.3247),
        (
            "According to wikipedia, Marie Curie was not born in Paris but in Warsaw.",
            "Marie Curie was born in Warsaw.",
            0.1551,
            0.1551,
        ),
        ("42", "forty-two", 0.0, 0.0),
    ],
)
def test_known_values(response, reference, azure, default):
    assert rows(Bleu(profile="azure"), [response], [reference])[0] == pytest.approx(azure, abs=5e-5)
    assert rows(Bleu(), [response], [reference])[0] == pytest.approx(default, abs=5e-5)


def test_statistics_are_matches_totals_and_lengths():
    stats = Bleu().stats(Pairs.of(["the the cat", None], [["the cat sat", "the the the the the"], ["x"]]))

    # "the" at most twice in the response, "cat" once; closest length 3; no 4-grams
    assert stats.tolist() == [[3, 2, 0, 0, 3, 2, 1, 0, 3, 3], [0] * 10]


def test_closest_length_takes_the_shorter_of_two_as_close():
    stats = Bleu().stats(Pairs.of(["a b c"], [["a b c d", "a b", "a"]]))

    assert stats[0, -1] == 2


def test_a_shorter_response_pays_for_brevity():
    assert rows(Bleu(), ["a b c d"], ["a b c d e f g h"])[0] == pytest.approx(math.exp(-1))


def test_method4_halves_the_smoothed_count_order_by_order():
    # 1/2, 0/1, orders 3 and 4 left out; method 4: ln(2) / (2 · 5) matches
    assert rows(Bleu(), ["New York"], ["New Jersey"])[0] == pytest.approx(math.sqrt(1 / 2 * math.log(2) / 10))


def test_method4_is_at_most_one_match():
    stats = np.array([100_000.0, 1, 1, 0, 100_000, 1, 1, 1, 100_000, 100_000])

    assert Bleu().score(stats) == 1.0  # ln(100,000) / 10 = 1.15 matches of 1


@pytest.mark.parametrize(
    ("smoothing", "expected"),
    [
        ("none", 0.0),
        ("floor", (3 / 4 * 1 / 3 * 0.1 / 2 * 0.1 / 1) ** 0.25),
        ("method1", (3 / 4 * 1 / 3 * 0.1 / 2 * 0.1 / 1) ** 0.25),
        ("add-k", (3 / 4 * 2 / 4 * 1 / 3 * 1 / 2) ** 0.25),
        ("method2", (3 / 4 * 2 / 4 * 1 / 3 * 1 / 2) ** 0.25),
        ("exp", (3 / 4 * 1 / 3 * 1 / 4 * 1 / 4) ** 0.25),
        ("method3", (3 / 4 * 1 / 3 * 1 / 4 * 1 / 4) ** 0.25),
    ],
)
def test_smoothing(smoothing, expected):
    assert rows(Bleu(smoothing=smoothing), ["a b x c"], ["a b y c"])[0] == pytest.approx(expected, rel=1e-14)


def test_without_effective_order_a_short_text_scores_0():
    assert rows(Bleu(effective_order=False), ["New York"], ["New York"])[0] == 0.0


def test_score_keeps_leading_axes():
    stats = Bleu().stats(Pairs.of(["a b c", "a x c", "d"] * 2, ["a b c", "a b c", "d e"] * 2))

    blocks = Bleu().score(stats.reshape(2, 3, -1))

    assert blocks.shape == (2, 3)
    assert blocks.tolist() == Bleu().score(stats).reshape(2, 3).tolist()


@pytest.mark.parametrize("profile", ["default", "nltk", "azure", "ragas", "sacrebleu"])
def test_texts_without_tokens_are_wrong_or_equal_but_never_unmeasured(profile):
    metric = Bleu(tokenizer="13a", **({} if profile == "default" else {"profile": profile}))

    scores = rows(metric, ["<skipped>", "<SKIPPED>", "<skipped>", "Paris", "<skipped>"], ["<skipped>"] * 4 + ["Paris"])

    equal = 1.0 if metric.fallback else 0.0
    assert scores[[0, 2, 3, 4]].tolist() == [equal, equal, 0.0, 0.0]


def test_fallback_counts_as_one_matched_token():
    stats = Bleu(tokenizer="13a").stats(Pairs.of(["<skipped>"], [["Paris", "<skipped>"]]))

    assert stats.tolist() == [[1, 0, 0, 0, 1, 0, 0, 0, 1, 1]]


@pytest.mark.parametrize(
    ("options", "signature"),
    [
        ({}, "bleu|order:4|smooth:method4|eff:yes|tok:13a+cjk|case:mixed|refs:pooled|v:1"),
        (
            {"profile": "azure"},
            "bleu|order:4|smooth:method4|eff:no|tok:treebank|case:mixed|refs:pooled|empty:counted|fallback:no|agg:mean|v:1",
        ),
        (
            {"profile": "sacrebleu", "lowercase": True},
            "bleu|order:4|smooth:exp|eff:yes|tok:13a|case:lc|refs:pooled|fallback:no|scale:100|v:1",
        ),
    ],
)
def test_signature(options, signature):
    assert Bleu(**options).signature() == signature


def test_there_is_a_pass_rate_only_where_a_threshold_is_stated_or_the_profile_defines_one():
    assert [Bleu(profile=profile).threshold for profile in ("default", "nltk", "ragas", "sacrebleu")] == ["none"] * 4
    assert Bleu(profile="azure").threshold == 0.5
    assert Bleu(profile="azure", threshold="none").threshold == "none"
    assert Bleu(scale=100, threshold=20).threshold == 20.0
    assert (Bleu().bounds, Bleu(profile="sacrebleu").bounds) == ((0.0, 1.0), (0.0, 100.0))


def test_profiles_of_means():
    assert [name for name in ("nltk", "azure", "ragas", "sacrebleu") if Bleu(profile=name).corpus_is_mean] == [
        "azure",
        "ragas",
    ]


@given(ROWS, st.sampled_from([*NLTK_METHODS, "method1", "method2", "method3", "method4"]))
def test_rows_and_corpus_agree_with_nltk(pairs, method):
    responses, references = map(list, zip(*pairs, strict=True))
    metric = Bleu(profile="nltk", smoothing=method, tokenizer="whitespace")
    tokens = nltk_tokens("whitespace", responses, references)

    assert rows(metric, responses, references).tolist() == pytest.approx(nltk_rows(method, *tokens), abs=1e-12)
    assert corpus(metric, responses, references) == pytest.approx(nltk_corpus(method, *tokens), abs=1e-12)


@given(ROWS, st.sampled_from(SACREBLEU_METHODS))
def test_rows_agree_with_sacrebleu(pairs, method):
    responses, references = map(list, zip(*pairs, strict=True))
    metric = Bleu(profile="sacrebleu", smoothing=method)

    expected = sacrebleu_rows(responses, references, smooth_method=method)

    assert rows(metric, responses, references).tolist() == pytest.approx(expected, abs=1e-12)


@given(ROWS, st.sampled_from(SACREBLEU_METHODS))
def test_a_corpus_with_one_long_response_agrees_with_sacrebleu(pairs, method):
    responses, references = map(list, zip(*[*pairs, ("a b c d", ["a b dog c"])], strict=True))
    metric = Bleu(profile="sacrebleu", smoothing=method)

    expected = sacrebleu_corpus(responses, references, smooth_method=method)

    assert corpus(metric, responses, references) == pytest.approx(expected, abs=1e-12)


def test_a_corpus_of_short_responses_is_the_one_place_where_sacrebleu_differs():
    responses, references = ["New York", "Paris"], [["New York"], ["Paris"]]

    assert corpus(Bleu(profile="sacrebleu"), responses, references) == 100.0
    assert sacrebleu_corpus(responses, references) == 0.0
    assert corpus(Bleu(profile="sacrebleu", effective_order=False), responses, references) == 0.0


@pytest.mark.exhaustive
@pytest.mark.parametrize("profile", ["nltk", "azure"])
def test_real_rows_and_corpus_agree_with_nltk(real_rows, profile):
    responses, references = map(list, answered(real_rows))
    metric = Bleu(profile=profile)
    tokens = nltk_tokens("treebank", responses, references)

    assert len(responses) > 2000
    assert rows(metric, responses, references).tolist() == pytest.approx(
        nltk_rows(metric.smoothing, *tokens), abs=1e-12
    )
    assert corpus(metric, responses, references) == pytest.approx(nltk_corpus(metric.smoothing, *tokens), abs=1e-12)


def test_real_rows_and_corpus_agree_with_sacrebleu(real_rows):
    responses, references = map(list, answered(real_rows))
    metric = Bleu(profile="sacrebleu")

    assert rows(metric, responses, references).tolist() == pytest.approx(
        sacrebleu_rows(responses, references), abs=1e-12
    )
    assert corpus(metric, responses, references) == pytest.approx(sacrebleu_corpus(responses, references), abs=1e-12)
