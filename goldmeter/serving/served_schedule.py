"""The schedule as it was when serving began: its times, and whom to notify when the committed one can't be read."""

from pathlib import Path
from typing import Any

from pydantic import ValidationError

from goldmeter.errors import DataError
from goldmeter.pipeline.files import read_json, replacing
from goldmeter.pipeline.schedule import Notify, Schedule
from goldmeter.serving import worktree

NOBODY = Notify(url=None, header="Authorization", secret_env=None, always=False)
_TIMING = ("cron", "interval", "timezone", "overlap", "missed")


def save(common: Path, name: str, schedule: Schedule) -> None:
    """Write the schedule beside its worktree, as params.yaml states it: without values of environment variables.

    Args:
        common: git's folder that all worktrees share.
    """
    file = _file(common, name)
    file.parent.mkdir(parents=True, exist_ok=True)
    with replacing(file) as temporary:
        temporary.touch(mode=0o600)  # the URL of a webhook may be a secret
        temporary.write_text(schedule.model_dump_json(), encoding="utf-8")


def notify(common: Path, name: str) -> Notify:
    """The section `notify`; NOBODY when no schedule was saved, or a version with another format saved it."""
    try:
        return Notify.model_validate(_read(common, name).get("notify"))
    except ValidationError:
        return NOBODY


def differences(common: Path, name: str, committed: Schedule) -> list[str]:
    """The options that decide when it runs and that the committed schedule has changed since, as text."""
    before, now = _read(common, name), committed.model_dump(mode="json")
    return [
        f"{option}: {now[option]}, not {before[option]}"
        for option in _TIMING
        if option in before and before[option] != now[option]
    ]


def _read(common: Path, name: str) -> dict[str, Any]:
    try:
        return read_json(_file(common, name))
    except DataError:
        return {}


def _file(common: Path, name: str) -> Path:
    return Path(common, worktree.FOLDER, f"{name}.served.json")
