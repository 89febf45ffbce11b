import pytest
import sacrebleu
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.metrics.base import Metric
from goldmeter.metrics.lexical.length_ratio import LengthRatio
from goldmeter.metrics.pairs import Pairs

TEXTS = st.lists(st.sampled_from(["the", "cat,", "x.", "été", "a-b", "3.5"]), min_size=1, max_size=9).map(" ".join)


def stats(responses, references, **options):
    return LengthRatio(**options).stats(Pairs.of(responses, references))


def test_known_values():
    rows = stats(["a b", "a b c", "", "<skipped>", None], ["a b c d", ["x", "x y"], "a", "<skipped>", "a"])

    assert LengthRatio().score(rows).tolist() == pytest.approx([0.5, 1.5, 0.0, 1.0, float("nan")], nan_ok=True)
    assert LengthRatio().score(rows.sum(axis=0)) == pytest.approx((2 + 3 + 0 + 1) / (4 + 2 + 1 + 1))


@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=5))
def test_is_the_ratio_that_sacrebleu_shows(rows):
    responses, references = map(list, zip(*rows, strict=True))
    theirs = sacrebleu.corpus_bleu(responses, [references])

    ours = LengthRatio(tokenizer="13a").score(stats(responses, references, tokenizer="13a").sum(axis=0))

    assert ours == pytest.approx(theirs.sys_len / theirs.ref_len, abs=1e-12)


def test_every_option_is_in_the_signature():
    changed = {"tokenizer": "char", "aggregate": "mean"}

    assert LengthRatio().signature() == "length_ratio|tok:13a+cjk|refs:closest|v:1"
    assert set(changed) == set(LengthRatio.model_fields) - set(Metric.model_fields)
    for name, value in changed.items():
        assert LengthRatio(**{name: value}).signature() != LengthRatio().signature()
