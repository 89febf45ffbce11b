"""Quantiles in simulation: one cell of each study; `make coverage` has them all."""

import pytest

from benchmarks.coverage import quantiles

DRAWS = 200


@pytest.mark.parametrize("shape", quantiles.QUANTILES)
def test_order_statistics_cover_whatever_the_shape_and_the_bootstrap_may_not(shape: str) -> None:
    cells = [*quantiles.coverage(shape, 20, 0.95, DRAWS)]

    assert all(cell.reached for cell in cells)
    assert cells[1].measured < 0.9 or shape == "discrete"


def test_clusters_are_covered_and_would_not_be_if_they_were_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quantiles, "SHARES", (0.5,))
    cells = [*quantiles.in_clusters(30, 60)]

    assert all(cell.reached for cell in cells)
    assert min(cell.measured for cell in cells if cell.target is None) < 0.8


def test_differences_are_covered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quantiles, "SHARES", (0.5,))

    assert all(cell.reached for cell in quantiles.differences(100, 60))
    assert all(cell.reached for cell in quantiles.clustered_differences(30, 60))
