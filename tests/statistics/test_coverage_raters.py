"""Krippendorff's alpha in simulation: one cell of each study; `make coverage` has them all."""

from benchmarks.coverage.raters import Design, coverage, coverage_of_clusters


def test_alpha_is_covered() -> None:
    cell = coverage(Design(2, False, 50, 0.8, 0.4), 1000)

    assert cell.reached, cell
    assert cell.measured < 0.99


def test_alpha_of_rare_ratings_and_missing_ones_is_covered() -> None:
    cell = coverage(Design(3, True, 200, 0.95, 0.1), 500)

    assert cell.reached, cell


def test_alpha_is_covered_with_clusters() -> None:
    cell = coverage_of_clusters(Design(2, False, 80, 0.8, 0.7), 500)

    assert cell.reached, cell
