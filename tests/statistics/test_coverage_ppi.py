"""How often prediction-powered intervals and judge-corrected ones contain the truth: one cell of
each study. `make coverage` has them all."""

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

from benchmarks.coverage.cells import covered, generator
from benchmarks.coverage.ppi import (
    JUDGE_COVERS,
    Draw,
    cells,
    clustered,
    correlated,
    judged,
    part_of_a_set,
    reached,
    regressed,
)
from tasks.statistics.judge_error import judge_corrected_rate

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


def test_judge_corrected_rates_are_covered() -> None:
    p, draws = 0.8, 1000
    rng = generator("test judge", p)
    checked = rng.binomial(100, 0.9, (draws, 2)).tolist()
    yes = rng.binomial(1000, 0.9 * p + 0.1 * (1.0 - p), draws).tolist()
    found = [judge_corrected_rate(k, 1000, (a, 100), (b, 100)) for k, (a, b) in zip(yes, checked, strict=True)]
    hits = sum(estimate.low <= p <= estimate.high for estimate in found)

    assert covered("test", "judge", JUDGE_COVERS, hits, draws).reached
