"""Schedules served for real: a Prefect server on loopback, runs that are due, and what kills and restarts leave."""

import asyncio
import signal
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest
from prefect.client.orchestration import PrefectClient
from prefect.settings import PREFECT_API_URL, temporary_settings
from prefect.states import Pending, Running, Scheduled

from flows.schedule import deployment_of
from goldmeter.console.terminal import TRY_LATER
from goldmeter.pipeline.schedule import Schedule
from goldmeter.serving import stale_runs
from goldmeter.serving.flow import CHECKOUT, HOST
from tests.flow_project import wait_until
from tests.flows.served import Served, schedule, stop
from tests.flows.webhook import webhook

pytestmark = pytest.mark.long

WORSE = "aurora: f1 fell by 0.153 (worse on q1, q2)"


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., Served]]:
    """Makes projects to serve, and ends what a failed test left."""
    made: list[Served] = []

    def make(**schedules: Any) -> Served:
        made.append(Served(tmp_path / f"served{len(made)}", schedules))
        return made[-1]

    yield make
    for each in made:
        each.end()


@pytest.mark.exhaustive
def test_each_due_run_runs_once_the_worse_one_fails_and_is_told_once_over_a_restart_of_the_server(serve):
    with webhook() as hook:
        served = serve(often=schedule(interval=12, notify=schedule()["notify"] | {"url": hook.url}))
        (served.notes / "worse").write_text("3")
        with served.server():
            process = served.start(PREFECT_API_URL=served.url)
            served.scheduled_run(1, "ended")
            first = served.wait_for(1, "Completed")[0]
            assert first.state.message == "all is well"
            assert first.name.startswith("often 20")
            served.hold()
            served.scheduled_run(2)
        with served.server():  # the run goes on, and keeps its slot
            (running,) = served.runs("Running")
            renew_lease(served, running)
            served.release()
            served.wait_for(2, "Completed")
            worse = served.wait_for(1, "Failed")[0]
            assert worse.state.message == WORSE
            assert artifact(served).startswith("| f1 | worse |\n\nExperiment **often-")
            wait_until(lambda: failures(served) == 1, "the event is kept", 30)
            assert [one.content["run"] for one in hook.received] == [str(worse.id)]
            assert hook.received[0].content["text"] == f"goldmeter often: {WORSE}"
            served.hold()
            served.scheduled_run(4)
            skipped = len(served.runs("Cancelled"))
            served.wait_for(skipped + 1, "Cancelled")
            (current,) = served.runs("Running")
            assert stop(process, signal.SIGTERM) == 0
            assert served.runs("Running", "Pending", "Cancelling") == []
            messages = {run.id: run.state.message for run in served.runs("Cancelled")}
            assert messages.pop(current.id) == "Runner is shutting down."
            assert {*messages.values()} == {"Deployment concurrency limit reached."}
        assert served.processes() == []
        assert len(hook.received) == 1


@pytest.mark.exhaustive
def test_after_a_kill_the_run_is_crashed_the_slot_is_free_and_the_next_run_completes(serve):
    with webhook() as hook:
        served = serve(often=schedule(interval=12, notify=schedule()["notify"] | {"url": hook.url}))
        served.hold()
        process = served.start()
        served.scheduled_run(1)
        refuses_pages_of_other_sites(served)
        refused = served.start()
        assert refused.wait(60) == 2
        assert "another `python -m flows.schedule` serves this repository" in served.log()
        stop(process, signal.SIGKILL)
        killed_at = datetime.now(UTC)

        again = served.start()
        (crashed,) = served.wait_for(1, "Crashed")
        assert crashed.state.message == stale_runs.LOST
        process = served.scheduled_run(2)
        (running,) = served.runs("Running")
        # The slot was free at once: nothing was skipped between the kill and the moment when the second run took it.
        taken = next(state.timestamp for state in served.states(running) if state.name == "Pending")
        assert [run.name for run in served.runs("Cancelled") if killed_at < run.state.timestamp < taken] == []
        _supervisor, engine, *_rest = psutil.Process(process).parents()
        engine.kill()
        killed = next(run for run in served.wait_for(2, "Crashed") if run.id != crashed.id)
        served.scheduled_run(3)
        served.release()
        served.wait_for(1, "Completed")
        assert [one.content["run"] for one in hook.received] == [str(crashed.id), str(killed.id)]
        sentences = [one.content["sentence"] for one in hook.received]
        assert sentences[0] == f"{crashed.name} did not end. {stale_runs.LOST}"
        assert sentences[1].startswith(f"{killed.name} did not end. ")
        assert stop(again, signal.SIGINT) == 0
        wait_until(lambda: served.processes() == [], "nothing is left", 30)


