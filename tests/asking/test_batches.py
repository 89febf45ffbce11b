"""A judge that is asked by batches: each request is paid for once, and no number differs from that of single calls."""

import json
import os
import random
import re
import signal
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from goldmeter.asking import batch_dispatch
from goldmeter.asking.budget import Budget
from goldmeter.errors import BatchesAtWorkError, LedgerError, ModelError, ParamsError, ServerError
from goldmeter.judging.plan import Plan
from goldmeter.pipeline.files import exclusive
from goldmeter.pipeline.params import section
from goldmeter.pipeline.run import Limits, Price, Run
from tests.asking.test_requests import request_about
from tests.batch_server import CUT
from tests.judge_server import completion, problem, verdict
from tests.small_project import settings
from tests.test_judge import HOW, column, judged, params, rows, server

__all__ = ["server"]
BATCH = HOW.model_copy(update={"batch": True})
NO_WAIT = BATCH.model_copy(update={"batch_wait": 0.0})
MANY = [(f"q{i}", "Paris" if i % 2 else "London") for i in range(12)]
RIGHT = [float(i % 2) for i in range(12)]


@pytest.fixture(autouse=True)
def fast(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"FIRST_PAUSE": 0.01, "LONGEST_PAUSE": 0.02, "CERTAIN": 0.1}.items():
        monkeypatch.setattr(batch_dispatch, name, value)


def states(tmp_path: Path) -> list[Path]:
    return sorted((tmp_path / "store/batches").glob("*.json"))


def ask(server: Any, tmp_path: Path, many: Any = MANY, how: Any = BATCH, **options: Any) -> pa.Table:
    folder = tmp_path / f"rows-{time.monotonic_ns()}"
    return judged(rows(folder, many), params(server, **options), tmp_path / "store", how=how)


def bytes_of(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue().to_pybytes())


def test_verdicts_come_by_a_batch_after_one_single_call(server: Any, tmp_path: Path) -> None:
    table = ask(server, tmp_path)

    assert column(table, "meaning_match") == RIGHT
    assert len(server.calls) == 1
    assert len(server.batches.batches) == 1
    assert server.batches.asked.total() == 11
    assert states(tmp_path) == []


def test_a_line_holds_the_body_of_a_single_call_with_room_for_thoughts(server: Any, tmp_path: Path) -> None:
    ask(server, tmp_path)
    lines = [json.loads(line) for line in server.batches.files["file-0"].splitlines()]

    judged(rows(tmp_path / "single", MANY), params(server, logprobs="off"), tmp_path / "other")

    assert {(line["method"], line["url"]) for line in lines} == {("POST", "/v1/chat/completions")}
    assert {line["body"]["max_tokens"] for line in lines} == {
        body["max_tokens"] + HOW.thought_tokens for body in server.calls[2:]
    }
    bodies = [json.dumps(line["body"] | {"max_tokens": 1024}, sort_keys=True) for line in lines]
    assert sorted(bodies) == sorted(json.dumps(body, sort_keys=True) for body in server.calls[2:])
    assert len({line["custom_id"] for line in lines}) == 11


def test_tables_are_those_of_single_calls_and_each_serves_the_other(server: Any, tmp_path: Path) -> None:
    parts = rows(tmp_path / "rows", MANY)
    by_batch = judged(parts, params(server), tmp_path / "a", how=BATCH)
    single = judged(parts, params(server), tmp_path / "b")
    asked = len(server.calls), server.batches.asked.total()

    again = [judged(parts, params(server), tmp_path / store, how=how) for store, how in (("a", HOW), ("b", BATCH))]

    assert {bytes_of(table) for table in (by_batch, single, *again)} == {bytes_of(single)}
    assert (len(server.calls), server.batches.asked.total()) == asked


def test_a_run_that_does_not_wait_is_continued_by_the_next(server: Any, tmp_path: Path) -> None:
    with pytest.raises(BatchesAtWorkError, match=r"batches are at work at .*: 0 of 11 requests are answered"):
        ask(server, tmp_path, how=NO_WAIT)
    assert len(states(tmp_path)) == 1

    server.batches.looks = 100
    with pytest.raises(BatchesAtWorkError, match="with 11 of the missing requests"):
        ask(server, tmp_path, how=HOW)
    server.batches.looks = 1

    assert column(ask(server, tmp_path), "meaning_match") == RIGHT
    assert set(server.batches.asked.values()) == {1}
    assert len(server.calls) == 1
    assert states(tmp_path) == []


