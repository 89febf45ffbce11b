"""Report the outcome of a scheduled run: a Prefect artifact and event, a webhook, and a notification block."""

import logging
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Annotated, Any

import httpx2
from prefect.artifacts import create_markdown_artifact
from prefect.blocks.abstract import NotificationBlock
from prefect.blocks.core import Block
from prefect.events import emit_event
from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

from goldmeter.console.format import visible
from goldmeter.console.markdown import escaped
from goldmeter.errors import GoldmeterError, ParamsError
from goldmeter.models.bounded_client import BoundedClient
from goldmeter.pipeline.schedule import Notify
from goldmeter.serving import flow_runs

# attempts in all; most seconds between two of them; seconds for each
ATTEMPTS, LONGEST_PAUSE, TIMEOUT = 5, 60.0, 10.0
TOO_MANY, SERVER_ERRORS = 429, range(500, 600)
Log = logging.Logger | logging.LoggerAdapter[Any]


class NotifyError(GoldmeterError):
    """A receiver did not accept the outcome; the message names the host or the block only, no address or secret."""


def _printable(text: Any) -> Any:
    """Spell out control characters, and surrogates, which stand for non-UTF-8 file names and can't be JSON."""
    return visible(text.encode("utf-8", "backslashreplace").decode("utf-8")) if isinstance(text, str) else text


Printable = Annotated[str, BeforeValidator(_printable)]


class Outcome(BaseModel):
    """How a scheduled run ended.

    Attributes:
        sentence: One line: what is wrong, by how much, on which rows.
        over: The ends of earlier alarms.
        markdown: Summary and comparison of the run.
    """

    model_config = ConfigDict(frozen=True)

    ok: bool
    sentence: Printable
    experiment: str | None = None
    commit: str | None = None
    alarms: tuple[Printable, ...] = ()
    over: tuple[Printable, ...] = ()
    markdown: Printable | None = None
    facts: Mapping[str, Any] | None = None

    @classmethod
    def read(cls, text: str) -> "Outcome | None":
        """Parse the JSON that goldmeter.serving.scheduled_run writes; None when it is no outcome."""
        try:
            return cls.model_validate_json(text)
        except ValidationError:
            return None


def check(schedule: str, notify: Notify) -> None:
    """Raise ParamsError when an environment variable of the section is missing or can't be sent."""
    _address(schedule, notify)
    _headers(schedule, notify)


def report(schedule: str, notify: Notify, outcome: Outcome, run: str, log: Log) -> None:
    """Store the outcome as an artifact; notify the receivers if something is wrong, or no longer, or `always`.

    A failed delivery is logged and does not stop the others.

    Args:
        run: ID of the flow run.
    """
    if notify.always or outcome.over or not outcome.ok:
        _attempt(log, "webhook", lambda: call(schedule, notify, outcome, run))
        _attempt(log, "block", lambda: notify_block(schedule, notify, outcome))
        _attempt(log, "event", lambda: _emit(schedule, outcome, run))
    if outcome.markdown is not None:
        _attempt(log, "artifact", lambda: _store(schedule, outcome))


def call(
    schedule: str, notify: Notify, outcome: Outcome, run: str, pause: Callable[[float], object] = time.sleep
) -> None:
    """Post the outcome to the webhook, if there is one, and repeat it after errors that may pass.

    Raises:
        NotifyError: The webhook did not accept it.
        ParamsError: An environment variable is missing.
    """
    address, headers = _address(schedule, notify), _headers(schedule, notify)
    if address is None:
        return
    headers["Idempotency-Key"] = run
    content = message(schedule, outcome, run)
    with _unlogged(), BoundedClient(TIMEOUT) as client:
        for attempt in range(1, ATTEMPTS + 1):
            wait, problem = _post(client, address, headers, content, attempt)
            if wait is None or attempt == ATTEMPTS:
                break
            pause(wait)
    if problem:
        raise NotifyError(f"schedule.{schedule}.notify.url: {address.host} did not accept the outcome: {problem}")


def message(schedule: str, outcome: Outcome, run: str) -> dict[str, Any]:
    """The JSON for the webhook; chat programs show its `text`."""
    fields = outcome.model_dump(mode="json", exclude={"markdown"})
    return {"text": f"goldmeter {schedule}: {_text(outcome)}", "schedule": schedule, "run": run} | fields


def notify_block(schedule: str, notify: Notify, outcome: Outcome) -> None:
    """Send the outcome through the notification block of Prefect, if one is named.

    Raises:
        NotifyError: There is no such block, or it did not accept the outcome.
    """
    if notify.block is None:
        return
    where = f"schedule.{schedule}.notify.block: {notify.block}"
    try:
        # `_sync`: Prefect calls this in its event loop when a run crashed
        block = Block.load(notify.block, _sync=True)  # type: ignore[call-arg]
        if isinstance(block, NotificationBlock):
            with _unlogged(), block.raise_on_failure():
                block.notify(_text(outcome), f"goldmeter {schedule}", _sync=True)  # type: ignore[call-arg, unused-coroutine]
            return
    except Exception as error:  # noqa: BLE001  # any block may be named; the text of the error may contain its address
        raise NotifyError(f"{where} did not accept the outcome: {type(error).__name__}") from None
    raise NotifyError(f"{where} is not a notification block; expected such as slack-webhook/NAME")


