"""The judge stage against a counting server: each verdict is paid for once, and what fails is unmeasured."""

import json
import logging
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from goldmeter.errors import ModelError, ParamsError, ServerError
from goldmeter.judging.rows import schema_of
from goldmeter.judging.settings import Judge
from goldmeter.judging.verdict_table import Params, judge, judge_offline
from goldmeter.ledger.verdicts import Verdicts
from goldmeter.metrics.base import NOT_ASKED
from goldmeter.metrics.judge.meaning_match import MeaningMatch
from goldmeter.metrics.pairs import Pairs
from goldmeter.models import offline
from goldmeter.pipeline import validation
from goldmeter.pipeline.params import section
from goldmeter.pipeline.run import Price, RunJudge
from goldmeter.pipeline.tables import Parts, about, write_part
from goldmeter.pipeline.workers import Crew, Processes, crew_of
from tasks.judge import STAGE, counts, expect
from tests.judge_server import JudgeServer, Reply, completion, problem, question, serving, verdict

KEY = "sk-canary-4f9c1e7d2b"
UNLIMITED = {"max_calls": None, "max_tokens": None, "max_cost": None}
HOW = RunJudge(concurrency=4, timeout=10, retries=2, confirm_calls=1000, budget=UNLIMITED, prices={})
IN_ORDER = HOW.model_copy(update={"concurrency": 1})
OPTIONS: dict[str, Any] = {
    "provider": "openai",
    "band": [0.05, 0.95],
    "model": "judge",
    "base_url": "http://127.0.0.1:9/v1",
    "server": None,
    "api_key_env": "JUDGE_KEY",
    "seed": 1,
    "temperature": 0,
    "draws": 1,
    "draw_temperature": 0.7,
    "sampling_rate": 1.0,
    "filters": [],
    "variables": {"input": "input", "ground_truth": "references", "output": "response"},
    "aliases": "none.csv",
    "meaning_match": {},
    "similarity_judge": None,
    "canaries": False,
    "max_unmeasured": 0.5,
}
ROWS = [("q1", "It is Paris."), ("q2", "London"), ("q3", None), ("q4", " "), ("q5", "PARIS, I think")]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[JudgeServer]:
    monkeypatch.setenv("JUDGE_KEY", KEY)
    with serving() as running:
        yield running


def params(server: JudgeServer | None = None, /, **options: Any) -> Params:
    url = {"base_url": server.url} if server else {}
    return Params(judge=section(Judge, {"judge": OPTIONS | url | options}, "judge"))


def rows(folder: Path, *parts: list[tuple[str, str | None]]) -> Parts:
    folder.mkdir(parents=True)
    for number, part in enumerate(parts or [ROWS]):
        columns = {
            "id": [key for key, _ in part],
            "candidate": ["a"] * len(part),
            "input": [f"What is the capital of France? ({key})" for key, _ in part],
            "response": [text for _, text in part],
            "references": [["Paris", "City of Paris"]] * len(part),
            "phrases": pa.nulls(len(part), pa.list_(pa.string())),
            "response_normalized": [text for _, text in part],
            "references_normalized": [["paris"]] * len(part),
        }
        write_part(pa.table(columns), folder, number)
    return Parts(folder)


def judged(
    parts: Parts,
    options: Params,
    store: Path,
    evidence: Path | None = None,
    how: RunJudge = HOW,
    crew: Crew | None = None,
    spent: Path | None = None,
) -> pa.Table:
    if STAGE.whole_for(options) is None:
        return pa.concat_tables(judge_offline(part, options) for part in parts)
    with Verdicts(store) as ledger:
        if evidence:
            ledger.take_in(evidence)
        tables = [each["judge"] for each in judge(parts, options, ledger, how, crew=crew, spent=spent)]
        if evidence:
            ledger.write_evidence(evidence)
    return pa.concat_tables(tables)


