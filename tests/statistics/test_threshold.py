"""Thresholds and bands fitted to labels: values by hand, a slow oracle, degenerate rows, refusals."""

import math
from collections.abc import Sequence
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from goldmeter.statistics.estimate import NO_ROWS, Method
from goldmeter.statistics.threshold import DISTANCES, FittedThreshold, fewest_decided, risk_band, threshold_from_labels

derandomized = settings(derandomize=True)
labelled = st.lists(
    st.tuples(st.sampled_from([-2.0, 0.0, 0.1, 0.3, 0.5, 0.75, 1.0]) | st.floats(-1e3, 1e3), st.booleans()),
    min_size=1,
    max_size=25,
)


def fit(rows: Sequence[tuple[float, bool]], clusters: object = None, **options: float) -> FittedThreshold:
    scores, labels = zip(*rows, strict=True)
    return threshold_from_labels(scores, labels, clusters, **options)  # type: ignore[arg-type]


def right(rows: Sequence[tuple[float, bool]], threshold: float) -> int:
    return sum((score >= threshold) == label for score, label in rows)


def example(n: int = 200, seed: int = 7) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    labels = rng.random(n) < 0.7
    return rng.normal(size=n) + labels, labels


def test_is_midway_between_classes_that_are_apart() -> None:
    fitted = threshold_from_labels([0.1, 0.2, 0.6, 0.8], [0, 0, 1, 1])

    assert fitted.threshold == pytest.approx(0.4, abs=1e-15)
    assert fitted.accuracy.n == 4
    assert str(fitted.accuracy.method) == ".632+ bootstrap+wilson"


def test_of_several_best_cuts_the_highest() -> None:
    # one row is wrong whether cut at 0.15, 0.35 or 0.55
    assert threshold_from_labels([0.1, 0.2, 0.3, 0.4, 0.5, 0.6], [0, 1, 0, 1, 0, 1]).threshold == pytest.approx(0.55)


def test_equal_scores_are_not_torn_apart() -> None:
    assert threshold_from_labels([1, 2, 2, 2, 3], [0, 0, 1, 1, 1]).threshold == 1.5


def test_neighbouring_floats_have_the_upper_one_between_them() -> None:
    above = math.nextafter(0.5, 1.0)

    assert threshold_from_labels([0.5, above], [0, 1]).threshold == above


@derandomized
@given(labelled)
def test_no_other_threshold_is_right_more_often(rows: list[tuple[float, bool]]) -> None:
    best = max(right(rows, t) for t in [*(score for score, _ in rows), math.inf])

    assert right(rows, fit(rows).threshold) == best


def out_of_bag(scores: np.ndarray, labels: np.ndarray) -> float:
    """The slow way, with its own random numbers."""
    rng = np.random.default_rng(0)
    hits: list[bool] = []
    for _ in range(300):
        drawn = rng.integers(0, scores.size, scores.size)
        left_out = np.setdiff1d(np.arange(scores.size), drawn)
        s, y = scores[drawn], labels[drawn]
        known = np.unique(s)
        cuts = [known[0], *((known[1:] + known[:-1]) / 2), math.inf]
        best = max(reversed(cuts), key=lambda cut: int(((s >= cut) == y).sum()))
        hits += ((scores[left_out] >= best) == labels[left_out]).tolist()
    return float(np.mean(hits))


@pytest.mark.parametrize("n", [30, 120])
def test_accuracy_is_the_632_plus_bootstrap_of_the_same_rule(n: int) -> None:
    scores, labels = example(n)
    fitted = threshold_from_labels(scores, labels)
    passed = scores >= fitted.threshold
    seen, left_out = float((passed == labels).mean()), out_of_bag(scores, labels)
    chance = float(passed.mean() * labels.mean() + (1 - passed.mean()) * (1 - labels.mean()))
    weight = 0.632 / (1 - 0.368 * (seen - left_out) / (seen - chance))

    assert chance < left_out < seen
    assert fitted.accuracy.value == pytest.approx((1 - weight) * seen + weight * left_out, abs=0.01)


def test_interval_is_wilson_of_the_bootstrap_accuracy() -> None:
    p, low, high, n, _ = threshold_from_labels(*example()).accuracy
    z, shrink = 1.959963984540054, 1 + 1.959963984540054**2 / n
    half = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / shrink

    assert ((low + high) / 2, (high - low) / 2) == pytest.approx(((p + z * z / (2 * n)) / shrink, half), abs=1e-12)


