"""How often intervals from labels that a design chose contain the true mean: one cell; the rest in `make coverage`."""

from functools import partial

from benchmarks.coverage.cells import generator
from benchmarks.coverage.designed import blind, calibrated, cells, reached


def test_covers_and_is_narrower_than_labels_chosen_with_equal_chances() -> None:
    judge = partial(calibrated, rate=0.8, strength=0.8)
    found = reached(judge, 0.8, 1000, 100, generator("test designed"), 400)

    assert [cell for cell in cells("test", "calibrated", found, 0.95) if not cell.reached] == []


def test_covers_with_a_judge_that_knows_nothing() -> None:
    found = reached(partial(blind, rate=0.9), 0.9, 1000, 100, generator("test blind"), 400)

    assert [cell for cell in cells("test", "blind", found) if not cell.reached] == []
