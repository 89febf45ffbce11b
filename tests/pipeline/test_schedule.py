"""Section `schedule` of params.yaml: names, times and baselines, every mistake named by its full path."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.errors import ParamsError
from goldmeter.pipeline import params
from tests.small_project import settings


def changed(**options: Any) -> dict[str, Any]:
    """params.yaml with other options of its schedule."""
    content = settings()
    content["schedule"]["nightly"] |= options
    return content


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cronn": 1}, r"^schedule\.nightly\.cronn: unknown option; did you mean cron\?"),
        ({"cron": None}, r"^schedule\.nightly: cron and interval: give one of them"),
        ({"interval": 60}, r"^schedule\.nightly: cron and interval: give one of them"),
        ({"cron": None, "interval": 0.5}, r"^schedule\.nightly\.interval: .*greater than or equal to 1"),
        ({"cron": None, "interval": 1e12}, r"^schedule\.nightly\.interval: .*less than or equal to 31622400"),
        ({"cron": None, "interval": float("inf")}, r"^schedule\.nightly\.interval: .*less than or equal to 31622400"),
        ({"cron": "0 2 * * * *"}, r"^schedule\.nightly\.cron: expected minute, hour, day, month, weekday"),
        ({"cron": "0 2 * *"}, r"^schedule\.nightly\.cron: expected minute, hour, day, month, weekday"),
        ({"cron": None, "interval": True}, r"^schedule\.nightly\.interval: expected a number"),
        ({"timezone": "Mars/Olympus"}, r"^schedule\.nightly\.timezone: .*Europe/Berlin"),
        ({"timezone": "../../etc/passwd"}, r"^schedule\.nightly\.timezone: not a time zone"),
        ({"timezone": ""}, r"^schedule\.nightly\.timezone: not a time zone"),
        ({"set": "a=1"}, r"^schedule\.nightly\.set: expected a list"),
        ({"floors": {"f1": "high"}}, r"^schedule\.nightly\.floors\.f1: .*number"),
        ({"floors": {"f1": float("nan")}}, r"^schedule\.nightly\.floors\.f1: .*finite"),
        ({"overlap": "both"}, r"^schedule\.nightly\.overlap: .*'skip' or 'queue'"),
        ({"missed": "all"}, r"^schedule\.nightly\.missed: .*'once' or 'skip'"),
        ({"notify": []}, r"^schedule\.nightly\.notify: expected options"),
    ],
)
def test_a_mistake_is_named_by_its_full_path(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ParamsError, match=message):
        params.schedules(changed(**options))


@pytest.mark.parametrize(
    "url", ["ftp://x", "hooks.example.com", "https://", "http://a b", "$", "$1", "file:///etc/passwd"]
)
def test_only_the_web_is_told(url: str) -> None:
    content = settings()
    content["schedule"]["nightly"]["notify"]["url"] = url

    with pytest.raises(ParamsError, match=r"^schedule\.nightly\.notify\.url: "):
        params.schedules(content)


@pytest.mark.parametrize(
    "name", ["", "Nightly", "a/b", "..", "a--b", "-a", "a-", "a b", "nächtlich", "a.lock", "a\n", 1]
)
def test_a_name_that_is_no_file_or_ref_everywhere_is_refused(name: Any) -> None:
    content = settings()
    content["schedule"] = {name: content["schedule"]["nightly"]}

    with pytest.raises(ParamsError, match=r"^schedule"):
        params.schedules(content)


@pytest.mark.parametrize(
    "name", ["previous", "Previous", "HEAD", "HEAD~1", "HEAD^", "main~3", "main@{1}", "@", "workspace"]
)
def test_a_baseline_that_moves_is_refused(name: str) -> None:
    with pytest.raises(ParamsError, match=r"^schedule\.nightly\.baseline: .*tag, a commit or an experiment"):
        params.schedules(changed(baseline=name))


@pytest.mark.parametrize("name", ["v1.2", "0123abc", "nightly-2026-11-21-020000", "previously", "headline"])
def test_a_baseline_that_stands_is_taken(name: str) -> None:
    assert params.schedules(changed(baseline=name))["nightly"].baseline == name


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(), lambda e: st.lists(e) | st.dictionaries(st.text(), e)
    )
)
def test_whatever_stands_there_is_taken_or_named(value: Any) -> None:
    content = settings() | {"schedule": {"nightly": value}}
    if value in (None, {}):
        assert params.schedules(content) == params.schedules({})
        return

    with pytest.raises(ParamsError, match=r"^schedule\.nightly"):
        params.schedules(content)


def test_a_schedule_states_only_what_differs() -> None:
    schedules = params.schedules({"schedule": {"hourly": {"interval": 3600}, "weekly": {"cron": "0 2 * * 1"}}})

    default = params.schedules({})["nightly"]
    assert schedules == {
        "hourly": default.model_copy(update={"cron": None, "interval": 3600.0}),
        "weekly": default.model_copy(update={"cron": "0 2 * * 1"}),
    }


def test_no_schedule_is_fine() -> None:
    assert params.schedules(settings() | {"schedule": {}}) == {}
