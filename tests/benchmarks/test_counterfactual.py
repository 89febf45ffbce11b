from collections import Counter

import numpy as np
import pytest

from benchmarks.offline_judge import training
from benchmarks.offline_judge.counterfactual import counterfactual_pairs
from benchmarks.offline_judge.labelled import Labelled
from benchmarks.offline_judge.training import examples

NAMES = ("Oslo", "Lima", "Rome", "Cairo", "Paris", "Quito", "Sofia", "Accra")


@pytest.fixture
def people():
    return [
        Labelled(f"which town is number {i}", [name], f"It is {name}.", True, "one", written=False, group=f"number {i}")
        for i, name in enumerate(name + end for end in ("", "ville", "burg", "ton") for name in NAMES)
    ]


def test_the_pairs_are_the_same_every_time(people):
    assert [*counterfactual_pairs(people)] == [*counterfactual_pairs(people)]


def test_each_question_has_twins_in_its_fold(people):
    pairs = [*counterfactual_pairs(people)]

    assert Counter(pair.group for pair in pairs) == {row.question: 4 for row in people}
    assert 0.35 <= np.mean([pair.verdict for pair in pairs]) <= 0.6
    assert all(pair.written and pair.counterfactual for pair in pairs)


def test_a_wrong_answer_is_a_right_one_of_another_question(people):
    names = {row.references[0] for row in people}
    for pair in counterfactual_pairs(people):
        if pair.source == "halves":
            assert {*pair.references[0].split(" and ")} <= names
        if pair.source == "yes or no":
            assert pair.references[0] in {"Yes", "No"}


def test_a_pair_weighs_less_than_a_human_label_and_is_not_calibrated_on(people):
    pairs = [*counterfactual_pairs(people)]

    assert set(examples(pairs).weights) == {training.COUNTERFACTUAL_WEIGHT}
    assert training.COUNTERFACTUAL_WEIGHT < training.RULE_WEIGHT


def test_questions_without_others_of_their_kind_have_no_pairs(people):
    assert [*counterfactual_pairs(people[:3])] == []
