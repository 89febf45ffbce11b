"""A judge that asks until it is certain which system is best: what it follows, and when that is over."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.judging.followed_difference import RateDifference, best_of, can_be_best
from goldmeter.statistics.stopping import difference_sequence


def followed(gained: int, lost: int, same: int, left: int = 100, *, by_judge: bool = False) -> RateDifference:
    changes = np.repeat([1.0, -1.0, 0.0], [gained, lost, same])
    return RateDifference(
        changes,
        np.ones(len(changes)),
        discordant=float(gained + lost),
        changed=float(len(changes)),
        to_come=np.ones(left),
        largest=1.0,
        by_judge=by_judge,
        confidence=0.95,
    )


counts = st.integers(0, 150)


@given(counts, counts, counts, counts, st.booleans())
def test_it_is_over_when_decided_and_turns_with_the_systems(
    gained: int, lost: int, same: int, left: int, by_judge: bool
) -> None:
    one = followed(gained, lost, same, left, by_judge=by_judge)
    other = followed(lost, gained, same, left, by_judge=by_judge)

    low, high = one.shown
    assert low <= one.limits[0] <= one.limits[1] <= high
    assert one.sign == -other.sign == (low > 0.0) - (high < 0.0)
    assert one.is_over == other.is_over
    assert one.is_over or not one.sign
    if not left:
        assert one.is_over


def test_rest_that_can_not_decide_ends_it_and_rest_that_can_does_not() -> None:
    assert followed(10, 10, 80, left=1).is_over
    assert not followed(10, 10, 80, left=100).is_over


def test_a_judge_whose_error_is_larger_than_any_difference_left_ends_it() -> None:
    by_model, by_itself = (followed(110, 90, 1800, left=500, by_judge=by_judge) for by_judge in (True, False))

    assert by_model.is_over
    assert by_model.sign == 0
    assert not by_itself.is_over


def test_before_any_verdict_enough_rows_can_decide_and_few_can_not() -> None:
    assert followed(0, 0, 0, left=100).can_be(1)
    assert not followed(0, 0, 0, left=5).can_be(1)
    assert followed(0, 0, 0).limits == pytest.approx(difference_sequence(np.empty(0), np.empty(0), 1.0)[:2])


def test_the_best_system_is_better_than_each_other_one() -> None:
    better, worse, open_ = followed(90, 0, 10), followed(0, 90, 10), followed(5, 5, 90)

    assert best_of("ab", {("a", "b"): better}) == "b"
    assert best_of("ab", {("a", "b"): open_}) is None
    three = {("a", "b"): worse, ("a", "c"): worse, ("b", "c"): open_}
    assert best_of("abc", three) == "a"
    assert best_of("abc", three | {("a", "c"): open_}) is None
    assert replace(better, confidence=1.0 - 1e-12).limits[0] < better.limits[0]


def test_what_no_more_rows_can_show_ends_it_though_some_differences_are_open() -> None:
    best, open_, never = followed(90, 0, 10), followed(5, 5, 90), followed(5, 5, 90, left=0)
    of_two = {("a", "b"): never, ("c", "a"): best, ("c", "b"): open_}

    assert [can_be_best(one, of_two) for one in "abc"] == [False, False, False]
    assert can_be_best("b", of_two | {("a", "b"): open_})
