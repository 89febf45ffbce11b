"""What is served, when it is due, and what is refused before anything is."""

import asyncio
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Event
from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prefect.client.schemas.objects import ConcurrencyLimitStrategy, FlowRun
from prefect.deployments.steps import run_shell_script
from prefect.settings import PREFECT_API_URL, temporary_settings

from flows import say_what_starts
from flows import schedule as served
from flows.schedule import ON_DEMAND, _settle_missed_before_start, deployment_of, main, times
from goldmeter.errors import GoldmeterError, ParamsError
from goldmeter.pipeline import dvc_yaml
from goldmeter.pipeline import params as load_params
from goldmeter.pipeline.files import exclusive
from goldmeter.pipeline.schedule import Schedule
from goldmeter.pipeline.yaml import dump_yaml, load_yaml
from goldmeter.serving import stale_runs
from goldmeter.serving.flow import CHECKOUT, HOST, committed
from goldmeter.serving.on_demand import deployment_name
from goldmeter.serving.server import SERVE_AGAIN, Server
from tests.flows.served import of, params_with, schedule
from tests.small_project import PARAMS, ROOT

OURS = {HOST: "here", CHECKOUT: "/somewhere/.git"}
START = datetime(2026, 10, 24, 12, 0, tzinfo=UTC)


def cron(text: str, **changed) -> Schedule:
    return of(cron="0 2 * * *", interval=None, **changed).model_copy(update={"cron": text})


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A repository with one schedule, committed."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    dvc_yaml.forget_stages()
    Path("dvc.yaml").write_text("stages: {}\n")
    write(cron="0 2 * * *", interval=None)
    git("init", "-q")
    git("add", "params.yaml", "dvc.yaml")
    git("-c", "user.name=T", "-c", "user.email=t@example.org", "commit", "-q", "-m", "first")
    yield tmp_path
    dvc_yaml.forget_stages()


def write(name: str = "nightly", **changed) -> None:
    Path("params.yaml").write_text(dump_yaml(params_with({name: schedule(**changed)})))


def git(*arguments: str) -> None:
    subprocess.run(["git", *arguments], check=True)


def test_a_cron_keeps_its_hour_when_the_clocks_change():
    due = times("nightly", cron("0 2 * * *", timezone="Europe/Berlin"), START)

    assert [f"{one:%Y-%m-%d %H:%M %z}" for one in due] == [
        "2026-10-25 02:00 +0200",
        "2026-10-26 02:00 +0100",
        "2026-10-27 02:00 +0100",
    ]


@pytest.mark.parametrize(
    ("night", "expected"),
    [
        ("2026-03-28", ["03-29 01:30 +0100", "03-30 02:30 +0200", "03-31 02:30 +0200"]),  # 02:30 is left out
        ("2026-10-24", ["10-25 02:30 +0200", "10-26 02:30 +0100", "10-27 02:30 +0100"]),  # 02:30 comes twice
    ],
)
def test_a_cron_within_the_hour_that_the_clocks_change_is_due_once_a_night(night, expected):
    start = datetime.fromisoformat(f"{night}T12:00+00:00")

    due = times("nightly", cron("30 2 * * *", timezone="Europe/Berlin"), start)

    assert [f"{one:%m-%d %H:%M %z}" for one in due] == expected


def test_an_interval_is_counted_from_midnight_so_that_a_restart_moves_nothing():
    due = times("often", of(interval=6 * 3600), START.replace(minute=17))

    assert [f"{one:%d %H:%M:%S}" for one in due] == ["24 18:00:00", "25 00:00:00", "25 06:00:00"]


@pytest.mark.parametrize("text", ["0 25 * * *", "every day", "0 2 * *", "* * * * * * * *", "0 2 30 2 *"])
def test_a_cron_that_is_none_is_named_with_its_path(text):
    with pytest.raises(ParamsError, match=r"^schedule\.nightly\.cron: '"):
        times("nightly", cron(text), START)


@given(st.text(min_size=1, max_size=20))
def test_any_text_is_a_cron_with_times_to_come_or_a_params_error(text):
    try:
        due = times("nightly", cron(text), START)
    except ParamsError as error:
        assert str(error).startswith("schedule.nightly.cron: ")  # noqa: PT017
    else:
        assert due == sorted(due)
        assert all(one >= START for one in due)


