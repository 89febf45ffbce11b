"""The lexical stage: its function on two cores against the reference stack, and `dvc repro` on up to a million rows.

Two cores: the stage's function, tables in and out in memory, on the real rows and on {GENERATED:,} generated
ones, in {CORES} parts, a process each; from the first start to the last end, without the start of processes.
Vocabulary cold, the stack as in section `lexical`, on one core, in turns, medians of {ROUNDS} rounds. The
normalize stage has run before.

By DVC: all of `dvc repro --force --single-item lexical` (Parquet read and written, every gate, DVC's own work),
in a copy of the project with a cache of its own; load and normalize run before, untimed, and one run warms up.
Medians of {REPEATS} runs, {largest:,} rows once. A table of one part (load.part_rows) is scored in the stage's
own process, more parts in one a core: the first step has the start of these in it.

Generated rows: real questions and references, {candidates} candidates a question; each answer the
beginning of the candidate's real one and the end of another, digits permuted, {misspelt:.0%} of words misspelt.

Memory: the sum of resident memory over the process tree, sampled every {sampled_every:g} s; pages that
processes share count for each.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from multiprocessing import get_context
from multiprocessing.synchronize import Barrier
from statistics import median
from time import perf_counter
from typing import Any, NamedTuple

import pyarrow as pa

from benchmarks.data import (
    CANDIDATES,
    MISSPELT,
    TextPairs,
    generated_rows,
    generated_sections,
    normalized,
    real_rows,
    text_pairs,
    write_generated,
)
from benchmarks.lexical import GENERATED, SAMPLE, WARM_UP, Row, Setting, our_scores, settings
from benchmarks.measure import MICROSECONDS, SAMPLED_EVERY, Cost, in_forks, stay_on_one_core, timed, typical
from benchmarks.project import Project, copy
from benchmarks.reference import Stack, stack, wordnet_reader
from benchmarks.report import Floor, Result, Table
from goldmeter.metrics.pairs import Pairs
from goldmeter.pipeline.tables import Parts
from tasks.lexical import Params, lexical

CORES = 2
ROUNDS = 3
RATIO = 200.0
REPEATS = 5
"""Runs by DVC of all sizes but the largest, which runs once."""
LARGEST = 1_000_000
SECONDS, GIGABYTES, GROWTH = 30.0, 3.0, 1.2
"""Floors of the largest size; growth: of the marginal time a row, each step against the one before."""
ANSWERS = "data/answers.parquet"
GB = 10**9


def run(shipped: Mapping[str, Mapping[str, Any]], largest: int) -> Result:
    """The section `stage`; shipped: the section `lexical` of params.yaml; largest: rows."""
    speeds = on_two_cores(shipped)
    runs = by_dvc([largest // 100, largest // 10, largest])
    marginal = [_marginal(*both) for both in pairwise(runs)]
    tables = (
        Table("The stage's function in two processes on two cores", speeds),
        Table("dvc repro --single-item lexical", [*map(_run_row, runs, [None, *marginal])]),
    )
    facts = {"largest": largest, "candidates": len(CANDIDATES), "misspelt": MISSPELT, "sampled_every": SAMPLED_EVERY}
    return Result(tables, [*_floors(speeds, runs, marginal)], facts)


class Run(NamedTuple):
    """The stage by DVC: rows, pairs, and what it took."""

    rows: int
    pairs: int
    cost: Cost


def on_two_cores(shipped: Mapping[str, Mapping[str, Any]]) -> list[Row]:
    """The stage's function on real and on generated rows in two parts, and the stack on a sample of their pairs."""
    name, real = real_rows()
    speeds = []
    for data, rows in ((name, real), ("generated", generated_rows(real, GENERATED))):
        pairs = text_pairs(rows)
        halves = in_forks(partial(_normalized_halves, rows))[0]  # this process is to know no word of it
        with wordnet_reader(pairs.sample(SAMPLE, start=SAMPLE)) as (_, reader):
            speeds += [
                _speed(f"{data}: {setting.name}", setting, halves, pairs, stack(setting.tokens, reader))
                for setting in settings(shipped)
            ]
    return speeds


