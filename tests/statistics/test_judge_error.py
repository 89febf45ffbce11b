"""Lang and Reiczigel's interval: against published figures, at the edges, and refusals."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.statistics.judge_error import UninformativeJudgeError, judge_corrected_rate

derandomized = settings(derandomize=True)
counted = st.integers(1, 200).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


def test_agrees_with_a_published_correction() -> None:
    # 54 of 167 traces failed by a judge of sensitivity 21/23 and specificity 12/17: failures 0.382, 0.146 to 0.612,
    # by a transcription checked against prevSeSp of the R package asht 1.0.3
    estimate = judge_corrected_rate(113, 167, sensitivity=(21, 23), specificity=(12, 17))

    assert estimate[:3] == pytest.approx((1 - 0.382, 1 - 0.612, 1 - 0.146), abs=5e-4)


def test_by_hand() -> None:
    # z = 1.959964: n' = 103.84, p' = 81.92/103.84 = 0.7889; Se' = 46/52, Sp' = 41/52; P' = 0.5774/0.6731 = 0.8578
    # of Se: 0.10207/52 = 0.0019630, of Sp: 0.16679/52 = 0.0032075
    # shift 2·3.8415·(0.8578·0.0019630 - 0.1422·0.0032075) = 0.009433
    # half 1.96·√(0.0016037 + 0.0014445 + 0.0000648)/0.6731 = 0.16247
    estimate = judge_corrected_rate(80, 100, sensitivity=(45, 50), specificity=(40, 50))

    assert estimate.value == pytest.approx(6 / 7)
    assert estimate.low == pytest.approx(0.8578 + 0.009433 - 0.16247, abs=2e-4)
    assert estimate[2:] == (1.0, 100, "lang-reiczigel", 0.8, 0.9, 0.8)


def test_a_flawless_judge_on_many_rows_says_what_it_sees() -> None:
    estimate = judge_corrected_rate(700, 1000, (100_000, 100_000), (100_000, 100_000))

    # Wilson's interval with its centre, half-width z·√(p'(1-p')/(n + z²))
    assert estimate[:3] == pytest.approx((0.7, 0.67084, 0.72763), abs=1e-4)


def test_errors_that_cancel_leave_the_rate_as_it_was() -> None:
    estimate = judge_corrected_rate(50, 100, (80, 100), (80, 100))

    assert (estimate.value, estimate.apparent) == (0.5, 0.5)
    assert estimate.low == pytest.approx(1 - estimate.high)


def test_the_value_stays_a_rate() -> None:
    assert judge_corrected_rate(2, 100, (45, 50), (45, 50)).value == 0.0
    assert judge_corrected_rate(100, 100, (45, 50), (45, 50)).value == 1.0


def test_fewer_checked_verdicts_widen_it() -> None:
    few, many = (judge_corrected_rate(80, 100, (9 * k, 10 * k), (9 * k, 10 * k)) for k in (2, 20))

    assert few.high - few.low > many.high - many.low


@pytest.mark.parametrize(
    ("sensitivity", "specificity"),
    [((5, 10), (5, 10)), ((60, 100), (45, 100)), ((1, 1), (1, 1)), ((10, 100), (5, 100))],
)
def test_a_judge_that_may_be_guessing_is_refused(sensitivity: tuple[int, int], specificity: tuple[int, int]) -> None:
    with pytest.raises(UninformativeJudgeError, match="their sum less 1 is"):
        judge_corrected_rate(80, 100, sensitivity, specificity)


def test_more_evidence_lifts_the_refusal() -> None:
    with pytest.raises(UninformativeJudgeError):
        judge_corrected_rate(80, 100, (12, 20), (11, 20))

    assert judge_corrected_rate(60, 100, (1200, 2000), (1100, 2000)).value == 1.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((5, 0, (9, 10), (9, 10)), r"positive = \(5, 0\)"),
        ((0, 0, (9, 10), (9, 10)), r"positive = \(0, 0\)"),
        ((-1, 10, (9, 10), (9, 10)), r"positive = \(-1, 10\)"),
        ((5, 10, (11, 10), (9, 10)), r"sensitivity = \(11, 10\)"),
        ((5, 10, (9, 10), (0.9, 10)), r"specificity = \(0.9, 10\)"),
        ((5, 10, (9, 10), (float("nan"), 10)), r"specificity = \(nan, 10\)"),
        ((5, 10, (9, 10), (9, 10), 0.0), "confidence = 0.0"),
    ],
)
def test_unusable_counts_are_refused_by_name(arguments: tuple[object, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        judge_corrected_rate(*arguments)  # type: ignore[arg-type]


@derandomized
@given(counted, counted, counted, st.sampled_from([0.5, 0.95, 0.999]))
def test_is_refused_or_a_rate_inside_its_limits(
    positive: tuple[int, int], sensitivity: tuple[int, int], specificity: tuple[int, int], confidence: float
) -> None:
    try:
        estimate = judge_corrected_rate(*positive, sensitivity, specificity, confidence)
    except UninformativeJudgeError:
        return
    assert 0.0 <= estimate.low <= estimate.value <= estimate.high <= 1.0
    assert estimate.n == positive[1]


@derandomized
@given(counted, counted, counted)
def test_no_is_the_mirror_of_yes(
    positive: tuple[int, int], sensitivity: tuple[int, int], specificity: tuple[int, int]
) -> None:
    k, n = positive
    try:
        right = judge_corrected_rate(k, n, sensitivity, specificity)
    except UninformativeJudgeError:
        with pytest.raises(UninformativeJudgeError):
            judge_corrected_rate(n - k, n, specificity, sensitivity)
        return
    wrong = judge_corrected_rate(n - k, n, specificity, sensitivity)

    assert wrong[:3] == pytest.approx((1 - right.value, 1 - right.high, 1 - right.low), abs=1e-9)
