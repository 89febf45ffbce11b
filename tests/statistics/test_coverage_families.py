"""The family of metrics in simulation: a fast part of the benchmark."""

import pytest

from benchmarks.coverage.families import false_verdicts, power_over_holm


@pytest.mark.parametrize("correlation", [0.0, 0.95])
def test_false_verdicts_are_rare(correlation: float) -> None:
    cell = false_verdicts("binary", correlation, 500)

    assert cell.reached, cell


def test_finds_more_than_holm() -> None:
    cell = power_over_holm(300)

    assert cell.reached, cell
