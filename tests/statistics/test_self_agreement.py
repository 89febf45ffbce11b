"""Agreement of a judge with itself: figures by hand, and the coverage of the interval."""

import numpy as np
import pytest

from goldmeter.statistics.agreement import self_agreement


def test_of_a_scale_equality_distance_and_variance_are_those_by_hand() -> None:
    found = self_agreement([1, 3, 5, 5, 2, 4, 4], [0, 0, 1, 1, 2, 2, 2], bounds=(1.0, 5.0))

    # Pairs: (1,3) apart by 2; (5,5); (2,4), (2,4), (4,4): one of three equal, apart by 4/3.
    assert found.equal.value == pytest.approx((0 + 1 + 1 / 3) / 3)
    assert found.distance is not None
    assert found.distance.value == pytest.approx((2 + 0 + 4 / 3) / 3)
    assert (found.n, found.pairs) == (3, 5)
    # Squares around the means 2, 5, 10/3: 2 + 0 + 8/3, with 7 - 3 degrees of freedom.
    assert found.variance == pytest.approx((2 + 8 / 3) / 4)


def test_names_are_equal_or_not_and_have_no_distance() -> None:
    found = self_agreement([0, 2, 7, 7], [0, 0, 1, 1], bounds=None)

    assert found.equal.value == 0.5
    assert found.distance is None


def test_rows_with_a_single_verdict_say_nothing() -> None:
    assert self_agreement([1, 0, 1], [0, 1, 2]).n == 0
    assert self_agreement([1, 0, 1, 1], [0, 1, 2, 2]).n == 1


def test_rows_of_one_cluster_count_as_less() -> None:
    verdicts, rows = np.tile([1.0, 0.0, 1.0, 1.0], 40), np.repeat(np.arange(80), 2)
    clusters = np.repeat(np.arange(20), 4) % 10  # rows of each cluster differ as much as all do
    same = np.repeat([0.0, 1.0], 40)  # whole clusters agree, or do not

    spread = self_agreement(verdicts, rows, clusters).equal
    grouped = self_agreement(np.column_stack([np.zeros(80), 1.0 - same]).ravel(), rows, np.arange(80) // 8).equal

    assert spread.value == grouped.value == 0.5
    assert grouped.high - grouped.low > 1.5 * (spread.high - spread.low)


def test_two_sources_of_variance_are_told_apart() -> None:
    random = np.random.default_rng(7)
    rows = np.repeat(np.arange(4_000), 2)
    verdicts = np.clip(np.repeat(random.normal(0, 1, 4_000), 2) + random.normal(0, 0.5, 8_000), -9, 9)

    found = self_agreement(verdicts, rows, bounds=(-9.0, 9.0))

    assert found.variance == pytest.approx(0.25, rel=0.06)
    assert found.total == pytest.approx(1.25, rel=0.06)


@pytest.mark.parametrize(("agree", "verdicts"), [(0.9, 2), (0.97, 3)])
def test_the_interval_covers_as_often_as_it_says(agree: float, verdicts: int) -> None:
    random, covered, trials = np.random.default_rng(3), 0, 300
    flip = (1.0 - np.sqrt(2.0 * agree - 1.0)) / 2.0  # two verdicts differ with probability 2·flip·(1 - flip)
    for _ in range(trials):
        drawn = (random.random((200, verdicts)) < flip).astype(np.float64)
        equal = self_agreement(drawn.ravel(), np.repeat(np.arange(200), verdicts)).equal
        covered += equal.low <= agree <= equal.high

    assert covered / trials >= 0.92


@pytest.mark.parametrize("rows", [[1, 0], [0], [[0, 1]]])
def test_verdicts_without_their_rows_are_refused(rows: list[int]) -> None:
    with pytest.raises(ValueError, match="ascending order"):
        self_agreement([1.0, 0.0], rows)