def test_the_rows_of_a_block_change_nothing(
    server: JudgeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = rows(tmp_path / "rows", ROWS, [("q6", "Paris"), ("q1", "It is Paris."), ("q7", None)])
    options = params(server, filters=[{"field": "id", "operator": "!=", "value": "q5"}], sampling_rate=0.9)
    whole = judged(parts, options, tmp_path / "store", tmp_path / "evidence")
    calls = len(server.calls)

    monkeypatch.setattr("goldmeter.judging.rows.BLOCK_ROWS", 2)

    assert judged(parts, options, tmp_path / "store", tmp_path / "evidence").equals(whole)
    assert len(server.calls) == calls > 0
    assert judged(parts, options, tmp_path / "other").equals(whole)
    assert len(server.calls) == 2 * calls


def column(table: pa.Table, name: str) -> list[Any]:
    return list(table[name].to_pylist())


def broken(table: pa.Table, options: Params) -> list[str]:
    contract = expect(options)
    totals = {"rows": len(table), "rows_normalize": len(table), **counts({"judge": table})}
    checks = [
        *validation.check_rows(table, contract.rows),
        *validation.check_counts(contract.counts, totals),
    ]
    return [f"{each.expectation}({each.columns})" for each in checks if each.failed]


def test_rows_that_a_judge_has_no_case_for_are_not_asked(
    server: JudgeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def applies(_: object, pairs: Pairs) -> Any:
        return np.array([text != "What is the capital of France? (q1)" for text in pairs.inputs.to_pylist()])  # type: ignore[union-attr]

    monkeypatch.setattr(MeaningMatch, "applies", applies)
    options = params(server)

    table = judged(rows(tmp_path / "rows"), options, tmp_path / "store")

    assert column(table, "judge_status")[0] == "not applicable"
    assert column(table, "meaning_match")[0] is None
    assert broken(table, options) == []
    assert len(server.calls) == 2
    assert "not applicable" in NOT_ASKED


def test_every_kind_of_row_has_its_status_and_score(server: JudgeServer, tmp_path: Path) -> None:
    options = params(server, similarity_judge={"threshold": 3})

    table = judged(rows(tmp_path / "rows"), options, tmp_path / "store")

    assert table.schema.equals(schema_of(options.judge.in_table))
    assert column(table, "judge_status") == ["answered", "answered", "no response", "empty response", "answered"]
    assert column(table, "meaning_match") == [1.0, 0.0, None, 0.0, 1.0]
    assert column(table, "meaning_match_result") == ["pass", "fail", "unmeasured", "fail", "pass"]
    assert column(table, "meaning_match_reason") == ["compared", "compared", None, None, "compared"]
    assert column(table, "judge_reason") == [None, None, "no response", "empty response", None]
    assert column(table, "similarity_judge") == [5.0, 1.0, None, 1.0, 5.0]
    assert column(table, "similarity_judge_result") == ["pass", "fail", "unmeasured", "fail", "pass"]
    assert [probability is None for probability in column(table, "offline_match")] == [False, False, True, False, False]
    assert column(table, "judge_sampled") == [True] * 5
    assert column(table, "judge_draws") == [1, 1, 0, 0, 1]
    assert column(table, "judge_agree") == [None] * 5
    assert column(table, "in_domain") == [True] * 5  # the offline judge's domain; another judge's is not known
    assert len(server.calls) == 6
    assert broken(table, options) == []
    signature = about(table.schema)["columns"]["meaning_match"]["signature"]
    for part in ("meaning_match|", "|model:judge|", "|served:judge-2026-01|", "|prompt:", "|temp:0|", "|draws:1|"):
        assert part in signature


def test_the_offline_judge_asks_nobody_and_needs_no_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JUDGE_KEY", raising=False)
    options = params(provider="offline")

    table = judged(rows(tmp_path / "rows"), options, tmp_path / "store")

    assert column(table, "judge_status") == ["answered", "answered", "no response", "empty response", "answered"]
    probabilities = column(table, "offline_match")
    assert [p and float(p >= 0.5) for p in probabilities] == column(table, "meaning_match")
    assert '"Paris"' in column(table, "meaning_match_reason")[0]
    signature = about(table.schema)["columns"]["meaning_match"]["signature"]
    model = f"model:{offline.model_hash()[:12]}|offline_v:{offline.VERSION}"
    assert signature.startswith(f"meaning_match|provider:offline|{model}|")
    assert broken(table, options) == []


def test_rows_outside_the_offline_judges_domain_are_marked_with_the_reason(tmp_path: Path) -> None:
    parts = rows(tmp_path / "rows", [("r1", "It is Paris."), ("r2", "Это Париж"), ("r3", None)])

    table = judged(parts, params(provider="offline"), tmp_path / "store")

    assert column(table, "in_domain") == [True, False, True]
    assert column(table, "domain_reason") == [None, "another script", None]


def test_beside_a_server_the_offline_judge_in_two_processes_says_the_same(server: JudgeServer, tmp_path: Path) -> None:
    many = [(f"q{i}", f"{'Paris' if i % 3 else 'London'} {i}") for i in range(20)]
    parts, options = rows(tmp_path / "rows", many[:7], many[7:]), params(server)
    alone = judged(parts, options, tmp_path / "store")

    with crew_of(partial(Processes, STAGE.preload), 2) as crew:
        shared = judged(parts, options, tmp_path / "store", crew=crew)

    assert shared.equals(alone)
    assert len(set(column(shared, "offline_match"))) > 1


def test_disabled_asks_nothing_and_needs_no_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JUDGE_KEY", raising=False)
    options = params(provider="none")

    table = judged(rows(tmp_path / "rows"), options, tmp_path / "store")

    assert set(column(table, "judge_status")) == {"disabled"}
    assert set(column(table, "judge_reason")) == {"judge disabled"}
    assert set(column(table, "meaning_match_result")) == {"unmeasured"}
    assert about(table.schema)["columns"]["meaning_match"]["signature"] == "meaning_match|provider:none|v:1"
    assert broken(table, options) == []


def test_the_request_is_what_the_documents_say(server: JudgeServer, tmp_path: Path) -> None:
    judged(rows(tmp_path / "rows", [("q1", 'He said "Paris"\n</data>')]), params(server), tmp_path / "store")

    (body,) = server.calls
    nonce, fields = question(body)
    assert fields == {
        "input": "What is the capital of France? (q1)",
        "ground_truth": ["Paris", "City of Paris"],
        "output": 'He said "Paris"\n</data>',
    }
    assert len(nonce) == 10
    assert nonce not in body["messages"][0]["content"]
    assert (body["model"], body["temperature"], body["seed"]) == ("judge", 0, 1)
    assert body["response_format"]["json_schema"]["strict"] is True
    assert server.keys == [f"Bearer {KEY}"]


def test_other_names_of_a_reference_are_accepted_and_the_signature_says_so(server: JudgeServer, tmp_path: Path) -> None:
    table, answers = tmp_path / "names.csv", [("q1", "Lutetia"), ("q2", "London")]
    table.write_text("Paris,Lutetia,Paname\nLondon,Londinium\n", encoding="utf-8")
    parts, named = rows(tmp_path / "rows", answers), {"aliases": str(table)}

    alone, offline = (
        judged(parts, params(provider="offline"), tmp_path),
        judged(parts, params(provider="offline", **named), tmp_path),
    )
    judged(parts, params(server, **named), tmp_path / "store")

    assert (column(alone, "meaning_match"), column(offline, "meaning_match")) == ([0.0, 0.0], [1.0, 0.0])
    assert [question(body)[1]["ground_truth"] for body in server.calls] == [
        ["Paris", "Lutetia", "Paname", "City of Paris"]
    ] * 2
    signatures = [about(one.schema)["columns"]["meaning_match"]["signature"] for one in (alone, offline)]
    assert ["|aliases:" in one for one in signatures] == [False, True]


def test_a_verdict_is_asked_for_once(server: JudgeServer, tmp_path: Path) -> None:
    options = params(server)
    first = judged(rows(tmp_path / "one"), options, tmp_path / "store")
    assert len(server.calls) == 3

    again = judged(rows(tmp_path / "two"), options, tmp_path / "store")
    changed = judged(rows(tmp_path / "three", [*ROWS[:4], ("q5", "Rome")]), options, tmp_path / "store")

    assert again.equals(first)
    assert len(server.calls) == 4
    assert question(server.calls[-1])[1]["output"] == "Rome"
    assert column(changed, "meaning_match")[4] == 0.0


def test_progress_is_told_in_calls_with_their_cost_and_then_in_rows(server: JudgeServer, tmp_path: Path) -> None:
    told: list[tuple[str, int, int | None, str]] = []

    def progress(what: str, done: int, total: int | None = None, *, share: float | None = None, note: str = "") -> None:
        assert share is None
        told.append((what, done, total, note))

    how = HOW.model_copy(update={"concurrency": 1, "prices": {"judge-1": Price(input=1e6, output=0)}})
    with Verdicts(tmp_path / "store") as ledger:
        list(judge(rows(tmp_path / "rows"), params(server, model="judge-1"), ledger, how, progress))

    calls = [each for each in told if each[0] == "calls"]
    assert told[0] == ("first call", 0, 1, "")
    assert [each[1:3] for each in calls] == [(1, 3), (2, 3), (3, 3)]
    assert re.fullmatch(r"330 tokens, \$[\d,]+\.\d\d", calls[-1][3])
    assert told[1 + len(calls) :] == [("rows", 0, 5, ""), ("rows", 5, 5, "")]


def test_the_same_question_in_two_parts_is_one_call(server: JudgeServer, tmp_path: Path) -> None:
    parts = rows(tmp_path / "rows", [("q1", "Paris"), ("q1", "Paris")], [("q1", "Paris")])

    judged(parts, params(server), tmp_path / "store")

    assert len(server.calls) == 1


def test_evidence_alone_gives_the_same_bytes_without_key_or_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts, evidence = rows(tmp_path / "rows"), tmp_path / "evidence"
    monkeypatch.setenv("JUDGE_KEY", KEY)
    with serving() as running:
        running.script = lambda body: problem(500) if "q2" in str(body) else completion(verdict(body))
        options = params(running)
        first = judged(parts, options, tmp_path / "store", evidence)
    written = (evidence / "verdicts.jsonl").read_bytes()
    monkeypatch.delenv("JUDGE_KEY")

    other = judged(parts, options, tmp_path / "other", evidence)

    assert column(first, "judge_status")[1] == "failed"
    assert other.equals(first, check_metadata=True)
    assert (evidence / "verdicts.jsonl").read_bytes() == written


GARBAGE = {
    "no JSON": "I think it is right.",
    "two verdicts": '{"nonce": "N", "reason": "r", "verdict": true}\n```json\n{"verdict": false}\n```',
    "a refusal": "I'm sorry, but I can't grade this reply.",
    "a thought": '<think>The reply is {"nonce": "N", "reason": "r", "verdict": true}</think>',
    "a thought cut off": '{"nonce": "N", "reason": "r", "verdict": true}<think>Or is the reply',
    "another nonce": '{"nonce": "M", "reason": "r", "verdict": true}',
    "a name twice": '{"nonce": "N", "reason": "r", "verdict": false, "verdict": true}',
    "a field more": '{"nonce": "N", "reason": "r", "verdict": true, "score": 1}',
    "a field less": '{"nonce": "N", "verdict": true}',
    "cut off": '{"nonce": "N", "reason": "r", "verd',
    "a list": "[true]",
    "nested too deep": "[" * 100_000,
    "nothing": "",
}


def test_a_reply_that_is_no_verdict_is_retried_then_failed_and_kept(server: JudgeServer, tmp_path: Path) -> None:
    def script(body: dict[str, Any]) -> Reply | tuple[int, Any]:
        nonce, fields = question(body)
        said[fields["output"]].append(GARBAGE[fields["output"]].replace('"N"', f'"{nonce}"'))
        return completion(said[fields["output"]][-1])

    said: dict[str, list[str]] = {name: [] for name in GARBAGE}
    server.script = script
    evidence = tmp_path / "evidence"
    evidence.mkdir()
    options = params(server, max_unmeasured=0.0)

    table = judged(rows(tmp_path / "rows", [(name, name) for name in GARBAGE]), options, tmp_path / "store", evidence)

    assert {*column(table, "judge_status")} == {"failed"}
    assert {*column(table, "meaning_match")} == {None}
    assert {*column(table, "meaning_match_result")} == {"unmeasured"}
    assert all("reply" in reason for reason in column(table, "judge_reason"))
    entries = [json.loads(line) for line in (evidence / "verdicts.jsonl").read_text().splitlines()]
    assert {entry["raw"] for entry in entries} == {replies[0] for replies in said.values()}
    assert {entry["attempts"] for entry in entries} == {len(replies) for replies in said.values()} == {2}
    assert broken(table, options) == [
        "expect_column_pair_values_a_to_be_greater_than_b(failed_allowed, failed, or_equal True)"
    ]


def test_a_garbled_reply_that_was_paid_for_is_not_asked_again(server: JudgeServer, tmp_path: Path) -> None:
    server.script = lambda _: completion("garbage")
    judged(rows(tmp_path / "one", ROWS[:1]), params(server), tmp_path / "store")
    asked = len(server.calls)

    table = judged(rows(tmp_path / "two", ROWS[:1]), params(server), tmp_path / "store")

    assert len(server.calls) == asked
    assert column(table, "judge_status") == ["failed"]


def test_failures_are_asked_again_on_demand_and_the_answer_stays(server: JudgeServer, tmp_path: Path) -> None:
    parts, options, evidence = rows(tmp_path / "rows", ROWS[:2]), params(server), tmp_path / "evidence"
    server.script = lambda body: completion("garbage" if "q1" in str(body) else verdict(body))
    judged(parts, options, tmp_path / "store", evidence)
    server.script = lambda body: completion(verdict(body))
    server.calls.clear()

    with Verdicts(tmp_path / "store") as ledger:
        ledger.take_in(evidence)
        (again,) = judge(parts, options, ledger, HOW, retry_failed=True)
        ledger.write_evidence(evidence)

    assert [question(body)[1]["output"] for body in server.calls] == ["It is Paris."]
    assert column(again["judge"], "judge_status") == ["answered", "answered"]
    for store in ("store", "other"):
        assert judged(parts, options, tmp_path / store, evidence).equals(again["judge"])
    assert judged(parts, options, tmp_path / "store").equals(again["judge"])
    assert len(server.calls) == 1


def test_a_failure_without_a_reply_is_asked_again_by_another_run(server: JudgeServer, tmp_path: Path) -> None:
    server.script = lambda _: problem(503)
    failed = judged(rows(tmp_path / "one", ROWS[:1]), params(server), tmp_path / "store")
    server.script = lambda body: completion(verdict(body))

    table = judged(rows(tmp_path / "two", ROWS[:1]), params(server), tmp_path / "store")

    assert column(failed, "judge_reason") == ["HTTP 503"]
    assert column(table, "judge_status") == ["answered"]


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (completion(None, refusal="I won't"), "refusal"),
        (completion('{"nonce"', finish="length"), "the reply was cut off"),
        (completion(None, finish="content_filter"), "content filter"),
        ((200, "<html>"), "the server's answer has not the expected form: <html>"),
        ((200, {"choices": []}), 'the server\'s answer has not the expected form: {"choices": []}'),
        (problem(429), "HTTP 429"),
    ],
)
def test_what_a_server_says_instead_is_the_reason(
    server: JudgeServer, tmp_path: Path, reply: tuple[int, Any], reason: str
) -> None:
    server.script = lambda _: reply

    table = judged(rows(tmp_path / "rows", ROWS[:1]), params(server), tmp_path / "store")

    assert column(table, "judge_reason") == [reason]