def _text(outcome: Outcome) -> str:
    alarms = (alarm for alarm in outcome.alarms if alarm != outcome.sentence)
    return "\n".join([outcome.sentence, *alarms, *outcome.over])


def seconds_of(retry_after: str, now: datetime) -> float | None:
    """Seconds that a Retry-After header asks for, at most LONGEST_PAUSE; None when it is invalid.

    Source: RFC 9110, 10.2.3: a number of seconds or a date.
    """
    if re.fullmatch(r"[0-9]+", text := retry_after.strip()):
        return min(float(text), LONGEST_PAUSE)
    try:
        date = parsedate_to_datetime(text)
        seconds = (date.replace(tzinfo=date.tzinfo or UTC) - now).total_seconds()
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
    return min(max(seconds, 0.0), LONGEST_PAUSE)


def _post(
    client: BoundedClient, address: httpx2.URL, headers: Mapping[str, str], content: Mapping[str, Any], attempt: int
) -> tuple[float | None, str]:
    """Seconds to wait before another attempt, None when none would help; and the problem, empty without one."""
    pause = float(2 ** (attempt - 1))
    try:
        answer = client.post(address, json=content, headers=dict(headers))
    except httpx2.RequestError as error:  # its text may contain a header
        return pause, type(error).__name__
    if answer.is_success:
        return None, ""
    problem = f"HTTP status {answer.status_code}"
    if answer.is_redirect:
        return None, f"{problem}: redirects are not followed, to protect the secret; use the final address"
    if answer.status_code != TOO_MANY and answer.status_code not in SERVER_ERRORS:
        return None, problem
    asked = seconds_of(answer.headers.get("Retry-After", ""), datetime.now(UTC))
    return pause if asked is None else asked, problem


def _address(schedule: str, notify: Notify) -> httpx2.URL | None:
    if notify.url is None:
        return None
    where = f"schedule.{schedule}.notify.url"
    text = _variable(where, notify.url[1:]) if notify.url.startswith("$") else notify.url
    try:
        address = httpx2.URL(text)
    except httpx2.InvalidURL:
        address = httpx2.URL()
    if address.scheme not in ("http", "https") or not address.host:
        raise ParamsError(
            f"{where}: {notify.url if notify.url[0] == '$' else 'it'} holds no http:// or https:// address"
        )
    return address


def _headers(schedule: str, notify: Notify) -> dict[str, str]:
    if notify.url is None or notify.secret_env is None:
        return {}
    where = f"schedule.{schedule}.notify.secret_env"
    secret = _variable(where, notify.secret_env)
    if not (secret.isascii() and secret.isprintable()):
        raise ParamsError(
            f"{where}: {notify.secret_env} holds what no HTTP header may: only printable ASCII can be sent"
        )
    return {notify.header: secret}


def _variable(where: str, name: str) -> str:
    value = os.environ.get(name, "").strip()  # a secret read from a file ends in a line break
    if not value:
        raise ParamsError(
            f"{where}: the environment variable {name} is not set; export it for `python -m flows.schedule`"
        )
    return value


@contextmanager
def _unlogged() -> Iterator[None]:
    """Keep the HTTP clients from logging the URL, which may be a secret."""
    loggers = [logging.getLogger(name) for name in ("httpx", "httpx2", "apprise")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


def _emit(schedule: str, outcome: Outcome, run: str) -> None:
    emit_event(
        event=f"goldmeter.schedule.{'succeeded' if outcome.ok else 'failed'}",
        resource={"prefect.resource.id": f"goldmeter.schedule.{schedule}", "prefect.resource.name": schedule},
        payload=message(schedule, outcome, run),
    )


def _store(schedule: str, outcome: Outcome) -> None:
    create_markdown_artifact(in_full(outcome), key=f"schedule-{schedule}", description=escaped(outcome.sentence))


def in_full(outcome: Outcome) -> str:
    """The summary and comparison of a run, with links to its experiment and flow run."""
    flow_run = (outcome.facts or {}).get("flow_run")
    links = [
        *([flow_runs.experiment_line(outcome.experiment, outcome.commit)] if outcome.experiment else []),
        *([flow_runs.flow_run_line(flow_run)] if flow_run else []),
    ]
    return "\n\n".join([outcome.markdown or "", *links])


def _attempt(log: Log, what: str, act: Callable[[], object]) -> None:
    try:
        act()
    except GoldmeterError as error:
        log.error("%s: %s", what, error)  # noqa: TRY400  # a traceback would contain the URL
    except Exception:
        log.exception("%s: not delivered", what)
