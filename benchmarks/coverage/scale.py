"""What the report's statistics cost on a million rows: seconds, and memory beside the data."""

import tracemalloc
from time import perf_counter

import numpy as np

from benchmarks.coverage.cells import Floats, generator
from goldmeter.statistics.correlation import correlations
from goldmeter.statistics.mean import mean_interval

Columns = list[Floats]
UNMEASURED = 0.02
PASSES_FROM = 0.5


def scale(rows: int = 1_000_000, metrics: int = 15) -> tuple[float, float]:
    """Seconds and peak bytes, beside the columns, of values, intervals, pass rates and the correlations of all.

    The seconds are the fewest of three runs, since other programs only ever add to them. The memory is measured in a
    fourth, so that measuring it costs them nothing.
    """
    columns = _columns(rows, metrics)
    seconds = min(_seconds(columns) for _ in range(3))
    tracemalloc.start()
    _statistics(columns)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return seconds, float(peak)


def _seconds(columns: Columns) -> float:
    start = perf_counter()
    _statistics(columns)
    return perf_counter() - start


def _statistics(columns: Columns) -> None:
    """The numbers that the report shows of these columns."""
    for column in columns:
        scores = column[~np.isnan(column)]
        mean_interval(scores)
        mean_interval(scores >= PASSES_FROM)
    correlations(np.stack(columns).T)


def _columns(rows: int, metrics: int) -> Columns:
    """One column per metric, shape (rows,), in [0, 1]: every third binary, all related, some rows unmeasured."""
    rng = generator("scale", rows, metrics)
    shared = rng.random(rows)
    columns = [np.sqrt(shared * rng.random(rows)) for _ in range(metrics)]
    for number, column in enumerate(columns):
        if number % 3 == 0:
            np.rint(column, out=column)
        column[rng.random(rows) < UNMEASURED] = np.nan
    return columns
