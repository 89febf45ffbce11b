"""Wall time, processor time and memory of a call, or of a command and all that it starts."""

import gc
import os
import resource
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median
from typing import TypeVar, cast

import psutil

SAMPLED_EVERY = 0.1
MICROSECONDS = 10**6
"""In a second."""
Got = TypeVar("Got")


@dataclass(frozen=True)
class Cost:
    """What a call took, or a command and all that it started: seconds, processor seconds, the largest memory in bytes.

    cpu: of a call, of this process; of a command as the system counts it of processes waited for, or as sampled of all,
    whichever is more.
    peak: of the sums of resident memory over the process tree, sampled; pages that processes share count for each.
    largest: resident memory of the largest of these processes. worker: of the largest that the command started. Of a
    call all three are 0.
    """

    wall: float
    cpu: float
    peak: int = 0
    largest: int = 0
    worker: int = 0


def timed(call: Callable[[], Got]) -> tuple[Got, Cost]:
    """What the call returns, and its time."""
    wall, cpu = time.perf_counter(), time.process_time()
    got = call()
    return got, Cost(time.perf_counter() - wall, time.process_time() - cpu)


def typical(costs: Sequence[Cost]) -> Cost:
    """Medians of the times, the largest peak."""
    wall, cpu = median(each.wall for each in costs), median(each.cpu for each in costs)
    return Cost(wall, cpu, max(each.peak for each in costs))


def in_forks(*calls: Callable[[], Got]) -> list[Got]:
    """What each call returns, all at the same time, each in a fork of this process: what they cache is gone after.

    A fork finds everything imported, compiled and loaded that this process has, and nothing of what another
    fork has seen. Raises what a call raises.
    """
    context = get_context("fork")
    gc.collect()
    gc.freeze()  # else a fork's garbage collector copies every page of this process
    pipes = [context.Pipe(duplex=False) for _ in calls]
    processes = [context.Process(target=_answer, args=(call, pipe[1])) for call, pipe in zip(calls, pipes, strict=True)]
    for process, pipe in zip(processes, pipes, strict=True):
        process.start()
        pipe[1].close()  # so that a fork that dies is no answer to wait for
    try:
        answers = [cast("tuple[Got | None, Exception | None]", receiving.recv()) for receiving, _ in pipes]
    finally:
        for process in processes:
            process.join()
        gc.unfreeze()
    for _, error in answers:
        if error:
            raise error
    return [cast("Got", got) for got, _ in answers]


def stay_on_one_core() -> None:
    """Keep this process on one core, where the system lets it."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def run(command: Sequence[str], folder: Path, environment: Mapping[str, str] | None = None) -> Cost:
    """The cost of a command; RuntimeError with the end of its output when it fails."""
    with tempfile.TemporaryFile() as output:
        before, start, tree = _waited_for(), time.perf_counter(), _Tree()
        process = psutil.Popen(
            command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
        )
        while process.poll() is None:
            tree.look(process)
            try:
                process.wait(SAMPLED_EVERY)
            except psutil.TimeoutExpired:
                continue
        wall = time.perf_counter() - start
        if process.returncode:
            output.seek(0)
            raise RuntimeError(f"{' '.join(command)}: exit {process.returncode}\n{output.read()[-4000:].decode()}")
    return Cost(wall, max(_waited_for() - before, sum(tree.cpu.values())), tree.peak, tree.largest, tree.worker)


class _Tree:
    """What was seen of a process and all below it: processor seconds of each, and their memory.

    peak: the largest sum. largest: of one process. worker: of one of those below.
    """

    def __init__(self) -> None:
        self.cpu: dict[psutil.Process, float] = {}
        self.peak = self.largest = self.worker = 0

    def look(self, process: psutil.Process) -> None:
        """Take what there is now; a process that ends meanwhile keeps what was seen of it."""
        total = 0
        for each in _below(process):
            try:
                times = each.cpu_times()
                self.cpu[each] = times.user + times.system
                resident = each.memory_info().rss
            except psutil.NoSuchProcess:
                continue
            total += resident
            self.largest = max(self.largest, resident)
            if each != process:
                self.worker = max(self.worker, resident)
        self.peak = max(self.peak, total)


def _below(process: psutil.Process) -> list[psutil.Process]:
    try:
        return [process, *process.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def _answer(call: Callable[[], Got], pipe: Connection) -> None:
    try:
        pipe.send((call(), None))
    except Exception as error:  # noqa: BLE001 (raised again in the parent)
        pipe.send((None, error))


def _waited_for() -> float:
    """Processor seconds of all processes that ended and were waited for; the workers of a fork server never are."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
