"""How often intervals of means contain the truth: binary rows exactly, the others by one cell of
each study. `make coverage` has them all."""

import numpy as np
import pytest
from statsmodels.stats.proportion import proportion_confint

from benchmarks.coverage import binary, bounded, clustered, corpus

DRAWS = 1000  # an interval 20 % too narrow covers 88 %, which three standard errors raise to 91 % only


@pytest.mark.parametrize("cell", binary.rates(0), ids=lambda cell: f"{cell.measure}, {cell.name}")
def test_binary_covers_at_every_rate_and_costs_little_width(cell) -> None:
    assert cell.reached
    if cell.sense == "contrast":
        assert cell.measured < 0.91  # Wilson: what the tail is for


@pytest.mark.parametrize("n", binary.SIZES)
def test_binary_covers_what_it_says_on_average(n: int) -> None:
    assert binary.coverage(binary.table(binary.ours, n), n).mean() >= 0.95


@pytest.mark.parametrize("n", binary.SIZES)
def test_blaker_never_covers_less_than_it_says(n: int) -> None:
    limits = binary.table(binary.guaranteed, n)
    exact = np.array([proportion_confint(k, n, method="beta") for k in range(n + 1)])

    assert binary.coverage(limits, n).min() >= 0.95
    assert binary.width(limits, n) < binary.width(exact, n)


@pytest.mark.parametrize("k", [0, 1, 7, 10])
def test_what_others_give_is_what_they_give(k: int) -> None:
    resampled = np.random.default_rng(1).binomial(10, k / 10, 100_000) / 10

    assert binary.wilson(k, 10) == pytest.approx(proportion_confint(k, 10, method="wilson"), abs=1e-12)
    assert np.clip(binary.wald(k, 10), 0, 1) == pytest.approx(proportion_confint(k, 10, method="normal"), abs=1e-12)
    assert binary.bootstrap(k, 10) == pytest.approx(np.quantile(resampled, [0.025, 0.975]))


def test_popular_intervals_fail_near_all_right() -> None:
    found = {cell.name: round(cell.measured, 3) for cell in binary.high_rate(0)}

    assert found["percentile bootstrap: n = 10, p = 0.98"] == 0.183  # 1 - 0.98¹⁰: only when a row is wrong
    assert found["±1.96·SE: n = 30, p = 0.98"] == 0.454
    assert found["t interval: n = 100, p = 0.98"] == 0.866


@pytest.mark.parametrize(("shape", "mean", "n"), [("half or nothing", 0.45, 30), ("spread out", 0.98, 30)])
def test_bounded_scores_are_covered(shape: str, mean: float, n: int) -> None:
    design = bounded.Design(shape, mean, n)

    assert [cell for cell in bounded.of_design(design, DRAWS) if not cell.reached] == []


@pytest.mark.parametrize("shape", bounded.SHAPES)
def test_shapes_have_the_mean_they_say(shape: str) -> None:
    mean = 0.45 if shape == "half or nothing" else 0.9

    assert bounded.Design(shape, mean, 7).scores(20_000).mean() == pytest.approx(mean, abs=0.005)


def test_gaffke_covers_what_it_says() -> None:
    [cell] = bounded.guarantee(bounded.GUARANTEES[0], 100)

    assert cell.reached


def test_clustered_means_are_covered() -> None:
    assert clustered.coverage(clustered.Design(0.3, 30, 0.9, equal=False), DRAWS).reached


def test_rows_of_a_cluster_correlate_as_they_say() -> None:
    design = clustered.Design(0.3, 300, 0.9, equal=True)
    rows = np.concatenate([x.reshape(-1, clustered.ROWS) for x, _ in design.samples(200)])

    assert np.corrcoef(rows.T)[0, 1:] == pytest.approx(0.3, abs=0.02)
    assert rows.mean() == pytest.approx(0.9, abs=0.005)


def test_ignoring_clusters_would_not_cover() -> None:
    design = clustered.Design(0.3, 30, 0.9, equal=True)

    assert clustered.coverage_of_rows(design, DRAWS).measured < 0.8
    assert clustered.coverage_of_sandwich(design, DRAWS).measured < 0.92


def test_a_ratio_of_sums_is_covered() -> None:
    assert corpus.ratio_coverage(100, DRAWS, grouped=True).reached


def test_corpus_bleu_is_covered() -> None:
    assert corpus.bleu_coverage(100, DRAWS).reached


def test_the_true_bleu_is_that_of_very_many_rows() -> None:
    rows = corpus.bleu_rows(np.random.default_rng(6), 300_000)

    assert corpus.true_bleu() == pytest.approx(float(corpus.Bleu().score(rows.sum(axis=0))), abs=2e-3)
