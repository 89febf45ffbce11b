"""Rates and differences of weighted rows in simulation; `make coverage` has every cell."""

from benchmarks.coverage import weights


def test_a_rate_is_covered_where_heavy_rows_fail_and_kishs_rows_do_not_do(monkeypatch) -> None:
    monkeypatch.setattr(weights, "SIZES", (200,))
    monkeypatch.setattr(weights, "LEVELS", (0.9, 0.99))
    cells = {cell.name: cell for cell in weights.rates(1.5, 300)}

    assert all(cell.reached for cell in cells.values())
    assert cells["Wilson with Kish's n: sigma = 1.5, n = 200, p = 0.9, heavy rows fail"].measured < 0.92


def test_a_difference_is_covered_where_few_rows_change(monkeypatch) -> None:
    monkeypatch.setattr(weights, "SIZES", (50,))

    assert all(cell.reached for cell in weights.differences(1.5, 400))
