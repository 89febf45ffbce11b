"""Judges that state probabilities: decision models, chat models with log-probabilities, and shares of draws."""

import json
from pathlib import Path
from typing import Any

import pytest

from goldmeter.errors import ModelError, ParamsError
from goldmeter.estimates.columns import STATED_PROBABILITY
from goldmeter.judging.canaries import canaries
from goldmeter.metrics.judge.meaning_match import MeaningMatch
from goldmeter.pipeline.run import Limits
from goldmeter.pipeline.tables import about
from tests.decisions import answered, honest
from tests.judge_server import Answer, JudgeServer, completion, problem, verdict
from tests.own_judge import write_prompt
from tests.test_judge import HOW, column, judged, params, rows, server

__all__ = ["server"]
ASKED = [("q1", "It is Paris."), ("q2", "London"), ("q3", None), ("q4", " ")]
NAME = "meaning_match_probability"


@pytest.fixture
def decisions(server: JudgeServer) -> JudgeServer:
    server.script = honest
    return server


@pytest.mark.parametrize("path", ["decisions", "systemone"])
def test_a_decision_model_gives_verdict_and_probability(decisions: JudgeServer, tmp_path: Path, path: str) -> None:
    decisions.paths = {path}

    table = judged(rows(tmp_path / "r", ASKED), params(decisions, provider="decisions"), tmp_path / "store")

    assert column(table, "meaning_match") == [1.0, 0.0, None, 0.0]
    assert column(table, NAME) == [0.9, 0.2, None, 0.0]
    assert column(table, "judge_status") == ["answered", "answered", "no response", "empty response"]
    assert about(table.schema)[STATED_PROBABILITY] == NAME
    signature = about(table.schema)["columns"]["meaning_match"]["signature"]
    assert "provider:decisions|model:judge" in signature
    assert f"served:decider-1|asked:{path}" in signature
    assert "temp:" not in signature


def test_each_decision_is_paid_once_and_is_another_than_a_chats(decisions: JudgeServer, tmp_path: Path) -> None:
    parts, store = rows(tmp_path / "r", ASKED), tmp_path / "store"
    first = judged(parts, params(decisions, provider="decisions"), store, tmp_path / "evidence")

    again = judged(parts, params(decisions, provider="decisions"), store, tmp_path / "evidence")
    elsewhere = judged(parts, params(decisions, provider="decisions"), tmp_path / "other", tmp_path / "evidence")

    assert again.equals(first)
    assert elsewhere.equals(first)
    assert len(decisions.calls) == 2
    decisions.script = lambda body: completion(verdict(body))
    judged(parts, params(decisions), store)
    assert len(decisions.calls) == 4


def test_the_statement_holds_the_rules_and_the_input_the_row_between_its_markers(
    decisions: JudgeServer, tmp_path: Path
) -> None:
    judged(rows(tmp_path / "r", ASKED[:1]), params(decisions, provider="decisions"), tmp_path / "store")

    [body] = decisions.calls
    [asked] = body["questions"]
    assert asked["instructions"].startswith("You grade answers.")
    assert "Reply with" not in asked["instructions"]
    assert body["input"].startswith("<data nonce=")
    assert "It is Paris." in body["input"]


def test_canaries_are_asked_and_a_model_that_calls_all_right_is_refused(decisions: JudgeServer, tmp_path: Path) -> None:
    options = params(decisions, provider="decisions", canaries=True)
    parts = rows(tmp_path / "r", ASKED)
    judged(parts, options, tmp_path / "store")
    assert len(decisions.calls) == 2 + len(canaries())

    decisions.script = lambda body: answered(body, lambda *_: 0.97)
    with pytest.raises(ModelError, match="calls wrong answers right"):
        judged(parts, options, tmp_path / "other")


def test_a_refusal_or_an_odd_reply_is_the_rows_and_is_asked_once(decisions: JudgeServer, tmp_path: Path) -> None:
    def script(body: dict[str, Any]) -> Answer:
        if "Paris." in body["input"]:
            return 200, {"answers": [{"type": "refusal", "name": "verdict"}]}
        return 200, {"answers": [{"type": "predicate", "name": "verdict", "probability": 1.5}]}

    decisions.script = script
    options = params(decisions, provider="decisions", max_unmeasured=1.0)

    table = judged(rows(tmp_path / "r", ASKED[:2]), options, tmp_path / "store")

    assert column(table, "judge_reason") == ["refusal", "the reply has an answer without a probability from 0 to 1"]
    assert column(table, NAME) == [None, None]
    assert len(decisions.calls) == 2


def test_the_budget_holds_for_decisions_and_batches_are_refused(decisions: JudgeServer, tmp_path: Path) -> None:
    options = params(decisions, provider="decisions", max_unmeasured=1.0)
    few = HOW.model_copy(update={"concurrency": 1, "budget": Limits(max_calls=1, max_tokens=None, max_cost=None)})

    table = judged(rows(tmp_path / "r", ASKED[:2]), options, tmp_path / "store", how=few)

    assert column(table, NAME) == [0.9, None]
    assert len(decisions.calls) == 1
    with pytest.raises(ParamsError, match=r"run\.judge\.batch: decision models take no batches"):
        judged(rows(tmp_path / "s", ASKED), options, tmp_path / "s2", how=HOW.model_copy(update={"batch": True}))


