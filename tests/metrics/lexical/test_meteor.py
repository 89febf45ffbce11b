import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk.translate.meteor_score import single_meteor_score

from benchmarks.reference import Synonyms, TableReader
from goldmeter.errors import ModelError
from goldmeter.metrics.base import Metric
from goldmeter.metrics.lexical.meteor import Meteor
from goldmeter.metrics.pairs import Pairs
from goldmeter.text import wordnet as wordnet_module
from goldmeter.text.tokenizers import tokenizer
from goldmeter.text.wordnet import wordnet

# Words that meet in every stage: by form, by stem, by synonym, by the synonym of a stem, and not at all.
WORDS = ["the", "The", "car", "cars", "auto", "automobile", "machine", "run", "running", "ran", "42", "forty-two"]
WORDS += ["big", "large", "bigger", "happy", "happily", "glad", "felicitous", "born", "give", "birth", "Paris", "!"]
WORDS += ["日", "xyzzy"]
SYNONYMS, READER = Synonyms(wordnet()), TableReader(wordnet())
SENTENCES = st.lists(st.sampled_from(WORDS), max_size=9).map(" ".join)


def nltk_meteor(response, reference, name, **weights):
    split = tokenizer(name).split
    return single_meteor_score(split(reference), split(response), wordnet=READER, **weights)


def scores(responses, references, **options):
    metric = Meteor(**options)
    return metric.score(metric.stats(Pairs.of(responses, references)))


def score(response, reference, **options):
    return float(scores([response], [reference], **options)[0])


@pytest.mark.parametrize(
    ("response", "reference", "azure", "default"),
    [
        ("Paris", "Paris", 0.5, 1.0),
        ("New York", "New York", 0.9375, 1.0),
        ("London", "Paris", 0.0, 0.0),
        ("Marie Curie was birthed in Warsaw.", "Marie Curie was born in Warsaw.", 0.8413, 0.8413),
        (
            "According to wikipedia, Marie Curie was not born in Paris but in Warsaw.",
            "Marie Curie was born in Warsaw.",
            0.8621,
            0.8621,
        ),
        ("42", "forty-two", 0.5, 1.0),
        ("It is Paris. It is big.", "Paris", 0.0, 0.2941),
    ],
)
def test_known_values(response, reference, azure, default):
    assert score(response, reference, profile="azure") == pytest.approx(azure, abs=5e-5)
    assert score(response, reference, profile="nltk") == pytest.approx(azure, abs=5e-5)
    assert score(response, reference) == pytest.approx(default, abs=5e-5)


def test_the_synonym_stage_compares_stems():
    # "happy" is a synonym of "glad", but its stem "happi" is none
    assert "happy" in SYNONYMS.of("glad")
    assert score("glad", "happy") == 0.0
    assert score("autos", "cars") == 1.0


def test_a_capitalised_lemma_name_never_matches():
    assert "Paris" in SYNONYMS.of("french_capital")
    assert score("French_capital", "Paris", tokenizer="whitespace") == 0.0


def test_words_are_matched_from_the_end_of_the_response_backwards():
    # the second "a" takes the last place, the first "a" the one before: three chunks where one would do
    assert score("a b a", "a b a x a") == pytest.approx(0.5 * 0.6 / (0.9 * 1 + 0.1 * 0.6), abs=1e-12)


def test_a_perfect_match_needs_every_token_of_both_texts():
    assert score("the 42 cars", "the forty-two autos") == 1.0
    assert score("the 42 cars", "the forty-two autos", perfect_match=False) == pytest.approx(1 - 0.5 / 27)
    assert score("the 42 cars", "the 42 cars today") == pytest.approx((1 - 0.5 / 27) * 0.75 / (0.9 + 0.1 * 0.75))
    assert score("cars 42 the", "the 42 cars") == pytest.approx(0.5)


def test_without_synonyms_only_forms_and_stems_match():
    assert score("the cars", "the car", synonyms=False) == 1.0
    assert score("car", "auto", synonyms=False) == 0.0


def test_the_best_reference_counts():
    assert score("the big car", ["a tree", "the big car", "the car"]) == 1.0


