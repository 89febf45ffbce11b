"""A row's statistics do not depend on the rows that are scored along with it."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.metrics.catalogue import configure, metric_class, names
from goldmeter.metrics.pairs import Pairs

METRICS = {
    name: [
        configure("lexical", name, {"profile": profile})
        for profile in ("default", *metric_class("lexical", name).profiles)
    ]
    for name in names("lexical")
}
WORDS = [
    "the", "The", "cat", "cats", "car", "auto", "sat.", '"Paris', "Paris.", "'tis", "dogs'", "can't", ".", "!!", "...",
    "東京", "мир", "42", "forty-two", "qzx", "a\nb", ") »",
]  # fmt: skip
TEXTS = st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join) | st.text(max_size=6)
ROWS = st.lists(st.tuples(TEXTS | st.none(), st.lists(TEXTS, max_size=3)), min_size=1, max_size=8)


def stats(metric, rows):
    return metric.stats(Pairs.of([response for response, _ in rows], [references for _, references in rows]))


def in_parts(metric, rows, cuts):
    bounds = [0, *sorted(cuts), len(rows)]
    return np.concatenate([stats(metric, rows[start:stop]) for start, stop in pairwise(bounds)])


@given(data=st.data(), rows=ROWS)
@pytest.mark.parametrize("name", METRICS)
def test_rows_may_be_shuffled_and_scored_in_parts(name, data, rows):
    order = data.draw(st.permutations(range(len(rows))))
    cuts = data.draw(st.lists(st.integers(0, len(rows)), max_size=3))
    for metric in METRICS[name]:
        together = stats(metric, rows)
        assert np.array_equal(stats(metric, [rows[i] for i in order]), together[order])
        assert np.array_equal(in_parts(metric, rows, cuts), together)
        for score, one in zip(metric.score(together), together, strict=True):
            assert np.array_equal(score, metric.score(one), equal_nan=True)


@pytest.fixture(scope="module")
def many_rows():
    """More distinct words than the first tables of the kernels hold, and than are tokenised together."""
    draw = np.random.default_rng(11)
    words = np.array([*WORDS * 20, *(f"w{i}" for i in range(6000)), *(f"{i}.5%" for i in range(3000))])
    rows = [
        (" ".join(draw.choice(words, draw.integers(1, 12))), [" ".join(draw.choice(words, 6)) for _ in range(i % 3)])
        for i in range(1000)
    ]
    assert len(set(" ".join(text for response, references in rows for text in (response, *references)).split())) > 5000
    return rows


@pytest.mark.parametrize("name", METRICS)
def test_many_rows_may_be_shuffled_and_scored_in_parts(name, many_rows):
    order = np.random.default_rng(12).permutation(len(many_rows))
    for metric in METRICS[name]:
        together = stats(metric, many_rows)
        assert np.array_equal(stats(metric, [many_rows[i] for i in order]), together[order])
        assert np.array_equal(in_parts(metric, many_rows, [1, 2, 10, 700]), together)
