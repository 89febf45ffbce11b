"""The engine `dask`: units run on the workers of a Dask cluster, on this machine or at an address.

They must have code, libraries and folder in common with the process that gives them work.
"""

import logging
import os
import re
import socket
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple, Self
from uuid import uuid4

from goldmeter.errors import ClusterError, ParamsError
from goldmeter.pipeline.dvc_yaml import forget_stages
from goldmeter.pipeline.files import read_json
from goldmeter.pipeline.lineage import code_hash, dependency_versions
from goldmeter.pipeline.workers import Arguments, Engine, threads_of

LISTED = 5


class Driver(NamedTuple):
    """The process that gives work.

    folder: The project's folder, absolute.
    proof: A folder of this run, relative to it.
    code: The hash of the project's code.
    versions: Of Python and of the libraries that this code imports.
    """

    host: str
    folder: str
    proof: str
    code: str
    versions: Mapping[str, str]

    @classmethod
    def here(cls, proof: Path) -> Self:
        """Describe this process."""
        return cls(socket.gethostname(), str(Path.cwd()), str(proof), *_code())


def refusal(driver: Driver) -> str | None:
    """Return why this process can't work for a driver: one sentence; None if it can."""
    code, versions = _code()
    who = f"run.address: the worker {os.getpid()} on {socket.gethostname()}"
    if code != driver.code:
        return f"{who} has other code than {driver.host}; update it to the same commit, then restart the worker"
    if versions != driver.versions:
        names = sorted(name for name in versions.keys() | driver.versions.keys() if _differ(name, versions, driver))
        pairs = [f"{name} {versions.get(name, 'none')}, not {driver.versions.get(name, 'none')}" for name in names]
        listed = "; ".join(pairs[:LISTED])
        return f"{who} has other versions than {driver.host}: {listed}; install the same there"
    if not Path(driver.folder, driver.proof).is_dir():
        return f"{who} does not share the folder {driver.folder} of {driver.host}; mount it there at the same path"
    return None


def call_as_member(driver: Driver, function: Callable[..., Any], arguments: Sequence[Any]) -> Any:
    """Call a function in the driver's folder.

    Raises:
        ParamsError: This process can't work for the driver.
    """
    if _State.driver != driver:
        if problem := refusal(driver):
            raise ParamsError(problem)
        os.chdir(driver.folder)
        forget_stages()
        _State.driver = driver
    return function(*arguments)


class _State:
    driver: Driver | None = None


@cache
def _code() -> tuple[str, dict[str, str]]:
    """The code and libraries as they are at the first call: a process does not import what is changed later."""
    return code_hash(), dependency_versions(extras=True)


def _differ(name: str, versions: Mapping[str, str], driver: Driver) -> bool:
    return versions.get(name) != driver.versions.get(name)


# Seconds within which a scheduler has to answer, and within which it has to have a worker.
ANSWER_SECONDS, WORKER_SECONDS = 30.0, 60.0
# Seconds between two looks at whether there still are workers.
POLL_SECONDS = 5.0
LOCAL = "127.0.0.1"
# Attempts to start a local cluster: a worker may be killed meanwhile.
STARTS = 3
# The note of a cluster that has a dashboard, in a line of progress.
DASHBOARD = re.compile(r"\bdashboard (?P<link>https?://[^\s,]+)")


