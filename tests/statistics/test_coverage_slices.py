"""Slices together in simulation: one cell of each study; `make coverage` has them all."""

import pytest

from benchmarks.coverage import slices

DRAWS = 200


@pytest.mark.parametrize("tests", slices.SLICES)
def test_all_bands_of_a_column_cover_together_and_mid_p_tails_would_not(tests: int) -> None:
    cells = [*slices.independent(tests)]

    assert all(cell.reached for cell in cells)
    assert min(cell.measured for cell in cells if cell.target is None) < 0.91


def test_groups_that_cross_slices_cost_no_coverage() -> None:
    [cell] = slices.crossed(5, (50,), (0.95,), DRAWS)

    assert cell.measured > 0.95


def test_no_slice_is_called_worse_by_chance() -> None:
    assert slices.false_claims(60, 50, 0.98, DRAWS).measured <= 0.05