def test_a_useless_score_is_not_flattered() -> None:
    rng = np.random.default_rng(11)
    fitted = [threshold_from_labels(rng.random(50), rng.random(50) < 0.5).accuracy.value for _ in range(200)]

    assert 0.5 < float(np.mean(fitted)) < 0.55  # in-sample 0.58


def test_clusters_widen() -> None:
    scores, labels = example(60)
    clusters = np.repeat(np.arange(60), 4)
    alone = threshold_from_labels(scores, labels).accuracy
    copied = threshold_from_labels(np.repeat(scores, 4), np.repeat(labels, 4), clusters).accuracy

    assert 0.95 < (copied.high - copied.low) / (alone.high - alone.low) < 1.15
    assert copied.value == pytest.approx(alone.value, abs=0.02)


@derandomized
@given(labelled, st.randoms(use_true_random=False))
def test_order_of_rows_changes_nothing(rows: list[tuple[float, bool]], random: Random) -> None:
    order = list(range(len(rows)))
    random.shuffle(order)

    assert fit([rows[i] for i in order]) == fit(rows)


@derandomized
@given(labelled, st.sampled_from([0.8, 0.95, 0.999]))
def test_value_lies_in_its_interval_in_the_bounds(rows: list[tuple[float, bool]], confidence: float) -> None:
    accuracy = fit(rows, confidence=confidence).accuracy

    assert math.isnan(accuracy.value) == (len(rows) == 1)
    assert 0.0 <= accuracy.low < accuracy.high <= 1.0
    assert math.isnan(accuracy.value) or accuracy.low <= accuracy.value <= accuracy.high


def test_no_rows_teach_nothing() -> None:
    fitted = threshold_from_labels([], [])

    assert math.isnan(fitted.threshold)
    assert fitted.accuracy[1:] == (0.0, 1.0, 0, NO_ROWS)


def test_one_row_teaches_a_threshold_of_unknown_accuracy() -> None:
    assert threshold_from_labels([0.3], [1], ["a"]).threshold == 0.3
    assert threshold_from_labels([0.3], [0]).threshold == math.inf
    assert threshold_from_labels([0.3], [1]).accuracy[1:] == (0.0, 1.0, 1, Method("one row"))


def test_one_class_of_labels_is_said() -> None:
    passing, failing = (threshold_from_labels(np.arange(20) / 20, np.full(20, label)) for label in (1, 0))

    assert passing.threshold == 0.0
    assert str(passing.accuracy.method) == ".632+ bootstrap+wilson; one class of labels"
    assert passing.accuracy.low < 0.9
    assert failing.threshold == math.inf
    assert str(failing.accuracy.method) == ".632+ bootstrap+wilson; one class of labels; nothing passes"


def test_constant_scores_are_said() -> None:
    fitted = threshold_from_labels([0.4] * 10, [1] * 7 + [0] * 3)

    assert fitted.threshold == 0.4
    assert str(fitted.accuracy.method) == ".632+ bootstrap+wilson; constant scores"