class Cluster(Engine[Any]):
    """The workers of a Dask cluster; the scheduler gives the units of a dead worker to another one.

    Args:
        client: The connection to the scheduler, a distributed.Client.
        driver: What a worker has to have in common with this process.
        where: The cluster's address, for messages.
    """

    def __init__(self, client: Any, driver: Driver, where: str) -> None:
        self._client, self._driver, self._where = client, driver, where
        self._seen_workers = monotonic()

    @property
    def note(self) -> str:
        """The address of Dask's dashboard, which needs bokeh."""
        link = self._client.dashboard_link if find_spec("bokeh") else None
        return f"dashboard {link}" if link else ""

    def admit(self) -> None:
        """Wait for a worker, and compare the workers with this process.

        Raises:
            ClusterError: There is no worker.
            ParamsError: A worker can't do the work of this process.
        """
        try:
            self._client.wait_for_workers(1, timeout=WORKER_SECONDS)
        except TimeoutError:
            raise self._no_worker(WORKER_SECONDS) from None
        if crowded := sorted(worker for worker, threads in self._client.nthreads().items() if threads != 1):
            raise ParamsError(
                f"run.address: the worker {crowded[0]} has several threads; start each with --nthreads 1, and as many "
                "as the machine has cores: --nworkers"
            )
        refusals = self._client.run(refusal, self._driver, on_error="return")
        for worker, problem in sorted(refusals.items()):
            if isinstance(problem, OSError):  # it has just ended
                continue
            if isinstance(problem, BaseException):  # as it can't import this project, it can't say why it refuses
                raise ParamsError(
                    f"run.address: the worker {worker} can't run this project ({problem}); start it in "
                    f"{self._driver.folder}, by python -m dask worker"
                )
            if problem:
                raise ParamsError(problem)

    @property
    def workers(self) -> int:
        try:
            return max(1, len(self._client.nthreads()))
        except (OSError, CancelledError):
            raise self._lost() from None

    def _submit(self, function: Callable[..., Any], arguments: Arguments) -> Any:
        name = getattr(function, "func", function).__name__.strip("_")  # of a partial, that of its function
        key = f"{name}-{uuid4().hex}"  # Dask shows what comes before the last hyphen
        try:
            return self._client.submit(call_as_member, self._driver, function, arguments, key=key, pure=False)
        except RuntimeError:  # the client is closed
            raise self._lost() from None

    def _next(self, pending: deque[Any]) -> Any:
        from distributed import KilledWorker

        unit = pending.popleft()
        try:
            result = self._result(unit)
        except KilledWorker as error:
            raise ParamsError(
                f"run.engine: {error.allowed_failures + 1} workers died at the same work, the last of them "
                f"{error.last_worker.address}, likely for want of memory; set smaller parts (load.part_rows), or "
                "fewer workers a machine"
            ) from None
        except CancelledError:
            raise self._lost() from None
        self._seen_workers = monotonic()
        return result

    def _result(self, unit: Any) -> Any:
        """Wait for a unit's result, as long as there are workers; each time longer, for a large one takes its time."""
        seconds = POLL_SECONDS
        while True:
            try:
                return unit.result(timeout=seconds)
            except TimeoutError:
                if unit.status == "error":  # its own
                    raise
                self._look_for_workers()
                seconds = min(2 * seconds, WORKER_SECONDS)

    def _look_for_workers(self) -> None:
        try:
            is_alone = not self._client.nthreads()
        except (OSError, CancelledError):
            raise self._lost() from None
        if not is_alone:
            self._seen_workers = monotonic()
        elif monotonic() - self._seen_workers > WORKER_SECONDS:
            raise self._no_worker(WORKER_SECONDS)

    def _no_worker(self, seconds: float) -> ClusterError:
        return ClusterError(
            f"run.address: {self._where} has had no worker for {seconds:g} s; start some in {self._driver.folder}: "
            f"python -m dask worker {self._where} --nthreads 1 --nworkers 16"
        )

    def _lost(self) -> ClusterError:
        return ClusterError(
            f"run.address: the scheduler at {self._where} is gone; no table was changed. Start it and its workers "
            "again, then run the stage again"
        )


@contextmanager
def cluster(address: str | None, proof: Path, workers: int) -> Iterator[Cluster]:
    """Connect to a Dask cluster.

    Args:
        address: Of its scheduler, or the path of the JSON file that it writes; None: start one here.
        proof: A folder of this run, below the current one: workers that see it share the project's folder.
        workers: Number of processes of one that is started here.

    Raises:
        ParamsError: Dask is not installed, or a worker can't do the work of this process.
        DataError: The scheduler's file can't be read.
        ClusterError: The cluster does not answer, or has no worker.
    """
    if not find_spec("distributed"):
        raise ParamsError("run.engine: dask is not installed; pip install 'goldmeter[cluster]'")
    from distributed import Client

    _silence()
    with ExitStack() as stack:
        target = _scheduler(address) if address else stack.enter_context(_local(workers))
        try:
            client = stack.enter_context(Client(target, timeout=ANSWER_SECONDS, set_as_default=False))
        except (OSError, ValueError) as error:
            raise ClusterError(
                f"run.address: {address} did not answer as a Dask scheduler within {ANSWER_SECONDS:g} s ({error}); "
                "start one, by python -m dask scheduler, or leave run.address empty for this machine"
            ) from None
        members = Cluster(client, Driver.here(proof), client.scheduler.address)
        members.admit()
        yield members


def _silence() -> None:
    """Silence Dask's loggers, each of which has a level of its own: what matters is said by the errors here."""
    for name in [name for name in logging.root.manager.loggerDict if name.startswith("distributed")]:
        logging.getLogger(name).setLevel(logging.CRITICAL)


def _scheduler(address: str) -> str:
    """The address of a scheduler, maybe from the file that it writes."""
    return str(read_json(Path(address)).get("address")) if address.endswith(".json") else address


@contextmanager
def _local(workers: int) -> Iterator[Any]:
    """A cluster of so many processes of this machine; only those with its temporary certificate may connect to it."""
    options: Mapping[str, Any] = {
        "threads_per_worker": 1,
        "host": LOCAL,
        "protocol": "tls://",
        "security": True,
        "dashboard_address": f"{LOCAL}:0",
        "memory_limit": None,
        "silence_logs": logging.CRITICAL,
    }
    with threads_of(workers), _started(workers, options) as started:
        yield started


def _started(workers: int, options: Mapping[str, Any]) -> Any:
    """Start the cluster, once more if a worker was killed meanwhile. Raises ClusterError when that is in vain."""
    from distributed import LocalCluster

    for _ in range(STARTS):
        with suppress(RuntimeError):
            return LocalCluster(n_workers=workers, **options)
    raise ClusterError(
        f"run.workers: a cluster of {workers} processes could not be started, in {STARTS} attempts, likely for want of "
        "memory; set fewer"
    )