@pytest.mark.parametrize(
    ("overlap", "strategy"),
    [("skip", ConcurrencyLimitStrategy.CANCEL_NEW), ("queue", ConcurrencyLimitStrategy.ENQUEUE)],
)
def test_a_deployment_runs_one_at_a_time_and_skips_or_queues_the_next(overlap, strategy):
    deployment = deployment_of("nightly", cron("0 2 * * *", timezone="Europe/Berlin", overlap=overlap), OURS)

    assert deployment.name == "somewhere-nightly"
    assert deployment.entrypoint == "goldmeter.serving.flow.scheduled"
    assert deployment.parameters == {"name": "nightly"}
    assert deployment.concurrency_limit == 1
    assert deployment.concurrency_options.collision_strategy == strategy
    assert [(one.schedule.cron, one.schedule.timezone) for one in deployment.schedules] == [
        ("0 2 * * *", "Europe/Berlin")
    ]
    assert deployment.tags == ["goldmeter", "here:/somewhere/.git"]


@pytest.mark.usefixtures("repository")
def test_the_list_shows_the_next_times_and_serves_nothing(capsys):
    assert main(["--list"]) == 0

    first, *due = capsys.readouterr().out.splitlines()
    assert first == "nightly: 0 2 * * * (UTC), overlap: skip, missed: once"
    assert [line[-14:] for line in due] == ["02:00:00 +0000"] * 3


@pytest.mark.usefixtures("repository")
def test_a_name_that_is_not_there_is_refused(capsys):
    assert main(["weekly"]) == 2

    assert capsys.readouterr().err == "error: schedule.weekly: no such schedule; allowed: nightly\n"


@pytest.mark.usefixtures("repository")
def test_schedules_that_are_not_committed_are_refused(capsys):
    write(cron="0 3 * * *", interval=None)

    assert main([]) == 2
    assert "schedule: the section differs from the committed one" in capsys.readouterr().err


@pytest.mark.usefixtures("repository")
def test_a_missing_secret_is_told_before_anything_is_served(capsys, monkeypatch):
    monkeypatch.delenv("TOKEN", raising=False)
    write(notify={"url": "https://example.org", "header": "Authorization", "secret_env": "TOKEN", "always": False})

    assert main([]) == 2
    assert "schedule.nightly.notify.secret_env: the environment variable TOKEN is not set" in capsys.readouterr().err


@pytest.mark.usefixtures("repository")
def test_no_schedule_at_all_is_said(capsys):
    Path("params.yaml").write_text(dump_yaml(params_with({})))

    assert main([]) == 2
    assert "params.yaml has no schedule to serve" in capsys.readouterr().err


@pytest.mark.usefixtures("repository")
def test_a_run_uses_what_is_committed():
    write(cron="0 3 * * *", interval=None)

    assert committed("nightly").cron == "0 2 * * *"
    with pytest.raises(ParamsError, match=r"^schedule\.weekly: not in the params\.yaml that is committed"):
        committed("weekly")


@pytest.mark.usefixtures("repository")
def test_a_second_process_of_the_same_repository_is_refused(capsys):
    Path(".git/goldmeter").mkdir()
    with exclusive(Path(".git/goldmeter/schedule.lock")):
        assert main([]) == 2

    assert "another `python -m flows.schedule` serves this repository" in capsys.readouterr().err


@pytest.mark.usefixtures("repository")
def test_a_server_that_does_not_answer_is_named(capsys):
    with temporary_settings(updates={PREFECT_API_URL: "http://127.0.0.1:9/api"}):
        status = main([])

    out, err = capsys.readouterr()
    assert (status, out) == (2, "")
    assert "\nerror: PREFECT_API_URL=http://127.0.0.1:9/api: no Prefect server answers there" in err


@pytest.mark.usefixtures("repository")
def test_an_entry_that_is_wrong_does_not_keep_another_from_running():
    nightly = schedule(cron="0 2 * * *", interval=None)
    Path("params.yaml").write_text(dump_yaml(params_with({"nightly": nightly, "weekly": {"cron": 3}})))
    git("-c", "user.name=T", "-c", "user.email=t@example.org", "commit", "-q", "-a", "-m", "typo")

    assert committed("nightly").cron == "0 2 * * *"
    with pytest.raises(ParamsError, match=r"schedule\.weekly\.cron: "):
        committed("weekly")