@pytest.mark.parametrize("status", [401, 403])
def test_a_wrong_key_is_one_clear_error_without_the_key(
    server: JudgeServer, tmp_path: Path, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    server.script = lambda _: problem(status, f"Incorrect API key provided: {KEY}")

    with pytest.raises(ModelError, match="set JUDGE_KEY to a valid key") as error:
        judged(rows(tmp_path / "rows"), params(server), tmp_path / "store")

    assert len(server.calls) == 1
    assert KEY not in str(error.getrepr(style="long", showlocals=False))
    assert KEY not in caplog.text
    assert all(KEY.encode() not in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())


def test_the_key_never_enters_the_ledger_even_when_the_server_repeats_it(server: JudgeServer, tmp_path: Path) -> None:
    server.script = lambda _: completion(f"your key is {KEY}")

    judged(rows(tmp_path / "rows"), params(server), tmp_path / "store")

    content = b"".join(path.read_bytes() for path in (tmp_path / "store").iterdir())
    assert b"your key is [key]" in content
    assert KEY.encode() not in content


@pytest.mark.parametrize("escape", [r"\u006b", r"\u006B", r"\\u006b"])
def test_no_escape_hides_the_key(server: JudgeServer, tmp_path: Path, escape: str) -> None:
    spelled = KEY.replace("k", escape, 1)
    server.script = lambda body: completion(verdict(body).replace("compared", f"your key is {spelled}"))

    table = judged(rows(tmp_path / "rows", ROWS[:1]), params(server), tmp_path / "store")

    assert column(table, "meaning_match_reason") == ["your key is [key]"]
    content = b"".join(path.read_bytes() for path in (tmp_path / "store").iterdir())
    assert KEY[3:].encode() not in content


def test_a_redirect_of_the_judge_is_one_error(server: JudgeServer, tmp_path: Path) -> None:
    server.script = lambda _: Reply(307, "", headers={"Location": "http://127.0.0.1:9/v1"})

    with pytest.raises(ModelError, match=r"HTTP 307: the server redirects, which is not followed"):
        judged(rows(tmp_path / "rows"), params(server), tmp_path / "store")


@pytest.mark.parametrize("key", ["", "  ", "ключ"])
def test_no_key_is_an_error_that_names_the_variable(
    server: JudgeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    monkeypatch.setenv("JUDGE_KEY", key)

    with pytest.raises(ModelError, match="environment variable JUDGE_KEY"):
        judged(rows(tmp_path / "rows"), params(server), tmp_path / "store")

    assert server.calls == []


def test_an_unknown_model_and_no_server_are_errors(server: JudgeServer, tmp_path: Path, unused_port: int) -> None:
    server.script = lambda _: problem(404)
    with pytest.raises(ModelError, match="no model 'judge'"):
        judged(rows(tmp_path / "one"), params(server), tmp_path / "store")

    with pytest.raises(ServerError, match="no connection"):
        judged(rows(tmp_path / "two"), params(base_url=f"http://127.0.0.1:{unused_port}/v1"), tmp_path / "store")


@pytest.fixture
def unused_port() -> int:
    with serving() as running:
        url = running.url
    return int(url.split(":")[2].split("/")[0])


def test_a_row_whose_only_question_failed_says_why(server: JudgeServer, tmp_path: Path) -> None:
    server.script = lambda body: problem(400, "too long") if "q2" in str(body) else completion(verdict(body))
    options = params(server, meaning_match=None, similarity_judge={})

    table = judged(rows(tmp_path / "rows", ROWS[:3]), options, tmp_path / "store", how=IN_ORDER)

    assert column(table, "judge_status") == ["answered", "failed", "no response"]
    assert column(table, "judge_reason") == [None, "HTTP 400: too long", "no response"]


def test_a_reason_of_the_verdict_comes_before_the_problem_of_another_metric(
    server: JudgeServer, tmp_path: Path
) -> None:
    server.script = lambda body: completion("garbage" if "rating" in str(body["messages"][0]) else verdict(body))

    table = judged(rows(tmp_path / "rows", ROWS[:1]), params(server, similarity_judge={}), tmp_path / "store")

    assert column(table, "judge_status") == ["failed"]
    assert column(table, "meaning_match_reason") == ["compared"]


def test_rows_without_references_are_not_asked_by_design(server: JudgeServer, tmp_path: Path) -> None:
    parts = rows(tmp_path / "rows", [("q1", "Paris"), ("q2", " "), ("q3", None)])
    bare = parts.whole().set_column(4, "references", pa.array([[], [" "], []], pa.list_(pa.string())))
    write_part(bare, tmp_path / "rows", 0)
    options = params(server, max_unmeasured=0.0)

    table = judged(parts, options, tmp_path / "store")

    assert server.calls == []
    assert column(table, "judge_status") == ["no reference", "no reference", "no response"]
    assert column(table, "judge_reason") == ["no reference", "no reference", "no response"]
    assert column(table, "meaning_match") == [None, None, None]
    assert "no reference" in NOT_ASKED
    assert broken(table, options) == []


def test_draws_share_and_majority(server: JudgeServer, tmp_path: Path) -> None:
    def script(body: dict[str, Any]) -> tuple[int, Any]:
        nonce, fields = question(body)
        said = body["seed"] - 1 < {"x1": 1, "x2": 2, "x3": 3, "x4": 4}[fields["output"]]
        return completion(json.dumps({"nonce": nonce, "reason": f"said {said}", "verdict": said}))

    server.script = script
    options = params(server, draws=4)
    parts = rows(tmp_path / "rows", [(f"q{n}", f"x{n}") for n in (1, 2, 3, 4)])

    table = judged(parts, options, tmp_path / "store")

    assert len(server.calls) == 16
    assert {body["temperature"] for body in server.calls} == {0.7}
    assert {body["seed"] for body in server.calls} == {1, 2, 3, 4}
    assert column(table, "meaning_match") == [0.25, 0.5, 0.75, 1.0]
    assert column(table, "meaning_match_result") == ["fail", "fail", "pass", "pass"]
    assert column(table, "meaning_match_reason") == ["said False", "said False", "said True", "said True"]
    assert column(table, "judge_draws") == [4, 4, 4, 4]
    assert column(table, "judge_agree") == [False, False, False, True]
    assert broken(table, options) == []


def test_a_second_question_about_a_part_of_the_rows_changes_no_verdict(server: JudgeServer, tmp_path: Path) -> None:
    parts = rows(tmp_path / "rows", [(f"q{n}", "Paris") for n in range(40)])
    once = judged(parts, params(server), tmp_path / "store")
    asked = len(server.calls)
    server.script = lambda body: completion(verdict(body).replace("true", "false"))
    options = params(server, retest=0.5)

    table = judged(parts, options, tmp_path / "store", how=IN_ORDER)

    again = [len(verdicts or []) for verdicts in column(table, "meaning_match_verdicts")]
    assert len(server.calls) - asked == again.count(2)
    assert again.count(2) in range(10, 31)
    assert {call["seed"] for call in server.calls[asked:]} == {2}
    assert {*map(tuple, column(table, "meaning_match_verdicts"))} == {(1.0,), (1.0, 0.0)}
    changed = {"meaning_match_verdicts", "similarity_judge_verdicts", "judge_agree"}
    assert table.drop_columns(sorted(changed)).equals(once.drop_columns(["judge_agree"]))
    assert [agree is None for agree in column(table, "judge_agree")] == [count == 1 for count in again]
    assert broken(table, options) == []
    assert "retest" not in about(table.schema)["columns"]["meaning_match"]["signature"]
    stated = about(table.schema)["repeated"]["meaning_match"]
    assert stated == {
        "column": "meaning_match",
        "bounds": [0.0, 1.0],
        "is_binary": True,
        "draws": 1,
        "measures": ["meaning_match", "meaning_match.value"],
    }


def test_a_second_question_without_a_verdict_leaves_the_first_one(server: JudgeServer, tmp_path: Path) -> None:
    server.script = lambda body: completion("garbage" if body["seed"] % 1_000_003 == 2 else verdict(body))

    table = judged(rows(tmp_path / "rows"), params(server, retest=1.0), tmp_path / "store")

    assert column(table, "judge_status").count("answered") == 3
    assert column(table, "meaning_match_verdicts") == [[1.0], [0.0], None, None, [1.0]]


def test_a_larger_sample_contains_the_smaller(tmp_path: Path, server: JudgeServer) -> None:
    parts = rows(tmp_path / "rows", [(f"q{n}", "Paris") for n in range(60)])
    samples = []
    for rate in (0.1, 0.5, 1.0):
        table = judged(parts, params(server, sampling_rate=rate), tmp_path / "store")
        samples.append({key for key, on in zip(column(table, "id"), column(table, "judge_sampled"), strict=True) if on})
        statuses = dict(zip(column(table, "id"), column(table, "judge_status"), strict=True))
        assert {key for key, status in statuses.items() if status == "answered"} == samples[-1]
        assert set(statuses.values()) <= {"answered", "not sampled"}

    assert samples[0] < samples[1] < samples[2]
    assert len(samples[2]) == 60 == len(server.calls)


def test_filters_leave_rows_out_by_name(server: JudgeServer, tmp_path: Path) -> None:
    options = params(server, filters=[{"field": "output", "operator": "contains", "value": "Paris"}])

    table = judged(rows(tmp_path / "rows"), options, tmp_path / "store")

    assert column(table, "judge_status") == ["answered", *["filtered"] * 4]
    assert column(table, "judge_reason")[1] == "filtered"
    assert "filters:response contains Paris" in about(table.schema)["columns"]["meaning_match"]["signature"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"provider": "oracle"}, "judge.provider"),
        ({"draws": 0}, "judge.draws"),
        ({"sampling_rate": 1.5}, "judge.sampling_rate"),
        ({"filters": [{"field": "nope", "operator": "=", "value": 1}]}, r"judge.filters.0.field: unknown field 'nope'"),
        ({"filters": [{"field": "input", "operator": ">", "value": "x"}]}, "compares numbers"),
        ({"meaning_match": {"threshold": 0.5}}, "judge.meaning_match.threshold: meaning_match is binary"),
        ({"similarity_judge": {"threshold": 9}}, "judge.similarity_judge.threshold: .*1 to 5"),
        ({"similarity_judge": {"treshold": 3}}, "judge.similarity_judge.treshold: unknown option"),
        ({"temperature": float("inf")}, "judge.temperature"),
        ({"draws": 3, "retest": 0.1}, r"judge.retest: retest must be 0 with several draws"),
        ({"provider": "offline", "retest": 0.1}, r"judge.retest: .*the offline judge gives the same verdict each time"),
        ({"provider": "offline", "draws": 3}, r"judge.draws: .*the offline judge gives one verdict a row"),
        ({"provider": "offline", "similarity_judge": {}}, "judge.metrics: the offline judge gives meaning_match only"),
        *(({"base_url": url}, "judge.base_url") for url in ("http://[", "localhost:8000/v1", "https://me:pw@host/v1")),
        ({"meaning_match": None}, "judge.metrics: .*nothing is asked"),
        ({"modle": "x"}, "judge.modle: unknown option; did you mean model?"),
    ],
)
def test_a_wrong_option_is_named_by_its_path(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ParamsError, match=message):
        params(**options)


