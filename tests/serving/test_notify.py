"""Who is told of a run, and that no secret goes elsewhere."""

import json
import logging
import re
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prefect.blocks.core import Block
from prefect.blocks.notifications import CustomWebhookNotificationBlock
from prefect.blocks.system import Secret
from prefect.events import Event, EventTrigger
from prefect.events.schemas.automations import AutomationCore
from prefect.settings import PREFECT_API_URL, temporary_settings

from goldmeter.console.markdown import escaped
from goldmeter.errors import ParamsError
from goldmeter.pipeline.schedule import Notify
from goldmeter.pipeline.yaml import parse_yaml
from goldmeter.serving import notify
from goldmeter.serving.notify import NotifyError, Outcome, call, check, message, report, seconds_of
from tests.flows.webhook import webhook
from tests.small_project import ROOT

WORSE = Outcome(
    ok=False,
    sentence="aurora: f1 pass rate fell by 0.153 [-0.271, -0.052] against v1 (60 rows; worse on q1, q2)",
    experiment="nightly-2026-11-21-020000",
    commit="a" * 40,
    alarms=("meaning_match: below its floor .85",),
    markdown="| measure |",
)
GOOD = Outcome(ok=True, sentence="all is well")
NOW = datetime(2026, 11, 21, 2, 0, tzinfo=UTC)
LOG = logging.getLogger("told")


def section(url: str | None, secret_env: str | None = None, *, always: bool = False) -> Notify:
    return Notify(url=url, header="Authorization", secret_env=secret_env, always=always)


@pytest.fixture
def events(monkeypatch):
    """Events and artifacts, as (kind, arguments)."""
    seen = []
    monkeypatch.setattr(notify, "emit_event", lambda **event: seen.append((event["event"], event)))
    monkeypatch.setattr(
        notify, "create_markdown_artifact", lambda text, **more: seen.append(("artifact", {"text": text} | more))
    )
    return seen


def never(_seconds: float) -> None:
    pytest.fail("no second attempt is due")


def test_the_webhook_gets_the_outcome_once_with_a_text_that_a_chat_shows():
    with webhook() as hook:
        call("nightly", section(hook.url), WORSE, "run-1", never)

    assert [(one.path, one.headers["idempotency-key"]) for one in hook.received] == [("/hooks/a-secret-path", "run-1")]
    assert hook.received[0].content == {
        "text": f"goldmeter nightly: {WORSE.sentence}\nmeaning_match: below its floor .85",
        "schedule": "nightly",
        "run": "run-1",
        "ok": False,
        "sentence": WORSE.sentence,
        "experiment": "nightly-2026-11-21-020000",
        "commit": "a" * 40,
        "alarms": ["meaning_match: below its floor .85"],
        "over": [],
        "facts": None,
    }


def test_address_and_secret_come_from_the_environment_and_the_secret_is_sent_in_its_header(monkeypatch):
    with webhook() as hook:
        monkeypatch.setenv("HOOK", hook.url)
        monkeypatch.setenv("TOKEN", "Bearer s3cret\n")
        call("nightly", section("$HOOK", "TOKEN"), WORSE, "run-1", never)

    assert hook.received[0].headers["authorization"] == "Bearer s3cret"


def test_nobody_is_called_without_an_address():
    call("nightly", section(None, "NEVER_SET"), WORSE, "run-1", never)


@pytest.mark.parametrize(
    ("answers", "pauses"),
    [
        ([(500, {}), (503, {})], [1.0, 2.0]),
        ([(429, {"Retry-After": "7"})], [7.0]),
        ([(429, {"Retry-After": "86400"})], [60.0]),
        ([(429, {"Retry-After": "soon"})], [1.0]),
    ],
)
def test_a_webhook_that_is_busy_is_asked_again_with_the_same_key(answers, pauses):
    waited = []

    with webhook(answers) as hook:
        call("nightly", section(hook.url), WORSE, "run-1", waited.append)

    assert waited == pauses
    assert {one.headers["idempotency-key"] for one in hook.received} == {"run-1"}
    assert len(hook.received) == len(pauses) + 1


