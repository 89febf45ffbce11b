"""The family of metrics in simulation: one cell of each study; `make coverage` has them all."""

from benchmarks.coverage.families import false_verdicts, power_over_holm


def test_false_verdicts_are_rare() -> None:
    cell = false_verdicts("binary", 0.95, 500)

    assert cell.reached, cell


def test_finds_more_than_holm() -> None:
    cell = power_over_holm(100)

    assert cell.reached, cell