def test_texts_without_tokens_are_compared_as_they_are():
    pairs = (["<skipped>", "<skipped>", "<skipped>x"], ["<skipped>", "<skipped><skipped>", "<skipped>"])

    assert scores(*pairs).tolist() == [1.0, 0.0, 0.0]
    assert scores(*pairs, fallback=False).tolist() == [0.0, 0.0, 0.0]


def test_without_the_table_it_refuses_to_run(tmp_path, monkeypatch):
    monkeypatch.setattr(wordnet_module, "TABLE", tmp_path / "wordnet.npz")
    wordnet.cache_clear()

    with pytest.raises(ModelError, match="the WordNet table"):
        score("car", "auto")
    assert score("car", "car", synonyms=False) == 1.0


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (
            {},
            "meteor|alpha:0.9|beta:3|gamma:0.5|stem:porter|syn:wordnet3.0|perfect:yes|tok:13a+cjk|case:lc|refs:best|v:1",
        ),
        (
            {"profile": "azure", "synonyms": False, "beta": 1.5},
            "meteor|alpha:0.9|beta:1.5|gamma:0.5|stem:porter|syn:no|perfect:no|tok:treebank|case:lc|refs:best|fallback:no|v:1",
        ),
    ],
)
def test_the_signature_says_how_the_number_was_made(options, expected):
    assert Meteor(**options).signature() == expected


def test_every_option_is_in_the_signature():
    changed = {
        "alpha": 0.8,
        "beta": 2.0,
        "gamma": 0.4,
        "synonyms": False,
        "perfect_match": False,
        "tokenizer": "13a",
    }
    changed["fallback"] = False

    assert set(changed) == set(Meteor.model_fields) - set(Metric.model_fields)
    for name, value in changed.items():
        assert Meteor(**{name: value}).signature() != Meteor().signature()


@pytest.mark.parametrize("options", [{"alpha": 1.1}, {"beta": -1.0}, {"gamma": 2.0}, {"tokenizer": "zh"}, {"typo": 1}])
def test_options_out_of_range_are_refused(options):
    with pytest.raises(ValueError, match=next(iter(options))):
        Meteor(**options)


@given(SENTENCES, SENTENCES, st.floats(0, 1), st.floats(0, 5), st.floats(0, 1))
def test_equals_nltk_for_any_weights(response, reference, alpha, beta, gamma):
    weights = {"alpha": alpha, "beta": beta, "gamma": gamma}

    ours = score(response, reference, profile="nltk", **weights)

    assert ours == pytest.approx(nltk_meteor(response, reference, "treebank", **weights), abs=1e-12)


def test_equals_nltk_on_random_texts():
    draw = random.Random(7)  # noqa: S311
    lemmas = [word for word in wordnet().words[::20] if "_" not in word and SYNONYMS.of(word)]
    known = [lemma + ending for lemma in lemmas for ending in ("", "s", "ing", "ed")]
    texts = [[draw.choice([*WORDS, draw.choice(known)]) for _ in range(draw.randint(1, 40))] for _ in range(1000)]
    responses, references = [" ".join(text) for text in texts[::2]], [" ".join(text) for text in texts[1::2]]

    ours = scores(responses, references, perfect_match=False)

    assert_equal(ours, [nltk_meteor(*pair, "13a+cjk") for pair in zip(responses, references, strict=True)])


@pytest.mark.exhaustive
@pytest.mark.parametrize("options", [{"perfect_match": False}, {"profile": "nltk"}])
def test_equals_nltk_on_real_answers(real_pairs, options):
    ours = scores(*real_pairs, **options)

    assert len(ours) > 2500
    name = Meteor(**options).tokenizer
    assert_equal(ours, [nltk_meteor(*pair, name) for pair in zip(*real_pairs, strict=True)])
    assert 0.2 < ours.mean() < 0.5


def assert_equal(ours, theirs):
    difference = np.abs(ours - np.array(theirs))
    assert difference.max() <= 1e-12, f"{difference.max()} in row {difference.argmax()}"
