"""How often prediction-powered intervals contain the true mean: one cell of each study; the rest in `make coverage`."""

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

from benchmarks.coverage.cells import generator
from benchmarks.coverage.ppi import (
    Draw,
    cells,
    clustered,
    correlated,
    judged,
    part_of_a_set,
    reached,
    regressed,
)

Draws = Callable[[np.random.Generator], Draw]

DESIGNS: dict[str, tuple[Draws, int]] = {
    "mostly right": (partial(correlated, n=100, p=0.95, strength=0.6), 1000),
    "verdicts": (partial(judged, n=100, p=0.9, sensitivity=0.9, specificity=0.6), 1000),
    "the data set itself": (partial(part_of_a_set, n=150, total=300, p=0.5, strength=0.8), 1000),
    "parts of clusters": (partial(clustered, groups=30, p=0.5, strength=0.8, shared=True), 500),
    "cross-fitted": (partial(regressed, n=150, p=0.5, metrics=6), 100),
}


@pytest.mark.parametrize("design", DESIGNS)
def test_covers_and_is_never_wider_than_the_labels_alone(design: str) -> None:
    draw, draws = DESIGNS[design]
    measured = list(cells("test", design, reached(draw, generator("test", design), draws)))

    assert [cell for cell in measured if not cell.reached] == []


def test_a_strong_score_narrows_it_to_less_than_three_quarters() -> None:
    found = reached(partial(correlated, n=300, p=0.5, strength=0.8), generator("test width"), 200)

    assert found.width + 3 * found.width_error <= 0.72


def test_several_scores_narrow_it() -> None:
    one = reached(partial(regressed, n=150, p=0.5, metrics=1), generator("test one"), 100)
    several = reached(partial(regressed, n=150, p=0.5, metrics=6), generator("test one"), 100)

    assert several.width < one.width < 1.0
