"""Differences of two means from labels that designs chose: by hand, against their means, at the edges, and laws."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.coverage.cells import generator
from benchmarks.coverage.designed import labelled, versions
from goldmeter.statistics.clusters import FewClusters
from goldmeter.statistics.designed import DesignedDifference, DesignedLabels, designed_difference, designed_mean
from goldmeter.statistics.paired import paired_difference

NAN = float("nan")
derandomized = settings(derandomize=True)
row = st.tuples(
    st.sampled_from([NAN, 0.0, 1.0, 0.5]), st.floats(-1e300, 1e300), st.sampled_from([1.0, 0.5, 1e-9, 5e-324])
)
two = st.lists(st.tuples(row, row), min_size=1, max_size=20)


def labels(rows: list[tuple[float, float, float]]) -> DesignedLabels:
    return DesignedLabels(*(np.array(column, np.float64) for column in zip(*rows, strict=True)))


def test_value_is_the_difference_of_the_two_means() -> None:
    rng = generator("difference of means")
    base, head = labelled(rng, versions(rng, 500, 0.7, 0.1, knows=True), 80, one_design=False)

    estimate = designed_difference(base, head)

    for one, value in ((base, estimate.base), (head, estimate.head)):
        known = ~np.isnan(one.y)
        alone = designed_mean(one.y[known], one.f[known], one.f[~known], one.probability[known])
        assert value == pytest.approx(alone.value)
    assert estimate.value == pytest.approx(estimate.head - estimate.base)
    assert estimate.n == 80


def test_labels_of_all_rows_are_nearly_a_paired_difference() -> None:
    y = np.array([1.0] * 130 + [0.0] * 70)
    changed = np.concatenate([y[:120], 1.0 - y[120:150], y[150:]])
    flat, certain = np.zeros(200), np.ones(200)

    estimate = designed_difference(DesignedLabels(y, flat, certain), DesignedLabels(changed, flat, certain))
    paired = paired_difference(changed - y)

    assert estimate.value == pytest.approx(paired.value)
    assert estimate[1:3] == pytest.approx(paired[1:3], abs=0.015)
    assert estimate.p_value == pytest.approx(paired.p_value, rel=1.0)


def test_equal_versions_differ_by_nothing_but_what_was_not_seen() -> None:
    rng = generator("equal versions")
    base, _ = labelled(rng, versions(rng, 500, 0.7, 0.0, knows=True), 80, one_design=True)

    estimate = designed_difference(base, base)

    assert (estimate.value, estimate.p_value) == (0.0, 1.0)
    assert -0.1 < estimate.low < 0.0 < estimate.high < 0.1


@derandomized
@given(two, st.booleans(), st.data())
def test_never_raises_and_interval_and_p_value_agree(
    rows: list[tuple[tuple[float, float, float], tuple[float, float, float]]], clustered: bool, data: st.DataObject
) -> None:
    base, head = (labels([pair[i] for pair in rows]) for i in (0, 1))
    codes = [*range(len(rows))] if not clustered else data.draw(st.permutations([i // 2 for i in range(len(rows))]))
    known = [{code for code, y in zip(codes, one.y, strict=True) if y == y} for one in (base, head)]  # noqa: PLR0124
    with warnings.catch_warnings(action="error"):
        warnings.simplefilter("ignore", FewClusters)
        if not all(known) or (clustered and min(map(len, known)) < 2):
            with pytest.raises(ValueError, match=r"no label|one cluster"):
                designed_difference(base, head, codes if clustered else None)
            return
        check(designed_difference(base, head, codes if clustered else None))
        check(designed_difference(head, base, codes if clustered else None))


def check(estimate: DesignedDifference) -> None:
    assert -1.0 <= estimate.low <= estimate.value <= estimate.high <= 1.0
    outside = not estimate.low <= 0.0 <= estimate.high
    assert outside == (estimate.p_value < 0.05) or abs(estimate.p_value - 0.05) < 1e-9