@pytest.mark.usefixtures("repository")
@pytest.mark.parametrize("section", [3, ["nightly"], {"nightly": 3}, {}])
def test_a_section_that_is_none_is_a_params_error(section):
    Path("params.yaml").write_text(dump_yaml({"schedule": section}))
    git("-c", "user.name=T", "-c", "user.email=t@example.org", "commit", "-q", "-a", "-m", "typo")

    with pytest.raises(ParamsError, match=r"^schedule"):
        committed("nightly")


@pytest.fixture
def settled(monkeypatch):
    """Missed runs are settled at once; the deployments where they were, with what was asked for."""
    asked = []

    async def settle(_client, deployment, missed, **more):
        asked.append((deployment, missed, more))

    monkeypatch.setattr(stale_runs, "settle_missed", settle)
    return asked


def due(deployment: UUID, ago: timedelta, state: str = "Late") -> FlowRun:
    when = datetime.now(UTC) - ago
    return FlowRun(flow_id=uuid4(), deployment_id=deployment, state_name=state, next_scheduled_start_time=when)


def started(missed: dict[UUID, str], interval: float, *answers: list[FlowRun]) -> list[FlowRun]:
    """The runs that the runner gets to start when the server has these answers."""
    left = [*answers]

    class Client:
        async def get_scheduled_flow_runs_for_deployments(self, deployment_ids, scheduled_before):
            assert (deployment_ids, scheduled_before) == ([*missed], START)
            return left.pop(0)

    client = Client()
    _settle_missed_before_start(client, missed, timedelta(seconds=interval))
    runs = asyncio.run(client.get_scheduled_flow_runs_for_deployments([*missed], scheduled_before=START))
    assert left == []
    return runs


def test_before_runs_start_those_are_settled_that_were_due_while_the_machine_slept(settled):
    late, other = uuid4(), uuid4()
    slept, now = due(late, timedelta(hours=3)), due(other, timedelta(seconds=9))

    assert started({late: "skip", other: "once"}, 10, [slept, now], [now]) == [now]
    assert settled == [(late, "skip", {"grace": stale_runs.GRACE, "queued": False})]


def test_runs_that_wait_in_a_queue_or_belong_to_another_runner_are_left_alone(settled):
    deployment = uuid4()
    waiting = due(deployment, timedelta(hours=3), stale_runs.QUEUED)
    elsewhere = due(uuid4(), timedelta(hours=3))

    assert started({deployment: "skip"}, 10, [waiting, elsewhere]) == [waiting, elsewhere]
    assert settled == []


def test_a_runner_that_asks_seldom_misses_nothing_by_that(settled):
    deployment = uuid4()
    late = due(deployment, timedelta(minutes=6))

    assert started({deployment: "skip"}, 300, [late]) == [late]
    assert settled == []


@pytest.mark.usefixtures("repository")
def test_a_schedule_that_is_told_to_end_while_its_server_starts_ends_the_server(monkeypatch):
    ended = []

    @contextlib.contextmanager
    def starting():
        try:
            os.kill(os.getpid(), signal.SIGTERM)
            yield Server("http://there/api", own=True)
        finally:
            ended.append("server")

    monkeypatch.setattr(served, "prefect_server", starting)
    monkeypatch.setattr(served.processes, "end_marked_with_us", lambda: None)
    before = signal.getsignal(signal.SIGTERM)
    try:
        with pytest.raises(SystemExit, match="0"):
            served._serve({}, everything=True)
    finally:
        signal.signal(signal.SIGTERM, before)

    assert ended == ["server"]


def test_a_server_that_does_not_take_the_end_of_the_runs_keeps_no_process(monkeypatch):
    told = Event()

    async def settle(*_given: object, **_options: object) -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        await asyncio.to_thread(told.wait)
        raise GoldmeterError("ended")

    def end_at_once(problem: str) -> None:
        assert problem == "http://there/api: the runs could not be ended within 0.01 s; " + SERVE_AGAIN
        told.set()

    monkeypatch.setattr(served, "STOP_SECONDS", 0.01)
    monkeypatch.setattr(served, "get_client", contextlib.nullcontext)
    monkeypatch.setattr(served, "_settle", settle)
    monkeypatch.setattr(served, "end_at_once", end_at_once)

    with pytest.raises(GoldmeterError, match="ended"):
        asyncio.run(served._until_stopped({}, OURS, Server("http://there/api", own=False), everything=False))


PROJECT = "{{ project.stdout }}"
"""What the build step of prefect.yaml prints: the name of the clone's folder, as in `on_demand.deployment_name`."""


