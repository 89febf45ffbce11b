"""The accuracy of a fitted threshold is covered, and its limit of false passes holds: one cell of each study.

`make coverage` has them all.
"""

from benchmarks.coverage.threshold import STUDIES, Design, accuracy_cells, risk_cells

DRAWS = 500


def test_accuracy_is_covered_by_an_interval_narrower_than_a_split() -> None:
    missed = [cell for cell in accuracy_cells(Design(100, 2.0, 0.5, icc=0.3), DRAWS) if not cell.reached]

    assert missed == []


def test_false_passes_stay_as_rare_as_promised() -> None:
    missed = [cell for cell in risk_cells(Design(100, 1.0, 0.5, icc=0.3), DRAWS) if not cell.reached]

    assert missed == []


def test_a_promise_costs_no_more_passes_than_it_must() -> None:
    risk = next(cell for cell in risk_cells(Design(50, 1.0, 0.5), DRAWS) if cell.measure == "false passes")

    assert risk.measured + 3 * risk.error > risk.target - 2 / 51  # Angelopoulos et al. 2022, theorem 2


def test_studies_yield_cells_of_the_draws_they_are_given() -> None:
    cells = [next(study(3)) for study in STUDIES]

    assert {cell.draws for cell in cells} == {3}
    assert len({cell.name for cell in cells}) == len(STUDIES)
