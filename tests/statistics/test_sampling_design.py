"""Sampling designs: probabilities by hand, draws by enumeration, laws, and the width that labels will give."""

from itertools import pairwise, permutations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from goldmeter.statistics.sampling_design import active_chances, draw, inclusion_probabilities, planned_half_width

Floats = npt.NDArray[np.float64]

derandomized = settings(derandomize=True)
positive = st.floats(1e-5, 1e5) | st.sampled_from([1e-6, 0.25, 1.0, 3.0])
designs = st.lists(positive, min_size=1, max_size=40).flatmap(
    lambda given: st.tuples(st.just(given), st.integers(1, len(given)))
)


class Fixed:
    """A generator that gives a known order and start."""

    def __init__(self, order: tuple[int, ...], start: float) -> None:
        self.order, self.start = np.array(order, np.intp), start

    def permutation(self, _: int, /) -> npt.NDArray[np.intp]:
        return self.order

    def random(self) -> float:
        return self.start


@derandomized
@given(designs)
def test_probabilities_add_up_to_the_labels_and_keep_the_order_of_the_chances(design: tuple[list[float], int]) -> None:
    given_chances, n = design
    probability = inclusion_probabilities(given_chances, n)
    order = np.argsort(given_chances)

    assert probability.sum() == pytest.approx(n, rel=1e-9)
    assert (probability > 0).all()
    assert (probability <= 1).all()
    assert (np.diff(probability[order]) >= 0).all()


@derandomized
@given(designs)
def test_probabilities_below_1_are_proportional_to_the_chances(design: tuple[list[float], int]) -> None:
    probability = inclusion_probabilities(*design)
    below = probability < 1 - 1e-8
    ratio = probability[below] / np.array(design[0])[below]

    assert ratio == pytest.approx(ratio[:1].repeat(ratio.size), rel=1e-9)
    assert (probability[~below] <= np.array(design[0])[~below] * ratio.max(initial=0) + 1e-6).all() or not ratio.size


@derandomized
@given(designs, st.integers(0, 2**32))
def test_a_draw_has_its_size_without_repeats_and_all_certain_rows(design: tuple[list[float], int], seed: int) -> None:
    probability = inclusion_probabilities(*design)
    rows = draw(probability, np.random.default_rng(seed))

    assert rows.size == design[1]
    assert (np.diff(rows) > 0).all()
    assert {*np.flatnonzero(probability == 1)} <= {*rows}


@pytest.mark.parametrize("given_chances", [[1, 1, 1, 1], [8, 1, 1, 2, 3], [0.3, 0.1, 0.7, 0.2, 0.2]])
@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_each_row_is_drawn_exactly_with_its_probability(given_chances: list[float], n: int) -> None:
    probability = inclusion_probabilities(given_chances, n)

    for order in permutations(range(len(given_chances))):
        assert drawn(probability, order) == pytest.approx(probability, abs=1e-12)


def drawn(probability: Floats, order: tuple[int, ...]) -> Floats:
    """How often each row is drawn over all starts: between two starts at which a row begins or ends nothing changes."""
    edges = np.unique(np.append(-np.cumsum(probability[list(order)]) % 1.0, [0.0, 1.0]))
    often = np.zeros(probability.size)
    for low, high in pairwise(edges):
        often[draw(probability, Fixed(order, (low + high) / 2))] += high - low
    return often


def test_chances_are_those_of_the_formula() -> None:
    p = np.array([0.5, 0.9, 1.0])
    spread = np.array([0.5, 0.3, 0.0])

    assert active_chances(p) == pytest.approx(0.75 * spread / (0.8 / 3) + 0.25)
    assert active_chances([0.0, 1.0]).tolist() == [1.0, 1.0]
    assert active_chances([]).tolist() == []


@derandomized
@given(st.lists(st.floats(0, 1), min_size=1, max_size=50), st.data())
def test_chances_can_always_be_drawn_by(p: list[float], data: st.DataObject) -> None:
    n = data.draw(st.integers(1, len(p)))
    weight = active_chances(p)
    assume(weight.max() < 1e12 * weight.min())

    assert inclusion_probabilities(weight, n).sum() == pytest.approx(n, rel=1e-9)


@pytest.mark.parametrize(
    ("weight", "n", "message"),
    [
        ([1.0, 2.0], 0, r"n = 0: expected 1 to 2"),
        ([1.0, 2.0], 3, r"n = 3: expected 1 to 2"),
        ([], 1, r"expected 1 to 0"),
        ([1.0, 0.0], 1, r"chances\[1\] = 0.0: expected a number above 0"),
        ([-1.0, 1.0], 1, r"chances\[0\] = -1.0"),
        ([-1.0], 1, r"chances\[0\] = -1.0"),
        ([1.0, float("nan")], 1, r"chances\[1\] = nan is not finite"),
        ([1.0, 1e-13], 1, r"at least 1e-12 of the largest"),
    ],
)
def test_unusable_chances_are_refused(weight: list[float], n: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        inclusion_probabilities(weight, n)


@pytest.mark.parametrize(
    ("probability", "message"),
    [
        ([0.5, 0.6], r"add up to 1.1: expected a whole number"),
        ([0.0, 1.0], r"probabilities\[0\] = 0.0: expected a number above 0"),
        ([0.5, 1.5], r"probabilities\[1\] = 1.5"),
        ([float("nan")], "not finite"),
    ],
)
def test_unusable_probabilities_are_refused(probability: list[float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        draw(probability, np.random.default_rng(1))


@pytest.mark.parametrize("p", [[-0.1], [1.1], [float("nan")]])
def test_chances_of_no_probabilities_are_refused(p: list[float]) -> None:
    with pytest.raises(ValueError, match=r"p\[0\]"):
        active_chances(p)


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
