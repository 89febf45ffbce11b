"""What the workers of a cluster must have in common with the process that gives them work: code, libraries, folder."""

import os
import socket
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, Self

from tasks.errors import ParamsError
from tasks.pipeline.dvc_yaml import forget_stages
from tasks.pipeline.lineage import code_hash, libraries

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
        return f"{who} has other versions than {driver.host}: {listed}; install requirements.lock there"
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
    return code_hash(), libraries()


def _differ(name: str, versions: Mapping[str, str], driver: Driver) -> bool:
    return versions.get(name) != driver.versions.get(name)
