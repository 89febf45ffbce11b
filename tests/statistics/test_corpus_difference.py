"""The difference of a corpus score: the jackknife that deletes a row from both versions."""

import math

import numpy as np
import numpy.typing as npt
import pytest
from scipy.stats import ttest_rel

from benchmarks.coverage.arrays import corpus_difference
from goldmeter.statistics.estimate import NO_ROWS, Method

Floats = npt.NDArray[np.float64]


def ratio(stats: Floats) -> Floats:
    """Return the corpus score: matches over length."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(stats[..., 0] / stats[..., 1])


def versions(n: int) -> tuple[Floats, Floats]:
    """Return matches and lengths of two versions of n rows."""
    rng = np.random.default_rng(5)
    length = 1.0 + rng.poisson(9, n)
    return tuple(np.column_stack([rng.binomial(length.astype(int), p), length]) for p in (0.6, 0.7))  # type: ignore[return-value]


def test_of_a_mean_is_the_paired_t_test() -> None:
    base, head = np.random.default_rng(4).random((2, 60))
    oracle = ttest_rel(head, base)

    found = corpus_difference(*(np.column_stack([x, np.ones(60)]) for x in (base, head)), ratio)

    assert found[:4] == pytest.approx((np.mean(head - base), *oracle.confidence_interval(), 60), abs=1e-9)
    assert found.p_value == pytest.approx(oracle.pvalue)
    assert str(found.method) == "jackknife"


def test_whole_clusters_are_deleted() -> None:
    base, head = versions(60)
    doubled = [np.repeat(stats, 2, axis=0) for stats in (base, head)]

    once = corpus_difference(base, head, ratio)
    twice = corpus_difference(*doubled, ratio, clusters=np.repeat(np.arange(60), 2))

    assert twice[:3] == pytest.approx(once[:3])
    assert (twice.n, twice.p_value) == (120, pytest.approx(once.p_value))


def test_swapping_the_versions_mirrors_the_interval() -> None:
    base, head = versions(60)
    found, mirror = corpus_difference(base, head, ratio), corpus_difference(head, base, ratio)

    assert mirror[:3] == pytest.approx((-found.value, -found.high, -found.low))
    assert mirror.p_value == found.p_value


def test_the_same_rows_do_not_differ() -> None:
    base, _ = versions(60)

    assert corpus_difference(base, base, ratio) == (0.0, 0.0, 0.0, 60, Method("jackknife"), 1.0)


def test_limits_stay_within_the_bounds() -> None:
    base, head = np.zeros((60, 2)), np.ones((60, 2))
    base[:, 1], head[0, 0] = 1.0, 0.0

    assert corpus_difference(base, head, ratio).high == 1.0
    assert corpus_difference(100 * base, head, lambda s: 100 * ratio(s), bounds=(0, 100)).high == 100.0


@pytest.mark.filterwarnings("ignore::goldmeter.statistics.FewRows")
def test_what_is_undefined_has_no_spread() -> None:
    nothing, one = np.zeros((2, 2)), np.array([[1.0, 2.0], [0.0, 0.0]])

    undefined = corpus_difference(one, nothing, ratio)
    assert math.isnan(undefined.value)
    assert undefined[1:] == (-1.0, 1.0, 2, Method("undefined score"), 1.0)
    assert corpus_difference(one, one, ratio) == (0.0, -1.0, 1.0, 2, Method("jackknife undefined"), 1.0)
    assert corpus_difference(one[:1], one[:1], ratio) == (0.0, -1.0, 1.0, 1, Method("jackknife undefined"), 1.0)


def test_no_rows() -> None:
    found = corpus_difference(np.empty((0, 2)), np.empty((0, 2)), ratio)

    assert math.isnan(found.value)
    assert found[1:] == (-1.0, 1.0, 0, NO_ROWS, 1.0)
