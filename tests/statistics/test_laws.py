"""Laws of all functions of rows: few clusters warn, few rows of a corpus warn, and arguments are left alone."""

import numpy as np
import pytest

from benchmarks.coverage.arrays import corpus_difference, corpus_interval, detectable_difference, max_t
from goldmeter.statistics import (
    FewClusters,
    FewRows,
    agreement,
    correlations,
    cross_fitted,
    mean_interval,
    paired_difference,
    ppi_mean,
    threshold_from_labels,
)
from goldmeter.statistics.quantiles import quantile_interval
from tests.statistics.test_corpus_difference import ratio, versions

CALLS = {
    "agreement": (lambda x, groups: agreement(x > 0, x > 0, clusters=groups), 2),
    "mean": (mean_interval, 9),
    "corpus": (lambda x, groups: corpus_interval(np.c_[x, x + 1], ratio, clusters=groups), 2),
    "corpus difference": (lambda x, groups: corpus_difference(*versions(len(x)), ratio, clusters=groups), 2),
    "max-T": (lambda x, groups: max_t(np.c_[x, x[::-1]], groups), 2),
    "paired": (paired_difference, 2),
    "quantile": (lambda x, groups: quantile_interval(x, 0.5, groups), 5),
    "detectable": (detectable_difference, 2),
}


@pytest.mark.parametrize(("call", "groups"), CALLS.values(), ids=CALLS)
def test_few_clusters_warn(call, groups) -> None:
    x = np.tile([1.0, 0.0, 0.5], 24)

    with pytest.warns(FewClusters, match=f"{groups} clusters"):
        call(x, [f"g{i % groups}" for i in range(len(x))])


def test_few_rows_of_a_corpus_warn() -> None:
    with pytest.warns(FewRows, match="49 rows"):
        corpus_difference(*versions(49), ratio)


@pytest.mark.parametrize(
    "call",
    [
        mean_interval,
        lambda x: correlations(np.c_[x, x]),
        lambda x: max_t(x[:, None]),
        lambda x: ppi_mean(x, x, x),
        lambda x: cross_fitted(x, x[:, None], x[:, None]),
        lambda x: threshold_from_labels(x, x),
    ],
    ids=["mean", "correlations", "max-T", "ppi", "cross-fitted", "threshold"],
)
def test_arguments_are_left_alone(call) -> None:
    x = np.array([1.0, 0.0] * 20)
    x.flags.writeable = False

    call(x)
