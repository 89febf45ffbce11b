"""A planned study has the power that was asked for, and each spending narrows as it is said to."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.statistics.paired import paired_difference
from goldmeter.statistics.study import (
    Pilot,
    design_effect,
    detectable,
    explained_share,
    labels_for,
    levers,
    questions_for,
)

TRIALS = 2_000
SHARE = st.floats(0.01, 0.99)


@pytest.mark.parametrize("difference", [0.05, 0.1])
@pytest.mark.parametrize("draws", [1, 4])
def test_the_planned_questions_detect_the_difference_four_times_in_five(difference: float, draws: int) -> None:
    rng = np.random.default_rng(7)
    ability = np.array([0.15, 0.5, 0.85])
    rates = np.stack([ability, ability + difference])
    within = float((rates * (1.0 - rates)).mean(axis=1).sum())
    pilot = Pilot(500, 1.0, None, 1e-9, within)

    n = questions_for(difference, pilot, draws)
    found = 0
    for _ in range(TRIALS):
        question = rates[:, rng.integers(0, 3, n)]
        base, head = rng.binomial(draws, question) / draws
        found += paired_difference(head - base).low > 0.0

    assert 0.76 <= found / TRIALS <= 0.84


@pytest.mark.parametrize("noise", [0.1, 0.3])
def test_few_labels_beside_a_judge_are_as_precise_as_the_labels_on_all_questions(noise: float) -> None:
    rng = np.random.default_rng(3)
    people = rng.choice([-1.0, 0.0, 1.0], 200_000, p=[0.1, 0.7, 0.2])
    judge = np.where(rng.random(people.size) < noise, rng.permutation(people), people)
    explained = explained_share(people, judge)
    n = 1_000
    labels = labels_for(n, explained)

    slope = np.cov(people, judge)[0, 1] / judge.var()
    estimates = []
    for _ in range(TRIALS):
        rows = rng.integers(0, people.size, 2 * n)
        y, f = people[rows], judge[rows]
        estimates.append(slope * f.mean() + (y - slope * f)[:labels].mean())

    assert np.std(estimates) == pytest.approx(np.sqrt(people.var() / n), rel=0.15)


@given(SHARE, SHARE, SHARE, st.floats(1.0, 8.0), st.integers(20, 10_000))
def test_more_of_anything_never_widens(between: float, within: float, explained: float, times: float, n: int) -> None:
    for labels in (None, n / 3, float(n)):
        pilot = Pilot(n, 2.0, labels, between, within, explained)

        assert all(detectable(more) <= detectable(pilot) * (1 + 1e-9) for more in levers(pilot, times).values())


@given(st.integers(1, 10**6), st.floats(0.0, 1.0))
def test_a_judge_never_asks_for_more_labels_than_questions(questions: int, explained: float) -> None:
    assert 0 <= labels_for(questions, explained) <= questions


def test_groups_ask_for_more_questions_by_their_design_effect() -> None:
    rows = np.repeat([1.0, -1.0, 1.0, 0.0], 25)

    effect = design_effect(rows, np.repeat(np.arange(4), 25))

    assert effect > 20
    alone, grouped = (Pilot(100, 1.0, None, 0.2, None, design_effect=each) for each in (1.0, effect))
    assert questions_for(0.1, grouped) == pytest.approx(effect * questions_for(0.1, alone), abs=1)
    assert design_effect(rows, np.zeros(100)) == design_effect(rows, None) == 1.0
