"""The judge stage against a server that fails in every way it can: each row ends with a verdict or a reason."""

import json
import threading
from collections import Counter
from contextlib import suppress
from random import Random
from typing import Any

import pytest

from goldmeter.asking import requests
from goldmeter.asking.budget import Budget
from goldmeter.asking.dispatch import dispatch
from goldmeter.errors import ContractError, ModelError, ParamsError, ServerError
from goldmeter.ledger.verdicts import Verdicts
from goldmeter.models.chat.client import Chat
from goldmeter.models.chat.exchange import Endpoint
from goldmeter.models.chat.limits import ConcurrencyLimit, Support
from goldmeter.pipeline.run import Limits
from goldmeter.runner import run
from tests.asking.test_requests import request_about
from tests.judge_server import NO_KEY, Answer, Reply, completion, problem, question, verdict
from tests.small_project import edit
from tests.test_judge import HOW, IN_ORDER, KEY, column, judged, params, rows, server

__all__ = ["server"]
STALL = 20.0
IMPATIENT = HOW.model_copy(update={"concurrency": 32, "timeout": 1.0, "retries": 2, "confirm_calls": 10_000})


class Faulty:
    """Answers, and with a probability fails in one of many ways; the calls after a good answer are counted."""

    def __init__(self, share: float) -> None:
        self._random, self._share, self._lock = Random(7), share, threading.Lock()  # noqa: S311
        self.answered: Counter[str] = Counter()
        self.again: Counter[str] = Counter()
        self.ways: Counter[str] = Counter()

    def __call__(self, body: dict[str, Any]) -> Answer:
        good = completion(verdict(body))
        faults: dict[str, Answer] = {
            "429": Reply(*problem(429), headers={"Retry-After": "0.1"}),
            "500": problem(500),
            "reset": Reply(*good, cut=40),
            "stall": Reply(*good, delay=STALL),
            "truncated": completion(verdict(body)[:-9]),
            "schema": completion(json.dumps({"nonce": question(body)[0], "answer": "yes"})),
            "refusal": completion(None, refusal="I can't help with that."),
        }
        nonce = question(body)[0]
        with self._lock:
            self.again[nonce] += self.answered[nonce] > 0
            way = self._random.choice(sorted(faults)) if self._random.random() < self._share else "good"
            self.ways[way] += 1
            self.answered[nonce] += way == "good"
        return faults.get(way, good)


def test_every_row_ends_with_a_verdict_or_a_reason(server: Any, tmp_path: Any) -> None:
    server.script = faulty = Faulty(0.3)
    many = [(f"q{i}", "Paris" if i % 2 else "London") for i in range(250)]

    table = judged(rows(tmp_path / "rows", many), params(server), tmp_path / "store", how=IMPATIENT)

    status, scores, reasons = (column(table, name) for name in ("judge_status", "meaning_match", "judge_reason"))
    assert len(table) == 250
    assert all(count > 3 for count in faulty.ways.values()), faulty.ways
    assert faulty.again.total() == 0
    for i, (one, score, reason) in enumerate(zip(status, scores, reasons, strict=True)):
        assert (one, score, reason) == ("answered", float(i % 2), None) or (
            one == "failed" and score is None and reason
        )
    assert 225 < status.count("answered") < 250


def test_a_server_that_goes_down_ends_the_stage_with_what_it_gave(server: Any, tmp_path: Any) -> None:
    limit = 30
    server.script = lambda body: completion(verdict(body)) if len(server.calls) <= limit else problem(503)
    many = [(f"q{i}", "Paris") for i in range(100)]
    parts, how = rows(tmp_path / "rows", many), HOW.model_copy(update={"retries": 0})

    with pytest.raises(ServerError, match=r"calls failed \(HTTP 503\): the server is down"):
        judged(parts, params(server), tmp_path / "store", how=how)
    assert len(server.calls) < limit + 10 + 3 * how.concurrency

    server.calls.clear()
    server.script = lambda body: completion(verdict(body))
    table = judged(parts, params(server), tmp_path / "store", how=how)
    assert set(column(table, "judge_status")) == {"answered"}
    assert len(server.calls) == 100 - limit


