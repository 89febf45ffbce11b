"""A few cells of the benchmark of planned power: a plan that asks for too few or too many rows does not pass."""

from collections.abc import Callable, Iterator

import pytest

from benchmarks.coverage import power
from benchmarks.coverage.cells import Cell


@pytest.mark.parametrize(
    ("study", "draws"),
    [(power.binary, 0), (power.binary_detectable, 0), (power.bounded, 1000), (power.clustered, 1000)],
)
def test_planned_rows_have_the_power_promised(study: Callable[[int], Iterator[Cell]], draws: int) -> None:
    for cell in study(draws):
        assert cell.reached, cell