def test_single_calls_take_in_a_batch_that_has_ended(server: Any, tmp_path: Path) -> None:
    with pytest.raises(BatchesAtWorkError):
        ask(server, tmp_path, how=NO_WAIT)

    table = ask(server, tmp_path, how=HOW)

    assert column(table, "meaning_match") == RIGHT
    assert len(server.calls) == 1
    assert states(tmp_path) == []


@pytest.mark.parametrize("ending", ["expired", "completed", "cancelled"])
def test_what_has_no_result_is_asked_again(server: Any, tmp_path: Path, ending: str) -> None:
    server.batches.ending = lambda batch: ending if batch["id"] == "batch_0" else "completed"
    if ending == "completed":
        server.batches.lines = lambda lines: lines[: len(lines) // 2] if len(server.batches.batches) == 1 else lines

    table = ask(server, tmp_path)

    statuses = column(table, "judge_status")
    if ending == "cancelled":
        assert statuses.count("answered") == 6
        assert set(column(table, "judge_reason")) == {
            None,
            "batch_expired: This request could not be executed in time.",
        }
        assert len(server.batches.batches) == 1
    else:
        assert column(table, "meaning_match") == RIGHT
        assert len(server.batches.batches) == 2
        assert {seed for _, seed in server.batches.asked} == {1, 1 + 1_000_003}
    assert states(tmp_path) == []


def test_replies_that_are_no_verdict_are_asked_again_once_with_another_seed_then_fail(
    server: Any, tmp_path: Path
) -> None:
    server.script = lambda body: completion("no verdict" if "q3" in body["messages"][1]["content"] else verdict(body))

    table = ask(server, tmp_path)

    assert column(table, "judge_status") == ["answered"] * 3 + ["failed"] + ["answered"] * 8
    assert column(table, "judge_reason")[3] == "the reply is not one JSON object"
    seeds = sorted(seed for key, seed in server.batches.asked)
    assert seeds[-2:] == [1, 1 + 1_000_003]
    assert len(server.batches.batches) == 2
    single = judged(rows(tmp_path / "single", MANY), params(server), tmp_path / "other")
    assert bytes_of(single) == bytes_of(table)


def shuffled(lines: list[bytes]) -> list[bytes]:
    """Other order, lines twice (the second with another verdict), damaged lines, unknown ids."""
    twice = [line.replace(b"true", b"false") for line in lines]
    others = [
        b'{"custom_id": "x", "response": {"status_code": 200, "body": {}}}',
        b"{",
        b"[1]",
        b'{"custom_id": 7}',
        b"",
    ]
    mixed = [*lines, *others]
    random.Random(3).shuffle(mixed)  # noqa: S311
    return [*mixed, *twice]


def test_results_in_another_order_twice_damaged_or_unknown(
    server: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server.batches.lines = shuffled

    assert column(ask(server, tmp_path), "meaning_match") == RIGHT
    said = capsys.readouterr().err
    assert (
        "batch batch_0: ignored lines: 3 damaged, 1 about no request of it, 11 about a request with an earlier" in said
    )


def failing(first: dict[str, list[Any]]) -> Any:
    """Faults of the first exchanges of a kind."""

    def fault(what: str) -> Any:
        left = first.get(what, [])
        return left.pop(0) if left else None

    return fault


@pytest.mark.parametrize(
    ("what", "fault"),
    [
        ("upload", problem(429)),
        ("create", problem(500)),
        ("create", CUT),
        ("get", problem(503)),
        ("content", CUT),
        ("list", problem(500)),
    ],
)
def test_an_exchange_that_fails_is_repeated_and_nothing_is_asked_twice(
    server: Any, tmp_path: Path, what: str, fault: Any
) -> None:
    faults = {what: [fault] * 4} | ({"create": [CUT]} if what == "list" else {})
    server.batches.faults = failing(faults)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batch_dispatch, "CERTAIN", 30.0 if what == "list" else 0.3)
        if what == "create":
            server.batches.faults = failing({"create": [fault] * 2})

        table = ask(server, tmp_path)

    assert column(table, "meaning_match") == RIGHT
    assert set(server.batches.asked.values()) == {1}
    assert states(tmp_path) == []


def test_a_batch_whose_id_was_lost_is_found_on_a_later_page(server: Any, tmp_path: Path) -> None:
    server.batches.page = 1
    server.batches.faults = failing({"create": [CUT], "list": [problem(500)] * 300})
    with pytest.raises(ServerError, match="may have been started, or not"):
        ask(server, tmp_path)
    [name] = server.batches.batches
    for number in range(3):
        server.batches.batches[f"other{number}"] = server.batches.batches[name] | {
            "id": f"other{number}", "input_file_id": "file-x", "metadata": None
        }  # fmt: skip
    server.batches.faults = lambda _: None

    assert column(ask(server, tmp_path), "meaning_match") == RIGHT
    assert set(server.batches.asked.values()) == {1}


def test_a_server_without_a_list_says_which_file_to_look_at(server: Any, tmp_path: Path) -> None:
    server.batches.faults = failing({"create": [CUT], "list": [problem(404)] * 9})

    with pytest.raises(ModelError) as refused:
        ask(server, tmp_path)

    [state] = states(tmp_path)
    message = str(refused.value)
    assert str(state) in message
    assert f"metadata goldmeter: {state.stem}" in message
    assert len(message.splitlines()) < 10
    state.unlink()
    assert column(ask(server, tmp_path), "meaning_match") == RIGHT


def test_a_list_without_end_is_none(server: Any, tmp_path: Path) -> None:
    page = 200, {"object": "list", "data": [{"id": "another", "status": "completed"}], "has_more": True}
    server.batches.faults = failing({"create": [CUT], "list": [page] * 50})

    with pytest.raises(ModelError, match="its list of batches has no end"):
        ask(server, tmp_path)


def test_a_server_without_batches_says_so(server: Any, tmp_path: Path) -> None:
    server.batches.faults = lambda _: problem(404, "Not Found")

    with pytest.raises(ModelError, match=r"HTTP 404"):
        ask(server, tmp_path)
    assert states(tmp_path) == []


def test_a_refused_batch_is_not_kept(server: Any, tmp_path: Path) -> None:
    def end(batch: dict[str, Any]) -> str:
        batch["errors"] = {"data": [{"code": "model_not_found", "message": "this model has no batches"}]}
        return "failed"

    server.batches.ending = end

    with pytest.raises(ModelError, match="this model has no batches"):
        ask(server, tmp_path)
    assert states(tmp_path) == []


def test_a_full_queue_of_the_server_is_met_by_smaller_batches(server: Any, tmp_path: Path) -> None:
    def end(batch: dict[str, Any]) -> str:
        if batch["request_counts"]["total"] <= 3:
            return "completed"
        batch["errors"] = {"data": [{"code": "token_limit_exceeded", "message": "Enqueued token limit reached"}]}
        return "failed"

    server.batches.ending = end

    assert column(ask(server, tmp_path), "meaning_match") == RIGHT
    sizes = [batch["request_counts"]["total"] for batch in server.batches.batches.values()]
    assert sizes == [11, 5, 5, 1, 2, 2, 2, 2, 2]
    assert states(tmp_path) == []


def test_batches_have_the_most_requests_that_a_server_takes(
    server: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch_dispatch, "MOST_REQUESTS", 4)

    assert column(ask(server, tmp_path), "meaning_match") == RIGHT
    assert [batch["request_counts"]["total"] for batch in server.batches.batches.values()] == [4, 4, 3]


def test_canaries_are_single_calls(server: Any, tmp_path: Path) -> None:
    table = ask(server, tmp_path, canaries=True)

    assert column(table, "meaning_match") == RIGHT
    assert len(server.calls) == 20
    assert server.batches.asked.total() == 12


def test_the_budget_counts_batches_at_their_price(server: Any, tmp_path: Path) -> None:
    def table(cost: float, store: str) -> pa.Table:
        budget = {"max_calls": None, "max_tokens": None, "max_cost": cost}
        prices = {"judge": {"input": 1, "output": 1, "batch": 0.5}}
        how = type(HOW)(**{**BATCH.model_dump(), "budget": budget, "prices": prices})
        return judged(rows(tmp_path / f"r{store}", MANY), params(server), tmp_path / store, how=how)

    statuses = column(table(0.01, "enough"), "judge_status")
    limited = table(0.002, "less")

    assert set(statuses) == {"answered"}
    assert 0 < column(limited, "judge_status").count("answered") < 12
    assert set(column(limited, "judge_reason")) == {
        None,
        "not asked: run.judge.budget.max_cost (0.002) is used up",
    }


def test_the_state_is_on_the_disk_before_anything_is_sent(server: Any, tmp_path: Path) -> None:
    seen: dict[str, dict[str, Any]] = {}

    def note(what: str) -> None:
        if what in {"upload", "create", "get"}:
            seen[what] = json.loads(states(tmp_path)[0].read_bytes())

    server.batches.faults = note
    ask(server, tmp_path)

    assert [len(state["requests"]) for state in seen.values()] == [11] * 3
    assert (seen["upload"]["file"], seen["upload"]["creating"]) == (None, None)
    assert seen["create"]["file"] == "file-0"
    assert seen["create"]["batch"] is None
    assert seen["get"]["batch"] == "batch_0"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_batches_are_at_work_leaves_them_to_the_next_run(
    server: Any, tmp_path: Path, number: signal.Signals
) -> None:
    def interrupt(what: str) -> None:
        if what == "get" and server.batches.exchanges["get"] == 1:
            os.kill(os.getpid(), number)

    server.batches.faults, server.batches.looks = interrupt, 3

    with pytest.raises(BatchesAtWorkError):
        ask(server, tmp_path)
    assert column(ask(server, tmp_path), "meaning_match") == RIGHT
    assert set(server.batches.asked.values()) == {1}


def test_two_runs_do_not_send_batches_at_once(server: Any, tmp_path: Path) -> None:
    with pytest.raises(BatchesAtWorkError):
        ask(server, tmp_path, how=NO_WAIT)

    with (
        exclusive(tmp_path / "store/batches/lock"),
        pytest.raises(BatchesAtWorkError, match="another run sends or takes in"),
    ):
        ask(server, tmp_path)


def test_a_damaged_state_is_named(server: Any, tmp_path: Path) -> None:
    with pytest.raises(BatchesAtWorkError):
        ask(server, tmp_path, how=NO_WAIT)
    [state] = states(tmp_path)
    state.write_text("{")

    with pytest.raises(LedgerError, match=rf"{state.name}: damaged .* metadata goldmeter: {state.stem}"):
        ask(server, tmp_path)


def test_the_plan_has_the_price_of_batches_and_counts_what_waits() -> None:
    requests = [request_about(output=f"Paris {number}", ground_truth=["Paris"], input="?") for number in range(3)]
    prices = {"judge": {"input": 1000.0, "output": 1000.0, "batch": 0.25}}
    options = params(canaries=False).judge

    whole, by_batch = (
        Plan.of_judge(requests, options, how, {requests[0].key})
        for how in (type(HOW)(**{**how.model_dump(), "prices": prices}) for how in (HOW, BATCH))
    )

    assert (whole.calls, whole.waiting) == (by_batch.calls, by_batch.waiting) == (2, 1)
    cost = [float(re.search(r"\$([\d.]+)", str(plan))[1]) for plan in (whole, by_batch)]  # type: ignore[index]
    assert cost[1] == pytest.approx(cost[0] / 4, abs=0.01)
    assert str(by_batch).startswith("2 calls by batch to judge at ")
    assert str(by_batch).endswith("; 1 more requests are in batches at work")


def test_waiting_for_batches_longer_than_the_stage_may_take_is_refused() -> None:
    run = settings()["run"]
    run["judge"] |= {"batch": True, "batch_wait": 86_400}

    with pytest.raises(ParamsError, match=r"judge\.batch_wait is 86400: it must be less than timeouts\.judge, 86400"):
        section(Run, {"run": run}, "run")


def test_what_was_paid_counts_batches_at_their_price() -> None:
    price = Price(input=1.0, output=2.0, batch=0.5)
    tokens = {"prompt": 1_000_000, "completion": 500_000}

    assert price.of_tokens(tokens, by_batch=False) == 2.0
    assert price.of_tokens(tokens, by_batch=True) == 1.0
    budget = Budget(Limits(max_calls=None, max_tokens=None, max_cost=None), price)
    for by_batch in (True, False):
        budget.settle(budget.reserve(100, by_batch=by_batch), tokens)  # type: ignore[arg-type]
    assert budget.cost == pytest.approx(3.0)