def test_deployments_of_a_work_pool_have_the_name_of_the_clones_folder(tmp_path, monkeypatch):
    [step] = load_yaml(ROOT / "prefect.yaml")["build"]
    [options] = step.values()
    monkeypatch.setenv("GOLDMETER_CHECKOUT", str(tmp_path / "my project"))

    said = asyncio.run(run_shell_script(options["script"], expand_env_vars=options["expand_env_vars"]))

    assert options["id"] == "project"
    assert said["stdout"] == deployment_name(tmp_path / "my project/.git") == "my project"


def test_the_file_for_work_pools_says_what_params_say():
    deployments = [each for each in load_yaml(ROOT / "prefect.yaml")["deployments"] if "schedules" in each]
    shipped, own = (load_params.schedules(load_yaml(path)) for path in (PARAMS, ROOT / "params.yaml"))

    assert {each["name"]: shown(each) for each in deployments} in [
        {f"{PROJECT}-{name}": expected(name, one) for name, one in said.items()} for said in (shipped, own)
    ]


def test_the_file_for_work_pools_has_the_flows_that_are_run_on_demand():
    deployments = [each for each in load_yaml(ROOT / "prefect.yaml")["deployments"] if "schedules" not in each]

    assert [each["entrypoint"] for each in deployments] == [f"flows/{flow.name}.py:{flow.name}" for flow in ON_DEMAND]
    assert {(each["name"], *each["tags"], *each["concurrency_limit"].values()) for each in deployments} == {
        (PROJECT, "goldmeter", 1, "ENQUEUE")
    }


def test_each_deployment_mounts_the_clone_where_it_computes():
    said = load_yaml(ROOT / "prefect.yaml")
    [step] = said["pull"]
    [clone] = (options["directory"] for options in step.values())

    for deployment in said["deployments"]:
        variables = deployment["work_pool"]["job_variables"]
        assert variables["volumes"] == [f"{clone}:{clone}"]
        assert variables["checkout"] == clone


def test_the_kubernetes_pool_declares_what_its_manifest_uses_and_what_deployments_set():
    template = json.loads((ROOT / "kubernetes-pool.json").read_text())
    declared = template["variables"]["properties"]
    used = set(re.findall(r"{{ (\w+) }}", json.dumps(template["job_configuration"])))
    pod = template["job_configuration"]["job_manifest"]["spec"]["template"]["spec"]

    assert used == set(declared)
    assert set(template["variables"]["required"]) <= {
        *load_yaml(ROOT / "prefect.yaml")["definitions"]["pool"]["job_variables"]
    }
    assert {mount["name"] for mount in pod["containers"][0]["volumeMounts"]} == {one["name"] for one in pod["volumes"]}


def shown(deployment):
    return {key: deployment[key] for key in ("entrypoint", "parameters", "schedules", "concurrency_limit")}


def expected(name: str, one: Schedule):
    when = {"cron": one.cron} if one.cron else {"interval": one.interval}
    strategy = {"skip": "CANCEL_NEW", "queue": "ENQUEUE"}[one.overlap]
    return {
        "entrypoint": "flows/schedule.py:scheduled",
        "parameters": {"name": name},
        "schedules": [when | {"timezone": one.timezone}],
        "concurrency_limit": {"limit": 1, "collision_strategy": strategy},
    }


@pytest.mark.parametrize(
    ("arguments", "says"), [([], True), (["nightly"], True), (["--list"], False), (["--help"], False)]
)
def test_it_says_at_once_what_it_does_before_it_loads_prefect(arguments, says, capsys):
    say_what_starts("schedule", arguments)
    say_what_starts("compare", arguments)

    assert capsys.readouterr().err.startswith("schedule: loads Prefect") == says


def test_the_first_line_of_a_served_schedule_comes_before_prefect_is_imported(tmp_path):
    code = "raise ImportError('prefect was imported')"
    (tmp_path / "prefect.py").write_text(code, encoding="utf-8")
    path = f"{tmp_path}{os.pathsep}{ROOT}"

    done = subprocess.run([sys.executable, "-m", "flows.schedule"], env=os.environ | {"PYTHONPATH": path},
                          cwd=tmp_path, capture_output=True, text=True, check=False)  # fmt: skip

    assert done.stderr.splitlines()[0].startswith("schedule: loads Prefect")
    assert "prefect was imported" in done.stderr
    assert done.returncode == 2
