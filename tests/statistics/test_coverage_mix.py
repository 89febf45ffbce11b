"""Rates by a mix of strata in simulation; `make coverage` has every cell."""

from benchmarks.coverage import mix


def test_a_rate_near_one_in_many_strata_is_covered_where_movers_interval_fails() -> None:
    cells = {cell.name: cell for cell in mix.rates("twenty alike", 300)}

    assert all(cell.reached for cell in cells.values())
    assert cells["MOVER: twenty alike, n = 10, p = 0.99"].measured < 0.92


def test_differences_by_unequal_shares_are_covered() -> None:
    for cell in mix.differences("five, half in one", 1000):
        assert cell.reached, cell
