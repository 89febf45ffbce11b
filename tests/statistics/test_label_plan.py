"""The width that labels will give: by hand, and beside the spread of the estimate over many draws."""

import numpy as np
import pytest

from tasks.statistics.sampling_design import active_chances, draw, inclusion_probabilities, planned_half_width


def test_labels_of_alike_rows_give_what_they_alone_would() -> None:
    # t of 24 degrees of freedom is 2.0639; √(0.25/25) = 0.1
    assert planned_half_width([0.5] * 1000, [40.0] * 1000, 25) == pytest.approx(0.20639, abs=1e-5)


def test_sure_rows_need_no_labels_but_are_a_sample_themselves() -> None:
    # √(0.25·(100/99)/100) = 0.05025 and t of 9 degrees of freedom = 2.2622
    assert planned_half_width([0.0, 1.0] * 50, [10.0] * 100, 10) == pytest.approx(0.11368, abs=1e-5)


@pytest.mark.parametrize(("rows", "labels"), [(1, 10), (100, 1), (100, 0), (0, 0)])
def test_too_few_give_no_width(rows: int, labels: int) -> None:
    assert planned_half_width([0.5] * rows, [1.0] * rows, labels) == 0.5


def test_values_that_are_no_numbers_are_refused() -> None:
    with pytest.raises(ValueError, match="p"):
        planned_half_width([float("nan"), 0.5], [1.0, 1.0], 2)


def test_it_is_the_spread_of_the_estimate_over_draws() -> None:
    rng = np.random.default_rng(3)
    n, labels, errors = 400, 60, []
    planned = []
    for _ in range(400):
        p = rng.beta(0.6, 0.3, n)
        inclusion = inclusion_probabilities(active_chances(p), labels)
        rows = draw(inclusion, rng)
        y = rng.random(n) < p
        errors.append(p.mean() + ((y - p)[rows] / inclusion[rows]).sum() / n - 2 / 3)
        planned.append(planned_half_width(p, 1.0 / inclusion, labels))

    assert np.mean(planned) / 2.001 == pytest.approx(np.std(errors), rel=0.1)  # t of 59 degrees of freedom