def test_a_webhook_that_stays_broken_is_given_up_after_five_attempts():
    waited = []

    with webhook([(502, {})] * 9) as hook, pytest.raises(NotifyError) as error:
        call("nightly", section(hook.url), WORSE, "run-1", waited.append)

    assert str(error.value) == "schedule.nightly.notify.url: 127.0.0.1 did not accept the outcome: HTTP status 502"
    assert (len(hook.received), waited) == (5, [1.0, 2.0, 4.0, 8.0])


def test_a_host_that_is_not_there_is_tried_again_and_named_without_the_path():
    waited = []
    with webhook() as hook:
        pass  # its port is free again

    with pytest.raises(NotifyError) as error:
        call("nightly", section(hook.url), WORSE, "run-1", waited.append)

    assert str(error.value) == "schedule.nightly.notify.url: 127.0.0.1 did not accept the outcome: ConnectError"
    assert waited == [1.0, 2.0, 4.0, 8.0]


@pytest.mark.parametrize("status", [400, 401, 404, 410])
def test_what_will_not_change_is_not_asked_again(status):
    with webhook([(status, {})]) as hook, pytest.raises(NotifyError, match=f"HTTP status {status}$"):
        call("nightly", section(hook.url), WORSE, "run-1", never)

    assert len(hook.received) == 1


def test_a_redirect_is_not_followed_with_the_secret(monkeypatch):
    monkeypatch.setenv("TOKEN", "s3cret")
    with (
        webhook() as elsewhere,
        webhook([(307, {"Location": elsewhere.url})]) as hook,
        pytest.raises(NotifyError, match="redirects are not followed"),
    ):
        call("nightly", section(hook.url, "TOKEN"), WORSE, "run-1", never)

    assert elsewhere.received == []


def test_no_secret_is_logged_even_by_httpx(monkeypatch, caplog, events):
    monkeypatch.setenv("TOKEN", "s3cret")
    caplog.set_level(logging.INFO)
    monkeypatch.setattr(notify, "ATTEMPTS", 1)

    with webhook([(200, {}), (500, {}), (404, {})]) as hook:
        for _ in range(3):
            report("nightly", section(hook.url, "TOKEN"), WORSE, "run-1", LOG)
    report("nightly", section(hook.url, "TOKEN"), WORSE, "run-1", LOG)

    assert len(hook.received) == 3
    assert [record.getMessage() for record in caplog.records] == [
        "webhook: schedule.nightly.notify.url: 127.0.0.1 did not accept the outcome: HTTP status 500",
        "webhook: schedule.nightly.notify.url: 127.0.0.1 did not accept the outcome: HTTP status 404",
        "webhook: schedule.nightly.notify.url: 127.0.0.1 did not accept the outcome: ConnectError",
    ]
    assert "secret" not in json.dumps(events)
    assert "s3cret" not in json.dumps(events)


@pytest.mark.parametrize("value", ["s3cret\nX-Evil: 1", "s3crët", "s3\x00cret"])
def test_a_secret_that_no_header_can_hold_is_refused_without_being_shown(monkeypatch, value):
    if "\x00" in value:
        value = "s3\x7fcret"  # an environment holds no NUL
    monkeypatch.setenv("TOKEN", value)

    with pytest.raises(ParamsError, match=r"^schedule\.nightly\.notify\.secret_env: TOKEN holds") as error:
        check("nightly", section("https://example.org/a-secret-path", "TOKEN"))

    assert "s3" not in str(error.value)