@pytest.mark.parametrize(
    ("scores", "labels", "options", "message"),
    [
        ([0.1, math.nan], [0, 1], {}, r"scores\[1\] = nan is not finite"),
        ([math.inf, 0.2], [0, 1], {}, r"scores\[0\] = inf is not finite"),
        ([0.1, 0.2], [0, 2], {}, r"labels\[1\] = 2: expected 1"),
        ([0.1, 0.2], [0, math.nan], {}, r"labels\[1\] = nan"),
        ([0.1, 0.2], [0], {}, r"scores has shape \(2,\), labels \(1,\)"),
        ([[0.1]], [[1]], {}, r"shape \(1, 1\)"),
        ([0.1, 0.2], [0, 1], {"confidence": 95.0}, "confidence = 95.0"),
        ([0.1, 0.2], [0, 1], {"clusters": ["a", "a"]}, "one cluster"),
    ],
)
def test_unusable_arguments_are_refused(
    scores: object, labels: object, options: dict[str, object], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        threshold_from_labels(scores, labels, **options)  # type: ignore[arg-type]


EVEN = np.linspace(0.0, 1.0, 2001)


def test_both_sides_grow_until_too_many_are_wrong() -> None:
    right = EVEN > 0.1
    right[1700:1800] = False

    band = risk_band(EVEN, right, 0.05)

    assert (band.low, band.fails.n, band.fails.wrong) == (0.1, 200, 0)
    assert (band.high, band.passes.n, band.passes.wrong) == (0.9, 200, 0)
    assert risk_band(EVEN, right, 0.15).high == 0.5  # 100 of 1,000


def test_an_error_at_the_strictest_limit_does_not_end_the_search() -> None:
    right = EVEN > 0.0
    right[-60::20] = False  # 3 of the 60 surest, and none of the 940 others that pass

    band = risk_band(EVEN, right, 0.06)

    assert (band.high, band.passes.n, band.passes.wrong) == (0.5, 1000, 3)


def test_too_many_errors_leave_the_side_to_the_language_model() -> None:
    band = risk_band(EVEN, np.arange(EVEN.size) % 3 > 0, 0.05)

    assert (band.low, band.high, band.passes.high) == (0.0, 1.0, 1.0)
    assert 0 < band.passes.wrong < band.passes.n < 250


def test_the_bound_is_that_of_clopper_and_pearson() -> None:
    p, right = np.full(600, 0.999), np.arange(600) >= 2

    found = risk_band(p, right, 0.02).passes

    assert (found.n, found.wrong) == (600, 2)
    assert binom.cdf(2, 600, found.high) == pytest.approx(0.025)  # all twelve limits have the same rows


@pytest.mark.parametrize("share", [0.01, 0.02, 0.1])
def test_as_many_labels_as_are_said_to_be_needed_are_enough_and_one_less_is_not(share: float) -> None:
    needed = fewest_decided(share)

    for n, high in ((needed, 0.5), (needed - 2, 1.0)):
        assert risk_band(np.append(np.full(n, 0.999), 0.6), np.ones(n + 1), share).high == high


def test_copies_of_an_answer_are_no_evidence() -> None:
    p, questions = np.full(1200, 0.999), np.repeat(np.arange(200), 6)

    assert risk_band(p, np.ones(1200), 0.02).high == 0.5
    assert risk_band(p, np.ones(1200), 0.02, questions).high == 1.0
    assert risk_band(p, np.ones(1200), 0.02, np.zeros(1200)).high == 1.0
    alone, pairs = (risk_band(p, np.ones(1200), 0.02, np.arange(1200) // size).passes.high for size in (1, 2))
    assert alone < pairs < 0.02


@given(
    st.lists(
        st.tuples(st.sampled_from([0.0, 0.004, 0.93, 0.95, 1.0]) | st.floats(0, 1), st.booleans()),
        max_size=60,
    ),
    st.floats(0.01, 0.49),
    st.integers(1, 4),
)
def test_what_is_decided_is_shown_to_be_right_and_counted_as_a_cascade_divides_rows(
    rows: list[tuple[float, bool]], share: float, size: int
) -> None:
    p, right = np.array([p for p, _ in rows]), np.array([right for _, right in rows], np.bool_)

    band = risk_band(p, right, share, np.arange(len(rows)) // size)

    assert 0.0 <= band.low <= 0.5 <= band.high <= 1.0
    assert band.low in {0.0, *DISTANCES}
    for limit, none, side, decided, wrong in (
        (band.low, 0.0, band.fails, p < band.low, right),
        (band.high, 1.0, band.passes, p > band.high, ~right),
    ):
        if limit != none:
            assert side.high <= share
            assert (side.n, side.wrong) == (decided.sum(), (decided & wrong).sum())
        else:
            assert side.high == 1.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0.5, np.nan], [0, 1], 0.02), "p"),
        (([0.5, 1.5], [0, 1], 0.02), r"p\[1\] = 1.5 lies outside"),
        (([0.5, 0.5], [0, 2], 0.02), r"labels\[1\] = 2"),
        (([0.5, 0.5], [0, 1, 1], 0.02), "one label per row"),
        (([0.5], [1], 0.5), "share = 0.5"),
        (([0.5], [1], 0.0), "share = 0.0"),
    ],
)
def test_unusable_arguments_are_refused_of_risk_band(arguments: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        risk_band(*arguments)
