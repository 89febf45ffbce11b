"""Measures of classification: values by hand, scikit-learn as oracle, coverage, degenerate rows, refusals."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import (
    balanced_accuracy_score,
    cohen_kappa_score,
    f1_score,
    matthews_corrcoef,
    precision_score,
    recall_score,
)

from benchmarks.coverage.classes import Design, simulation
from goldmeter.statistics import mean_interval
from goldmeter.statistics.clusters import FewClusters
from goldmeter.statistics.confusion import BOUNDS, NO_CLASS, ClassMeasures, class_differences, class_measures

K = 4
# Class of the reference, class named, cluster.
ROWS = st.lists(
    st.tuples(st.integers(0, K - 1), st.integers(NO_CLASS, K - 1), st.integers(1, 5)), min_size=1, max_size=40
)


def by_scikit_learn(true: np.ndarray, named: np.ndarray) -> dict[str, float]:
    labels = np.unique(true)
    f1 = {"labels": labels, "zero_division": 0.0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {
            "balanced_accuracy": balanced_accuracy_score(true, named),
            "macro_f1": f1_score(true, named, average="macro", **f1),
            "weighted_f1": f1_score(true, named, average="weighted", **f1),
            "matthews": matthews_corrcoef(true, named),
            "kappa": cohen_kappa_score(true, named),
        }


def values(found: ClassMeasures) -> dict[str, float]:
    return {name: one.value for name, one in found.measures.items()}


@settings(derandomize=True)
@given(ROWS)
def test_values_are_those_of_scikit_learn(rows: list[tuple[int, int, int]]) -> None:
    true, named, _ = np.array(rows).T

    found = class_measures(true, named, K)

    assert values(found) == pytest.approx(by_scikit_learn(true, named), abs=1e-12, nan_ok=True)
    assert found.accuracy.value == pytest.approx(np.mean(true == named), abs=1e-12)
    options = {"labels": range(K), "average": None, "zero_division": np.nan}
    for name, score in (("recall", recall_score), ("precision", precision_score)):
        rates = [getattr(one, name).value for one in found.classes]
        assert rates == pytest.approx(score(true, named, **options), abs=1e-12, nan_ok=True)


@settings(derandomize=True)
@given(ROWS)
def test_limits_contain_the_value_within_the_bounds(rows: list[tuple[int, int, int]]) -> None:
    true, named, clusters = np.array(rows).T
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewClusters)
        own = [class_measures(true, named, K)]
        own += [class_measures(true, named, K, clusters)] if len(set(clusters)) > 1 else []
    differences = class_differences(true, named, true, K)

    for found in own:
        for name, one in found.measures.items():
            low, high = BOUNDS[name]
            assert low <= one.low <= one.high <= high
            assert math.isnan(one.value) or one.low <= one.value <= one.high
    for name, one in differences.items():
        difference = class_measures(true, true, K).measures[name].value - own[0].measures[name].value
        assert one.value == pytest.approx(difference, nan_ok=True)
        assert math.isnan(one.value) or one.low <= one.value <= one.high


def test_counts_and_rates_by_class() -> None:
    found = class_measures([0, 0, 0, 1, 1, 2], [0, 0, 1, 1, NO_CLASS, NO_CLASS], 3)

    assert found.counts.tolist() == [[2, 1, 0, 0], [0, 1, 0, 1], [0, 0, 0, 1]]
    assert found.accuracy == mean_interval([1, 1, 0, 1, 0, 0])
    assert found.classes[0].recall == mean_interval([1, 1, 0])
    assert found.classes[1].precision == mean_interval([1, 0])
    assert [(one.n, one.n_named) for one in found.classes] == [(3, 2), (2, 2), (1, 0)]
    assert math.isnan(found.classes[2].precision.value)
    assert found.classes[0].f1.value == pytest.approx(0.8)


def test_the_order_of_rows_and_of_systems_does_not_matter() -> None:
    rng = np.random.default_rng(1)
    true, base, head = rng.integers(0, K, (3, 200))
    order = rng.permutation(200)

    first, turned = class_differences(true, base, head, K), class_differences(true[order], head[order], base[order], K)

    for name, one in first.items():
        assert (one.value, one.low, one.high) == pytest.approx(
            (-turned[name].value, -turned[name].high, -turned[name].low), abs=1e-12
        )


def test_clusters_of_copies_count_once() -> None:
    rng = np.random.default_rng(2)
    true, named = rng.integers(0, 3, (2, 60))
    named = np.where(rng.random(60) < 0.7, true, named)

    alone = class_measures(true, named, 3).measures
    copied = class_measures(np.repeat(true, 5), np.repeat(named, 5), 3, np.repeat(np.arange(60), 5)).measures

    for name, one in alone.items():
        assert copied[name].high - copied[name].low == pytest.approx(one.high - one.low, rel=0.1)


def test_systems_that_agree_on_all_rows_may_yet_differ() -> None:
    true = np.tile([0, 1], 50)
    named = np.where(np.arange(100) < 50, true, 1 - true)

    found = class_differences(true, named, named, 2)

    assert all(one.value == 0.0 and -0.06 < one.low < -0.01 and 0.01 < one.high < 0.06 for one in found.values())


def test_what_tells_nothing_is_unknown() -> None:
    one_class = class_measures([1, 1, 1], [1, 0, NO_CLASS], 2)
    one_answer = class_measures([0, 1, 1], [1, 1, 1], 2)
    none = class_measures([], [], 2)

    assert {(one.low, one.high, str(one.method)) for one in one_class.measures.values()} == {
        (0.0, 1.0, "one class of references"), (-1.0, 1.0, "one class of references")
    }  # fmt: skip
    assert str(one_answer.measures["matthews"].method) == "one class of answers"
    assert one_answer.measures["matthews"].value == 0.0
    assert all(math.isnan(one.value) and str(one.method) == "no rows" for one in none.measures.values())
    assert all(str(one.method) == "no rows" for one in class_differences([], [], [], 2).values())


@pytest.mark.parametrize(
    ("true", "named", "message"),
    [
        ([0, 2], [0, 1], "true: classes outside of 0 to 1"),
        ([0, -1], [0, 1], "true: classes outside of 0 to 1"),
        ([0, 1], [0, -2], "named: classes outside of -1 to 1"),
        ([0.5, 1], [0, 1], "true: expected the number of a class per row"),
        ([0, 1], [0], r"2 references, but \[1\] answers"),
    ],
)
def test_refusals(true: list[int], named: list[int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        class_measures(true, named, 2)


@pytest.mark.parametrize("design", [Design(100, 4, "unequal", 0.9), Design(100, 3, "one rare", 0.8, 5)])
def test_intervals_contain_the_truth(design: Design) -> None:
    for cell in simulation(design)(1200):
        assert cell.reached, cell