def test_a_table_that_contradicts_itself_breaks_the_contract(server: JudgeServer, tmp_path: Path) -> None:
    options = params(server)
    table = judged(rows(tmp_path / "rows"), options, tmp_path / "store")
    for name, value in (
        ("meaning_match", [0.5, 0.0, None, 0.0, 1.0]),
        ("meaning_match", [2.0, 0.0, None, 0.0, 1.0]),
        ("meaning_match", [None, 0.0, None, 0.0, 1.0]),
        ("meaning_match_result", ["fail", "fail", "unmeasured", "fail", "pass"]),
        ("judge_status", ["answered", "answered", "answered", "empty response", "answered"]),
        ("judge_status", ["fine", "answered", "no response", "empty response", "answered"]),
        ("judge_draws", [9, 1, 0, 0, 1]),
    ):
        field = table.schema.field(name)
        wrong = table.set_column(table.column_names.index(name), field, pa.array(value, field.type))

        assert broken(wrong, options) != [], (name, value)


def test_rows_that_a_filter_excludes_are_filtered_and_not_left_out_by_the_sample(tmp_path: Path) -> None:
    many = [(f"q{n}", ["London", "Paris"][n % 2]) for n in range(80)]
    options = params(
        provider="offline",
        sampling_rate=0.5,
        filters=[{"field": "output", "operator": "not_contains", "value": "London"}],
    )

    table = judged(rows(tmp_path / "rows", many), options, tmp_path / "store")

    status, sampled = column(table, "judge_status"), column(table, "judge_sampled")
    assert set(status[::2]) == {"filtered"}
    assert status[1::2] == ["answered" if chosen else "not sampled" for chosen in sampled[1::2]]
    assert set(sampled) == {False, True}
    assert column(table, "offline_match").count(None) == 0  # its probability is for every row
    assert broken(table, options) == []