def refuses_pages_of_other_sites(served: Served) -> None:
    """What a page of any site may try in the browser of somebody on this machine; the UI's own may."""
    page, deployment = {"Origin": "https://evil.example"}, served.deployments()["often"]
    asked = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "content-type"}
    steps = {"pull_steps": [{"prefect.deployments.steps.run_shell_script": {"script": "touch pwned"}}]}
    with httpx.Client(base_url=served.url, headers=page) as browser:
        assert browser.options("/deployments/", headers=asked).status_code == 400
        assert "access-control-allow-origin" not in browser.get("/csrf-token?client=x").headers
        assert browser.patch(f"/deployments/{deployment.id}", json=steps).status_code == 403
        assert browser.post(f"/deployments/{deployment.id}/create_flow_run", json={}).status_code == 403
        own = {"Origin": f"http://localhost:{served.port}"}
        assert browser.get("/health", headers=own).headers["access-control-allow-origin"] == own["Origin"]
    assert served.deployments()["often"].pull_steps == deployment.pull_steps


@pytest.mark.exhaustive
def test_while_serving_missed_runs_are_skipped_a_wrong_entry_is_told_and_one_that_params_have_no_more_is_paused(serve):
    with webhook() as hook:
        told = schedule()["notify"] | {"url": hook.url}
        served = serve(often=schedule(interval=10**7, missed="skip", notify=told), gone=schedule(interval=10**7))
        with served.server():
            process = served.start(PREFECT_API_URL=served.url)
            wait_until(lambda: {*served.deployments()} >= {"often", "gone"}, "both are served")
            often = served.deployments()["often"].id
            served.ask(lambda client: due(client, often, 3600))
            (skipped,) = served.wait_for(1, "Skipped")
            assert skipped.state.message == "Nothing served the schedule when it was due; params.yaml says missed: skip"
            assert [*served.notes.iterdir()] == []

            served.write({"often": schedule(overlap="skp")})
            served.commit()
            served.ask(lambda client: due(client, often, 0))
            (failed,) = served.wait_for(1, "Failed")
            assert failed.state.message.startswith("schedule.often.overlap: ")
            assert [one.content["sentence"] for one in hook.received] == [failed.state.message]
            assert stop(process, signal.SIGTERM) == 0
            assert not served.deployments()["often"].paused

            served.write({"often": schedule(interval=3600)})
            served.commit()
            process = served.start(PREFECT_API_URL=served.url)
            wait_until(lambda: served.deployments()["gone"].paused, "the other is paused")
            runs_on_demand(served)
            assert stop(process, signal.SIGTERM) == 0


def runs_on_demand(served: Served) -> None:
    """What is served to run on demand stays, and runs."""
    asked = served.ask(lambda client: client.read_deployment_by_name("evaluate/project"))
    assert not asked.paused
    served.ask(lambda client: client.create_flow_run_from_deployment(asked.id))
    (run,) = served.wait_for(1, "Completed")
    assert (run.deployment_id, run.name.partition("@")[0]) == (asked.id, "no data set")


def test_missed_runs_and_runs_without_a_process_are_settled_as_params_say(serve, tmp_path):
    served = serve(often=schedule(interval=3600))
    ours = {HOST: "here", CHECKOUT: str(tmp_path)}
    with served.server(), temporary_settings(updates={PREFECT_API_URL: served.url}):
        deployment = deployment_of("often", Schedule(**schedule(interval=10**6)), ours).apply()

        async def settle(client: PrefectClient) -> None:
            await missed_once(client, deployment)
            await missed_skip(client, deployment)
            await without_process(client, deployment, ours)

        served.ask(settle)


