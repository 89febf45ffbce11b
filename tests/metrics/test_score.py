import subprocess
import sys

import numpy as np
import pytest

import goldmeter.metrics
from goldmeter.errors import ParamsError
from goldmeter.metrics import accuracy, score
from goldmeter.metrics.base import token_fallback
from goldmeter.metrics.pairs import Pairs
from goldmeter.text.tokenizers import tokenizer


def test_scores_rows_with_one_reference_or_several():
    scores = score("bleu", ["New York", "London", None], ["New York", ["Paris", "London"], "Rome"])

    assert scores.dtype == np.float64
    assert scores.tolist() == pytest.approx([1.0, 1.0, np.nan], nan_ok=True)


def test_options_and_profiles():
    assert score("bleu", ["New York"], ["New York"], profile="azure")[0] == pytest.approx(0.2214, abs=5e-5)
    assert score("exact_match", ["Paris "], ["Paris"], strip=True).tolist() == [1.0]
    assert score("rouge", ["the cat"], ["the cat sat"]).tolist() == pytest.approx([0.8])  # F1 of 2/2 and 2/3


def test_arguments_may_have_the_names_of_other_toolkits():
    responses = ["response", "actual_output", "prediction", "predictions", "output", "answer"]
    for response in responses:
        for references in ("references", "reference", "ground_truth", "expected_output", "expected_text"):
            columns = {response: ["Paris", "London"], references: ["Paris", "Rome"]}
            assert score("exact_match", **columns).tolist() == [1.0, 0.0]
            assert score("exact_match", ["Paris", "London"], **{references: ["Paris", "Rome"]}).tolist() == [1.0, 0.0]
            assert accuracy(**columns, return_confidence=False)["match_types"] == ["exact", "none"]


def test_inputs_may_have_the_names_of_other_toolkits():
    plain = score("similarity", ["It is Paris"], ["Paris"])

    for name in ("inputs", "input", "query", "question", "prompt"):
        asked = {name: ["The capital of France?"]}
        assert score("similarity", ["It is Paris"], ["Paris"], with_query=True, **asked) > plain


def test_one_argument_under_two_names_is_an_error():
    with pytest.raises(TypeError, match="score: prediction and answer are the same argument"):
        score("bleu", prediction=["a"], answer=["a"], reference=["a"])
    with pytest.raises(TypeError, match="score: references and ground_truth are the same argument"):
        score("bleu", ["a"], ["a"], ground_truth=["a"])
    with pytest.raises(TypeError, match="accuracy: predictions and response are the same argument"):
        accuracy(["a"], ["a"], response=["a"])
    with pytest.raises(TypeError, match="references"):
        score("bleu", ["a"])


def test_wrong_calls_say_what_is_wrong():
    with pytest.raises(ParamsError, match="unknown metric 'blue'; did you mean bleu"):
        score("blue", ["a"], ["a"])
    with pytest.raises(ParamsError, match=r"lexical\.bleu\.smothing: unknown option"):
        score("bleu", ["a"], ["a"], smothing="exp")
    with pytest.raises(ValueError, match="1 responses, but 2 references"):
        score("bleu", ["a"], ["a", "b"])
    with pytest.raises(TypeError, match="one string"):
        score("bleu", "Paris", ["Paris"])


@pytest.mark.parametrize("references", [[["x"], ["x", None]], [["x"], [None]], ["x", None]])
def test_a_reference_that_is_none_is_named_by_its_row(references):
    with pytest.raises(ValueError, match="references, row 1: a reference is a string; found None in "):
        score("bleu", ["a", "a"], references)


@pytest.mark.parametrize(
    ("column", "columns"),
    [
        ("responses", (["a", None, "b \ud800"], ["a", "b", "c"])),
        ("references", (["a", None, "b"], ["a", ["x"], ["x", "\udfff"]])),
    ],
)
def test_a_lone_surrogate_is_named_by_its_column_and_row(column, columns):
    with pytest.raises(ValueError, match=f"{column}, row 2: not a Unicode text, it has a lone surrogate: "):
        score("bleu", *columns)


def test_a_lone_surrogate_in_an_input_is_named_too():
    with pytest.raises(ValueError, match="inputs, row 0: not a Unicode text"):
        Pairs.of(["a"], ["a"], inputs=["\ud800"])


def test_accuracy_is_at_hand():
    assert goldmeter.metrics.accuracy(["Paris!"], ["paris"])["accuracy"] == 1.0
    with pytest.raises(AttributeError, match="no attribute 'precision'"):
        _ = goldmeter.metrics.precision


def test_importing_metrics_is_light():
    heavy = "'numpy', 'pyarrow', 'nltk', 'numba', 'torch'"
    code = f"import sys, goldmeter.metrics; print([module for module in ({heavy}) if module in sys.modules])"

    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


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


def test_references_of_every_row_are_an_option_and_then_there_is_no_column_of_them():
    responses, own = ["It is Paris", "Rome", "x"], ["Paris", "The French capital"]
    together = goldmeter.metrics.scores({"reference_match": {"references": own}}, responses)

    assert together["reference_match"].tolist() == score("reference_match", responses, [own] * 3).tolist()
    place = r"scores\(\{'reference_match': \{'references': \[…\]\}\}, responses\)$"
    with pytest.raises(ValueError, match=rf"^3 responses, but 2 references: .* every row: {place}"):
        score("reference_match", responses, references=own)


def test_a_metric_that_reads_references_asks_for_them():
    with pytest.raises(TypeError, match="references: bleu compares responses with references; give one"):
        score("bleu", ["a"])
    with pytest.raises(TypeError, match="references: f1 compares"):
        goldmeter.metrics.scores({"extractive": {}, "f1": {}}, ["a"], inputs=["a"])
    assert score("extractive", ["a"], inputs=["a b"]).tolist() == [1.0]


@pytest.mark.parametrize("option", ["embedding_provider", "model_name", "embedding_model"])
def test_the_embedding_model_of_other_toolkits_metrics_has_its_place_named(option):
    with pytest.raises(
        ParamsError, match=rf"^semantic\.reference_match\.{option}: no option .* embed\.\w+ in params.yaml"
    ):
        score("reference_match", ["a"], ["a"], **{option: "openai"})


def test_nothing_to_score_gives_no_scores():
    assert score("bleu", [], []).tolist() == []
    assert goldmeter.metrics.scores(["bleu", "f1"], [], []).shape == (0, 2)
