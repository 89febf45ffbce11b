"""The engine `dask`: the bytes of the engine `local`, whatever dies, and workers that are not like the driver."""

import os
import signal
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from goldmeter.errors import ClusterError, DataError, ParamsError
from goldmeter.pipeline import cluster as engine
from goldmeter.pipeline import cluster as membership
from goldmeter.pipeline.cluster import Driver, call_as_member, cluster, refusal
from goldmeter.runner import run
from tests.small_project import edit, files


def doubled(number: int) -> int:
    return 2 * number


def use_dask(workers: int = 2, part_rows: int = 6, address: str | None = None) -> None:
    edit(
        lambda p: (
            p["load"].update(part_rows=part_rows),
            p["run"].update(workers=workers, engine="dask", address=address),
        )
    )


def written() -> dict[str, bytes]:
    return files("data") | files("reports")


@pytest.mark.exhaustive
@pytest.mark.usefixtures("project")
def test_a_cluster_writes_the_bytes_of_this_machine() -> None:
    edit(lambda p: p["load"].update(part_rows=6))
    for stage in ("load", "normalize"):
        run(stage)
    expected = written()
    use_dask()

    run("normalize")

    assert len(files("data/normalize")) == 4
    assert written() == expected


@pytest.mark.parametrize(
    ("address", "is_one"),
    [
        ("tcp://10.0.0.1:8786", True),
        ("tls://head:8786", True),
        ("/shared/scheduler.json", True),
        ("head:8786", False),
        ("http://head:8786", False),
        ("", False),
    ],
)
@pytest.mark.usefixtures("project")
def test_an_address_is_one_of_dask(address: str, *, is_one: bool) -> None:
    use_dask(address=address)

    if is_one:
        from goldmeter.pipeline.params import run_params

        assert run_params().address == address
    else:
        with pytest.raises(ParamsError, match=r"run\.address: "):
            run("load")


def test_without_dask_the_command_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(engine, "find_spec", lambda _: None)

    with (
        pytest.raises(ParamsError, match=r"run\.engine: dask is not installed; pip install"),
        cluster(None, tmp_path, 1),
    ):
        pass


def test_an_address_that_does_not_answer_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(engine, "ANSWER_SECONDS", 1.0)

    with (
        pytest.raises(ClusterError, match=r"run\.address: tcp://127.0.0.1:1 did not answer .* within 1 s"),
        cluster("tcp://127.0.0.1:1", tmp_path, 1),
    ):
        pass


def test_a_scheduler_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    file = str(tmp_path / "scheduler.json")
    with pytest.raises(DataError, match=r"scheduler\.json: can't be read"), cluster(file, tmp_path, 1):
        pass


@pytest.mark.parametrize(
    ("differs", "problem"),
    [
        ({"code": "0" * 64}, "has other code than head; update it to the same commit"),
        (
            {"versions": membership.dependency_versions(extras=True) | {"python": "2.7"}},
            r"python 3\.\d+, not 2\.7.*install the same there",
        ),
        ({"proof": "data/.load.tmp/none"}, "does not share the folder"),
    ],
)
def test_a_worker_refuses_a_driver_that_is_not_like_it(
    differs: dict[str, Any], problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("proof").mkdir()
    driver = Driver.here(Path("proof"))._replace(host="head")

    assert refusal(driver) is None
    with pytest.raises(ParamsError, match=rf"run\.address: the worker \d+ on .*{problem}"):
        call_as_member(driver._replace(**differs), doubled, [1])


def test_a_worker_calls_in_the_folder_of_the_driver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(membership._State, "driver", None)
    Path("proof").mkdir()
    driver = Driver.here(Path("proof"))
    monkeypatch.chdir("/")

    assert call_as_member(driver, os.getcwd, []) == str(tmp_path)


def test_the_dashboard_is_noted_where_bokeh_is_installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    client = SimpleNamespace(dashboard_link="http://127.0.0.1:8787/status")
    shown = engine.Cluster(client, Driver.here(tmp_path), "tcp://head:8786")

    monkeypatch.setattr(engine, "find_spec", lambda _: None)
    assert shown.note == ""
    monkeypatch.setattr(engine, "find_spec", lambda name: name == "bokeh")
    assert shown.note == "dashboard http://127.0.0.1:8787/status"
    line = engine.DASHBOARD.search(f"lexical: 40%, 4 of 10 rows, {shown.note}, more")
    assert line
    assert line["link"] == client.dashboard_link


def killed(_: int) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_result_that_takes_its_time_is_waited_for(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    class Slow:
        status = "finished"

        def done(self) -> bool:
            return True

        def result(self, timeout: float) -> int:
            if timeout < 0.003:
                raise TimeoutError
            return 7

    monkeypatch.setattr(engine, "POLL_SECONDS", 0.001)
    client = SimpleNamespace(nthreads=lambda: {"one": 1}, submit=lambda *_, **__: Slow())

    shown = engine.Cluster(client, Driver.here(tmp_path), "")

    assert list(shown.run(doubled, [[1]])) == [7]
    assert list(shown.run(partial(doubled, 1), [[]])) == [7]


@pytest.mark.exhaustive
def test_work_that_kills_every_worker_is_a_sentence(tmp_path: Path) -> None:
    with cluster(None, tmp_path, 2) as members, pytest.raises(ParamsError, match=r"4 workers died at the same work"):
        list(members.run(killed, [[1]]))


@pytest.mark.exhaustive
def test_no_worker_and_workers_of_several_threads_are_a_sentence(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from distributed import LocalCluster

    monkeypatch.setattr(engine, "WORKER_SECONDS", 1.0)
    options = {"host": "127.0.0.1", "dashboard_address": "127.0.0.1:0"}
    with LocalCluster(n_workers=0, processes=False, protocol="tcp://", **options) as started:
        address = started.scheduler_address
        with pytest.raises(ClusterError, match=f"{address} has had no worker for 1 s"), cluster(address, tmp_path, 1):
            pass
    with LocalCluster(n_workers=1, threads_per_worker=2, protocol="tcp://", **options) as started:
        address = started.scheduler_address
        with pytest.raises(ParamsError, match="has several threads"), cluster(address, tmp_path, 1):
            pass


def test_a_cluster_whose_worker_is_killed_at_the_start_is_started_again(monkeypatch: pytest.MonkeyPatch) -> None:
    problems = [RuntimeError("Nanny failed to start.")]

    def start(n_workers: int, **_: object) -> str:
        if problems:
            raise problems.pop()
        return f"{n_workers} workers"

    monkeypatch.setattr("distributed.LocalCluster", start)
    assert engine._started(2, {}) == "2 workers"

    problems += [RuntimeError("Nanny failed to start.")] * engine.STARTS
    with pytest.raises(ClusterError, match=r"run\.workers: a cluster of 2 processes could not be started"):
        engine._started(2, {})
