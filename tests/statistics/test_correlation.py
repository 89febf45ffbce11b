"""Correlations of many columns: values by hand, pandas as oracle, hostile columns."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from goldmeter.statistics.correlation import ColumnProducts, correlations

nan = float("nan")
derandomized = settings(derandomize=True)
tables = st.tuples(st.integers(0, 12), st.integers(0, 5)).flatmap(
    lambda shape: arrays(np.float64, shape, elements=st.sampled_from([0.0, 0.1, 0.25, 0.5, 1.0, -3.0, nan]))
)


def test_three_rows_by_hand() -> None:
    # deviations (−1, 0, 1) and (0, −1, 1): 1/√(2·2)
    found = correlations([[0, 1], [1, 0], [2, 2]])

    assert found == pytest.approx(np.array([[1.0, 0.5], [0.5, 1.0]]), abs=1e-15)


def test_each_pair_uses_the_rows_where_both_are_measured() -> None:
    x = [[0, 1, 9], [1, 0, nan], [2, 2, 4], [nan, 7, 5], [5, nan, 5]]

    found = correlations(x)

    assert found[0, 1] == pytest.approx(0.5, abs=1e-15)  # rows 0, 1, 2
    assert found[1, 2] == pytest.approx(-8 / (186 / 9 * 14) ** 0.5, abs=1e-12)  # rows 0, 2, 3
    assert found[0, 2] == pytest.approx(-9 / (114 / 9 * 14) ** 0.5, abs=1e-12)  # rows 0, 2, 4


def test_a_constant_column_correlates_with_nothing() -> None:
    found = correlations([[0.1, 1.0, 3.0], [0.1, 2.0, 1.0], [0.1, 4.0, 2.0]])

    assert np.isnan(found[0, 1:]).all()
    assert np.isnan(found[1:, 0]).all()
    assert np.diag(found).tolist() == [1.0, 1.0, 1.0]
    assert found[1, 2] == pytest.approx(-0.3273268354, abs=1e-9)


def test_a_column_constant_where_the_other_is_measured_gives_nan() -> None:
    assert np.isnan(correlations([[0.1, 1.0], [0.1, 2.0], [0.1, 3.0], [9.0, nan]])[0, 1])


@derandomized
@given(tables)
def test_is_that_of_pandas(x: np.ndarray) -> None:
    found = correlations(x)
    # pandas calls a column constant when rounding says so; here one is that holds one number
    expected = pd.DataFrame(x).corr().to_numpy(copy=True)
    np.fill_diagonal(expected, 1.0)
    for i, j in np.argwhere(np.isnan(found)):
        shared = x[~np.isnan(x[:, [i, j]]).any(axis=1)]
        expected[i, j] = nan if len(np.unique(shared[:, i])) < 2 or len(np.unique(shared[:, j])) < 2 else expected[i, j]

    assert found.shape == (x.shape[1], x.shape[1])
    assert found == pytest.approx(expected, abs=1e-9, nan_ok=True)
    assert np.array_equal(found, found.T, equal_nan=True)


@derandomized
@given(tables, st.sampled_from([(1.0, 1e6), (1e-100, 0.0), (1e100, 0.0), (1e-3, -50.0)]))
def test_units_do_not_matter(x: np.ndarray, units: tuple[float, float]) -> None:
    factor, shift = units

    assert correlations(factor * x + shift) == pytest.approx(correlations(x), abs=1e-7, nan_ok=True)


def test_an_outlier_elsewhere_does_not_blur_a_pair() -> None:
    rng = np.random.default_rng(1)
    x = rng.random((50, 2))
    expected = np.corrcoef(x.T)[0, 1]
    far = np.array([[1e14, nan], [-1e3, nan]])

    assert correlations(np.vstack([x, far]))[0, 1] == pytest.approx(expected, abs=1e-12)


def test_many_rows_some_of_them_unmeasured_agree_with_pandas() -> None:
    rng = np.random.default_rng(2)
    x = rng.random((10_000, 3))
    x[:, 2] += x[:, 0]
    x[rng.random(x.shape) < 0.1] = nan

    assert correlations(x) == pytest.approx(pd.DataFrame(x).corr().to_numpy(), abs=1e-12)


@derandomized
@given(tables, st.integers(0, 12))
def test_parts_add_up(x: np.ndarray, cut: int) -> None:
    added = ColumnProducts.of(x[:cut]) + ColumnProducts.of(x[cut:])

    assert added.correlations == pytest.approx(correlations(x), abs=1e-12, nan_ok=True)


def test_perfect_correlations_are_not_above_one() -> None:
    x = np.random.default_rng(3).random(1000)
    found = correlations(np.column_stack([x, 3 * x + 1, -x]))

    assert found == pytest.approx(np.array([[1, 1, -1], [1, 1, -1], [-1, -1, 1]]), abs=1e-12)
    assert np.abs(found).max() <= 1.0


@pytest.mark.parametrize(
    ("x", "shape"), [(np.empty((0, 2)), (2, 2)), (np.empty((3, 0)), (0, 0)), ([[1.0, 2.0]], (2, 2))]
)
def test_too_few_rows_correlate_nothing(x: object, shape: tuple[int, int]) -> None:
    found = correlations(x)  # type: ignore[arg-type]

    assert found.shape == shape
    assert np.isnan(found[~np.eye(shape[0], dtype=bool)]).all()


@pytest.mark.parametrize(
    ("x", "message"), [([1.0, 2.0], r"shape \(2,\)"), ([[1.0, 2.0], [1.0, float("inf")]], r"x\[:, 1\] has infinite")]
)
def test_unusable_tables_are_refused(x: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        correlations(x)  # type: ignore[arg-type]
