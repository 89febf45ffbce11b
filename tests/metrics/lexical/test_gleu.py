import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk.translate.gleu_score import corpus_gleu, sentence_gleu

from goldmeter.metrics.lexical.gleu import Gleu
from goldmeter.metrics.pairs import Pairs
from goldmeter.text.tokenizers import tokenizer

WORDS = st.lists(st.sampled_from(["a", "b", "c", "A", "dog", "."]), min_size=1, max_size=9).map(" ".join)
ROWS = st.lists(st.tuples(WORDS, st.lists(WORDS, min_size=1, max_size=3)), min_size=1, max_size=8)


def rows(metric, responses, references):
    return metric.score(metric.stats(Pairs.of(responses, references)))


def corpus(metric, responses, references):
    return float(metric.score(metric.stats(Pairs.of(responses, references)).sum(axis=0)))


def check_against_nltk(metric, responses, references):
    split = tokenizer(metric.tokenizer).split
    hypotheses, lists = (
        [split(text) for text in responses],
        [[split(text) for text in texts] for texts in references],
    )
    orders = (metric.min_order, metric.max_order)

    expected = [sentence_gleu(r, h, *orders) for h, r in zip(hypotheses, lists, strict=True)]

    assert rows(metric, responses, references).tolist() == pytest.approx(expected, abs=1e-12)
    assert corpus(metric, responses, references) == pytest.approx(corpus_gleu(lists, hypotheses, *orders), abs=1e-12)


@pytest.mark.parametrize("profile", ["default", "nltk", "azure", "ragas"])
@pytest.mark.parametrize(
    ("response", "reference", "expected"),
    [
        ("Paris", "Paris", 1.0),
        ("New York", "New York", 1.0),
        ("London", "Paris", 0.0),
        ("Marie Curie was birthed in Warsaw.", "Marie Curie was born in Warsaw.", 0.5455),
        (
            "According to wikipedia, Marie Curie was not born in Paris but in Warsaw.",
            "Marie Curie was born in Warsaw.",
            0.2593,
        ),
        ("42", "forty-two", 0.0),
    ],
)
def test_known_values(response, reference, expected, profile):
    assert rows(Gleu(profile=profile), [response], [reference])[0] == pytest.approx(expected, abs=5e-5)


def test_statistics_are_matches_and_the_larger_number_of_ngrams():
    stats = Gleu().stats(Pairs.of(["a b c", "a b c", None, " "], ["a b", "a b c d", "a", "a b"]))

    # a, b, ab of 6; a, b, c, ab, bc, abc of 10; unmeasured; nothing of 3
    assert stats.tolist() == [[3, 6], [6, 10], [0, 0], [0, 3]]


def test_the_best_reference_counts_and_the_first_of_equals():
    stats = Gleu().stats(Pairs.of(["a b", "x"], [["a", "a b", "b"], ["a", "a b c"]]))

    assert stats.tolist() == [[3, 3], [0, 1]]


def test_orders():
    assert rows(Gleu(min_order=2, max_order=2), ["a b c"], ["a b d"])[0] == 0.5
    with pytest.raises(ValueError, match="min_order 3 is above max_order 2"):
        Gleu(min_order=3, max_order=2)


def test_texts_without_ngrams_are_compared_as_they_are():
    responses, references = ["Paris", "Paris", "Paris"], ["paris", "Rome", "New York"]

    assert rows(Gleu(min_order=2), responses, references).tolist() == [1.0, 0.0, 0.0]
    assert rows(Gleu(min_order=2, fallback=False), responses, references).tolist() == [0.0, 0.0, 0.0]


def test_lowercase():
    assert rows(Gleu(), ["PARIS"], ["paris"])[0] == 0.0
    assert rows(Gleu(lowercase=True), ["PARIS"], ["paris"])[0] == 1.0


def test_signature():
    assert Gleu().signature() == "gleu|order:1-4|tok:13a+cjk|case:mixed|refs:best|v:1"
    assert Gleu(profile="azure").signature().endswith("|tok:treebank|case:mixed|refs:best|fallback:no|agg:mean|v:1")


@given(ROWS, st.sampled_from([(1, 4), (1, 1), (2, 3)]))
def test_agrees_with_nltk(pairs, orders):
    responses, references = map(list, zip(*pairs, strict=True))
    least, most = orders
    # NLTK leaves a pair without any n-gram out of the corpus: no difference to a score of 0 of 1 in a row, but in a sum
    enough = [i for i, text in enumerate(responses) if len(text.split()) >= least]
    metric = Gleu(profile="nltk", min_order=least, max_order=most, tokenizer="whitespace")

    if enough:
        check_against_nltk(metric, [responses[i] for i in enough], [references[i] for i in enough])


def test_real_rows_and_corpus_agree_with_nltk(real_rows):
    pairs = [(h, r) for h, r in zip(*real_rows, strict=True) if h is not None]
    responses, references = map(list, zip(*pairs, strict=True))

    assert len(responses) > 2000
    check_against_nltk(Gleu(profile="nltk"), responses, references)
