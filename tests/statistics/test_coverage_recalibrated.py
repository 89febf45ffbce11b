"""What uses the recalibrated probability: one cell of each study; `make coverage` has them all."""

import pytest

from benchmarks.coverage.cells import Cell
from benchmarks.coverage.recalibrated import ANSWERS, TOO_SURE, estimates, waves


def measured(cells: list[Cell]) -> dict[tuple[str, bool], float]:
    """Measure, and whether it is ours → what was measured."""
    return {(cell.measure, cell.target is not None): cell.measured for cell in cells}


@pytest.mark.parametrize("answers", [1, ANSWERS])
def test_rates_from_labels_that_reject_the_judge_are_covered(answers: int) -> None:
    found = [*estimates(TOO_SURE, 60, answers, 60)]

    assert [cell for cell in found if cell.measure == "coverage" and not cell.reached] == []
    assert measured(found)["width / not recalibrated", True] == pytest.approx(1.0, abs=0.05)


def test_the_planned_half_width_of_a_second_wave_is_reached_where_the_judge_alone_promises_too_much() -> None:
    found = [*waves(TOO_SURE, 40)]

    assert [cell for cell in found if not cell.reached] == []
    halves = measured(found)
    assert halves["half-width / planned", True] < 1.15 < halves["half-width / planned", False]