@pytest.mark.parametrize(
    ("url", "secret_env", "problem"),
    [
        ("$HOOK", None, r"^schedule\.nightly\.notify\.url: the environment variable HOOK is not set; export it"),
        ("http://h", "TOKEN", r"^schedule\.nightly\.notify\.secret_env: the environment variable TOKEN is not set"),
        ("http://", None, r"^schedule\.nightly\.notify\.url: it holds no http:// or https:// address"),
        (
            "http://h:port/a-secret-path",
            None,
            r"^schedule\.nightly\.notify\.url: it holds no http:// or https:// address",
        ),
        ("$FTP", None, r"^schedule\.nightly\.notify\.url: \$FTP holds no http:// or https:// address"),
    ],
)
def test_what_is_missing_is_named_before_anything_is_served(monkeypatch, url, secret_env, problem):
    monkeypatch.setenv("FTP", "ftp://a-secret-path")
    for name in ("HOOK", "TOKEN"):
        monkeypatch.delenv(name, raising=False)

    with pytest.raises(ParamsError, match=problem) as error:
        check("nightly", Notify.model_construct(url=url, header="X", secret_env=secret_env, always=False))

    assert "secret-path" not in str(error.value)


@pytest.mark.parametrize(("ok", "always", "told"), [(True, False, 0), (True, True, 1), (False, False, 1)])
def test_all_is_well_is_told_only_when_asked_for(ok, always, told, events):
    outcome = WORSE.model_copy(update={"ok": ok})

    with webhook() as hook:
        report("nightly", section(hook.url, always=always), outcome, "run-1", LOG)

    assert len(hook.received) == told
    assert [kind for kind, _ in events if kind != "artifact"] == [
        f"goldmeter.schedule.{'succeeded' if ok else 'failed'}"
    ] * told


def test_the_event_names_the_schedule_and_the_artifact_holds_what_was_found(events):
    report("nightly", section(None), WORSE, "run-1", LOG)

    (kind, event), (_, artifact) = events
    assert kind == "goldmeter.schedule.failed"
    assert event["resource"] == {
        "prefect.resource.id": "goldmeter.schedule.nightly",
        "prefect.resource.name": "nightly",
    }
    assert event["payload"] == message("nightly", WORSE, "run-1")
    found = f"commit {'a' * 40}: `dvc exp show`, `python -m flows.compare nightly-2026-11-21-020000`"
    assert artifact == {
        "text": f"| measure |\n\nExperiment **nightly-2026-11-21-020000**, {found}",
        "key": "schedule-nightly",
        "description": escaped(WORSE.sentence),
    }


def test_the_artifact_links_the_flow_run_that_ran_the_stages(events):
    run = "11111111-2222-3333-4444-555555555555"
    with temporary_settings({PREFECT_API_URL: "http://127.0.0.1:4200/api"}):
        report("nightly", section(None), WORSE.model_copy(update={"facts": {"flow_run": run}}), "run-1", LOG)

    assert events[-1][1]["text"].endswith(f"flow run [{run}](http://127.0.0.1:4200/runs/flow-run/{run})")


def test_a_server_that_takes_no_artifact_does_not_keep_the_webhook_from_being_told(monkeypatch, caplog):
    def broken(*_args, **_more):
        raise RuntimeError("away")

    monkeypatch.setattr(notify, "create_markdown_artifact", broken)
    monkeypatch.setattr(notify, "emit_event", broken)

    with webhook() as hook:
        report("nightly", section(hook.url), WORSE, "run-1", LOG)

    assert len(hook.received) == 1
    assert [record.getMessage() for record in caplog.records] == ["event: not delivered", "artifact: not delivered"]


def test_a_variable_that_went_missing_is_logged_and_nothing_else(monkeypatch, caplog, events):
    monkeypatch.delenv("HOOK", raising=False)

    report("nightly", section("$HOOK"), WORSE, "run-1", LOG)

    assert "the environment variable HOOK is not set" in caplog.text
    assert [kind for kind, _ in events] == ["goldmeter.schedule.failed", "artifact"]


@given(st.text() | st.integers().map(str) | st.datetimes().map(lambda when: f"{when:%a, %d %b %Y %H:%M:%S GMT}"))
def test_any_retry_after_is_a_bounded_wait_or_none(text):
    seconds = seconds_of(text, NOW)

    assert seconds is None or 0 <= seconds <= 60


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("30", 30), (" 5 ", 5), ("Sat, 21 Nov 2026 02:00:20 GMT", 20), ("Sat, 21 Nov 2026 01:00:00 GMT", 0), ("-1", None)],
)
def test_retry_after_is_seconds_or_a_date(text, seconds):
    assert seconds_of(text, NOW) == seconds


