"""Section `schedule` of params.yaml: what runs when. It changes no number and is never a dependency."""

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, Field, FiniteFloat, RootModel, field_validator, model_validator

from goldmeter.pipeline.settings import Section

# Each scheduled run spends a part of the allowed false alarms against one baseline; another baseline begins anew.
FIXED = "a tag, a commit or an experiment: against a name that moves, false alarms would not be limited"
_MOVES = re.compile(r"previous|latest|last|workspace|HEAD|.*[~^@].*", re.IGNORECASE)
# Five fields: a sixth would mean seconds to one program and years to another.
_CRON = re.compile(r"@\w+|\S+( +\S+){4}")
DAY = 86400.0
Text = Annotated[str, Field(min_length=1)]


def _is_name(name: str) -> str:
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name):
        raise ValueError("of a schedule: small letters, digits and single hyphens between them, such as nightly-en")
    return name


class Notify(Section):
    """Where to say that something is wrong: a webhook that takes JSON, and a block of Prefect.

    url: $NAME takes it from the environment. header: its value comes from the environment variable `secret_env`.
    block: its type and name, such as slack-webhook/team. always: also when all is well.
    """

    url: Annotated[str, Field(pattern=r"^(https?://\S+|\$[A-Za-z_][A-Za-z0-9_]*)$")] | None
    header: Annotated[str, Field(pattern=r"^[A-Za-z0-9-]+$")]
    secret_env: Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")] | None
    block: Annotated[str, Field(pattern=r"^[a-z0-9-]+/[a-z0-9-]+$")] | None = None
    always: bool


class Schedule(Section):
    """One schedule. interval: seconds. set: as `dvc exp run --set-param`. refresh: a command line, run before all else.

    baseline: what to compare with, by a fixed name. floors: measure → the least that its mean over fresh rows may be.
    push: the git remote that gets each experiment, with its data in the DVC remote.
    """

    cron: Text | None
    interval: Annotated[float, Field(ge=1, le=366 * DAY)] | None
    timezone: str
    set: tuple[Text, ...]
    refresh: Text | None
    baseline: Text | None
    floors: dict[Text, FiniteFloat]
    overlap: Literal["skip", "queue"]
    missed: Literal["once", "skip"]
    push: Text | None
    notify: Notify

    @classmethod
    def defaults_beside(cls, stated: Mapping[str, Any], default: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the defaults; with an interval there is no default time."""
        return {**default, "cron": None} if stated.get("interval") is not None else default

    @model_validator(mode="after")
    def _cron_or_interval(self) -> "Schedule":
        if (self.cron is None) == (self.interval is None):
            raise ValueError("cron and interval: give one of them")
        return self

    @field_validator("cron")
    @classmethod
    def _five_fields(cls, cron: str | None) -> str | None:
        if cron is not None and not _CRON.fullmatch(cron.strip()):
            raise ValueError("expected minute, hour, day, month, weekday, such as 0 2 * * *")
        return cron

    @field_validator("timezone")
    @classmethod
    def _is_a_time_zone(cls, timezone: str) -> str:
        try:
            ZoneInfo(timezone)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            raise ValueError("not a time zone of the IANA database, such as Europe/Berlin") from None
        return timezone

    @field_validator("baseline")
    @classmethod
    def _is_fixed(cls, baseline: str | None) -> str | None:
        if baseline is not None and _MOVES.fullmatch(baseline):
            raise ValueError(f"expected {FIXED}")
        return baseline


class Schedules(RootModel[dict[Annotated[str, AfterValidator(_is_name)], Schedule]]):
    """Name → schedule."""
