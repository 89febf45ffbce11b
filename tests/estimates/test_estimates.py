"""The value of a column with its interval, by what kind of column it is."""

import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from goldmeter.comparison.of_versions import scores_of
from goldmeter.estimates import estimates
from goldmeter.estimates.column_facts import ColumnFacts
from goldmeter.estimates.columns import Candidate, ScoreColumn
from goldmeter.estimates.sums import candidate_sums
from goldmeter.statistics import Estimate, Method
from goldmeter.statistics.corpus import Replicates
from tests.comparison.sample import LATENCY, answers, version


def column(values: list[float], bounds: Any = (0.0, 1.0), stats: Any = None) -> ScoreColumn:
    n, facts = len(values), replace(ColumnFacts.from_json(LATENCY), bounds=bounds)
    return ScoreColumn("m", np.array(values), np.zeros(n, np.bool_), None, stats, facts)


def estimate(one: ScoreColumn, clusters: Any, confidence: float, *, guarantee: bool = False) -> Estimate:
    """Estimate a column from the sums of its rows."""
    n = len(one.values)
    candidate = Candidate("a", np.arange(n, dtype=np.uint64), np.arange(n), [one], clusters, {})
    [sums] = candidate_sums(candidate, guarantee=guarantee).columns
    replicates = None
    if one.stats is not None:
        replicates = Replicates.of(estimates.corpus_score(one)(one.stats.sum(0) - one.stats))
    return estimates.estimate(sums, replicates, confidence, guarantee=guarantee)


def test_bounded_scores_get_the_interval_of_a_mean() -> None:
    found = estimate(column([1.0] * 8 + [0.0] * 8), None, 0.95)

    assert (found.value, round(found.low, 4), round(found.high, 4)) == (0.5, 0.2800, 0.7200)  # Wilson


def test_scores_on_another_scale_stay_on_it() -> None:
    found = estimate(column([5.0] * 8 + [1.0] * 8, bounds=(1.0, 5.0)), None, 0.95)

    assert (found.value, round(found.low, 4), round(found.high, 4)) == (3.0, 2.1200, 3.8800)


def test_scores_without_bounds_get_a_t_interval() -> None:
    found = estimate(column([1.0, 2.0, 3.0, 4.0], bounds=None), None, 0.95)

    assert (found.value, round(found.low, 4), round(found.high, 4)) == (2.5, 0.4457, 4.5543)


def test_a_corpus_score_is_the_score_of_sums_and_no_mean(tmp_path: Path) -> None:
    made = version(tmp_path, answers("+..+"), metrics={"bleu": {}})
    [candidate] = scores_of(made).candidates({}).values()
    [bleu] = candidate.columns

    found = estimate(bleu, None, 0.95)

    assert bleu.stats is not None
    assert found.value == float(estimates.corpus_score(bleu)(bleu.stats.sum(axis=0)))
    assert found.value != bleu.values.mean()
    assert str(found.method).startswith("jackknife")
    assert "below 50" in str(found.method)


@pytest.mark.parametrize(("name", "expected"), [("precision", 3 / 4), ("recall", 3 / 5), ("f1_score", 6 / 9)])
def test_each_column_of_a_corpus_metric_has_its_own_score(name: str, expected: float) -> None:
    counts = np.array([[1.0, 1.0, 1.0], [2.0, 3.0, 4.0]])  # fields right, in the response, in the reference
    one = column([1.0, 0.5], stats=counts)
    facts = replace(one.facts, family="lexical", metric="json_fields", options={}, corpus_is_mean=False)

    found = estimate(replace(one, name=f"json_fields_{name}", facts=facts), None, 0.95)

    assert found.value == pytest.approx(expected)


@pytest.mark.parametrize("bounds", [(0.0, 1.0), None])
def test_one_cluster_has_a_value_and_no_interval(bounds: Any) -> None:
    found = estimate(column([0.0, 1.0, 1.0], bounds=bounds), np.array([7, 7, 7]), 0.95)

    assert found.value == pytest.approx(2 / 3)
    assert (found.low, found.high) == ((0.0, 1.0) if bounds else (-np.inf, np.inf))
    assert (found.n, str(found.method)) == (3, "one cluster: no interval")


@pytest.mark.parametrize(
    ("clusters", "expected"),
    [(None, False), (np.array([]), False), (np.array([1]), True), (np.array([1, 1]), True), (np.array([1, 2]), False)],
)
def test_whether_there_is_a_single_cluster(clusters: Any, expected: bool) -> None:
    assert estimates.is_one_cluster(clusters) is expected


def test_a_few_clusters_are_noted_in_the_method_and_warn_nobody() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = estimate(column([0.0, 1.0] * 6), np.arange(12) % 3, 0.95)

    assert "; 3 clusters: below 10 an interval may cover less than it says" in str(found.method)


def test_a_warning_is_noted_once() -> None:
    def warn_twice() -> Estimate:
        for _ in range(2):
            warnings.warn("look out", stacklevel=1)
        return Estimate(0.5, 0.0, 1.0, 1, Method("m"))

    assert estimates.with_warnings(warn_twice).method == Method("m", ("look out",))


def test_a_guarantee_is_only_there_for_bounded_means() -> None:
    guaranteed = estimate(column([1.0, 0.0] * 10), None, 0.95, guarantee=True)
    unbounded = estimate(column([1.0, 0.0] * 10, bounds=None), None, 0.95, guarantee=True)

    assert "no guarantee" not in str(guaranteed.method)
    assert str(unbounded.method).endswith("no guarantee")


def test_no_rows_have_no_value_and_every_interval() -> None:
    found = estimate(column([]), None, 0.95)

    assert np.isnan(found.value)
    assert (found.low, found.high, found.n) == (0.0, 1.0, 0)


def test_the_last_digits_of_a_sum_do_not_decide_how_a_report_rounds() -> None:
    assert estimates.rounded([2.9356615, 2.9356614999999997]) == [estimates.rounded(2.9356615)] * 2
