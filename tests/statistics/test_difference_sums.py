"""Paired intervals from sums of the rows: those of several parts add up to those of all rows together."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.coverage.arrays import corpus_difference, detectable_difference, max_t
from goldmeter.statistics.clusters import ClusterTotals, FewClusters
from goldmeter.statistics.corpus import Replicates
from goldmeter.statistics.multiplicity import max_t_of_products
from goldmeter.statistics.paired import (
    DifferenceSums,
    deleted,
    difference_of_replicates,
    difference_of_sums,
    paired_difference,
)
from goldmeter.statistics.power import detectable_of_sums

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
derandomized = settings(derandomize=True, deadline=None)
differences = st.lists(st.sampled_from([-1.0, -0.3, 0.0, 0.1, 1.0]) | st.floats(-1.0, 1.0), min_size=1, max_size=30)
binary = st.lists(st.sampled_from([-1.0, 0.0, 1.0]), min_size=1, max_size=30)


def added(d: list[float], cut: int, width: float) -> DifferenceSums:
    first, second = np.array(d[:cut]), np.array(d[cut:])
    return DifferenceSums.of(second, width) + DifferenceSums.of(first, width)


@derandomized
@given(differences | binary, st.integers(0, 30), st.sampled_from([1.0, 2.5, np.inf]), st.sampled_from([None, 0.1]))
def test_sums_of_parts_give_the_estimate_of_all_rows(
    d: list[float], cut: int, width: float, margin: float | None
) -> None:
    bounds = (-np.inf, np.inf) if width == np.inf else (0.0, width)
    sums = added(d, cut, width)

    found = difference_of_sums(sums, None, bounds, 0.9, margin)
    expected = paired_difference(d, None, bounds, 0.9, margin)
    assert found.method == expected.method
    assert (*found[:4], found.p_value) == pytest.approx((*expected[:4], expected.p_value), abs=1e-9)
    assert detectable_of_sums(sums, None, bounds) == pytest.approx(detectable_difference(d, None, bounds), abs=1e-9)


@derandomized
@given(binary, st.sampled_from([1.0, 2.5, 0.1, np.inf]))
def test_counts_of_binary_differences_are_their_sums(signs: list[float], width: float) -> None:
    d = np.array(signs) * (1.0 if width == np.inf else width)

    found = DifferenceSums.of(d, width).moments
    assert (found.at_low, found.at_high) == (np.count_nonzero(d < 0), np.count_nonzero(d > 0)) or width == np.inf
    assert found.total == pytest.approx(d.sum(), abs=1e-12)


@derandomized
@given(differences, st.floats(-1e6, 1e6))
def test_rows_of_a_shifted_mean_keep_their_spread(d: list[float], shift: float) -> None:
    rows = np.asarray(d) + shift
    exact = [Fraction(row) for row in rows.tolist()]
    mean = sum(exact) / len(exact)
    expected = float(sum((row - mean) ** 2 for row in exact) / max(len(exact) - 1, 1))

    assert len(d) == 1 or DifferenceSums.of(rows, np.inf).moments.variance == pytest.approx(expected, abs=1e-9)


def test_a_single_cluster_is_refused_and_few_are_warned_of() -> None:
    sums = DifferenceSums.of(np.array([1.0, 0.0, 0.0]), 1.0)

    with pytest.raises(ValueError, match="all rows are in one cluster"):
        difference_of_sums(sums, ClusterTotals(np.array([3.0]), np.array([1.0])))
    with pytest.warns(FewClusters, match="2 clusters"):
        difference_of_sums(sums, ClusterTotals(np.array([2.0, 1.0]), np.array([1.0, 0.0])))


@derandomized
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=30), st.integers(0, 30))
def test_replicates_of_parts_give_the_corpus_difference_of_all_rows(counts: list[tuple[int, int]], cut: int) -> None:
    base, head = (np.array([[right[side], 4] for right in counts], np.float64) for side in (0, 1))
    totals = base.sum(axis=0), head.sum(axis=0)
    parts = [Replicates.of(deleted(base[rows], head[rows], *totals, rate)) for rows in (slice(cut), slice(cut, None))]
    value = float(rate(totals[1]) - rate(totals[0]))

    found = difference_of_replicates(value, parts[0] + parts[1], len(counts))

    expected = corpus_difference(base, head, rate)
    assert found.method == expected.method
    assert (*found[:4], found.p_value) == pytest.approx((*expected[:4], expected.p_value), abs=1e-9, nan_ok=True)


def test_the_critical_value_needs_the_products_alone() -> None:
    influence = np.random.default_rng(5).normal(size=(40, 3))
    assert max_t_of_products(influence.T @ influence) == max_t(influence)


def rate(stats: np.ndarray) -> np.ndarray:
    return stats[..., 0] / stats[..., 1]