@pytest.mark.parametrize(
    ("limits", "calls"),
    [({"max_calls": 7}, 7), ({"max_tokens": 2000}, 5), ({"max_cost": 0.002}, 5)],
)
def test_a_budget_is_kept_and_the_rest_says_so(
    server: Any, tmp_path: Any, limits: dict[str, Any], calls: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(requests, "expected_tokens", lambda *_: 300.0)
    budget = {"max_calls": None, "max_tokens": None, "max_cost": None, **limits}
    how = type(HOW)(
        **{**HOW.model_dump(), "budget": budget, "concurrency": 1, "prices": {"judge": {"input": 1, "output": 1}}}
    )
    server.script = lambda body: (
        200,
        completion(verdict(body))[1] | {"usage": {"prompt_tokens": 300, "completion_tokens": 80}},
    )
    many = [(f"q{i}", "Paris") for i in range(20)]

    table = judged(rows(tmp_path / "rows", many), params(server), tmp_path / "store", how=how)

    assert len(server.calls) == calls
    assert column(table, "judge_status").count("answered") == calls
    (name,) = limits
    assert set(column(table, "judge_reason")) == {
        None,
        f"not asked: run.judge.budget.{name} ({limits[name]:g}) is used up",
    }

    server.calls.clear()
    table = judged(rows(tmp_path / "again", many), params(server), tmp_path / "store")
    assert set(column(table, "judge_status")) == {"answered"}
    assert len(server.calls) == 20 - calls


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize("used_up", [True, False])
def test_what_failed_comes_before_what_to_do_about_it(
    server: Any, capsys: pytest.CaptureFixture[str], used_up: bool
) -> None:
    def configure(given: dict[str, Any]) -> None:
        given["judge"].update(
            provider="openai", base_url=server.url, api_key_env=None, sampling_rate=1.0, canaries=False
        )
        given["run"]["judge"].update(retries=0, budget={"max_calls": 3, "max_tokens": None, "max_cost": None})

    edit(configure)
    if not used_up:
        server.script = lambda _: completion("no verdict")
        edit(lambda given: given["run"]["judge"]["budget"].update(max_calls=None))
    for stage in ("load", "normalize"):
        run(stage)

    with pytest.raises(ContractError) as refused:
        run("judge")

    _, first, second, *_ = str(refused.value).splitlines()
    kept = "  What was answered is kept in the ledger: "
    if used_up:
        assert first.endswith(" rows failed: not asked: run.judge.budget.max_calls (3) is used up")
        assert second == f"{kept}raise run.judge.budget.max_calls, and run again"
        assert "--retry-failed" not in str(refused.value)
        assert "raise run.judge.budget.max_calls, then python -m flows.evaluate" in capsys.readouterr().err
    else:
        assert " rows failed: " in first
        assert (
            second == f"{kept}run again, with `python -m flows.evaluate --retry-failed` for replies that are no verdict"
        )


def test_more_calls_than_confirmed_are_refused_before_the_first(server: Any, tmp_path: Any) -> None:
    how = HOW.model_copy(update={"confirm_calls": 2})

    with pytest.raises(ParamsError, match=r"run\.judge\.confirm_calls: 2, but 3 calls are missing; raise it"):
        judged(rows(tmp_path / "rows"), params(server), tmp_path / "store", how=how)
    assert server.calls == []


def test_rows_beyond_the_budget_are_told_from_those_without_a_verdict(
    server: Any, tmp_path: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    server.script = lambda _: completion("It is right.")
    budget = {"max_calls": 2, "max_tokens": None, "max_cost": None}
    how = type(HOW)(**{**HOW.model_dump(), "budget": budget, "concurrency": 1})

    judged(rows(tmp_path / "rows"), params(server), tmp_path / "store", how=how)

    [line] = [line for line in capsys.readouterr().err.splitlines() if "no verdict" in line]
    assert line == (
        "judge: 3 rows have no verdict, 2 of them because the budget is used up: raise run.judge.budget.max_calls, "
        "then python -m flows.evaluate --retry-failed asks again"
    )


def test_a_second_attempt_of_a_run_asks_no_more_than_the_budget_leaves(server: Any, tmp_path: Any) -> None:
    how = type(HOW)(**{**IN_ORDER.model_dump(), "budget": {"max_calls": 4, "max_tokens": None, "max_cost": None}})
    server.script = lambda body: completion(verdict(body)) if len(server.calls) < 3 else problem(404)
    parts, options = rows(tmp_path / "rows", [(f"q{i}", "Paris") for i in range(9)]), params(server)
    with pytest.raises(ModelError, match="404"):
        judged(parts, options, tmp_path / "store", how=how, spent=tmp_path / "spent.json")
    server.script = lambda body: completion(verdict(body))

    table = judged(parts, options, tmp_path / "store", how=how, spent=tmp_path / "spent.json")

    assert column(table, "judge_status").count("answered") == 4
    assert len(server.calls) == 5  # 404: that call cost nothing


@pytest.mark.parametrize(
    ("usage", "counted"),
    [
        ({"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 610}, 510),
        ({"prompt_tokens": 100, "completion_tokens": 510, "total_tokens": 610, "completion_tokens_details": {}}, 510),
        ({"prompt_tokens": 100, "completion_tokens": 10}, 10),
        ({"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": "610"}, 10),
        ({"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 5}, 10),
    ],
)
def test_reasoning_is_part_of_the_reply_whether_or_not_the_server_counts_it_there(usage: Any, counted: int) -> None:
    endpoint = Endpoint("http://h/v1", "m", NO_KEY, 1.0, 0)
    chat = Chat(endpoint, ConcurrencyLimit(1))

    reply = chat.read(200, completion("{}")[1] | {"usage": usage}, Support())

    assert reply.tokens == {"prompt": 100, "completion": counted}


def test_a_budget_in_money_needs_a_price(server: Any, tmp_path: Any) -> None:
    budget = {"max_calls": None, "max_tokens": None, "max_cost": 1.0}
    how = type(HOW)(**{**HOW.model_dump(), "budget": budget})

    with pytest.raises(ParamsError, match=r"run\.judge\.prices\.judge: missing"):
        judged(rows(tmp_path / "rows"), params(server), tmp_path / "store", how=how)


def test_a_row_that_is_refused_first_is_not_the_server_s_fault(server: Any, tmp_path: Any) -> None:
    def script(body: dict[str, Any]) -> Answer:
        long = "q0" in question(body)[1]["input"]
        return problem(400, "maximum context length exceeded") if long else completion(verdict(body))

    server.script = script
    parts = rows(tmp_path / "rows", [("q0", "Paris"), ("q1", "Paris")])

    table = judged(parts, params(server), tmp_path / "store", how=IN_ORDER)

    assert column(table, "judge_status") == ["failed", "answered"]
    assert "maximum context length exceeded" in column(table, "judge_reason")[0]
    assert server.calls[-1]["response_format"]["type"] == "json_schema"


def test_no_money_left_stops_the_stage_without_the_key(server: Any, tmp_path: Any) -> None:
    error = {"error": {"message": f"no quota for {KEY}", "type": "insufficient_quota", "code": "insufficient_quota"}}
    server.script = lambda _: (429, error)

    with pytest.raises(ModelError, match="no money left") as raised:
        judged(rows(tmp_path / "rows"), params(server), tmp_path / "store", how=HOW.model_copy(update={"retries": 0}))
    assert KEY not in str(raised.value)


def test_a_content_filter_fails_one_row_without_asking_for_less(server: Any, tmp_path: Any) -> None:
    error = {"error": {"message": "filtered", "code": "content_filter"}}
    server.script = lambda body: (400, error) if "q0" in question(body)[1]["input"] else completion(verdict(body))
    parts = rows(tmp_path / "rows", [("q0", "Paris"), ("q1", "Paris")])

    table = judged(parts, params(server), tmp_path / "store", how=IN_ORDER)

    assert column(table, "judge_reason") == ["content filter", None]
    assert len(server.calls) == 2


def test_what_a_server_supports_is_known_by_the_ledger(server: Any, tmp_path: Any) -> None:
    def script(body: dict[str, Any]) -> Answer:
        return (
            problem(400, "response_format is not supported") if "response_format" in body else completion(verdict(body))
        )

    server.script = script
    judged(rows(tmp_path / "rows", [("q0", "Paris")]), params(server), tmp_path / "store")
    assert len(server.calls) == 3

    server.calls.clear()
    judged(rows(tmp_path / "more", [("q0", "Paris"), ("q1", "Paris")]), params(server), tmp_path / "store")
    assert len(server.calls) == 1
    assert not [*(tmp_path / "store").glob("*.json")]


def test_what_the_ledger_knows_of_a_server_is_detected_again_if_it_is_refused(server: Any, tmp_path: Any) -> None:
    judged(rows(tmp_path / "rows", [("q0", "Paris")]), params(server), tmp_path / "store")
    server.script = lambda body: (
        problem(400, "response_format is not supported") if "response_format" in body else completion(verdict(body))
    )

    many = [(f"q{i}", "Paris") for i in range(6)]
    table = judged(rows(tmp_path / "more", many), params(server), tmp_path / "store")

    assert column(table, "judge_status") == ["answered"] * 6


@pytest.mark.parametrize(
    ("refused", "asked"),
    [
        (["temperature", "seed"], "json_schema without temperature without seed"),
        (["json_schema", "max_tokens"], "json_object"),
        (
            ["response_format", "temperature", "max_tokens", "max_completion_tokens", "logprobs"],
            "text without temperature",
        ),
    ],
)
def test_what_the_server_refuses_is_left_out_and_the_signature_says_so(
    server: Any, tmp_path: Any, refused: list[str], asked: str
) -> None:
    def script(body: dict[str, Any]) -> Answer:
        used = {**body, **body.get("response_format", {})}
        wrong = [name for name in refused if name in used]
        if wrong:
            return problem(400, f"Unsupported parameter: '{wrong[0]}' is not supported with this model.")
        return completion(f"```json\n{verdict(body)}\n```")

    server.script = script
    many = [(f"q{i}", "Paris") for i in range(6)]
    table = judged(rows(tmp_path / "rows", many), params(server), tmp_path / "store", tmp_path / "evidence")
    first = len(server.calls)

    assert column(table, "judge_status").count("answered") == 6
    assert f"asked:{asked}|".encode() in table.schema.metadata[b"goldmeter"]
    assert first <= 6 + len(refused) + ("response_format" in refused)  # of which there are two

    # Another clone with the evidence knows it as well.
    judged(
        rows(tmp_path / "more", [*many, ("new", "Paris")]), params(server), tmp_path / "other", tmp_path / "evidence"
    )
    again = {"max_tokens", "max_completion_tokens", "logprobs"} & {*refused}  # each run finds these out
    assert len(server.calls) == first + 1 + len(again)


def test_a_body_that_drips_is_a_timeout(server: Any, tmp_path: Any) -> None:
    server.script = lambda body: Reply(*completion(verdict(body)), drip=0.2)
    how = HOW.model_copy(update={"timeout": 0.5, "retries": 0})

    table = judged(rows(tmp_path / "rows", [("q0", "Paris")]), params(server), tmp_path / "store", how=how)

    assert column(table, "judge_reason") == ["timeout"]


def replying(**changes: Any) -> Any:
    """An honest server whose completions have other fields than usual."""
    return lambda body: (200, completion(verdict(body))[1] | changes)


@pytest.mark.parametrize(
    "usage",
    [None, {"prompt_tokens": -5, "completion_tokens": 1}, {"prompt_tokens": 1e999}, [1]],
)
def test_a_server_that_does_not_count_tokens_does_not_widen_the_budget(server: Any, tmp_path: Any, usage: Any) -> None:
    server.script = replying(usage=usage)
    budget = {"max_calls": None, "max_tokens": 2_000, "max_cost": None}
    how = type(HOW)(**{**IN_ORDER.model_dump(), "budget": budget})

    table = judged(
        rows(tmp_path / "rows", [(f"q{i}", "Paris") for i in range(9)]), params(server), tmp_path / "store", how=how
    )

    assert 1 <= len(server.calls) <= 3
    assert column(table, "judge_status").count("answered") == len(server.calls)


def test_a_budget_that_was_raised_asks_for_the_rest_although_the_evidence_says_why_not(
    server: Any, tmp_path: Any
) -> None:
    budget = {"max_calls": 2, "max_tokens": None, "max_cost": None}
    how = type(HOW)(**{**HOW.model_dump(), "budget": budget})
    judged(rows(tmp_path / "rows"), params(server), tmp_path / "store", tmp_path / "evidence", how)
    assert len(server.calls) == 2

    table = judged(rows(tmp_path / "again"), params(server), tmp_path / "store", tmp_path / "evidence")

    assert len(server.calls) == 3
    assert column(table, "judge_status").count("answered") == 3


@pytest.mark.parametrize("escaped", [False, True])
def test_the_key_never_enters_the_ledger_through_the_model_s_name(server: Any, tmp_path: Any, escaped: bool) -> None:
    shown = "".join(f"\\u{ord(each):04x}" for each in KEY) if escaped else KEY
    server.script = lambda body: (
        200,
        json.dumps(completion(verdict(body))[1] | {"model": "judge-NAME"}).replace("NAME", shown),
    )

    table = judged(rows(tmp_path / "rows"), params(server), tmp_path / "store", tmp_path / "evidence")

    assert KEY not in str(table.schema.metadata)
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]


def test_a_model_s_name_that_is_no_text_fails_nothing(server: Any, tmp_path: Any) -> None:
    server.script = replying(model="\ud800m")

    table = judged(rows(tmp_path / "rows"), params(server), tmp_path / "store")

    assert column(table, "judge_status").count("answered") == 3
    assert b"served:?m" in table.schema.metadata[b"goldmeter"]


def test_an_address_that_serves_pages_is_found_out_at_once(server: Any, tmp_path: Any) -> None:
    server.script = lambda _: (200, "<html>hello</html>")
    many = [(f"q{i}", "Paris") for i in range(50)]

    with pytest.raises(ServerError, match="has not the expected form: <html>hello"):
        judged(
            rows(tmp_path / "rows", many), params(server), tmp_path / "store", how=HOW.model_copy(update={"retries": 0})
        )
    assert len(server.calls) <= 3 + HOW.concurrency


def test_rows_that_are_refused_do_not_stop_a_server_that_is_known(server: Any, tmp_path: Any) -> None:
    judged(rows(tmp_path / "rows", [("q0", "Paris")]), params(server), tmp_path / "store")
    server.script = lambda _: problem(400, "maximum context length exceeded")

    table = judged(
        rows(tmp_path / "more", [("q0", "Paris"), *((f"long {i}", "Paris") for i in range(6))]),
        params(server),
        tmp_path / "store",
    )

    assert column(table, "judge_status") == ["answered", *["failed"] * 6]


def test_a_passing_refusal_does_not_lessen_what_is_asked_for_ever(server: Any, tmp_path: Any) -> None:
    server.script = lambda body: problem(400, "glitch") if len(server.calls) <= 2 else completion(verdict(body))

    judged(
        rows(tmp_path / "rows", [(f"q{i}", "Paris") for i in range(3)]),
        params(server),
        tmp_path / "store",
        how=IN_ORDER,
    )

    assert [call.get("response_format", {}).get("type") for call in server.calls[-2:]] == ["json_schema"] * 2


def test_a_wrong_key_in_mid_run_stops_all_threads(server: Any, tmp_path: Any) -> None:
    server.script = lambda body: completion(verdict(body)) if len(server.calls) <= 20 else problem(401)
    many, how = [(f"q{i}", "Paris") for i in range(80)], HOW.model_copy(update={"concurrency": 8})

    with pytest.raises(ModelError, match="does not accept the key"):
        judged(rows(tmp_path / "rows", many), params(server), tmp_path / "store", how=how)
    assert len(server.calls) <= 20 + 2 * 8

    server.script = lambda body: completion(verdict(body))
    server.calls.clear()
    judged(rows(tmp_path / "again", many), params(server), tmp_path / "store", how=how)
    assert len(server.calls) == 60


def test_answers_under_way_are_kept_when_the_next_rows_can_not_be_read(server: Any, tmp_path: Any) -> None:
    def interrupted() -> Any:
        yield from (request_about(output=f"Paris {i}", ground_truth=["Paris"], input="?") for i in range(3))
        raise KeyboardInterrupt

    endpoint = Endpoint(server.url, "judge", NO_KEY, 10, 0)
    unlimited = Budget(Limits(max_calls=None, max_tokens=None, max_cost=None), None)
    with (
        Verdicts(tmp_path / "store") as ledger,
        Chat(endpoint, ConcurrencyLimit(8)) as chat,
        pytest.raises(KeyboardInterrupt),
    ):
        dispatch(interrupted(), chat, ledger, unlimited, HOW.model_copy(update={"concurrency": 8, "retries": 0}), list)

    with Verdicts(tmp_path / "store") as ledger:
        assert len(ledger.get(request.key for request in list_of(interrupted()))) == len(server.calls)


def list_of(requests: Any) -> list[Any]:
    """What comes before the interrupt."""
    found = []
    with suppress(KeyboardInterrupt):
        found.extend(iter(requests.__next__, None))
    return found


def test_a_verdict_in_the_store_is_used_where_the_evidence_has_a_failure(server: Any, tmp_path: Any) -> None:
    server.script = lambda body: completion(verdict(body)) if "(q1)" in str(body) else problem(500)
    how = IN_ORDER.model_copy(update={"retries": 0})
    judged(rows(tmp_path / "rows"), params(server), tmp_path / "store", tmp_path / "evidence", how)
    server.script = lambda body: completion(verdict(body))
    judged(rows(tmp_path / "elsewhere"), params(server), tmp_path / "store", how=how)
    server.calls.clear()

    table = judged(rows(tmp_path / "again"), params(server), tmp_path / "store", tmp_path / "evidence", how)

    assert column(table, "judge_status").count("answered") == 3
    assert server.calls == []


def test_a_garbled_reply_is_asked_again_with_its_fault_in_words(server: Any, tmp_path: Any) -> None:
    server.script = lambda body: completion("garbage" if len(server.calls) == 1 else verdict(body))

    table = judged(rows(tmp_path / "rows", [("q0", "Paris")]), params(server), tmp_path / "store")

    first, second = (call["messages"][1]["content"] for call in server.calls)
    nonce, _ = question(server.calls[0])
    assert second == (
        f"{first}\n\nAn earlier reply to this message could not be used: the reply is not one JSON object. Reply with "
        f'the JSON object only, without text around it. Its nonce is "{nonce}".'
    )
    assert column(table, "judge_status") == ["answered"]


def test_a_garbled_reply_is_asked_again_with_another_seed(server: Any, tmp_path: Any) -> None:
    server.script = lambda body: completion("garbage" if len(server.calls) < 3 else verdict(body))

    judged(rows(tmp_path / "rows", [("q0", "Paris")]), params(server), tmp_path / "store")

    assert len({call["seed"] for call in server.calls}) == len(server.calls) == 2


@pytest.mark.parametrize("fence", ["```json\r\n{}\r\n```", "```JSON\n{}\n```"])
def test_content_in_parts_and_fences_of_all_kinds_are_read(server: Any, tmp_path: Any, fence: str) -> None:
    def script(body: dict[str, Any]) -> Answer:
        if "response_format" in body:
            return problem(400, "response_format is not supported")
        answer: Any = completion(None)
        answer[1]["choices"][0]["message"]["content"] = [{"type": "text", "text": fence.format(verdict(body))}]
        return 200, answer[1]

    server.script = script

    table = judged(rows(tmp_path / "rows"), params(server), tmp_path / "store")

    assert column(table, "judge_status").count("answered") == 3


def test_no_account_of_another_provider_is_sent(server: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-secret")

    judged(rows(tmp_path / "rows"), params(server), tmp_path / "store")

    assert server.calls
    assert "org-secret" not in str(server.headers)