def test_a_rubric_is_one_call_with_a_statement_per_criterion(
    decisions: JudgeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_prompt("{{ response }} {{ criteria }}", "rubric.txt")
    options = params(decisions, provider="decisions", meaning_match=None, metrics={
        "rubric": {"prompt": "prompts/rubric.txt", "scale": "criteria"}
    })  # fmt: skip
    [metric] = options.judge.metrics
    criteria = [{"text": "Names Paris", "points": 3.0}, {"text": "Is rude", "points": -1.0}]

    [name, rude] = metric.of_row({"criteria": criteria}).statements.values()

    assert name.endswith('The answer meets criterion 1: "Names Paris"')
    assert rude.endswith('The answer meets criterion 2: "Is rude"')
    found = metric.of_row({"criteria": criteria}).decided({"1": 0.8, "2": 0.3})
    assert (found.score, found.met) == (0.5, "10")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"similarity_judge": {"threshold": 3}}, "gives no similarity_judge"),
        ({"draws": 3}, "draws must be 1"),
        ({"preference": {"pairs": "all"}}, "preference needs a language model"),
        ({"panel": [{"model": "a"}, {"model": "b"}]}, "a panel is asked by provider openai only"),
    ],
)
def test_settings_that_a_decision_model_can_not_follow_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ParamsError, match=message):
        params(provider="decisions", **options)


def spelled(body: dict[str, Any], p: float) -> Answer:
    """A chat reply with the log-probabilities of its tokens, if they are asked for: `p` for what it says."""
    content = verdict(body)
    status, reply = completion(content)
    if body.get("logprobs"):
        head, mark, last = content.rpartition('"verdict": ')
        word, end = last[:-1], last[-1:]
        other = "false" if word == "true" else "true"
        top = [{"token": word, "logprob": _log(p)}, {"token": other, "logprob": _log(1 - p)}]
        tokens = [{"token": one, "logprob": -0.1} for one in (head, mark)]
        tokens += [{"token": word, "logprob": _log(p), "top_logprobs": top}, {"token": end, "logprob": 0.0}]
        reply["choices"][0]["logprobs"] = {"content": tokens}
    return status, reply


def _log(p: float) -> float:
    from math import log

    return log(p)


def test_a_chat_server_with_log_probabilities_states_them(server: JudgeServer, tmp_path: Path) -> None:
    server.script = lambda body: spelled(body, 0.8)

    table = judged(rows(tmp_path / "r", ASKED), params(server), tmp_path / "store")

    assert column(table, "meaning_match") == [1.0, 0.0, None, 0.0]
    assert column(table, NAME) == [pytest.approx(0.8), pytest.approx(0.2), None, 0.0]
    assert about(table.schema)[STATED_PROBABILITY] == NAME
    assert {(body["logprobs"], body["top_logprobs"]) for body in server.calls} == {(True, 5)}


def test_a_judge_that_states_few_probabilities_is_none_that_states_them(server: JudgeServer, tmp_path: Path) -> None:
    parts = rows(tmp_path / "r", [(f"q{n}", "Paris") for n in range(10)])
    server.script = lambda body: spelled(body, 0.8) if "(q3)" in str(body["messages"]) else completion(verdict(body))

    table = judged(parts, params(server), tmp_path / "store")

    assert column(table, NAME) == [pytest.approx(0.8) if n == 3 else 1.0 for n in range(10)]
    assert STATED_PROBABILITY not in about(table.schema)


def test_log_probabilities_are_no_part_of_the_key_and_can_be_switched_off(server: JudgeServer, tmp_path: Path) -> None:
    server.script = lambda body: spelled(body, 0.8)
    off = judged(rows(tmp_path / "r", ASKED), params(server, logprobs="off"), tmp_path / "store")

    again = judged(rows(tmp_path / "s", ASKED), params(server), tmp_path / "store")

    assert column(off, NAME) == column(off, "meaning_match")  # the verdict, 0 or 1
    assert again.equals(off)
    assert STATED_PROBABILITY not in about(off.schema)
    assert not any("logprobs" in body for body in server.calls)


@pytest.mark.parametrize(
    "refusal",
    [
        problem(400, "Unsupported parameter: 'logprobs' is not supported with this model."),
        problem(403, "You are not allowed to request logprobs from this model"),
        (422, {"detail": [{"loc": ["body", "top_logprobs"], "msg": "Extra inputs are not permitted"}]}),
        problem(400, "no"),
    ],
)
def test_a_server_that_refuses_log_probabilities_is_noticed_once(
    server: JudgeServer, tmp_path: Path, refusal: Answer
) -> None:
    server.script = lambda body: refusal if "logprobs" in body else completion(verdict(body))
    how = HOW.model_copy(update={"concurrency": 1})

    table = judged(
        rows(tmp_path / "r", [(f"q{n}", "Paris") for n in range(6)]), params(server), tmp_path / "s", how=how
    )

    assert column(table, NAME) == [1.0] * 6
    assert "without" not in about(table.schema)["columns"]["meaning_match"]["signature"]
    assert sum("logprobs" in body for body in server.calls) <= 2  # two rows in a row if the refusal names nothing


def test_the_share_of_draws_is_a_probability(server: JudgeServer, tmp_path: Path) -> None:
    def script(body: dict[str, Any]) -> Answer:
        says = json.loads(verdict(body)) | {"verdict": body["seed"] % 3 > 0}
        return completion(json.dumps(says))

    server.script = script

    table = judged(rows(tmp_path / "r", ASKED[:1]), params(server, draws=3), tmp_path / "store")

    assert column(table, NAME) == column(table, "meaning_match") == [pytest.approx(2 / 3)]
    assert about(table.schema)[STATED_PROBABILITY] == NAME


def test_every_question_that_a_decision_model_is_asked_leaves_out_how_a_chat_model_replies() -> None:
    [text] = MeaningMatch().statements.values()

    assert "nonce" not in text.rpartition("marker")[2]
    assert text.endswith("By these rules, the verdict is: true.")
