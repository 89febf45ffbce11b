"""Win rates: the paired interval on another scale, with a p value that agrees, and what is refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.statistics.bradley_terry import win_rate
from tasks.statistics.clusters import cluster_totals
from tasks.statistics.paired import mcnemar_midp

COUNT = st.integers(0, 60)


@given(COUNT, COUNT, COUNT)
def test_a_win_rate_lies_in_its_interval_which_turns_with_the_sides(wins: int, ties: int, losses: int) -> None:
    if not wins + ties + losses:
        return
    found, turned = win_rate(wins, ties, losses), win_rate(losses, ties, wins)

    assert found.value == pytest.approx((wins + ties / 2) / (wins + ties + losses))
    assert 0.0 <= found.low <= found.value <= found.high <= 1.0
    assert (turned.low, turned.high) == pytest.approx((1.0 - found.high, 1.0 - found.low))
    assert found.p_value == mcnemar_midp(wins, losses)
    assert (found.p_value < 0.05) == (not found.low <= 0.5 <= found.high)


def test_groups_count_as_one_item_each() -> None:
    points = np.repeat([1.0, -1.0, 0.0], [40, 20, 20])
    alone = win_rate(40, 20, 20)
    grouped = win_rate(40, 20, 20, cluster_totals(points, np.repeat(np.arange(16), 5)))

    assert grouped.value == alone.value
    assert str(grouped.method) == "clustered"
    assert grouped.high - grouped.low > alone.high - alone.low


def test_no_row_says_nothing() -> None:
    found = win_rate(0, 0, 0)

    assert np.isnan(found.value)
    assert (found.low, found.high, found.n, found.p_value) == (0.0, 1.0, 0, 1.0)


def test_negative_counts_are_refused() -> None:
    with pytest.raises(ValueError, match="counts of 0 or more"):
        win_rate(1, -1, 0)