@given(
    st.text()
    | st.recursive(st.none() | st.booleans() | st.text(), lambda c: st.dictionaries(st.text(), c)).map(json.dumps)
)
def test_what_is_no_outcome_is_none(text):
    assert Outcome.read(text) is None


def test_a_file_name_that_is_no_utf8_can_be_told():
    outcome = Outcome(ok=False, sentence="caf\udce9.py changed", alarms=("\ud800",), markdown="| \udcff |")

    assert Outcome.read(outcome.model_dump_json()) == outcome
    assert message("nightly", outcome, "run-1")["text"] == "goldmeter nightly: caf\\udce9.py changed\n\\ud800"


@given(st.text(st.characters(categories=("Cs", "L"))))
def test_any_text_can_be_an_outcome(text):
    outcome = Outcome(ok=False, sentence=text, alarms=(text,), markdown=text)

    assert Outcome.read(outcome.model_dump_json()) == outcome


@pytest.fixture
def blocks(monkeypatch):
    """Name → block, in place of those of a server."""
    saved: dict[str, Block] = {}

    def load(name: str, *, _sync: bool) -> Block:
        if name not in saved:
            raise ValueError(f"no block {name} at https://user:secret@example.org")
        return saved[name]

    monkeypatch.setattr(notify.Block, "load", load)
    return saved


def through_block(name: str) -> Notify:
    return section(None).model_copy(update={"block": name})


def custom(url: str, *, allow_private_urls: bool = True) -> CustomWebhookNotificationBlock:
    content = {"title": "{{subject}}", "body": "{{body}}"}
    return CustomWebhookNotificationBlock(
        name="team", url=url, json_data=content, allow_private_urls=allow_private_urls
    )


def test_a_notification_block_of_prefect_is_told_once(events, blocks):
    with webhook() as hook:
        blocks["custom-webhook/team"] = custom(hook.url)
        report("nightly", through_block("custom-webhook/team"), WORSE, "run-1", LOG)
        report("nightly", through_block("custom-webhook/team"), GOOD, "run-2", LOG)

    assert [one.content for one in hook.received] == [
        {"title": "goldmeter nightly", "body": f"{WORSE.sentence}\nmeaning_match: below its floor .85"}
    ]
    assert [kind for kind, _ in events] == ["goldmeter.schedule.failed", "artifact"]


@pytest.mark.parametrize(
    ("block", "problem"),
    [
        (None, "did not accept the outcome: ValueError"),
        (Secret(value="x"), "is not a notification block; expected such as slack-webhook/NAME"),
        (custom("http://127.0.0.1:9/a-secret-path"), "did not accept the outcome: ConnectError"),
    ],
)
def test_a_block_that_is_missing_wrong_or_refused_is_named_without_its_secret(events, blocks, caplog, block, problem):
    blocks |= {"custom-webhook/team": block} if block else {}

    report("nightly", through_block("custom-webhook/team"), WORSE, "run-1", LOG)

    assert caplog.messages == [f"block: schedule.nightly.notify.block: custom-webhook/team {problem}"]
    assert "secret" not in caplog.text
    assert [kind for kind, _ in events] == ["goldmeter.schedule.failed", "artifact"]


def test_the_automation_in_the_documentation_reacts_to_the_event(events):
    text = (ROOT / "docs/how-to/nightly-runs.md").read_text(encoding="utf-8")
    [automation] = re.findall(r"<!-- automation -->\n```yml\n(.*?)```", text, re.DOTALL)
    trigger = AutomationCore.model_validate(parse_yaml(automation)).trigger
    assert isinstance(trigger, EventTrigger)

    report("nightly", section(None), WORSE, "run-1", LOG)

    event = Event(**events[0][1])
    assert trigger.expect == {event.event}
    assert trigger.match.matches(event.resource)