def _speed(name: str, setting: Setting, halves: Sequence[pa.Table], pairs: TextPairs, reference: Stack) -> Row:
    sample = pairs.sample(SAMPLE)
    our_scores(setting.metrics, Pairs.of(*WARM_UP))
    refer = partial(_refer, reference, [*setting.options], sample)
    turns = [(_seconds(halves, setting), in_forks(refer)[0].wall) for _ in range(ROUNDS)]
    ours, theirs = (median(seconds) for seconds in zip(*turns, strict=True))
    rows = sum(half.num_rows for half in halves)
    pairs_a_second, stack_a_second = len(pairs.responses) / ours, len(sample.responses) / theirs
    return {
        "setting": name,
        "stage, pairs/s": pairs_a_second,
        "stage, rows/s": rows / ours,
        "stack, pairs/s": stack_a_second,
        "ratio": pairs_a_second / stack_a_second,
    }


def by_dvc(sizes: Sequence[int]) -> list[Run]:
    """`dvc repro --single-item lexical` on generated rows, after load, normalize and one run of it that warms up."""
    _, real = real_rows()
    runs = []
    with copy() as project:
        project.configure(generated_sections(ANSWERS))
        for rows in sizes:
            write_generated(real, rows, project.folder / ANSWERS)
            project.repro("answer")
            project.repro("load")
            project.repro("normalize")
            if rows == sizes[0]:
                project.repro("lexical")
            costs = [project.repro("lexical") for _ in range(1 if rows == sizes[-1] else REPEATS)]
            runs.append(Run(rows, _pairs(project), typical(costs)))
    return runs


def _normalized_halves(rows: pa.Table) -> list[pa.Table]:
    size = -(-rows.num_rows // CORES)
    return [normalized(rows.slice(start, size)) for start in range(0, rows.num_rows, size)]


def _seconds(halves: Sequence[pa.Table], setting: Setting) -> float:
    """From the start of the first process to the end of the last one."""
    together = get_context("fork").Barrier(len(halves))
    options = Params(lexical=setting.options)
    spans = in_forks(*(partial(_score, half, options, together) for half in halves))
    return max(end for _, end in spans) - min(start for start, _ in spans)


def _score(half: pa.Table, options: Params, together: Barrier) -> tuple[float, float]:
    our_scores(options.lexical.root, Pairs.of(*WARM_UP))
    together.wait()
    start = perf_counter()
    lexical(half, options)
    return start, perf_counter()


def _refer(reference: Stack, metrics: Sequence[str], sample: TextPairs) -> Cost:
    stay_on_one_core()
    return timed(lambda: reference.scores(metrics, sample))[1]


def _pairs(project: Project) -> int:
    columns = Parts(project.folder / "data/normalize").read(["references"])
    return sum(len(part["references"].combine_chunks().flatten()) for part in columns)


def _marginal(fewer: Run, more: Run) -> Cost:
    """Of each further row."""
    rows = more.rows - fewer.rows
    return Cost((more.cost.wall - fewer.cost.wall) / rows, (more.cost.cpu - fewer.cost.cpu) / rows)


def _run_row(run: Run, marginal: Cost | None) -> dict[str, Any]:
    return {
        "rows": f"{run.rows:,}",
        "pairs": run.pairs,
        "seconds": run.cost.wall,
        "cpu seconds": run.cost.cpu,
        "peak memory, GB": run.cost.peak / GB,
        "pairs/s": run.pairs / run.cost.wall,
        "µs a further row": None if marginal is None else marginal.wall * MICROSECONDS,
        "cpu µs": None if marginal is None else marginal.cpu * MICROSECONDS,
    }


def _floors(speeds: Sequence[Row], runs: Sequence[Run], marginal: Sequence[Cost]) -> Iterator[Floor]:
    for speed in speeds:
        yield Floor(f"stage on two cores: {speed['setting']}", "at least", RATIO, "x", speed["ratio"])
    largest = runs[-1]
    if largest.rows == LARGEST:  # the floors are of this size
        yield Floor(f"{LARGEST:,} rows by dvc repro", "at most", SECONDS, "s", largest.cost.wall)
        yield Floor(f"{LARGEST:,} rows, peak memory", "at most", GIGABYTES, "GB", largest.cost.peak / GB)
        growth = marginal[1].wall / marginal[0].wall
        yield Floor("time of a further row, last step to the one before", "at most", GROWTH, "x", growth)
