"""What the judged metrics accept as a reply, and their scores and results."""

import json

import numpy as np
import pytest

from goldmeter.errors import ParamsError
from goldmeter.metrics import score
from goldmeter.metrics.judge.meaning_match import MeaningMatch
from goldmeter.metrics.judge.similarity_judge import SimilarityJudge
from goldmeter.metrics.judged import JudgeMetric

NAN = float("nan")


def reply(**changes: object) -> str:
    return json.dumps({"nonce": "N", "reason": "same city", "verdict": True} | changes)


def test_a_reply_is_read() -> None:
    assert MeaningMatch().parse(reply(), "N") == (1.0, "same city", "")
    assert MeaningMatch().parse(f"\n {reply(verdict=False)}\n", "N").score == 0.0
    assert SimilarityJudge().parse('{"nonce": "N", "reason": "", "rating": 4}', "N") == (4.0, "", "")


def test_a_reason_that_no_table_can_hold_is_mended() -> None:
    assert MeaningMatch().parse(reply(reason="a\ud83db"), "N").reason == "a?b"


@pytest.mark.parametrize("rating", [0, 6, 4.0, "4", True, None, 10**30])
def test_a_rating_is_an_integer_from_1_to_5(rating: object) -> None:
    with pytest.raises(ValueError, match="wrong type"):
        SimilarityJudge().parse(json.dumps({"nonce": "N", "reason": "", "rating": rating}), "N")


@pytest.mark.parametrize(
    "changes", [{"nonce": "M"}, {"nonce": 1}, {"reason": None}, {"verdict": "maybe"}, {"verdict": 1}]
)
def test_another_reply_is_refused(changes: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="the reply"):
        MeaningMatch().parse(reply(**changes), "N")


def test_results_and_corpus_scores() -> None:
    match, rating = MeaningMatch(), SimilarityJudge(threshold=3)
    shares, ratings = np.array([1.0, 0.5, 0.51, 0.0, NAN]), np.array([5.0, 3.0, 2.9, 1.0, NAN])

    assert match.result(shares).tolist() == ["pass", "fail", "pass", "fail", "unmeasured"]
    assert rating.result(ratings).tolist() == ["pass", "pass", "fail", "fail", "unmeasured"]
    assert rating.score(rating.stats_of(ratings).sum(0)) == pytest.approx(11.9 / 4)
    assert np.isnan(match.score(match.stats_of(np.array([NAN])))).all()
    assert (match.bounds, rating.bounds) == ((0.0, 1.0), (1.0, 5.0))


@pytest.mark.parametrize("metric", [MeaningMatch(), SimilarityJudge()])
def test_a_prompt_states_the_seven_rules_and_what_to_reply(metric: JudgeMetric) -> None:
    for rule in range(1, 8):
        assert f"\n{rule}. " in metric.instructions
    for name in metric.reply_schema["properties"]:
        assert f'"{name}"' in metric.instructions
    for variable in ("input", "ground_truth", "output"):
        assert f'"{variable}"' in metric.instructions


def test_signatures_say_version_and_threshold() -> None:
    assert MeaningMatch().signature(prompt="abc") == "meaning_match|prompt:abc|v:1"
    assert SimilarityJudge(threshold=3).rate_signature() == "similarity_judge|v:1|thr:3"


def test_meaning_match_in_one_line_of_python_is_the_offline_judge_s() -> None:
    responses = ["It is Paris.", "London", None, " ", "It might be Paris, but I am not sure."]

    judged = score("meaning_match", responses, ["Paris"] * 5, inputs=["Capital of France?"] * 5, provider="offline")

    np.testing.assert_array_equal(judged, [1.0, 0.0, np.nan, 0.0, 0.0])
    np.testing.assert_array_equal(score("meaning_match", responses, [["Paris"]] * 5), judged)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("similarity_judge", {}, "the offline judge gives meaning_match and offline_match only"),
        ("meaning_match", {"provider": "openai"}, "the stage `judge` asks a server"),
        ("meaning_match", {"threshold": 0.5}, "takes no threshold"),
    ],
)
def test_what_only_a_server_can_do_is_refused(name: str, options: dict[str, object], message: str) -> None:
    with pytest.raises(ParamsError, match=message):
        score(name, ["a"], ["a"], **options)


def test_rows_of_different_numbers_are_refused() -> None:
    with pytest.raises(ValueError, match="1 inputs"):
        score("meaning_match", ["a", "b"], ["a", "b"], inputs=["?"])
