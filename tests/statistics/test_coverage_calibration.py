"""False alarms of the test of calibration: one cell of its study; `make coverage` has them all."""

from benchmarks.coverage.calibration import false_alarms


def test_labels_drawn_with_the_probabilities_seldom_reject_them() -> None:
    [cell] = false_alarms("near 1", 50, 300)

    assert cell.reached, cell
    assert cell.measured > 0.01
