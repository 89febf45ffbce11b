"""Simulated releases that stop early: the fast way ends them as the judge stage does."""

import numpy as np
import pytest

from benchmarks.stopping import Cell, at_once, by_stage

PAIRED = [Cell(500, 0.1, paired=True), Cell(500, 0.1, "draws", paired=True)]


@pytest.mark.parametrize("cell", [Cell(200, -0.1), Cell(500, 0.1), Cell(500, -0.1, "groups"), *PAIRED])
def test_releases_that_are_stopped_together_end_as_one_by_one(cell: Cell) -> None:
    rng = np.random.default_rng(1)
    drawn = [cell.totals(rng) for _ in range(12)]
    totals, size = np.array([passed for passed, _ in drawn]), drawn[0][1]

    together, one_by_one = at_once(cell, totals, size), by_stage(cell, totals, size)

    for fast, slow in zip(together, one_by_one, strict=True):
        assert fast.tolist() == slow.tolist()
    assert together.decided.any()
