"""Agreement with human labels: values by hand, scikit-learn as oracle, coverage, degenerate rows, refusals."""

import math
import warnings
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtr, ndtri
from sklearn.metrics import cohen_kappa_score, roc_auc_score
from statsmodels.stats.inter_rater import cohens_kappa

from benchmarks.coverage.cells import covered
from goldmeter.statistics import mean_interval
from goldmeter.statistics.agreement import Agreement, agreement
from goldmeter.statistics.estimate import NO_ROWS, Method

derandomized = settings(derandomize=True)
judged = st.lists(
    st.tuples(st.booleans(), st.booleans(), st.sampled_from([0.0, 0.2, 0.5, 1.0, -math.inf]) | st.floats(-5, 5)),
    min_size=1,
    max_size=30,
)


def compare(rows: Sequence[tuple[bool, bool, float]], clusters: object = None, confidence: float = 0.95) -> Agreement:
    passed, labels, scores = zip(*rows, strict=True)
    return agreement(passed, labels, scores, clusters, confidence)  # type: ignore[arg-type]


def verdicts(tp: int, fp: int, fn: int, tn: int) -> tuple[np.ndarray, np.ndarray]:
    counts = [tp, fp, fn, tn]
    return np.repeat([True, True, False, False], counts), np.repeat([True, False, True, False], counts)


def test_counts_and_accuracy() -> None:
    found = agreement(*verdicts(20, 5, 10, 15))

    assert (found.n, found.true_pass, found.false_pass, found.false_fail, found.true_fail) == (50, 20, 5, 10, 15)
    assert found.accuracy == mean_interval([1.0] * 35 + [0.0] * 15)
    assert found.auc is None


def test_kappa_by_hand() -> None:
    # 35/50 equal, 25·30/50² + 25·20/50² = 1/2 by chance
    kappa = agreement(*verdicts(20, 5, 10, 15)).kappa

    assert kappa.value == pytest.approx(0.4, abs=1e-12)
    assert str(kappa.method) == "score+delta"
    assert (kappa.low, kappa.high) == pytest.approx((0.1345, 0.6111), abs=5e-3)


def test_auc_counts_ties_half() -> None:
    # 1 > 0.5 and 1 > 0.2; 0.5 = 0.5 and 0.5 > 0.2
    auc = agreement([1, 1, 1, 0], [1, 1, 0, 0], [1.0, 0.5, 0.5, 0.2]).auc

    assert auc is not None
    assert auc.value == 3.5 / 4
    assert str(auc.method) == "score+delong"


def test_many_rows_have_the_asymptotic_intervals() -> None:
    rng = np.random.default_rng(5)
    labels = rng.random(20_000) < 0.6
    scores = rng.normal(size=20_000) + labels
    found = agreement(scores > 0.5, labels, scores)
    oracle = cohens_kappa([[found.true_pass, found.false_pass], [found.false_fail, found.true_fail]])
    good, bad = scores[labels], scores[~labels]
    below = np.searchsorted(np.sort(bad), good) / bad.size
    above = 1 - np.searchsorted(np.sort(good), bad) / good.size
    delong = math.sqrt(below.var(ddof=1) / good.size + above.var(ddof=1) / bad.size)

    assert (found.kappa.low, found.kappa.high) == pytest.approx((oracle.kappa_low, oracle.kappa_upp), abs=3e-4)
    assert found.auc is not None
    assert found.auc.high - found.auc.low == pytest.approx(2 * 1.959963984540054 * delong, rel=2e-3)


@derandomized
@given(judged)
def test_values_are_those_of_scikit_learn(rows: list[tuple[bool, bool, float]]) -> None:
    found = compare(rows)
    passed, labels, scores = zip(*rows, strict=True)

    assert found.accuracy.value == pytest.approx(np.mean(np.equal(passed, labels)), abs=1e-12)
    with warnings.catch_warnings(action="ignore"):
        kappa = cohen_kappa_score(passed, labels)
    assert found.kappa.value == pytest.approx(kappa, abs=1e-12, nan_ok=True)
    if len(set(labels)) == 2:
        assert found.auc is not None
        assert found.auc.value == pytest.approx(roc_auc_score(labels, np.maximum(scores, -1e9)), abs=1e-12)


