"""The judge's bias by system, and the test that it is the same for all."""

import numpy as np
import pytest

from goldmeter.estimates.judge_bias import judge_bias
from goldmeter.wording.evidence import unequal_bias
from tests.estimates.test_human_labels import BINARY, LABEL, NAN, candidate, column

N = 200


def system(name, right, verdicts, groups=None):
    return candidate(column("label", right, LABEL), column("meaning_match", verdicts, BINARY), name=name, groups=groups)


def drawn(seed, harsh=0.0):
    """Two systems with labels; the judge errs on 5 % of the answers, and fails a share of the second one's more."""
    rng = np.random.default_rng(seed)
    right = (rng.random((2, N)) < 0.7).astype(float)
    verdicts = np.where(rng.random((2, N)) < 0.05, 1 - right, right)
    verdicts[1] *= rng.random(N) >= harsh
    return [system(name, *rows) for name, *rows in zip("ab", right, verdicts, strict=True)]


def test_each_bias_is_the_mean_of_verdict_less_label_with_its_interval():
    right, verdicts = np.array([1, 1, 0, 0] * 10), np.array([1, 0, 0, 0] * 10)

    found = judge_bias([system("a", right, verdicts)], 0.95)

    assert found["systems"]["a"]["value"] == pytest.approx(-0.25)
    assert found["systems"]["a"]["low"] < -0.25 < found["systems"]["a"]["high"]
    assert (found["systems"]["a"]["n"], found["p_value"], found["pairs"]) == (40, None, 0)


def test_a_judge_who_fails_one_systems_right_answers_is_found():
    found = judge_bias(drawn(1, harsh=0.2), 0.95)

    assert found["p_value"] < 0.001
    assert found["systems"]["b"]["high"] < 0


def test_a_judge_who_errs_alike_is_rarely_accused():
    accused = sum(judge_bias(drawn(seed), 0.95)["p_value"] < 0.05 for seed in range(100))

    assert accused <= 9


def test_answers_without_a_label_or_a_verdict_do_not_count_nor_do_too_few():
    right, verdicts = np.ones(30), np.zeros(30)
    right[:15], verdicts[15:22] = NAN, NAN

    assert judge_bias([system("a", right, verdicts)], 0.95) is None
    assert judge_bias([candidate(column("label", np.ones(30), LABEL))], 0.95) is None
    assert judge_bias([system("a", np.ones(30), np.zeros(30), groups=[0] * 30)], 0.95) is None


def test_the_page_names_the_systems_only_if_the_judge_errs_differently():
    unequal, equal = judge_bias(drawn(1, harsh=0.2), 0.95), judge_bias(drawn(2), 0.95)

    [sentence] = unequal_bias({"confidence": 0.95, "judge_bias": unequal})

    assert sentence.startswith("The judge's rate less that of the labels differs by system (p = ")
    assert ": a " in sentence
    assert ", b " in sentence
    assert [*unequal_bias({"confidence": 0.95, "judge_bias": equal})] == []
    assert [*unequal_bias({"confidence": 0.95})] == []
