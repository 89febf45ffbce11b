"""What would decide a comparison: in which unit, and how much of it."""

from typing import Any

import numpy as np
import pytest

from goldmeter.comparison.compared import Compared
from goldmeter.comparison.differences import family
from goldmeter.comparison.more_data import needed
from goldmeter.comparison.pairing import pair
from tests.comparison.conftest import Made
from tests.comparison.sample import answers
from tests.comparison.test_powered import ROWS, candidate, labels, verdicts


def of(one: Any, margin: float = 0.0) -> Any:
    [[found], _] = family([one], [margin], 0.95)
    return needed(found)


def test_rows_are_missing_where_all_are_measured(made: Made) -> None:
    found = of(made(answers("+" * 100), answers("+" * 95 + "." * 2 + "+" * 3)))

    assert (found["unit"], found["difference"]) == ("row", 0.02)
    assert 100 < found["low"] < found["high"]


def test_groups_are_missing_where_rows_are_in_groups(made: Made) -> None:
    older = [row | {"group": f"g{i // 4}"} for i, row in enumerate(answers("+" * 100))]
    newer = [row | {"group": f"g{i // 4}"} for i, row in enumerate(answers("+" * 96 + "...+"))]

    assert of(made(older, newer))["unit"] == "group"


def test_a_decision_and_a_single_cluster_name_nothing(made: Made) -> None:
    assert of(made(answers("+" * 50), answers("." * 50))) is None
    assert of(made(answers("++.", group="g"), answers(".++", group="g"))) is None


def test_labels_are_missing_where_a_part_of_the_rows_has_them() -> None:
    found = of(labels(rate=0.6))

    assert found["unit"] == "label"
    assert found["lacking"] > 0
    assert found["low"] <= found["high"]


def test_labels_of_rows_that_change_together_count_less() -> None:
    rng = np.random.default_rng(8)
    truth = [np.repeat(rng.random(ROWS // 3) < 0.6, 3).astype(float) for _ in "ab"]
    labelled = np.arange(ROWS) < 150

    def range_of(*, groups: bool) -> Any:
        sides = (candidate(name, y, labelled, random=True, groups=groups) for name, y in zip("ab", truth, strict=True))
        return of(Compared([pair(*sides)], "label"))

    alone, grouped = range_of(groups=False), range_of(groups=True)
    assert alone["unit"] == grouped["unit"] == "label"
    assert grouped["low"] > 2 * alone["low"]


def test_labels_are_missing_where_the_judge_alone_speaks() -> None:
    found = of(verdicts(lost=40, gained=50, changed=300))

    assert (found["unit"], found["lacking"]) == ("label", 600)
    assert 1000 < found["low"] <= found["high"] < 4000  # 90 of 600 differ: (1.96 + 0.84)²·0.15/0.02² = 2,943


def test_a_difference_that_the_interval_excludes_needs_no_rows() -> None:
    one = Compared(verdicts(lost=1, gained=1, labelled=True).blocks, "label")

    found = of(one)

    assert (found["unit"], found["low"], found["high"]) == ("labelled row", None, None)


@pytest.mark.parametrize("margin", [0.01, 0.05])
def test_the_margin_is_the_difference_that_matters(made: Made, margin: float) -> None:
    assert of(made(answers("+" * 30), answers("+" * 28 + "..")), margin)["difference"] == margin
