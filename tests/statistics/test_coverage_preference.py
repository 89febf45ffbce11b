"""Preferences in simulation: one cell of each study; `make coverage` has them all."""

import pytest

from benchmarks.coverage.preference import PAIRS, QUALITIES, Design, coverage, coverage_of_rate, true_strengths
from benchmarks.coverage.preference import expected as rates


def test_ranks_and_strengths_are_covered() -> None:
    ranks, strengths = coverage(Design("two close", 50), 60)

    assert ranks.reached, ranks
    assert strengths.reached, strengths


def test_win_rates_are_covered() -> None:
    cell = coverage_of_rate(Design("steps", 50), 2, 200)

    assert cell.reached, cell


@pytest.mark.parametrize("quality", QUALITIES)
def test_true_strengths_are_in_the_order_of_qualities(quality: str) -> None:
    order = [(a, b) for a, b in PAIRS if QUALITIES[quality][a] < QUALITIES[quality][b]]

    assert all(true_strengths(quality)[a] < true_strengths(quality)[b] for a, b in order)
    assert all(rates(quality)[PAIRS.index(pair)] > 0.5 for pair in order)
