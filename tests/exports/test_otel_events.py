"""OpenTelemetry events: what each holds, messages that OTLP's own definition reads, and receivers that refuse."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from goldmeter.exports import otel_events
from tests.exports.conftest import told
from tests.flows.webhook import webhook


def messages(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n")[:-1]]


def records(message: Any) -> list[Any]:
    [resource] = message["resourceLogs"]
    [scope] = resource["scopeLogs"]
    return list(scope["logRecords"])


def attributes(holder: Any) -> dict[str, Any]:
    return {one["key"]: next(iter(one["value"].values())) for one in holder["attributes"]}


def events(path: Path) -> list[dict[str, Any]]:
    return [attributes(record) for message in messages(path) for record in records(message)]


def test_every_score_is_an_event(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert told(capsys, "otel", "events.jsonl") == (0, "events.jsonl: 120 events\n", "")

    found = events(run / "events.jsonl")
    assert Counter(one["gen_ai.evaluation.name"] for one in found) == {
        "label": 40, "f1": 40, "semantic_similarity": 40,
    }  # fmt: skip
    assert found[40] == {
        "gen_ai.evaluation.name": "f1",
        "gen_ai.evaluation.score.value": 1.0,
        "gen_ai.evaluation.score.label": "pass",
        "goldmeter.id": "q0",
        "goldmeter.candidate": "aurora",
    }
    assert found[79]["gen_ai.evaluation.score.label"] == "fail"
    assert found[-1] == {
        "gen_ai.evaluation.name": "semantic_similarity",
        "gen_ai.evaluation.explanation": "no vector",
        "error.type": "_OTHER",
        "goldmeter.id": "q19",
        "goldmeter.candidate": "borealis",
    }


def test_messages_are_short_and_say_where_they_are_from(
    run: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(otel_events, "MESSAGE_ROWS", 8)
    told(capsys, "otel", "events.jsonl", "--candidate", "aurora", "--response-ids")

    found = messages(run / "events.jsonl")
    assert {len(records(message)) for message in found} == {4, 2}  # of parts of 12 rows, half of them by aurora
    assert {one["goldmeter.candidate"] for one in events(run / "events.jsonl")} == {"aurora"}
    assert all(one["gen_ai.response.id"] == one["goldmeter.id"] for one in events(run / "events.jsonl"))
    [resource] = found[0]["resourceLogs"]
    assert attributes(resource["resource"])["service.name"] == "goldmeter"
    assert attributes(resource["scopeLogs"][0]["scope"])["goldmeter.signature"] == "label|v:1"
    record = records(found[0])[0]
    assert record["eventName"] == "gen_ai.evaluation.result"
    assert record["timeUnixNano"].isdigit()


def test_opentelemetrys_own_definition_reads_them(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    logs = pytest.importorskip("opentelemetry.proto.logs.v1.logs_pb2", reason="comes with the extra mlflow")
    from google.protobuf import json_format

    told(capsys, "otel", "events.jsonl")

    for message in messages(run / "events.jsonl"):
        parsed = json_format.ParseDict(message, logs.LogsData())
        assert parsed.resource_logs[0].scope_logs[0].log_records[0].event_name == "gen_ai.evaluation.result"


def test_a_receiver_gets_them(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, run: Path) -> None:
    monkeypatch.setattr(otel_events, "PAUSES", (0.0,))
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "api-key=a%20b,other=1")
    with webhook([(503, {})]) as receiver:
        host = receiver.url.partition("/hooks")[0]
        status, out, _ = told(capsys, "otel", host)

        told(capsys, "otel", "events.jsonl")
        assert (status, out) == (0, f"{host}: 120 events\n")
        first, again, *others = receiver.received
        assert first.path == "/v1/logs"
        assert (first.headers["api-key"], first.headers["content-type"]) == ("a b", "application/json")
        assert first.content == again.content
        sent = [attributes(record) for each in (again, *others) for record in records(each.content)]
        assert sent == events(run / "events.jsonl")


@pytest.mark.usefixtures("run")
@pytest.mark.parametrize(
    ("answer", "status", "says"),
    [(404, 2, "did not accept the events: HTTP status 404"), (503, 75, "did not take the events: HTTP status 503")],
)
def test_a_receiver_that_refuses(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, answer: int, status: int, says: str
) -> None:
    monkeypatch.setattr(otel_events, "PAUSES", (0.0,))
    with webhook([(answer, {})] * 2) as receiver:
        host = receiver.url.partition("://")[2]
        ended, _, err = told(capsys, "otel", f"http://user:pass-word@{host}")

    assert ended == status
    assert says in err
    assert "pass-word" not in err
    assert err.count("\n") == 1


@pytest.mark.usefixtures("run")
def test_no_receiver(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(otel_events, "PAUSES", ())

    assert told(capsys, "otel", "http://127.0.0.1:9")[0] == 75
