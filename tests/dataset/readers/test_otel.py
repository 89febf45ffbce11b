"""Spans and events of generative AI, typed from OpenTelemetry's conventions and OTLP's mapping to JSON."""

import json
from pathlib import Path
from typing import Any

import pytest

from goldmeter.dataset.readers import detect
from goldmeter.dataset.sources import records
from goldmeter.errors import DataError
from tests.dataset.readers.proposed import proposed

MODEL = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "small"}


def value(of: Any) -> dict[str, Any]:
    if isinstance(of, dict):
        return {"kvlistValue": {"values": pairs(of)}}
    if isinstance(of, list):
        return {"arrayValue": {"values": [value(item) for item in of]}}
    kinds = {bool: "boolValue", int: "intValue", float: "doubleValue", str: "stringValue"}
    return {kinds[type(of)]: str(of) if type(of) is int else of}


def pairs(of: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"key": key, "value": value(item)} for key, item in of.items()]


def messages(role: str, *texts: str) -> list[dict[str, Any]]:
    return [{"role": role, "parts": [{"type": "reasoning", "content": "hm"}, {"type": "text", "content": text}]}
            for text in texts]  # fmt: skip


def evaluation(name: str, score: Any, **more: Any) -> dict[str, Any]:
    kind = "label" if isinstance(score, str) else "value"
    return {"gen_ai.evaluation.name": name, f"gen_ai.evaluation.score.{kind}": score, **more}


def span(number: int, attributes: dict[str, Any], *evaluations: dict[str, Any], **more: Any) -> dict[str, Any]:
    events = [{"name": "gen_ai.evaluation.result", "attributes": pairs(one)} for one in evaluations]
    times = {"startTimeUnixNano": "1000000000", "endTimeUnixNano": "2500000000"}
    return {"traceId": "t", "spanId": str(number), "name": "chat small", **times, "attributes": pairs(attributes),
            "events": events, **more}  # fmt: skip


def asked(number: int, answer: str | None) -> dict[str, Any]:
    given = {} if answer is None else {"gen_ai.output.messages": json.dumps(messages("assistant", answer))}
    return {**MODEL, "gen_ai.input.messages": json.dumps(messages("user", f"q{number}")), **given}


def event(number: int, name: str, attributes: dict[str, Any], body: Any = None) -> dict[str, Any]:
    said = {} if body is None else {"body": value(body)}
    return {"eventName": name, "traceId": "t", "spanId": str(number), "attributes": pairs(attributes), **said}


def otlp(kind: str, *entries: dict[str, Any]) -> dict[str, Any]:
    scopes, name = {"Spans": ("scopeSpans", "spans"), "Logs": ("scopeLogs", "logRecords")}[kind]
    return {f"resource{kind}": [{"resource": {}, scopes: [{"scope": {}, name: list(entries)}]}]}


def rows_of(path: Path, *documents: dict[str, Any]) -> list[dict[str, Any]]:
    path.write_text("".join(json.dumps(one) + "\n" for one in documents))
    return [record.values for record in records(path, None, "otel")]


def test_a_span_with_messages_is_a_record_and_its_evaluations_are_scores(tmp_path):
    usage = {"gen_ai.usage.input_tokens": 20, "gen_ai.usage.output_tokens": 3}
    path = tmp_path / "spans.json"
    path.write_text(json.dumps(otlp(
        "Spans",
        span(1, {**asked(1, "a1"), **usage}, evaluation("Correctness", 1.0), evaluation("tone", "kind")),
        span(2, asked(2, "a2"), evaluation("Correctness", 0.0)),
    ), indent=2))  # fmt: skip

    options, rows = proposed(path)

    assert options["format"] == "otel"
    assert [(row["candidate"], row["input"], row["response"], row["score_Correctness"]) for row in rows] == [
        ("small", "q1", "a1", 1.0),
        ("small", "q2", "a2", 0.0),
    ]
    assert [(row["latency"], row["tokens"]) for row in rows] == [(1.5, 23.0), (1.5, None)]


