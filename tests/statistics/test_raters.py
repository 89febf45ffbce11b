"""Agreement of raters: published examples, a slow definition, laws, and what is refused."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.statistics.agreement import krippendorff_alpha, pair_agreement
from goldmeter.statistics.estimate import NO_ROWS, Method


def table(observers: list[str], categories: str) -> list[list[int]]:
    return [[sum(row[unit] == one for row in observers) for one in categories] for unit in range(len(observers[0]))]


def test_the_published_value_of_four_observers_with_missing_ratings() -> None:
    # Krippendorff 2011, section C: twelve units, five categories; a point: not rated.
    observers = ["123321412...", "1233224125.3", ".3332342251.", "12332441251."]

    estimate = krippendorff_alpha(table(observers, "12345"))

    assert round(estimate.value, 3) == 0.743
    assert estimate.n == 11  # one unit has one rating


def test_the_published_value_of_two_observers_and_two_categories() -> None:
    assert round(krippendorff_alpha(table(["0100000010", "1110010000"], "01")).value, 3) == 0.095


def slow_alpha(rows: list[list[int]]) -> float:
    """The definition by pairs of ratings: within rows over all pairs of ratings of the table."""
    rows = [row for row in rows if len(row) > 1]
    every = [one for row in rows for one in row]
    observed = sum(sum(a != b for a, b in permutations(row, 2)) / (len(row) - 1) for row in rows) / len(every)
    expected = sum(a != b for a, b in permutations(every, 2)) / (len(every) * (len(every) - 1))
    return 1.0 - observed / expected


RATINGS = st.lists(st.lists(st.integers(0, 2), max_size=4), min_size=1, max_size=12)


@given(RATINGS, st.integers(1, 5), st.randoms(use_true_random=False))
def test_alpha_is_its_definition_within_limits_whatever_the_order(rows, groups, random) -> None:
    counts = np.array([[row.count(one) for one in range(3)] for row in rows])
    clusters = np.arange(len(rows)) % groups
    order = [*range(len(rows))]
    random.shuffle(order)

    for own in (None, clusters):
        found = krippendorff_alpha(counts, own)
        again = krippendorff_alpha(counts[order], None if own is None else own[order])
        assert found == pytest.approx(again, nan_ok=True, abs=1e-9) if found.n else found.method == NO_ROWS
        assert -1.0 <= found.low <= found.high <= 1.0
        if not np.isnan(found.value):
            assert found.value == pytest.approx(slow_alpha(rows))
            assert found.low <= found.value <= found.high


@given(RATINGS)
def test_pair_agreement_is_the_share_of_pairs_of_raters(rows) -> None:
    found = pair_agreement([[row.count(one) for one in range(3)] for row in rows])

    for row, share in zip(rows, found, strict=True):
        pairs = [a == b for a, b in permutations(row, 2)]
        assert np.isnan(share) if not pairs else share == pytest.approx(sum(pairs) / len(pairs))


def test_ratings_of_one_kind_say_nothing_of_agreement() -> None:
    found = krippendorff_alpha([[2, 0]] * 9)

    assert np.isnan(found.value)
    assert found[1:] == (-1.0, 1.0, 9, Method("one category of ratings"))


def test_one_cluster_says_nothing_of_the_spread() -> None:
    found = krippendorff_alpha([[2, 0], [0, 2], [1, 1]], [7, 7, 7])

    assert found[1:] == (-1.0, 1.0, 3, Method("one cluster"))


def test_clusters_widen_the_interval() -> None:
    counts = [[2, 0]] * 10 + [[0, 2]] * 10 + [[1, 1]] * 4

    alone = krippendorff_alpha(counts)
    grouped = krippendorff_alpha(counts, np.arange(24) // 4)

    assert grouped.value == alone.value
    assert grouped.high - grouped.low > alone.high - alone.low


@pytest.mark.parametrize("counts", [[1, 2], [[-1, 2]], [[np.nan, 1]], [[np.inf, 1]]])
def test_what_is_no_table_of_counts_is_refused(counts) -> None:
    with pytest.raises(ValueError, match="expected"):
        krippendorff_alpha(counts)
