"""What is kept of a schedule while it is served."""

import json
from pathlib import Path

import pytest

from goldmeter.pipeline.schedule import Notify
from goldmeter.serving import served_schedule
from tests.flows.served import of

TOLD = {"url": "$HOOK", "header": "X-Key", "secret_env": "TOKEN", "always": True}


def test_whom_to_tell_is_kept_without_any_value_of_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HOOK", "https://h/a-secret-path")
    monkeypatch.setenv("TOKEN", "s3cret")

    served_schedule.save(tmp_path, "nightly", of(notify=TOLD))

    (file,) = (tmp_path / "goldmeter/worktrees").iterdir()
    assert file.stat().st_mode & 0o777 == 0o600
    assert "secret-path" not in file.read_text()
    assert served_schedule.notify(tmp_path, "nightly") == Notify(**TOLD)


@pytest.mark.parametrize("content", [None, "", "[]", '{"notify": 3}', '{"notify": {"url": "x"}}', "\udcff"])
def test_nobody_is_known_where_nothing_readable_was_kept(tmp_path: Path, content: str | None):
    served_schedule.save(tmp_path, "other", of())
    if content is not None:
        file = tmp_path / "goldmeter/worktrees/nightly.served.json"
        file.write_text(content, encoding="utf-8", errors="surrogateescape")

    assert served_schedule.notify(tmp_path, "nightly") == served_schedule.NOBODY
    assert served_schedule.differences(tmp_path, "nightly", of()) == []


def test_a_schedule_of_another_version_still_says_whom_to_tell(tmp_path: Path):
    served_schedule.save(tmp_path, "nightly", of(notify=TOLD))
    file = tmp_path / "goldmeter/worktrees/nightly.served.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"of_tomorrow": 1}))

    assert served_schedule.notify(tmp_path, "nightly") == Notify(**TOLD)


def test_other_times_are_told_and_other_options_are_not(tmp_path: Path):
    served_schedule.save(tmp_path, "nightly", of(interval=60))

    assert served_schedule.differences(tmp_path, "nightly", of(interval=60, refresh="true", notify=TOLD)) == []
    assert served_schedule.differences(tmp_path, "nightly", of(interval=90, missed="skip")) == [
        "interval: 90.0, not 60.0",
        "missed: skip, not once",
    ]
