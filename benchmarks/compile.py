"""The first call after an installation: kernels are compiled once, cached, and workers at the same time do no harm.

Processes with NUMBA_CACHE_DIR at a folder that was empty before the first. Each scores a pair with every
lexical metric, by its defaults (goldmeter.metrics.warm_up); two at once share one empty folder, and both must end
well.

The second process compiles nothing: its time is that of Python, imports and WordNet's table. The difference is
compilation.
"""

import os
import sys
import tempfile
from functools import partial

from benchmarks import measure
from benchmarks.data import ROOT
from benchmarks.report import Floor, Result, Table

SECONDS = 30.0
"""Floor of the first call, the start of Python included."""


def run() -> Result:
    """The section `compile`."""
    with tempfile.TemporaryDirectory() as empty, tempfile.TemporaryDirectory() as shared:
        first, again = each_metric_once(empty), each_metric_once(empty)
        two = max(measure.in_forks(*[partial(each_metric_once, shared)] * 2))
        after = each_metric_once(shared)
    named = {"first, cache empty": first, "second": again, "two at once, cache empty": two, "after the two": after}
    table = Table(
        "A process that calls each metric once, seconds",
        tuple({"process": name, "seconds": seconds} for name, seconds in named.items()),
    )
    floors = (
        Floor("first call after installation", "at most", SECONDS, "s", first),
        Floor("two first calls at once", "at most", SECONDS, "s", two),
    )
    return Result([table], floors)


def each_metric_once(cache: str) -> float:
    """Seconds of a process with this folder of compiled kernels; RuntimeError when it fails."""
    command = [sys.executable, "-m", "goldmeter.metrics.warm_up"]
    return measure.run(command, ROOT, os.environ | {"NUMBA_CACHE_DIR": cache}).wall