async def missed_once(client: PrefectClient, deployment: Any) -> None:
    old, newer, newest, now = [await due(client, deployment, ago) for ago in (3600, 1200, 600, 5)]

    assert await stale_runs.settle_missed(client, deployment, "once") == 2
    assert await states(client, old, newer, newest, now) == ["Skipped", "Skipped", "Scheduled", "Scheduled"]
    message = (await client.read_flow_run(old)).state.message
    assert message == "Nothing served the schedule when it was due; the newest missed run stands for it"


async def missed_skip(client: PrefectClient, deployment: Any) -> None:
    assert await stale_runs.settle_missed(client, deployment, "skip") == 1  # the one that was left before
    assert await stale_runs.settle_missed(client, deployment, "skip") == 0


async def without_process(client: PrefectClient, deployment: Any, ours: dict[str, str]) -> None:
    mine = await begun(client, deployment, Running(), ours)
    elsewhere = await begun(client, deployment, Running(), ours | {HOST: "another machine"})
    other = await begun(client, deployment, Running(), ours | {CHECKOUT: "/another/repository"})
    about_to_start = await begun(client, deployment, Pending(), {})

    looked, read = asyncio.Event(), client.read_flow_run

    async def looking(run: Any) -> Any:
        looked.set()
        return await read(run)

    client.read_flow_run = looking
    crashing = asyncio.create_task(stale_runs.crash(client, deployment, "often", ours, alone=False))
    await looked.wait()  # it waits for the one that may start on another machine
    assert await states(client, about_to_start) == ["Pending"]
    await client.update_flow_run_labels(about_to_start, {**ours, HOST: "another machine"})

    assert [run.id for run, _ in await crashing] == [mine]
    assert await states(client, mine, elsewhere, other, about_to_start) == ["Crashed", "Running", "Running", "Pending"]


async def due(client: PrefectClient, deployment: Any, seconds_ago: int) -> Any:
    when = datetime.now(UTC) - timedelta(seconds=seconds_ago)
    run = await client.create_flow_run_from_deployment(deployment, state=Scheduled(scheduled_time=when))
    return run.id


async def begun(client: PrefectClient, deployment: Any, state: Any, labels: dict[str, str]) -> Any:
    run = await client.create_flow_run_from_deployment(deployment)
    await client.set_flow_run_state(run.id, state, force=True)
    await client.update_flow_run_labels(run.id, {**labels})
    return run.id


async def states(client: PrefectClient, *runs: Any) -> list[str]:
    return [(await client.read_flow_run(run)).state.name for run in runs]


def renew_lease(served: Served, run: Any) -> None:
    """What the run's process does each few minutes; it ends itself when the server knows its lease no more."""
    lease = run.state.state_details.deployment_concurrency_lease_id
    served.ask(lambda client: client.renew_concurrency_lease(lease_id=lease, lease_duration=300))


def artifact(served: Served) -> Any:
    return served.ask(lambda client: client._client.get("/artifacts/schedule-often/latest")).json()["data"]


def failures(served: Served) -> int:
    answer = served.ask(
        lambda client: client._client.post(
            "/events/filter", json={"filter": {"event": {"name": ["goldmeter.schedule.failed"]}}}
        )
    )
    return int(answer.json()["total"])


@pytest.mark.exhaustive
def test_without_its_own_server_it_ends_and_served_again_it_goes_on(serve):
    served = serve(often=schedule())
    served.hold()
    process = served.start()
    served.scheduled_run(1)
    (server,) = (each for each in served.processes() if "prefect server start" in " ".join(each.cmdline()))
    server.kill()

    assert process.wait(60) == TRY_LATER
    assert "error: Prefect's server ended, as" in served.log()
    assert "the run that was under way counts as crashed" in served.log()
    wait_until(lambda: served.processes() == [], "what it had started ends")
    again = served.start()
    served.wait_for(1, "Crashed")
    served.release()
    served.wait_for(1, "Completed")
    assert stop(again, signal.SIGTERM) == 0
