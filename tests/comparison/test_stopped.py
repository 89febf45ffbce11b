"""Differences of verdicts by a judge that may stop early: limits that hold at every look, and one order of rows."""

from collections.abc import Collection
from dataclasses import replace

import numpy as np
import pytest

from goldmeter.comparison.candidate_pairs import compare
from goldmeter.comparison.compared import Compared, critical_value
from goldmeter.comparison.differences import detectable, family, uncorrected, with_judge_error, without_sequence
from goldmeter.comparison.pairing import Pairing
from goldmeter.estimates.columns import Candidate
from goldmeter.estimates.estimate_rows import BY_LOOKS
from goldmeter.statistics.stopping import difference_sequence
from goldmeter.wording.verdicts import Verdict
from tests.comparison.conftest import Made
from tests.comparison.sample import answers, gate_on
from tests.comparison.test_powered import verdicts

N = 100
OLDER, NEWER = "+" * N, "." * 40 + "+" * (N - 40)


def stopped(one: Compared, base_left: Collection[int] = (), head_left: Collection[int] = ()) -> Compared:
    """The measure as of a judge that may stop, which did not ask about some rows of each version."""
    [pairing] = one.blocks

    def side(candidate: Candidate, left: Collection[int]) -> Candidate:
        rows = np.isin(np.arange(len(candidate.keys)), [*left])
        columns = [
            replace(
                column,
                facts=replace(column.facts, stopped=True),
                values=np.where(rows, np.nan, column.values),
                not_asked=column.not_asked | rows,
            )
            for column in candidate.columns
        ]
        return replace(candidate, columns=columns)

    new: Pairing = replace(pairing, base=side(pairing.base, base_left), head=side(pairing.head, head_left))
    return Compared([new], one.name)


def test_its_limits_are_those_of_the_sequence_and_wider_than_the_fixed_ones(made: Made) -> None:
    plain = made(answers(OLDER), answers(NEWER), "exact_match")

    one = uncorrected(stopped(plain), 0.95)

    low, high, p_value = difference_sequence(np.repeat([-1.0, 0.0], [40, 60]), np.ones(N), 1.0)
    fixed = uncorrected(plain, 0.95)
    assert one == pytest.approx((-0.4, low, high, N, one.method, p_value))
    assert str(one.method) == BY_LOOKS
    assert one.low < fixed.low < fixed.high < one.high < 0.0


def test_a_clear_loss_is_one_and_few_rows_tell_nothing(made: Made) -> None:
    clear = stopped(made(answers(OLDER), answers(NEWER), "exact_match"))
    few = stopped(made(answers("++++"), answers(".+++"), "exact_match"))

    verdicts = [family([one], [0.0], 0.95)[0][0].verdict for one in (clear, few)]

    assert verdicts == [Verdict.WORSE, Verdict.CANNOT_TELL]


def test_whole_groups_count_and_the_largest_one_is_known_before(made: Made) -> None:
    def grouped(size: int) -> list[dict[str, object]]:
        rows = answers(NEWER)
        return [row | {"group": f"g{place // size}"} for place, row in enumerate(rows)]

    limits = {
        size: uncorrected(stopped(made(answers(OLDER), grouped(size), "exact_match"), left, left), 0.95)
        for size, left in ((1, ()), (5, ()), (5, range(95, 100)))
    }

    assert limits[5].low < limits[1].low < limits[1].high < limits[5].high


@pytest.mark.parametrize("lost", [150, 190, 230])
def test_with_a_stated_error_looks_have_a_part_of_what_an_interval_may_miss(lost: int) -> None:
    fixed = verdicts(lost=lost, gained=0, signature="meaning_match|provider:openai|model:m")

    narrow, wide = (with_judge_error(one, uncorrected(fixed, 0.95), 0.95) for one in (fixed, stopped(fixed)))

    assert wide.low < narrow.low < narrow.high < wide.high
    assert (wide.p_value < 0.05) == (wide.high < 0.0)


def test_a_family_is_corrected_by_bonferroni(made: Made) -> None:
    one = stopped(made(answers(OLDER), answers(NEWER), "exact_match"))

    assert critical_value([one, one], 0.95) == pytest.approx(2.2414, abs=1e-4)


def test_versions_that_asked_in_another_order_are_not_compared(made: Made) -> None:
    plain = made(answers(OLDER), answers(NEWER), "exact_match")

    assert without_sequence(stopped(plain, range(50, 100), range(70, 100)), None) is None
    assert without_sequence(stopped(plain, (), range(70, 100)), None) is None
    assert "judge.seed" in str(without_sequence(stopped(plain, range(50, 100), range(10)), None))
    assert "fixed number of rows" in str(
        without_sequence(stopped(made(answers("++"), answers("+."), "bleu.value")), None)
    )


def test_systems_that_were_asked_in_another_order_are_not_compared(made: Made) -> None:
    every = answers(OLDER)

    orders = [(every[:50], every[:70]), (every[:70], every[:50]), (every[:50], every[20:70])]
    reasons = [without_sequence(stopped(made(base, head, "exact_match")), None) for base, head in orders]

    assert reasons[:2] == [None, None]
    assert "judge.seed" in str(reasons[2])


def test_a_failure_in_a_row_that_the_other_version_did_not_need_is_no_loss(made: Made) -> None:
    plain = made(answers("+" * 30), answers("+" * 20 + "-" * 10), "f1")
    [rows] = plain.rows()
    failed = np.flatnonzero(~rows.measured)

    refused = [compare([stopped(plain, left).blocks], gate_on("f1"), "f1").refused for left in (failed, failed[2:])]

    assert [[str(one.refusal) for one in some if one.name == "f1"] for some in refused] == [
        [],
        ["2 of 22 rows could not be measured, before 0, after 2 (gate.max_unmeasured)"],
    ]


def test_nothing_is_said_of_what_more_rows_would_show(made: Made) -> None:
    assert detectable(stopped(made(answers(OLDER), answers(NEWER), "exact_match")), 0.95) is None
