"""The first call after an installation: kernels are compiled once, cached, and workers at the same time do no harm."""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

from benchmarks.data import ROOT
from benchmarks.report import Floor, Result, Table, paragraphs

SECONDS = 30.0
"""Floor of the first call, the start of Python included."""
TEXTS = (["Marie Curie was birthed in Warsaw.", "東京 Paris"], ["Marie Curie was born in Warsaw.", "Tokyo, Paris"])


def run() -> Result:
    """The section `compile`."""
    with tempfile.TemporaryDirectory() as empty, tempfile.TemporaryDirectory() as shared:
        first, again = each_metric_once(empty), each_metric_once(empty)
        two = each_metric_once(shared, shared)
        after = each_metric_once(shared)
    named = {"first, cache empty": first, "second": again, "two at once, cache empty": two, "after the two": after}
    tables = (
        Table(
            "A process that calls each metric once, seconds", tuple(_row(name, calls) for name, calls in named.items())
        ),
        Table("Calls, seconds", tuple(_calls(named))),
    )
    floors = (
        Floor("first call after installation", "at most", SECONDS, "s", first.wall),
        Floor("two first calls at once", "at most", SECONDS, "s", two.wall),
    )
    about = paragraphs("""
        Processes with NUMBA_CACHE_DIR at a folder that was empty before the first. Each calls every lexical metric
        once, with its defaults, on two pairs; two at once share one empty folder, and both must end well.

        What the second process takes is no compilation: Python, imports, WordNet's table. The difference to it is.
    """)
    return Result("compile", about, tables, floors)


class Calls(NamedTuple):
    """Seconds of the processes from start to end, and in one of them of its imports and of each metric's call."""

    wall: float
    imports: float
    metrics: dict[str, float]


def each_metric_once(*caches: str) -> Calls:
    """Processes that call every metric once, all at the same time, each with its folder of compiled kernels.

    Raises RuntimeError when one fails.
    """
    start = time.perf_counter()
    command = [sys.executable, "-m", "benchmarks.compile"]
    processes = [
        subprocess.Popen(
            command, cwd=ROOT, env=os.environ | {"NUMBA_CACHE_DIR": cache}, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )
        for cache in caches
    ]  # fmt: skip
    outputs = [process.communicate() for process in processes]
    wall = time.perf_counter() - start
    for process, (_, errors) in zip(processes, outputs, strict=True):
        if process.returncode:
            raise RuntimeError(f"{' '.join(command)}: exit {process.returncode}\n{errors[-4000:]}")
    said = json.loads(outputs[0][0])
    return Calls(wall, said["imports"], said["metrics"])


def call_each_metric() -> dict[str, Any]:
    """Seconds of the imports, and of the first call of each lexical metric in this process."""
    start = time.perf_counter()
    from tasks.metrics import score
    from tasks.metrics.catalogue import names

    listed = names("lexical")
    imports = time.perf_counter() - start
    metrics = {}
    for name in listed:
        start = time.perf_counter()
        score(name, *TEXTS)
        metrics[name] = time.perf_counter() - start
    return {"imports": imports, "metrics": metrics}


def _row(name: str, calls: Calls) -> dict[str, Any]:
    return {"process": name, "seconds": calls.wall, "imports": calls.imports, "calls": sum(calls.metrics.values())}


def _calls(named: dict[str, Calls]) -> Iterator[dict[str, Any]]:
    for metric in next(iter(named.values())).metrics:
        yield {"metric": metric, **{name: calls.metrics[metric] for name, calls in named.items()}}


if __name__ == "__main__":
    print(json.dumps(call_each_metric()))
