import numpy as np
import pytest
import sacrebleu
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.metrics.base import Metric
from goldmeter.metrics.lexical.chrf import Chrf
from goldmeter.metrics.pairs import Pairs

WORDS = ["the", "The", "(cat)", "cats!", "été", "東京タワー", "-", "?!", "1,000.", "😀", "\u00a0", "\x1f", "İ", "a"]
TEXTS = st.one_of(st.text(max_size=20), st.lists(st.sampled_from(WORDS), max_size=9).map(" ".join))
OPTIONS = [
    {"profile": "sacrebleu"},
    {"profile": "sacrebleu++"},
    {"scale": 100, "char_order": 3, "word_order": 1, "beta": 1.0},
    {"scale": 100, "lowercase": True, "whitespace": True},
    {"scale": 100, "word_order": 2, "eps_smoothing": True},
]


def stats(metric, responses, references):
    return metric.stats(Pairs.of(responses, references))


def scores(responses, references, **options):
    metric = Chrf(**options)
    return metric.score(stats(metric, responses, references)).tolist()


def theirs(metric):
    return sacrebleu.CHRF(
        metric.char_order, metric.word_order, metric.beta, metric.lowercase, metric.whitespace, metric.eps_smoothing
    )


@pytest.mark.parametrize(
    ("response", "reference", "expected"),
    [
        ("Paris", "Paris", 1.0),
        ("a", "a", 1.0),
        ("東京", "東京", 1.0),
        ("London", "x", 0.0),
        # one order: precision 1/2, recall 1: 5 · 1/2 · 1 / (4 · 1/2 + 1); white space is no character
        ("a b", "a", 5 / 6),
        # characters 2 of 3 and 2 of 3, pairs 1 of 2 and 1 of 2, triples 0: precision = recall = (2/3 + 1/2 + 0) / 3
        ("abc", "abd", 7 / 18),
    ],
)
def test_known_values(response, reference, expected):
    assert scores([response], [reference]) == pytest.approx([expected])


def test_words_count_in_chrf_plus_plus():
    # characters: 3 of 4 and 3 of 3, 2 of 3 and 2 of 2, 1 of 2 and 1 of 1; words 0 of 2 and of 1
    precision, recall = (3 / 4 + 2 / 3 + 1 / 2) / 4, 3 / 4

    expected = 5 * precision * recall / (4 * precision + recall)
    assert scores(["ab cd"], ["abc"], profile="chrf++") == pytest.approx([expected])


def test_beta_weights_recall():
    assert scores(["ab"], ["a"], beta=1.0)[0] < scores(["ab"], ["a"], beta=3.0)[0]


def test_the_corpus_score_uses_summed_counts_or_the_mean():
    rows = (["abc", "x"], ["abd", "x"])
    metric = Chrf(char_order=1)

    assert metric.score(stats(metric, *rows).sum(0)) == pytest.approx(3 / 4)
    assert Chrf(aggregate="mean").corpus_is_mean


def test_the_best_reference_counts_the_first_of_equal_ones():
    metric = Chrf(char_order=1)

    assert stats(metric, ["ab"], [["x", "ac", "bc"]])[0].tolist() == [2.0, 2.0, 1.0, 1.0]


def test_a_blank_response_is_wrong_and_its_reference_counts():
    metric = Chrf(char_order=1)

    assert stats(metric, [" "], ["ab"])[0].tolist() == [0.0, 2.0, 0.0, 1.0]
    assert scores([" ", "x", None, "x"], ["ab", " ", "x", []]) == pytest.approx([0, 0, np.nan, np.nan], nan_ok=True)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, "chrf|nc:6|nw:0|beta:2|case:mixed|space:no|eff:yes|refs:best|v:1"),
        (
            {"profile": "sacrebleu++", "lowercase": True},
            "chrf|nc:6|nw:2|beta:2|case:lc|space:no|eff:yes|refs:best|scale:100|v:1",
        ),
    ],
)
def test_the_signature_says_how_the_number_was_made(options, expected):
    assert Chrf(**options).signature() == expected


def test_every_option_is_in_the_signature():
    changed = {
        "aggregate": "mean",
        "char_order": 5,
        "word_order": 1,
        "beta": 1.0,
        "lowercase": True,
        "whitespace": True,
        "eps_smoothing": True,
        "scale": 100,
    }

    assert set(changed) == set(Chrf.model_fields) - set(Metric.model_fields)
    for name, value in changed.items():
        assert Chrf(**{name: value}).signature() != Chrf().signature()


def test_there_is_no_pass_rate_unless_a_threshold_is_stated():
    assert (Chrf().threshold, Chrf(profile="sacrebleu", threshold=50).threshold) == ("none", 50.0)


@given(st.lists(st.tuples(TEXTS, st.lists(TEXTS, min_size=2, max_size=2)), min_size=1, max_size=5))
@pytest.mark.parametrize("options", OPTIONS)
def test_equals_sacrebleu_in_rows_and_corpus(options, rows):
    metric = Chrf(**options)
    assert_equals_sacrebleu(metric, [response for response, _ in rows], [references for _, references in rows])


@pytest.mark.parametrize("options", OPTIONS[:2])
def test_equals_sacrebleu_on_real_answers(real_pairs, options):
    responses, references = (texts[:600] for texts in real_pairs)

    assert_equals_sacrebleu(Chrf(**options), responses, [[text] for text in references])


def assert_equals_sacrebleu(metric, responses, references):
    ours, reference_metric = stats(metric, responses, references), theirs(metric)
    rows = [
        reference_metric.sentence_score(response, texts).score
        for response, texts in zip(responses, references, strict=True)
    ]
    corpus = reference_metric.corpus_score(responses, [*map(list, zip(*references, strict=True))]).score

    assert np.abs(metric.score(ours) - np.array(rows)).max() <= 1e-12
    assert abs(metric.score(ours.sum(0)) - corpus) <= 1e-12
