import itertools
import random

import numpy as np
import pyarrow as pa
import pytest
import sacrebleu
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.errors import ParamsError
from goldmeter.estimates.columns import score_columns
from goldmeter.estimates.tables import expect_metric, facts_of, score_table
from goldmeter.metrics.base import Metric
from goldmeter.metrics.catalogue import configure
from goldmeter.metrics.lexical.ter import Ter
from goldmeter.metrics.pairs import Pairs
from goldmeter.pipeline.tables import Parts, write_part

WORDS = [
    "the", "The", "cat's", "dog,", "3.5", "1,000", "a-b", '"x"', "(y)", "&quot;z&amp;lt;", "東京タワー。", "、ひら",
    "㌔", "-\n-", "\n-a", "Σας", "ΟΔΟΣ", "it's)", "5-6", "...", "?!", "｡", "㈱", "﹏", "가나", "\u3000！",
    "[k]", "\u3f22", "\u3f30",
]  # fmt: skip
TEXTS = st.one_of(st.text(max_size=20), st.lists(st.sampled_from(WORDS), max_size=9).map(" ".join))
OPTIONS = [
    dict(zip(("normalized", "no_punct", "asian_support", "case_sensitive"), chosen, strict=True))
    for chosen in itertools.product([False, True], repeat=4)
]


def scores(responses, references, **options):
    metric = Ter(**options)
    return metric.score(metric.stats(Pairs.of(responses, references))).tolist()


@pytest.mark.parametrize(
    ("response", "reference", "expected"),
    [
        ("the cat sat", "The cat sat", 0.0),
        ("a b c d", "a b x d", 1 / 4),
        ("d a b c", "a b c d", 1 / 4),  # one shift
        ("c d a b", "a b c d", 1 / 4),  # of a phrase
        ("a b", "a b c d", 2 / 4),
        ("a b c d e f", "a b", 4 / 2),
        # Snover et al. 2006, section 2.1: one shift, two substitutions, one insertion
        (
            "THIS WEEK THE SAUDIS denied information published in the new york times",
            "SAUDI ARABIA denied THIS WEEK information published in the AMERICAN new york times",
            4 / 13,
        ),
    ],
)
def test_known_values(response, reference, expected):
    assert scores([response], [reference]) == pytest.approx([expected])


def test_the_fewest_edits_count_and_the_mean_length():
    assert scores(["a b c"], [["a b x", "a b c d e"]]) == pytest.approx([1 / 4])


def test_the_corpus_score_is_of_all_edits_and_all_words():
    metric = Ter()
    stats = metric.stats(Pairs.of(["a", "a b c d e f g h i"], ["b", "a b c d e f g h i"]))

    assert metric.score(stats.sum(axis=0)) == pytest.approx(1 / 10)


def test_an_empty_response_misses_every_word_though_a_reference_has_none():
    assert scores(["", " ", "x"], ["a b", ["a b", " \n"], " "]) == [1.0, 1.0, 1.0]
    assert scores([" ", "!"], ["!", "?"], no_punct=True) == [1.0, 0.0]


@given(TEXTS.filter(str.strip), st.lists(TEXTS.filter(str.strip), min_size=1, max_size=3))
@pytest.mark.parametrize("options", OPTIONS)
def test_equals_sacrebleu(options, response, references):
    theirs = sacrebleu.TER(**options).sentence_score(response, references).score

    assert scores([response], [references], profile="sacrebleu", **options) == pytest.approx([theirs], abs=1e-12)


def test_equals_sacrebleu_on_generated_translations():
    chance = random.Random(0)  # noqa: S311 (no secret)
    words = [f"w{number}" for number in range(40)]
    references = [" ".join(chance.choices(words, k=chance.randint(1, 40))) for _ in range(60)]
    responses = [shuffled(reference.split(), chance) for reference in references]
    theirs = sacrebleu.TER()
    metric = Ter(profile="sacrebleu")

    stats = metric.stats(Pairs.of(responses, references))

    rows = [theirs.sentence_score(*pair).score for pair in zip(responses, [[one] for one in references], strict=True)]
    assert np.abs(metric.score(stats) - np.array(rows)).max() <= 1e-12
    assert metric.score(stats.sum(axis=0)) == pytest.approx(
        theirs.corpus_score(responses, [references]).score, abs=1e-12
    )


def shuffled(words, chance):
    """Words replaced, dropped, added, and phrases moved."""
    for _ in range(len(words) // 3):
        place, kind = chance.randrange(len(words)), chance.random()
        if kind < 0.3:
            words[place] = chance.choice(words)
        elif kind < 0.5 and len(words) > 1:
            del words[place]
        elif kind < 0.6:
            words.insert(place, "new")
        else:
            phrase = words[place : place + chance.randint(1, 5)]
            del words[place : place + len(phrase)]
            target = chance.randint(0, len(words))
            words[target:target] = phrase
    return " ".join(words)


def test_every_option_is_in_the_signature():
    changed = dict.fromkeys(OPTIONS[0], True) | {"scale": 100, "aggregate": "mean"}

    assert Ter().signature() == "ter|case:lc|tok:tercom|norm:no|punct:yes|asian:no|refs:pooled|v:1"
    assert set(changed) == set(Ter.model_fields) - set(Metric.model_fields)
    for name, value in changed.items():
        assert Ter(**{name: value}).signature() != Ter().signature()


def test_there_is_no_pass_rate_unless_a_threshold_is_stated(tmp_path):
    rows = {"id": ["1", "2", "3"], "candidate": ["a"] * 3}
    pairs = Pairs.of(["a b", "x y", None], ["a b", "a b c d", "a"])
    for name, options in (("plain", {}), ("gated", {"threshold": 0.5})):
        table = score_table(pa.table(rows), pairs, {"ter": configure("lexical", "ter", options)})
        (tmp_path / name).mkdir()
        write_part(table, tmp_path / name, 0)

    [plain], [gated] = (list(score_columns(Parts(tmp_path / name))) for name in ("plain", "gated"))

    assert not plain.facts.has_pass_rate
    assert plain.passed is None
    assert plain.facts.bounds is None
    assert not plain.facts.higher_is_better
    assert gated.facts.rule == "up to 0.5"
    assert gated.passed.tolist() == [True, False, False]
    assert gated.facts.rate_signature.endswith("|thr:0.5")


def test_a_row_passes_up_to_the_threshold():
    metric = configure("lexical", "ter", {"threshold": 0.5})

    assert metric.result(np.array([0.0, 0.5, 0.51, np.nan])).tolist() == ["pass", "pass", "fail", "unmeasured"]
    [_, follows] = expect_metric(metric)
    assert follows.pass_to == 0.5
    with pytest.raises(
        ParamsError, match=r"^lexical\.ter\.threshold: threshold -1 is outside the bounds of ter, 0 to inf"
    ):
        configure("lexical", "ter", {"threshold": -1})
    with pytest.raises(ParamsError, match=r"^lexical\.ter\.threshold: expected a number, or learnt, or none"):
        configure("lexical", "ter", {"threshold": "never"})


def test_any_graded_metric_can_do_without_a_pass_rate():
    metric = configure("lexical", "f1", {"threshold": "none"})

    assert facts_of(metric, {})["f1"].rate_signature is None
    with pytest.raises(ParamsError, match=r"exact_match is binary"):
        configure("lexical", "exact_match", {"threshold": "none"})
