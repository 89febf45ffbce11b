"""The offline judge's measured bias: what the page says of it, and that intervals from it hold on data left out."""

import numpy as np
import pytest

from benchmarks.judge_bias import PAGE, Judged, coverage, ordered
from goldmeter.models.offline.measured import measured


@pytest.mark.parametrize("sets", [True, False])
def test_the_interval_contains_the_human_rate_of_systems_that_were_left_out(sets: bool) -> None:
    facts = measured()
    assert facts is not None

    reached = coverage(facts["systems"], sets=sets)

    assert reached.pairs == len(facts["systems"]) >= 20
    assert reached.covered >= 0.93 * reached.pairs
    assert reached.width < 0.4  # a claim, not "anything is possible"
    left_out = "the system's whole data set" if sets else "the system alone"
    assert (
        f"| {left_out} | {reached.covered} of {reached.pairs} systems | {100 * reached.width:.0f} |"
        in PAGE.read_text(encoding="utf-8")
    )


def test_a_judge_whose_bias_on_one_set_is_its_own_is_not_covered_there() -> None:
    systems = [
        {"set": name, "n": 4000, "judge": 0.7, "human": 0.7 - bias, "bias": bias + 0.001 * i, "error": 0.005}
        for name, bias in (("a", 0.0), ("b", 0.01), ("c", -0.01), ("d", -0.45))
        for i in range(6)
    ]

    assert coverage(systems, sets=True).covered == 18


@pytest.mark.exhaustive
def test_labels_and_a_good_judge_together_order_systems_better_than_either_alone() -> None:
    rng = np.random.default_rng(1)
    rows = 400
    rates = np.linspace(0.6, 0.75, 6)
    labels = rng.random((6, rows)) < rates[:, None]
    wrong = rng.random((6, rows)) < np.linspace(0.0, 0.25, 6)[:, None]  # the judge is harder on better systems
    scores = np.where(labels & ~wrong, 0.9, 0.1)
    names = np.repeat([f"s{i}" for i in range(6)], rows)
    questions = np.tile([f"q{i}" for i in range(rows)], 6)

    found = ordered(Judged("made", names, questions, labels.ravel(), scores.ravel()))

    assert found["pairs"] == 15
    assert found["prediction-powered"] > found["labels alone"] > found["judge"]
