import numpy as np

from tasks.metrics.fallback import token_fallback
from tasks.metrics.pairs import Pairs
from tasks.text.tokenizers import tokenizer


def test_texts_without_tokens_are_compared_as_they_are_and_others_left_to_the_metric():
    pairs = Pairs.of(
        ["!!!", "!!!", "a", "!!!", "a", None], [["!!!", "?!"], ["word"], ["!!!"], ["!!! "], ["b"], ["!!!"]]
    )

    scores = token_fallback(pairs.tokens(tokenizer("words")), pairs)

    assert np.array_equal(scores, [1.0, 0.0, 0.0, 0.0, 0.0, np.nan, 0.0], equal_nan=True)


def test_case_is_ignored():
    pairs = Pairs.of(["ⓢ"], ["Ⓢ"])  # circled letters are symbols, of which "words" keeps none

    assert token_fallback(pairs.tokens(tokenizer("words")), pairs).tolist() == [1.0]


def test_lengths_are_numbers_of_tokens():
    tokens = Pairs.of(["a b c", None, ""], ["x", "x y", "z"]).tokens(tokenizer("whitespace"))

    assert tokens.responses.lengths.tolist() == [3, 0, 0]
    assert tokens.references.lengths.tolist() == [1, 2, 1]
