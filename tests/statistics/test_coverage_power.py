"""Planned power: one study with all its cells exactly; `make coverage` has the others."""

from benchmarks.coverage import power


def test_planned_rows_have_the_power_promised() -> None:
    for cell in power.binary_detectable(0):
        assert cell.reached, cell