@pytest.mark.filterwarnings("ignore::goldmeter.statistics.FewClusters")
@derandomized
@given(judged, st.sampled_from([0.8, 0.95, 0.999]), st.booleans())
def test_values_lie_in_intervals_that_never_collapse(
    rows: list[tuple[bool, bool, float]], confidence: float, grouped: bool
) -> None:
    clusters = [i // 2 for i in range(len(rows))] if grouped and len(rows) > 2 else None
    found = compare(rows, clusters, confidence)

    assert found.auc is not None
    for estimate, lower in ((found.accuracy, 0.0), (found.kappa, -1.0), (found.auc, 0.0)):
        assert lower <= estimate.low < estimate.high <= 1.0
        assert math.isnan(estimate.value) or estimate.low <= estimate.value <= estimate.high
        assert estimate.n == len(rows)


@derandomized
@given(judged)
def test_lower_is_better_mirrors(rows: list[tuple[bool, bool, float]]) -> None:
    mirrored = compare([(not passed, not label, -score) for passed, label, score in rows])
    found = compare(rows)

    assert mirrored.kappa[:3] == pytest.approx(found.kappa[:3], abs=1e-9, nan_ok=True)
    assert mirrored.auc is not None
    assert found.auc is not None
    assert mirrored.auc[:3] == pytest.approx(found.auc[:3], abs=1e-9, nan_ok=True)


def test_full_agreement_is_not_certainty() -> None:
    found = agreement(*verdicts(10, 0, 0, 10), scores=np.repeat([1.0, 0.0], 10))

    assert found.kappa.value == found.auc.value == 1.0  # type: ignore[union-attr]
    assert found.kappa.low < 0.8
    assert found.auc.low < 0.9  # type: ignore[union-attr]


def test_copies_in_clusters_add_little_but_do_not_narrow() -> None:
    rng = np.random.default_rng(6)
    labels = rng.random(80) < 0.5
    scores = rng.normal(size=80) + labels
    once = agreement(scores > 0.3, labels, scores)
    copied = agreement(*(np.repeat(each, 20) for each in (scores > 0.3, labels, scores)), np.repeat(np.arange(80), 20))

    for name in ("accuracy", "kappa", "auc"):
        narrow, wide = getattr(once, name), getattr(copied, name)
        assert wide.value == pytest.approx(narrow.value, abs=1e-12)
        assert 0.98 < (wide.high - wide.low) / (narrow.high - narrow.low) < 1.12


@pytest.mark.parametrize(("n", "good", "right", "kappa"), [(100, 0.8, 0.95, 0.848101266), (50, 0.5, 0.98, 0.96)])
def test_kappa_is_covered(n: int, good: float, right: float, kappa: float) -> None:
    rng = np.random.default_rng(8)
    hits = 0
    for _ in range(1000):
        labels = rng.random(n) < good
        found = agreement(labels == (rng.random(n) < right), labels).kappa
        hits += found.low <= kappa <= found.high

    assert covered(0.94, hits, 1000).reached


@pytest.mark.parametrize(("good", "bad", "auc"), [(80, 20, 0.98), (15, 60, 0.7)])
def test_auc_is_covered(good: int, bad: int, auc: float) -> None:
    rng = np.random.default_rng(9)
    labels = np.repeat([True, False], [good, bad])
    hits = 0
    for _ in range(1000):
        scores = rng.normal(size=good + bad) + math.sqrt(2) * ndtri(auc) * labels
        found = agreement(labels, labels, scores).auc
        hits += found is not None and found.low <= auc <= found.high

    assert covered(0.94, hits, 1000).reached


def test_clustered_kappa_and_auc_are_covered() -> None:
    rng = np.random.default_rng(10)
    clusters, hits = np.repeat(np.arange(40), 4), np.zeros(2)
    # two normal scores, 1.2 standard deviations apart, cut halfway: right with probability 0.7257 in either class
    auc, kappa = float(ndtr(1.2 / math.sqrt(2))), 2 * float(ndtr(0.6)) - 1
    for _ in range(1000):
        labels = (rng.random(40) < 0.5)[clusters]
        scores = math.sqrt(0.4) * rng.normal(size=40)[clusters] + math.sqrt(0.6) * rng.normal(size=160) + 1.2 * labels
        found = agreement(scores >= 0.6, labels, scores, clusters)
        hits[0] += found.kappa.low <= kappa <= found.kappa.high
        hits[1] += found.auc is not None and found.auc.low <= auc <= found.auc.high

    assert all(covered(0.93, int(one), 1000).reached for one in hits)


def test_no_rows_say_nothing() -> None:
    found = agreement([], [], [])

    assert found.n == 0
    assert found.kappa[1:] == (-1.0, 1.0, 0, NO_ROWS)
    assert found.auc is not None
    assert found.auc[1:] == (0.0, 1.0, 0, NO_ROWS)


def test_one_row_in_one_cluster_is_not_refused() -> None:
    assert compare([(True, True, 0.5)], ["a"]).accuracy.value == 1.0


def test_one_class_of_labels_is_said() -> None:
    found = agreement([1, 0, 1], [1, 1, 1], [0.5, 0.2, 0.7])

    assert found.kappa == (0.0, -1.0, 1.0, 3, Method("one class of labels"))
    assert found.auc is not None
    assert math.isnan(found.auc.value)
    assert found.auc[1:] == (0.0, 1.0, 3, Method("one class of labels"))
    assert math.isnan(agreement([1, 1], [1, 1]).kappa.value)


def test_constant_scores_tell_nothing_apart() -> None:
    found = agreement([1] * 20, [0, 1] * 10, [0.5] * 20)

    assert found.kappa.value == 0.0
    assert found.auc is not None
    assert found.auc.value == 0.5


@pytest.mark.parametrize(
    ("passed", "labels", "options", "message"),
    [
        ([1, 2], [1, 0], {}, r"passed\[1\] = 2: expected 1 \(pass\) or 0"),
        ([1, 0], [math.nan, 0], {}, r"labels\[0\] = nan"),
        ([1, 0], [1], {}, r"passed \(2,\), labels \(1,\)"),
        ([[1]], [[1]], {}, r"passed \(1, 1\)"),
        ([1, 0], [1, 0], {"scores": [0.5]}, r"scores \(1,\)"),
        ([1, 0], [1, 0], {"scores": [0.5, math.nan]}, r"scores\[1\] is NaN"),
        ([1, 0], [1, 0], {"clusters": ["a", "a"]}, "one cluster"),
        ([1, 0], [1, 0], {"confidence": 0.0}, "confidence = 0.0"),
    ],
)
def test_unusable_arguments_are_refused(
    passed: object, labels: object, options: dict[str, object], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        agreement(passed, labels, **options)  # type: ignore[arg-type]