@pytest.mark.parametrize("name", ["events.json", "events.jsonl"])
def test_events_of_one_span_are_a_record_on_whatever_line(tmp_path, name):
    details = {**MODEL, "gen_ai.input.messages": messages("user", "q"), "gen_ai.output.messages": messages("x", "a")}
    lines = [otlp("Logs", event(1, "gen_ai.client.inference.operation.details", details)),
             otlp("Logs", event(1, "gen_ai.evaluation.result", evaluation("Relevance", 4.0)))]  # fmt: skip

    (row,) = rows_of(tmp_path / name, *lines)
    assert (row["input"], row["response"], row["score_Relevance"]) == ("q", "a", "4.0")


def test_messages_that_are_events_of_their_own_are_read(tmp_path):
    lines = [otlp("Spans", span(1, MODEL)), otlp(
        "Logs",
        event(1, "gen_ai.system.message", {}, {"content": "Be brief."}),
        event(1, "gen_ai.user.message", {}, {"content": "q"}),
        event(1, "gen_ai.choice", {}, {"index": 0, "message": {"role": "assistant", "content": "a"}}),
    )]  # fmt: skip

    (row,) = rows_of(tmp_path / "a.jsonl", *lines)
    assert (row["input"], row["response"]) == ("system: Be brief.\n\nuser: q", "a")


def test_an_evaluation_without_a_span_is_of_the_response_that_it_names(tmp_path):
    late = evaluation("ok", 1.0, **{"gen_ai.response.id": "r2"})
    spans = [span(n, {**asked(n, "a"), "gen_ai.response.id": f"r{n}"}) for n in (1, 2)]

    rows = rows_of(tmp_path / "a.jsonl", otlp("Spans", *spans), otlp("Logs", {"eventName": "gen_ai.evaluation.result",
                                                                              "attributes": pairs(late)}))  # fmt: skip
    assert [row.get("score_ok") for row in rows] == [None, "1.0"]


def test_a_call_that_failed_is_unmeasured(tmp_path):
    failed = span(1, {**asked(1, None), "error.type": "timeout"}, status={"code": 2, "message": "timed out"})

    rows = rows_of(tmp_path / "a.jsonl", otlp("Spans", failed, span(2, asked(2, None))))
    assert [(row["response"], row["error"]) for row in rows] == [(None, "timed out"), (None, "no output")]


def test_several_answers_of_a_call_are_draws_without_a_score(tmp_path):
    both = json.dumps(messages("assistant", "a", "b"))

    rows = rows_of(tmp_path / "a.jsonl", otlp("Spans", span(1, {**asked(1, None), "gen_ai.output.messages": both},
                                                            evaluation("ok", 1.0))))  # fmt: skip
    assert [(row["response"], row["draw"], row.get("score_ok")) for row in rows] == [("a", "1", None), ("b", "2", None)]


def test_what_an_agent_calls_is_a_part_of_its_answer(tmp_path):
    agent = span(1, {**asked(1, "final"), "gen_ai.operation.name": "invoke_agent"})
    tool = span(2, {"gen_ai.operation.name": "execute_tool"}, parentSpanId="1")
    call = span(3, asked(3, "step"), parentSpanId="2")

    assert [row["response"] for row in rows_of(tmp_path / "a.jsonl", otlp("Spans", call, tool, agent))] == ["final"]


def test_spans_that_are_their_own_parents_are_read(tmp_path):
    loop = [span(1, {"a": "b"}, parentSpanId="2"), span(2, {"a": "b"}, parentSpanId="1")]

    rows = rows_of(tmp_path / "a.jsonl", otlp("Spans", *loop, span(3, asked(3, "x"), parentSpanId="1")))
    assert [row["response"] for row in rows] == ["x"]


def test_spans_without_messages_are_refused_with_the_way(tmp_path):
    (tmp_path / "a.json").write_text(json.dumps(otlp("Spans", span(1, MODEL))))

    assert detect(tmp_path / "a.json") == "otel"
    with pytest.raises(DataError, match="only if asked to, for example by OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE"):
        list(records(tmp_path / "a.json", None, "otel"))


def test_spans_as_the_console_exporter_writes_them_are_read(tmp_path):
    (row,) = rows_of(tmp_path / "a.jsonl", {"name": "chat", "context": {"span_id": "0x1"}, "attributes": asked(1, "a")})

    assert (row["input"], row["response"]) == ("q1", "a")
    assert detect(tmp_path / "a.jsonl") == "otel"
