"""A schedule as it was when its serving began: whom to tell when the commit's can't be read, and when runs are due."""

from pathlib import Path
from typing import Any

from pydantic import ValidationError

from flows.serving import worktree
from tasks.errors import DataError
from tasks.pipeline.files import read_json, replacing
from tasks.pipeline.schedule import Notify, Schedule

NOBODY = Notify(url=None, header="Authorization", secret_env=None, always=False)
_TIMING = ("cron", "interval", "timezone", "overlap", "missed")


def keep(common: Path, name: str, schedule: Schedule) -> None:
    """Leave the schedule beside the lock of its worktree, as params.yaml has it: no value of the environment.

    common: git's folder of all worktrees.
    """
    file = _file(common, name)
    file.parent.mkdir(parents=True, exist_ok=True)
    with replacing(file) as temporary:
        temporary.touch(mode=0o600)  # the address of a webhook may be a secret
        temporary.write_text(schedule.model_dump_json(), encoding="utf-8")


def notify(common: Path, name: str) -> Notify:
    """Its section `notify`; NOBODY when it was never served here, or by a version that wrote it otherwise."""
    try:
        return Notify.model_validate(_read(common, name).get("notify"))
    except ValidationError:
        return NOBODY


def differences(common: Path, name: str, committed: Schedule) -> list[str]:
    """What is committed of when it runs, and is not served so."""
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
