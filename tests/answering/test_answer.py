"""The stage answer: what is sent, what is asked once, what becomes of replies, and what load makes of them."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.answering import preflight
from goldmeter.answering.systems import Params, System
from goldmeter.asking import batch_dispatch
from goldmeter.dataset.answers import opened
from goldmeter.dataset.settings import Params as Load
from goldmeter.dataset.table import tables
from goldmeter.errors import BatchesAtWorkError, DataError, ModelError, ParamsError, ServerError
from goldmeter.ledger.verdicts import Verdicts
from goldmeter.models.chat.client import Chat
from goldmeter.models.chat.exchange import Endpoint
from goldmeter.models.chat.limits import ConcurrencyLimit
from goldmeter.pipeline.params import section
from goldmeter.pipeline.run import Limits, Price
from goldmeter.pipeline.tables import Parts, about, write_part
from tasks.answer import STAGE, advice, answer, counts
from tests.hostile_texts import TEXTS
from tests.judge_server import JudgeServer, completion, problem, serving
from tests.small_project import edit
from tests.test_judge import HOW
from tests.test_load import LIMITS, MAPPING

ROWS = [{"id": f"q{n}", "q": f"Question {n}?", "ref": f"answer {n}", "a": "x"} for n in range(6)]
KEY = "sk-canary-9a1e55"


@pytest.fixture(scope="module")
def running() -> Any:
    with serving() as server:
        yield server


@pytest.fixture
def server(running: JudgeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> JudgeServer:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts/answer.txt").write_text("{{ input }}\n")
    (tmp_path / "prompts/system.txt").write_text("Be brief.\n")
    write(ROWS)
    running.calls.clear()
    running.keys.clear()
    running.script = lambda body: completion(f"To {asked(body)}")
    return running


def write(rows: list[dict[str, Any]]) -> None:
    Path("answers.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def asked(body: dict[str, Any]) -> str:
    return str(body["messages"][-1]["content"])


def params(server: JudgeServer, mapping: dict[str, Any] | None = None, /, **options: Any) -> Params:
    system = {"model": "m", "base_url": server.url, **options}
    given = {**MAPPING, "candidates": {"live": system, "file": {"response": "a"}}, **(mapping or {})}
    sections = {"dataset": given, "load": LIMITS, "answer": {"max_unmeasured": 0.05}}
    models = {name: field.annotation for name, field in Params.model_fields.items()}
    return Params(**{name: section(models[name], sections, name) for name in models})  # type: ignore[arg-type]


def run(options: Params, how: Any = HOW, **more: Any) -> list[dict[str, Any]]:
    with Verdicts(Path("store")) as ledger:
        ledger.take_in(Path("evidence"))
        [part] = [each["answer"] for each in answer(options, ledger, how, **more)]
        ledger.write_evidence(Path("evidence"))
    return list(part.to_pylist())


def loaded(options: Params) -> pa.Table:
    """What load makes of the answers."""
    Path("data/answer").mkdir(parents=True, exist_ok=True)
    with Verdicts(Path("store")) as ledger:
        for number, part in enumerate(answer(options, ledger, HOW)):
            write_part(part["answer"], Path("data/answer"), number)
    load = Load(dataset=options.dataset, load=options.load)
    [part] = [each["load"] for each in tables(opened(load), load)]
    return part


def test_a_request_holds_the_message_and_only_the_options_that_are_stated(server: JudgeServer) -> None:
    run(params(server))
    run(params(server, system="prompts/system.txt", temperature=0, seed=7, max_tokens=20))

    assert {asked(body) for body in server.calls} == {row["q"] for row in ROWS}
    assert server.calls[0] == {"model": "m", "messages": [{"role": "user", "content": asked(server.calls[0])}]}
    first, second = server.calls[6]["messages"]
    assert (first, second["role"]) == ({"role": "system", "content": "Be brief."}, "user")
    assert {name: server.calls[6][name] for name in ("temperature", "seed", "max_tokens")} == {
        "temperature": 0, "seed": 7, "max_tokens": 20,
    }  # fmt: skip
    assert {*server.keys} == {"Bearer none"}


def test_openai_calls_the_limit_by_its_new_name(server: JudgeServer) -> None:
    system = System.of(params(server, base_url="https://api.openai.com/v1", api_key_env=None).dataset)[0]
    chat = Chat(Endpoint(system.base_url, "m", system.api_key, 1.0, 0), ConcurrencyLimit(1), is_json=False)

    assert chat.body("", "Why?", None, max_tokens=5) == {
        "model": "m", "messages": [{"role": "user", "content": "Why?"}], "max_completion_tokens": 5,
    }  # fmt: skip


def test_a_key_that_is_not_named_goes_to_openai_only(server: JudgeServer) -> None:
    def variable(**options: Any) -> str | None:
        return System.of(params(server, **options).dataset)[0].api_key.variable

    assert variable() is None
    assert variable(base_url="https://api.openai.com/v1") == "OPENAI_API_KEY"
    assert variable(base_url="https://api.openai.com/v1", api_key_env=None) is None
    assert variable(api_key_env="MINE") == "MINE"


@pytest.mark.parametrize(
    ("options", "key"),
    [
        ({}, "4572f60f8113476654db53bd1871e320d96caa2a8d902e80d8b6184f09dfb856"),
        (
            {"system": "prompts/system.txt", "temperature": 0.5, "seed": 3, "max_tokens": 9, "version": 2},
            "f9ec676eb6fd20cb7022b9d3b4092b98cefa3862213743cb4e4b10a6e88b28e0",
        ),
    ],
)
def test_a_request_has_the_key_that_it_always_had(server: JudgeServer, options: dict[str, Any], key: str) -> None:
    [request] = System.of(params(server, server="desk", **options).dataset)[0].requests({"input": "Why?"})

    assert request.key == key


def test_a_row_says_what_was_answered_and_what_it_took(server: JudgeServer) -> None:
    how = HOW.model_copy(update={"prices": {"m": Price(input=1.0, output=2.0)}})

    row = run(params(server), how)[3]

    assert row.pop("latency") > 0.0
    assert row == {
        "id": "q3", "candidate": "live", "draw": 1, "input": "Question 3?", "response": "To Question 3?",
        "problem": None, "had_thought": False, "input_tokens": 100, "output_tokens": 10,
        "cost": 0.00012, "model": "judge-2026-01",
    }  # fmt: skip


def test_only_what_is_new_is_asked(server: JudgeServer) -> None:
    first = run(params(server))
    assert run(params(server)) == first
    assert len(server.calls) == 6

    write([*ROWS[1:], {**ROWS[0], "id": "q6", "q": "New?"}, {**ROWS[0], "id": "q7"}])
    run(params(server))
    assert sorted(map(asked, server.calls[6:])) == ["New?"]  # q7 asks what q0 asked

    Path("prompts/answer.txt").write_text("{{ input }}{% if 'New' in input %} Now?{% endif %}")
    run(params(server))
    assert [*map(asked, server.calls[7:])] == ["New? Now?"]

    run(params(server, version="2026-12"))
    assert len(server.calls) == 8 + 7
    assert run(params(server)) == run(params(server))
    assert len(server.calls) == 8 + 7


def test_draws_are_asked_with_seeds_of_their_own_and_become_rows_of_one_question(server: JudgeServer) -> None:
    server.script = lambda body: completion(f"{body['seed']}")

    table = loaded(params(server, draws=3, seed=10))

    assert len(server.calls) == 18
    rows = [row for row in table.to_pylist() if row["question"] == "q2"]
    assert [(row["id"], row["candidate"], row["response"]) for row in rows] == [
        ("q2#1", "live", "10"), ("q2#2", "live", "11"), ("q2#3", "live", "12"), ("q2#1", "file", "x"),
    ]  # fmt: skip


@pytest.mark.parametrize("draw", [True, "n"])
def test_a_question_with_several_records_is_asked_once(server: JudgeServer, draw: Any) -> None:
    write([{**row, "n": str(number), "a": f"x{number}"} for number in (1, 2) for row in ROWS])

    table = loaded(params(server, {"draw": draw}))

    assert len(server.calls) == 6
    rows = [row for row in table.to_pylist() if row["question"] == "q2"]
    assert sorted((row["id"], row["candidate"], row["response"]) for row in rows) == [
        ("q2#1", "file", "x1"), ("q2#1", "live", "To Question 2?"), ("q2#2", "file", "x2"),
    ]  # fmt: skip


REPLIES = {
    "Question 0?": (completion(" \n"), "the reply has no text"),
    "Question 1?": (completion(None, finish="content_filter"), "content filter"),
    "Question 2?": (problem(500), "HTTP 500"),
    "Question 3?": (completion("", finish="length"), "the reply was cut off"),
    "Question 4?": ((200, "<html>"), "the server's answer has not the expected form: <html>"),
    "Question 5?": ((200, {"choices": []}), 'the server\'s answer has not the expected form: {"choices": []}'),
}


def test_a_blank_answer_is_asked_for_again_only_if_another_one_may_come(server: JudgeServer) -> None:
    write(ROWS[:1])
    server.script = lambda _: completion(" ")

    for temperature, calls in ((0, 1), (0.7, 2)):
        server.calls.clear()
        run(params(server, temperature=temperature))
        assert len(server.calls) == calls
        assert {asked(body) for body in server.calls} == {"Question 0?"}


def test_a_failed_answer_is_missing_with_its_reason_and_never_wrong(server: JudgeServer) -> None:
    server.script = lambda body: REPLIES[asked(body)][0]
    options = params(server, {"missing_response": "wrong"})

    rows = run(options)

    assert [(row["response"], row["problem"], row["latency"]) for row in rows] == [
        (None, reason, None) for _, reason in REPLIES.values()
    ]
    table = loaded(options)
    assert [row["response"] for row in table.to_pylist() if row["candidate"] == "live"] == [None] * 6
    assert table["latency"].null_count == 12
    assert about(table.schema)["failed_answers"] == {"live": {reason: 1 for _, reason in REPLIES.values()}}


def test_a_failed_answer_is_asked_again_on_demand_and_one_that_was_not_asked_anyway(server: JudgeServer) -> None:
    server.script = lambda body: REPLIES[asked(body)][0]
    one = HOW.model_copy(update={"budget": Limits(max_calls=1, max_tokens=None, max_cost=None), "concurrency": 1})
    write(ROWS[1:3])
    run(params(server), one)
    assert [*map(asked, server.calls)] == ["Question 1?"]
    run(params(server))
    calls = len(server.calls)
    assert {*map(asked, server.calls[1:])} == {"Question 2?"}

    run(params(server))
    assert len(server.calls) == calls
    server.script = lambda _: completion("now")
    assert [row["response"] for row in run(params(server), retry_failed=True)] == ["now", "now"]
    assert len(server.calls) == calls + 2


def test_a_refusal_in_words_and_an_answer_cut_off_are_answers(server: JudgeServer) -> None:
    write(ROWS[:2])
    replies = {"Question 0?": completion(None, refusal="I won't."), "Question 1?": completion("Half", finish="length")}
    server.script = lambda body: replies[asked(body)]

    rows = run(params(server))

    assert [(row["response"], row["problem"]) for row in rows] == [
        ("I won't.", "refusal"), ("Half", "the reply was cut off"),
    ]  # fmt: skip
    assert len(server.calls) == 2


THOUGHTFUL = {
    "Question 0?": completion("<think>\nLyon? No.\n</think>\n\nParis"),
    "Question 1?": completion("Lyon? No.\n</think>\n\nParis"),
    "Question 2?": completion(
        "<|channel|>analysis<|message|>Lyon?<|end|><|start|>assistant<|channel|>final<|message|>Paris"
    ),
    "Question 3?": completion("<think>It is Paris. But", finish="length"),
    "Question 4?": completion("<think>It is Paris.</think>"),
    "Question 5?": completion(None, reasoning_content="It is Paris."),
}


def test_an_answer_is_scored_without_its_thought_and_a_thought_alone_is_none(server: JudgeServer) -> None:
    server.script = lambda body: THOUGHTFUL[asked(body)]

    rows = run(params(server))

    assert [(row["response"], row["problem"], row["had_thought"]) for row in rows] == [
        *[("Paris", None, True)] * 3,
        (None, "the reply was cut off within a thought", False),
        *[(None, "the reply is a thought without an answer", False)] * 2,
    ]
    facts = about(loaded(params(server)).schema)
    assert facts["thoughts"] == {"live": 3}
    assert facts["failed_answers"] == {
        "live": {"the reply is a thought without an answer": 2, "the reply was cut off within a thought": 1}
    }
    kept = run(params(server, {"thoughts": "keep"}))
    assert [row["response"] for row in kept][:2] == [
        "<think>\nLyon? No.\n</think>\n\nParis",
        "Lyon? No.\n</think>\n\nParis",
    ]


def test_too_many_failures_break_the_contract_with_advice(server: JudgeServer, tmp_path: Path) -> None:
    budget = Limits(max_calls=4, max_tokens=None, max_cost=None)
    used_up = "not asked: run.judge.budget.max_calls (4) is used up"

    rows = run(params(server), HOW.model_copy(update={"budget": budget, "concurrency": 1}))

    assert len(server.calls) == 4
    assert [row["problem"] for row in rows] == [None] * 4 + [used_up] * 2
    options = params(server)
    with Verdicts(Path("store")) as ledger:
        ledger.take_in(Path("evidence"))
        [part] = answer(options, ledger, HOW.model_copy(update={"budget": budget.model_copy(update={"max_calls": 1})}))
    assert counts(part) == {"failed": 1, "failed_allowed": 0.3}
    (tmp_path / "written").mkdir()
    write_part(part["answer"], tmp_path / "written", 0)
    assert advice({"answer": Parts(tmp_path / "written")}, options) == [
        "  live: 1 not answered: not asked: run.judge.budget.max_calls (1) is used up",
        "  What was answered is kept in the ledger: raise run.judge.budget.max_calls, and run again",
    ]


def test_a_server_that_is_down_does_not_lose_what_another_one_answered(server: JudgeServer) -> None:
    live = {"model": "m", "base_url": server.url}
    both = params(server, {"candidates": {"dead": {"model": "m", "base_url": "http://127.0.0.1:9/v1"}, "live": live}})

    says = r"no connection: nothing listens at 127\.0\.0\.1:9.* correct dataset\.candidates\.dead\.base_url"
    with pytest.raises(ServerError, match=says):
        run(both, HOW.model_copy(update={"retries": 0}))

    assert len(run(params(server, {"candidates": {"live": live}}))) == len(server.calls) == 6


def test_a_question_that_load_rejects_is_not_asked(server: JudgeServer) -> None:
    write([*ROWS[:2], {**ROWS[2], "ref": None}, {**ROWS[3], "id": "q1"}, {**ROWS[4], "q": "x" * 60}])

    run(params(server))

    assert len(server.calls) == 2


def test_two_questions_with_one_input_need_ids_before_anything_is_paid(server: JudgeServer) -> None:
    write([ROWS[0], {**ROWS[0], "ref": "another"}])

    with pytest.raises(DataError, match=r"dataset\.id: none, and two questions have the input 'Question 0\?'"):
        run(params(server, {"id": None}))

    assert not server.calls
    write(ROWS)
    table = loaded(params(server, {"id": None}))
    assert [row["response"] for row in table.to_pylist()[::2]] == [f"To Question {n}?" for n in range(6)]


def test_answers_by_batch_are_those_of_single_calls_without_a_latency(
    server: JudgeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("FIRST_PAUSE", "LONGEST_PAUSE"):
        monkeypatch.setattr(batch_dispatch, name, 0.01)

    batch = HOW.model_copy(update={"batch": True})
    with pytest.raises(BatchesAtWorkError, match=r"^answer: batches are at work at .*: 0 of 5 requests are answered"):
        run(params(server), batch.model_copy(update={"batch_wait": 0.0}))

    rows = run(params(server), batch)

    assert len(server.calls) == 1  # which detects what the server supports
    assert server.batches.asked.total() == 5
    assert [row["response"] for row in rows] == [f"To Question {n}?" for n in range(6)]
    assert [row["latency"] is None for row in rows] == [False] + [True] * 5


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"response": "a"},
            "live: model and response: a candidate with a model is asked, and one with a response is read",
        ),
        ({"cost": "usd"}, "live: model and cost: a candidate with a model is asked, and one with a cost is read"),
        ({"path": "x"}, "live: model and path: a candidate with a model is asked, and one with a path is read"),
        ({"label": "ok"}, "live: label: of which answer? Name the column of the labelled answers in labelled"),
        ({"draws": 0}, "live.draws: should be greater than or equal to 1 (given: 0)"),
        ({"tools": []}, "live.tools: unknown option; allowed: "),
        ({"base_url": "me:secret@host"}, "live.base_url: expected http://host/v1 or https://host/v1, without a user"),
    ],
)
def test_wrong_settings_are_refused(server: JudgeServer, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ParamsError) as error:
        params(server, **options)

    assert str(error.value).startswith(f"dataset.candidates.{message}")


def test_without_a_model_nothing_is_read_asked_or_checked(server: JudgeServer) -> None:
    options = params(server, {"candidates": {"file": {"response": "a"}}, "path": "not there"})

    assert STAGE.is_idle(options)
    assert run(options) == []


def test_a_key_that_a_server_sends_back_is_in_no_file(server: JudgeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIVE_KEY", KEY)
    server.script = lambda _: completion(f"your key is {KEY}")

    rows = run(params(server, api_key_env="LIVE_KEY"))

    assert {row["response"] for row in rows} == {"your key is [key]"}
    assert {*server.keys} == {f"Bearer {KEY}"}
    assert all(KEY.encode() not in path.read_bytes() for path in Path().rglob("*") if path.is_file())


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("hostile")


@given(texts=st.lists(st.text(st.characters(), max_size=30) | st.sampled_from(TEXTS[:40]), min_size=1, max_size=4))
def test_whatever_a_model_says_is_data(running: JudgeServer, store: Path, texts: list[str]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(store)
        Path("prompts").mkdir(exist_ok=True)
        Path("prompts/answer.txt").write_text("{{ input }}")
        write([{"id": f"q{n}", "q": f"{n}", "ref": "r", "a": "x"} for n in range(len(texts))])
        said = [f"{{{{ 1 }}}} {text}" for text in texts]
        running.script = lambda body: completion(said[int(asked(body))])

        rows = run(params(running, version=str(texts)))

    assert [row["response"] for row in rows] == [text.encode("utf-8", "replace").decode() for text in said]


def test_the_plan_counts_what_is_missing_and_names_the_key(
    server: JudgeServer, project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(project)
    monkeypatch.delenv("LIVE_KEY", raising=False)
    preflight.show()
    live = {"model": "m", "base_url": server.url, "api_key_env": "LIVE_KEY"}
    edit(lambda content: content["dataset"]["candidates"].update(live=live))

    preflight.show()

    none, calls, key = capsys.readouterr().out.splitlines()
    assert none == "answer: no call: no candidate has a model"
    assert calls.startswith(f"answer: live: 10 calls to m at {server.url}, about ")
    assert key == "set the environment variable LIVE_KEY to the key (dataset.candidates.live.api_key_env)"
    with pytest.raises(ModelError, match="set the environment variable LIVE_KEY"):
        preflight.require_keys(retry_failed=False)
    monkeypatch.setenv("LIVE_KEY", KEY)
    preflight.require_keys(retry_failed=False)
