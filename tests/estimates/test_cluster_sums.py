"""Sums over clusters, of parts and of all rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.estimates.sums import cluster_sums

BOUNDS = (-2.0, 3.0)


def test_statistics_of_many_rows_are_not_too_large() -> None:
    keys, stats = np.zeros(3, np.int64), np.full((3, 2), [4e7, 0.25])

    sums = cluster_sums(keys, np.zeros(3), None, stats)

    assert sums.with_more(sums).stats.tolist() == [[2.4e8, 1.5]]


@pytest.mark.property
@given(st.lists(st.tuples(st.integers(0, 3), st.floats(-2.0, 3.0), st.floats(-1e9, 1e9)), min_size=1), st.data())
def test_parts_add_up_and_can_be_taken_out(rows: list[tuple[int, float, float]], data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(rows)))
    keys, values, stats = (np.array(column) for column in zip(*rows, strict=True))
    order = np.array(data.draw(st.permutations(range(len(rows)))))
    head, tail = order[:cut], order[cut:]
    whole, *parts = (
        cluster_sums(keys[some].astype(np.int64), values[some], values[some] > 0, stats[some][:, None])
        for some in (np.arange(len(rows)), head, tail)
    )

    for ours, theirs in zip(parts[0].with_more(parts[1]), whole, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-5)
    for ours, theirs in zip(whole.with_more(parts[1], -1), parts[0], strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-5)
    for key, total, size in zip(whole.keys, whole.of_scores(BOUNDS).total, whole.sizes, strict=True):
        assert total == pytest.approx(values[keys == key].sum(), abs=1e-11 * size)
