"""Paired differences: values by hand, agreement of interval and p value, hostile rows."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.stats import ttest_rel
from statsmodels.stats.contingency_tables import mcnemar

from goldmeter.statistics.estimate import NO_ROWS, Method
from goldmeter.statistics.paired import mcnemar_midp, paired_difference

pytestmark = pytest.mark.filterwarnings("ignore::goldmeter.statistics.FewClusters")
derandomized = settings(derandomize=True)
binary = st.lists(st.sampled_from([-1.0, 0.0, 1.0]), min_size=1, max_size=60)
levels = st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.25, 1.0]), min_size=1, max_size=40)
free = st.lists(st.floats(-1.0, 1.0), min_size=1, max_size=40)
confidences = st.sampled_from([0.5, 0.8, 0.9, 0.95, 0.9973, 0.9999])


def rows(b: int, c: int, n: int) -> np.ndarray:
    """Return b wins and c losses among n rows."""
    return np.repeat([1.0, -1.0, 0.0], [b, c, n - b - c])


@pytest.mark.parametrize(
    ("b", "c", "expected"), [(0, 0, 1.0), (4, 4, 1.0), (1, 7, 0.0390625), (5, 0, 0.03125), (1, 0, 0.5)]
)
def test_midp_by_hand(b: int, c: int, expected: float) -> None:
    assert mcnemar_midp(b, c) == mcnemar_midp(c, b) == expected


@pytest.mark.parametrize(("b", "c"), [(3, 9), (40, 22), (0, 13), (500, 430)])
def test_midp_is_the_exact_p_less_the_chance_of_the_observed_split(b: int, c: int) -> None:
    exact = mcnemar([[0, b], [c, 0]], exact=True).pvalue

    assert mcnemar_midp(b, c) == pytest.approx(exact - math.comb(b + c, b) / 2 ** (b + c), rel=1e-9)


def test_negative_counts_are_refused() -> None:
    with pytest.raises(ValueError, match="b = -1, c = 3"):
        mcnemar_midp(-1, 3)


def test_binary_rows_by_hand() -> None:
    # 2 and 8 of 23: -6/23 ± 1.96·√((10/23 - (6/23)²)/23)
    found = paired_difference(rows(1, 7, 21))

    assert found[:4] == pytest.approx((-6 / 21, -0.5084, -0.0134, 21), abs=1e-4)
    assert (found.method, found.p_value) == (Method("bonett-price+midp"), 0.0390625)


def test_the_limit_moves_to_zero_when_midp_does_not_reject() -> None:
    # Bonett and Price alone would say 0.0046 to 0.8954; mid-p is 0.0625.
    found = paired_difference(rows(4, 0, 4))

    assert found.low == 0.0
    assert found.p_value == 0.0625


def test_the_limit_moves_off_zero_when_midp_rejects() -> None:
    # 5 of 5 changed rows won: their share is above 0.05^(1/5) = 0.5493, (2·0.5493 - 1)·5/300 = 0.00164
    found = paired_difference(rows(5, 0, 300))

    assert found.p_value == 0.03125
    assert found.low == pytest.approx(0.001643, abs=1e-6)


def test_nothing_changed_is_no_more_than_three_in_n() -> None:
    found = paired_difference(np.zeros(100))

    # 1 - 0.05^(1/100), the mid-p limit of 0 wins in 100
    assert found == (
        0.0,
        pytest.approx(-0.02951, abs=1e-5),
        pytest.approx(0.02951, abs=1e-5),
        100,
        Method("bonett-price+midp"),
        1.0,
    )


def half_width(residuals: list[float], room: float, t: float, z: float = 1.959964) -> float:
    """The reach of an interval: t²·Σr²/(n(n-1)), and z²·c·J²/n² for changes by J that no row has shown."""
    n, seen = len(residuals), sum(((u := r / room) * (1 - u**2)) ** 2 for r in residuals if abs(r) < room)
    c = 2.4 * (1 - (seen / 5) ** 0.4)
    return math.sqrt(t**2 * sum(r**2 for r in residuals) / (n * (n - 1)) + z**2 * c * room**2 / n**2)


def test_bounded_rows_by_hand() -> None:
    d = [0.5, 0.5, 0.5, 0.5, -0.5, 0.5, 0.0, 0.0, 0.0, 0.0]  # mean 0.2
    found = paired_difference(d)
    below, above = (half_width([each - 0.2 for each in d], room, t=2.262157) for room in (1.2, 0.8))

    assert found[:4] == pytest.approx((0.2, 0.2 - below, 0.2 + above, 10), abs=2e-4)  # residuals have steps of 2⁻¹²
    assert paired_difference(d, confidence=1 - found.p_value).low == pytest.approx(0.0, abs=1e-9)
    assert str(found.method) == "bounded"


def test_equal_clusters_by_hand() -> None:
    # Sums of 8 pairs 2, 1, 0, -1, 0, 1, 0, 0: items of half of that, mean 3/16
    found = paired_difference([1, 1, 1, 0, 0, 0, -1, 0, 0, 0, 1, 0, 0, 0, 0, 0], np.repeat(np.arange(8), 2))
    items = [1, 0.5, 0, -0.5, 0, 0.5, 0, 0]
    below, above = (half_width([each - 0.1875 for each in items], room, t=2.364624) for room in (1.1875, 0.8125))

    assert found[:4] == pytest.approx((0.1875, 0.1875 - below, 0.1875 + above, 16), abs=1e-6)
    assert str(found.method) == "clustered"


@pytest.mark.parametrize("rows", [4, 6, 8, 10, 12, 13, 20])
@pytest.mark.parametrize("clusters", [False, True])
def test_equal_changes_have_the_p_value_of_their_interval(rows: int, clusters: bool) -> None:
    d = np.full(rows, 0.5)
    labels = np.arange(rows) if clusters else None
    p_value = paired_difference(d, labels).p_value

    assert 0.0 < p_value < 1.0
    assert paired_difference(d, labels, confidence=1 - p_value).low == pytest.approx(0.0, abs=1e-9)


def test_clusters_that_all_gained_all_there_is() -> None:
    assert paired_difference([1.0] * 21, [*range(10), *range(10), 0]).high == 1.0


def test_unbounded_rows_are_the_paired_t_test() -> None:
    base, head = np.random.default_rng(1).normal([[10.0], [12.0]], 3.0, (2, 25))
    oracle = ttest_rel(head, base)

    found = paired_difference(head - base, bounds=(0, math.inf))

    assert found[1:3] == pytest.approx(tuple(oracle.confidence_interval()), abs=1e-9)
    assert found.p_value == pytest.approx(oracle.pvalue, abs=1e-12)
    assert str(found.method) == "t"


def test_unbounded_clusters_of_one_row_are_rows() -> None:
    d = np.random.default_rng(2).normal(1.0, 3.0, 25)

    clustered, plain = (paired_difference(d, labels, bounds=(0, math.inf)) for labels in (np.arange(25), None))

    assert clustered[:3] + clustered[5:] == pytest.approx(plain[:3] + plain[5:])


@pytest.mark.parametrize(("b", "c", "n"), [(1, 7, 21), (5, 0, 30), (12, 9, 80), (3, 3, 6)])
def test_tango_limits_are_where_the_constrained_score_is_the_quantile(b: int, c: int, n: int) -> None:
    found = paired_difference(rows(b, c, n), margin=0.1)

    assert str(found.method) == "tango"
    for limit, sign in ((found.low, 1), (found.high, -1)):

        def unlikely(lost: float, limit: float = limit) -> float:
            won = lost + limit
            return -(b * math.log(won) + c * math.log(lost) + (n - b - c) * math.log(max(1 - won - lost, 1e-300)))

        ends = max(0.0, -limit) + 1e-12, (1 - limit) / 2 - 1e-12
        lost = minimize_scalar(unlikely, bounds=ends, method="bounded", options={"xatol": 1e-12}).x
        error = math.sqrt((2 * lost + limit - limit**2) / n)
        assert ((b - c) / n - limit) / error == pytest.approx(sign * 1.959964, abs=1e-3)


def test_tango_p_value_is_mcnemar_without_correction() -> None:
    oracle = mcnemar([[0, 30], [14, 0]], exact=False, correction=False).pvalue

    assert paired_difference(rows(30, 14, 100), margin=0.02).p_value == pytest.approx(oracle)
    assert paired_difference(rows(0, 0, 9), margin=0.02).p_value == 1.0


def test_a_margin_changes_nothing_else() -> None:
    for d, clusters in (([0.5, -0.25, 0.0], None), ([1.0, -1.0, 0.0], ["a", "b", "c"])):
        assert paired_difference(d, clusters, margin=0.1) == paired_difference(d, clusters)
    assert paired_difference(rows(5, 1, 9), margin=0.0).method == Method("bonett-price+midp")


@derandomized
@given(binary | levels | free, confidences, st.sampled_from(["rows", "clusters", "margin", "unbounded"]))
def test_interval_excludes_zero_exactly_when_p_is_below_alpha(d: list[float], confidence: float, how: str) -> None:
    labels = [i // 3 for i in range(len(d) - 1)] + [-1] if how == "clusters" and len(d) > 1 else None
    bounds = (0.0, math.inf) if how == "unbounded" else (0.0, 1.0)
    found = paired_difference(d, labels, bounds, confidence, 0.1 if how == "margin" else None)

    assert (found.low > 0.0 or found.high < 0.0) == (found.p_value < 1.0 - confidence)
    assert found.low <= found.value <= found.high
    assert 0.0 <= found.p_value <= 1.0
    assert found.value == pytest.approx(np.mean(d), abs=1e-12)
    if how != "unbounded":
        assert -1.0 <= found.low <= found.high <= 1.0


@derandomized
@given(binary | levels | free, confidences)
def test_swapping_the_versions_mirrors_the_interval(d: list[float], confidence: float) -> None:
    for margin in (None, 0.1):
        found, mirror = (
            paired_difference(sign * np.array(d), confidence=confidence, margin=margin) for sign in (1, -1)
        )
        expected = -found.value, -found.high, -found.low, found.p_value
        assert (*mirror[:3], mirror.p_value) == pytest.approx(expected, abs=1e-9)


@derandomized
@given(levels | free, st.sampled_from([(-1.0, 1.0), (0.0, 100.0), (2.0, 2.5)]))
def test_bounds_are_units(d: list[float], bounds: tuple[float, float]) -> None:
    width = bounds[1] - bounds[0]

    scaled, unit = paired_difference(width * np.array(d), bounds=bounds), paired_difference(d)

    assert scaled[:3] == pytest.approx([width * v for v in unit[:3]], abs=1e-9 * width)
    assert scaled.p_value == pytest.approx(unit.p_value, abs=1e-9)


@derandomized
@given(binary | free)
def test_differences_are_left_as_they_were(d: list[float]) -> None:
    given_rows = np.array(d)
    paired_difference(given_rows, bounds=(0.0, 1.0))

    assert given_rows.tolist() == d


def test_rounding_beyond_the_bounds_is_forgiven() -> None:
    assert paired_difference([1.0 + 1e-15, 0.0]).method == Method("bonett-price+midp")


def test_one_row_knows_little() -> None:
    assert paired_difference([1.0]).p_value == 0.5
    assert paired_difference([3.0], bounds=(0, math.inf)) == (3.0, -math.inf, math.inf, 1, Method("t"), 1.0)


def test_unbounded_rows_all_alike() -> None:
    assert paired_difference([0.1 + 0.2] * 6, bounds=(0, math.inf))[1:3] == pytest.approx((0.3, 0.3))
    assert paired_difference([0.3] * 6, bounds=(0, math.inf)).p_value == 2.0**-5
    assert paired_difference([0.3] * 5, bounds=(0, math.inf))[1:3] == (-math.inf, math.inf)
    assert paired_difference([0.0] * 3, bounds=(0, math.inf)) == (0.0, 0.0, 0.0, 3, Method("t"), 1.0)


@pytest.mark.parametrize("bounds", [(0.0, 1.0), (0.0, 50.0), (0.0, math.inf)])
def test_no_rows_say_nothing(bounds: tuple[float, float]) -> None:
    found = paired_difference([], bounds=bounds)

    assert math.isnan(found.value)
    assert found[1:] == (-bounds[1], bounds[1], 0, NO_ROWS, 1.0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"d": [0.0, math.nan]}, r"d\[1\] = nan lies outside ±1"),
        ({"d": [1.5]}, r"d\[0\] = 1.5 lies outside ±1"),
        ({"d": [math.inf], "bounds": (0, math.inf)}, r"d\[0\] = inf"),
        ({"d": [[1.0]]}, r"d has shape \(1, 1\)"),
        ({"d": [1.0], "bounds": (1, 1)}, "bounds = "),
        ({"d": [1.0], "confidence": 1.0}, "confidence = 1.0"),
        ({"d": [1.0], "margin": -0.1}, "margin = -0.1"),
        ({"d": [1.0, 0.0], "clusters": ["a", "a"]}, "one cluster"),
        ({"d": [1.0, 0.0], "clusters": ["a"]}, "1 labels for 2 rows"),
    ],
)
def test_unusable_arguments_are_refused(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        paired_difference(**arguments)  # type: ignore[arg-type]


def test_no_warning_but_ours_escapes() -> None:
    with warnings.catch_warnings(action="error"):
        for d in ([0.0] * 30, [1.0] * 30, [-1.0] * 30, [0.5] * 30, [1e-300] * 30):
            paired_difference(d)
            paired_difference(d, margin=0.1)
            paired_difference(d, bounds=(0, math.inf))
            paired_difference(d, [i // 2 for i in range(30)])
