"""Word of a scheduled run: an artifact and an event in Prefect, and a webhook that is told when something is wrong."""

import logging
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Annotated, Any

import httpx
from prefect.artifacts import create_markdown_artifact
from prefect.events import emit_event
from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

from flows import artifacts
from tasks.console.format import visible
from tasks.console.markdown import escaped
from tasks.errors import GoldmeterError, ParamsError
from tasks.pipeline.schedule import Notify

ATTEMPTS, LONGEST_PAUSE, TIMEOUT = 5, 60.0, 10.0
"""Attempts in all; seconds between two of them at most, and for each."""
TOO_MANY, SERVER_ERRORS = 429, range(500, 600)
Log = logging.Logger | logging.LoggerAdapter[Any]


class NotifyError(GoldmeterError):
    """The webhook can't be told; no address or secret is in the message, only the host."""


def _printable(text: Any) -> Any:
    """Controls spelled out, and surrogates: they stand for file names that are no UTF-8, and JSON can't hold them."""
    return visible(text.encode("utf-8", "backslashreplace").decode("utf-8")) if isinstance(text, str) else text


Printable = Annotated[str, BeforeValidator(_printable)]


class Outcome(BaseModel):
    """How a run went; sentence: one line, what is wrong, by how much, on which rows. markdown: what the run found."""

    model_config = ConfigDict(frozen=True)

    ok: bool
    sentence: Printable
    experiment: str | None = None
    commit: str | None = None
    alarms: tuple[Printable, ...] = ()
    markdown: Printable | None = None
    facts: Mapping[str, Any] | None = None

    @classmethod
    def read(cls, text: str) -> "Outcome | None":
        """An outcome as flows.serving.scheduled_run writes it; None when it is not one."""
        try:
            return cls.model_validate_json(text)
        except ValidationError:
            return None


def check(schedule: str, notify: Notify) -> None:
    """Raise ParamsError when an environment variable of the section is missing, or holds what can't be sent."""
    _address(schedule, notify)
    _headers(schedule, notify)


def tell(schedule: str, notify: Notify, outcome: Outcome, run: str, log: Log) -> None:
    """Keep what the run found as an artifact; emit the event and call the webhook if something is wrong, or `always`.

    run: id of the flow run. What can't be delivered is logged and changes nothing else.
    """
    if notify.always or not outcome.ok:
        _attempt(log, "webhook", lambda: call(schedule, notify, outcome, run))
        _attempt(log, "event", lambda: _emit(schedule, outcome, run))
    if outcome.markdown is not None:
        _attempt(log, "artifact", lambda: _keep(schedule, outcome))


def call(
    schedule: str, notify: Notify, outcome: Outcome, run: str, pause: Callable[[float], object] = time.sleep
) -> None:
    """Post the outcome to the webhook, if there is one; again when that may help.

    Raises NotifyError when it was not taken, ParamsError for an environment variable that is missing.
    """
    address, headers = _address(schedule, notify), _headers(schedule, notify)
    if address is None:
        return
    headers["Idempotency-Key"] = run
    content = message(schedule, outcome, run)
    with _unlogged(), httpx.Client(timeout=TIMEOUT, follow_redirects=False) as client:
        for attempt in range(1, ATTEMPTS + 1):
            waiting, problem = _post(client, address, headers, content, attempt)
            if waiting is None or attempt == ATTEMPTS:
                break
            pause(waiting)
    if problem:
        raise NotifyError(f"schedule.{schedule}.notify.url: {address.host} was not told: {problem}")


def message(schedule: str, outcome: Outcome, run: str) -> dict[str, Any]:
    """What the webhook gets; `text` is what a chat shows."""
    lines = [outcome.sentence, *(alarm for alarm in outcome.alarms if alarm != outcome.sentence)]
    fields = outcome.model_dump(mode="json", exclude={"markdown"})
    return {"text": f"goldmeter {schedule}: " + "\n".join(lines), "schedule": schedule, "run": run} | fields


def seconds_of(retry_after: str, now: datetime) -> float | None:
    """Seconds that a Retry-After header asks for, at most LONGEST_PAUSE; None when it can't be read.

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
    client: httpx.Client, address: httpx.URL, headers: Mapping[str, str], content: Mapping[str, Any], attempt: int
) -> tuple[float | None, str]:
    """Seconds to wait before another attempt, None when none would help; and what went wrong, empty: nothing."""
    pause = float(2 ** (attempt - 1))
    try:
        answer = client.post(address, json=content, headers=dict(headers))
    except httpx.TransportError as error:  # its text may hold a header
        return pause, type(error).__name__
    if answer.is_success:
        return None, ""
    problem = f"HTTP status {answer.status_code}"
    if answer.is_redirect:
        return None, f"{problem}: a redirect is not followed, lest the secret goes elsewhere; give the final address"
    if answer.status_code != TOO_MANY and answer.status_code not in SERVER_ERRORS:
        return None, problem
    asked = seconds_of(answer.headers.get("Retry-After", ""), datetime.now(UTC))
    return pause if asked is None else asked, problem


def _address(schedule: str, notify: Notify) -> httpx.URL | None:
    if notify.url is None:
        return None
    where = f"schedule.{schedule}.notify.url"
    text = _variable(where, notify.url[1:]) if notify.url.startswith("$") else notify.url
    try:
        address = httpx.URL(text)
    except httpx.InvalidURL:
        address = httpx.URL()
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
    value = os.environ.get(name, "").strip()  # secrets read from files end in a line break
    if not value:
        raise ParamsError(f"{where}: the environment variable {name} is not set; export it where schedules are served")
    return value


@contextmanager
def _unlogged() -> Iterator[None]:
    """Keep httpx from logging the address, which may be a secret."""

    def never(_record: logging.LogRecord) -> bool:
        return False

    logger = logging.getLogger("httpx")
    logger.addFilter(never)
    try:
        yield
    finally:
        logger.removeFilter(never)


def _emit(schedule: str, outcome: Outcome, run: str) -> None:
    emit_event(
        event=f"goldmeter.schedule.{'succeeded' if outcome.ok else 'failed'}",
        resource={"prefect.resource.id": f"goldmeter.schedule.{schedule}", "prefect.resource.name": schedule},
        payload=message(schedule, outcome, run),
    )


def _keep(schedule: str, outcome: Outcome) -> None:
    create_markdown_artifact(in_full(outcome), key=f"schedule-{schedule}", description=escaped(outcome.sentence))


def in_full(outcome: Outcome) -> str:
    """What people read of a run: its summary and comparison, and where the rest is."""
    flow_run = (outcome.facts or {}).get("flow_run")
    links = [
        *([artifacts.experiment_line(outcome.experiment, outcome.commit)] if outcome.experiment else []),
        *([artifacts.flow_run_line(flow_run)] if flow_run else []),
    ]
    return "\n\n".join([outcome.markdown or "", *links])


def _attempt(log: Log, what: str, act: Callable[[], object]) -> None:
    try:
        act()
    except GoldmeterError as error:
        log.error("%s: %s", what, error)  # noqa: TRY400  # says all; a trace would hold the address
    except Exception:
        log.exception("%s: not delivered", what)
