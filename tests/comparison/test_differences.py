"""Differences of one family: what cannot be estimated breaks nothing."""

import numpy as np
import pytest

from goldmeter.comparison.compared import critical_value
from goldmeter.comparison.differences import detectable, family
from tests.comparison.conftest import Made
from tests.comparison.sample import answers


def test_differences_are_new_minus_old_on_rows_measured_on_both_sides(made: Made) -> None:
    one = made(answers("++.-"), answers("+.+."))

    [rows] = one.rows()
    assert sorted(rows.differences.tolist()) == [-1.0, 0.0, 1.0]
    assert one.n == rows.measured.sum() == 3


def test_some_of_the_rows_have_their_own_difference(made: Made) -> None:
    one = made(answers("++++"), answers("...."))
    rows = np.array([True, False, True, False])

    assert next(one.rows()).where(rows).differences.tolist() == [-1.0, -1.0]


def test_an_empty_family_has_no_critical_value() -> None:
    found, critical = family([], [], 0.95)

    assert found == []
    assert np.isnan(critical)


def test_one_measure_needs_no_correction(made: Made) -> None:
    one = made(answers("+" * 9 + "."), answers("." * 9 + "+"))

    assert critical_value([one], 0.95) == pytest.approx(1.959964, abs=1e-6)


def test_a_family_in_which_nothing_changed_needs_none_either(made: Made) -> None:
    one = made(answers("+++"), answers("+++"))

    assert critical_value([one, one], 0.95) == pytest.approx(1.959964, abs=1e-6)


def test_a_single_row_of_a_corpus_score_leaves_the_family(made: Made) -> None:
    one = made(answers("+"), answers("."), "bleu.value")

    assert critical_value([one], 0.95) == pytest.approx(1.959964, abs=1e-6)


def test_a_single_cluster_breaks_no_family(made: Made) -> None:
    one = made(answers("++.", group="g"), answers(".++", group="g"))

    assert critical_value([one, one], 0.95) == pytest.approx(1.959964, abs=1e-3)


def test_measures_that_change_in_the_same_clusters_go_together(made: Made) -> None:
    def critical(group: str | None) -> float:
        older, newer = answers("+." * 20, label=True), answers("+." * 20, label=True)
        for number in range(0, 12, 2):
            newer[number]["response"] = "wrong"  # f1 and exact_match lose the even rows, the label the odd ones
            newer[number + 1] |= {"response": "another", "label": False}
        for number, each in enumerate([*older, *newer]):
            each["group"] = f"{group}{number % 40 // 2}" if group else None
        return critical_value([made(older, newer, "f1"), made(older, newer, "label")], 0.95)

    assert critical("g") == pytest.approx(1.959964, abs=1e-3)  # one and the same, cluster by cluster
    assert critical(None) > 2.2  # row by row they are not


@pytest.mark.parametrize("changed", [0, 1, 3, 10])
def test_the_smallest_difference_to_be_found_lies_within_the_scale(made: Made, changed: int) -> None:
    smallest = detectable(made(answers("+" * 20), answers("." * changed + "+" * (20 - changed))), 0.95)

    assert smallest is not None
    assert 0 < smallest <= 1


def test_more_rows_find_smaller_differences(made: Made) -> None:
    few, many = (detectable(made(answers("+" * n), answers("+." * (n // 2))), 0.95) for n in (20, 80))

    assert few is not None
    assert many is not None
    assert many < few


def test_a_single_row_or_cluster_and_a_corpus_score_have_no_smallest_difference(made: Made) -> None:
    assert detectable(made(answers("+"), answers(".")), 0.95) is None
    assert detectable(made(answers("++", group="g"), answers("..", group="g")), 0.95) is None
    assert detectable(made(answers("++"), answers(".."), "bleu.value"), 0.95) is None


def test_every_slice_value_is_a_comparison_of_its_own(made: Made) -> None:
    newer = [each | {"topic": "ab"[n % 2]} for n, each in enumerate(answers("+..."))]
    one = made(answers("++++"), newer)

    found = {each.part.value: each.n * each.value for each in one.slices() if each.part}

    assert found == {"a": -1.0, "b": -2.0}


def test_a_margin_asks_for_another_interval_of_independent_rows_alone(made: Made) -> None:
    one = made(answers("+" * 20), answers("+" * 18 + ".."))

    [plain], _ = family([one], [0.0], 0.95)
    [asked], _ = family([one], [0.1], 0.95)

    assert str(plain.estimate.method) == "bonett-price+midp"
    assert str(asked.estimate.method) == "tango"
