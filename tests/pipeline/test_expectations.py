"""What our own expectation takes for a result that follows from its score."""

import pandas as pd
import pytest

from goldmeter.pipeline.expectations import ExpectResultToFollowFromScore
from goldmeter.pipeline.validation import check

NOTHING = float("nan")


@pytest.mark.parametrize(
    ("score", "result", "follows"),
    [
        (0.6, "pass", True),
        (0.6, "fail", False),
        (0.5, "pass", True),
        (0.4, "fail", True),
        (0.4, "pass", False),
        (0.4, "unmeasured", False),
        (NOTHING, "unmeasured", True),
        (NOTHING, "fail", False),
        (NOTHING, None, False),
        (0.6, None, False),
        (0.6, "passed", False),
    ],
)
@pytest.mark.parametrize("kind", ["str", "category", "object"])
def test_a_result_follows_from_its_score(score: float, result: str | None, kind: str, *, follows: bool) -> None:
    frame = pd.DataFrame({"id": ["q1"], "f1": [score], "f1_result": pd.Series([result], dtype=kind)})

    [found] = check(frame, [ExpectResultToFollowFromScore(column_A="f1", column_B="f1_result", pass_from=0.5)])

    assert (found.checked, found.failed, found.first) == ((1, 0, ()) if follows else (1, 1, ("q1",)))


def test_a_score_of_which_less_is_better_passes_up_to_the_limit() -> None:
    frame = pd.DataFrame({"id": ["q1", "q2", "q3"], "ter": [0.5, 0.6, 0.4], "ter_result": ["pass", "fail", "fail"]})

    [found] = check(frame, [ExpectResultToFollowFromScore(column_A="ter", column_B="ter_result", pass_to=0.5)])

    assert (found.failed, found.first) == (1, ("q3",))


def test_a_score_may_have_to_be_above_the_limit() -> None:
    frame = pd.DataFrame({"id": ["q1", "q2"], "match": [0.5, 0.6], "match_result": ["fail", "pass"]})

    [found] = check(frame, [ExpectResultToFollowFromScore(column_A="match", column_B="match_result", pass_above=0.5)])

    assert found.failed == 0
    assert found.expectation == "expect_result_to_follow_from_score"
    assert found.columns == "match, match_result, pass_above 0.5"
