"""The judge: against a server on loopback that takes its time, and the offline one on real rows.

A server on loopback that answers each call after {LATENCY:g} s, {CONCURRENCY} calls at a time: the ideal is
rows x latency / concurrency. From the first row to the last table: requests, replies, every verdict on the
disk before it counts, tables.

The offline judge: the stage's function, tables in and out in memory, in {CORES} parts, a process each; from the
first start to the last end, without the start of processes, reading, validation and writing. In turns with
SQuAD's F1 in Python, pair by pair on one core, of each response and its first reference; medians of {ROUNDS}
rounds, processor time.
"""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from itertools import chain
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Barrier
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import pyarrow as pa

from benchmarks.data import generated_rows, normalized, real_rows
from benchmarks.measure import MICROSECONDS, in_forks, timed
from benchmarks.reference import stack
from benchmarks.report import Floor, Result, Table
from goldmeter.judging.settings import Judge
from goldmeter.judging.verdict_table import Params, judge, judge_offline
from goldmeter.ledger.verdicts import Verdicts
from goldmeter.pipeline.params import section
from goldmeter.pipeline.run import RunJudge
from goldmeter.pipeline.tables import Parts, write_part
from tests.judge_server import Reply, completion, serving, verdict

ROWS, LATENCY, CONCURRENCY = 6_000, 0.5, 64
SHARE = 0.85
"""Of the ideal rate, which is concurrency / latency."""
CORES, ROUNDS, OFFLINE = 2, 5, 40_000.0
"""OFFLINE: rows a second."""
GENERATED, RATIO = 100_000, 2.5
"""RATIO: of the offline judge's processor time for a row to that of SQuAD's F1 in Python for one pair of its texts."""


def run(shipped: Mapping[str, Any], how: Mapping[str, Any]) -> Result:
    """The section `judge`; shipped, how: the sections `judge` and `run.judge` of params.yaml."""
    calls = RunJudge(**{**how, "concurrency": CONCURRENCY, "confirm_calls": ROWS})
    with _server() as url, tempfile.TemporaryDirectory() as folder:
        options = {**shipped, "provider": "openai", "base_url": url, "api_key_env": None, "canaries": False}
        params = Params(judge=section(Judge, {"judge": options}, "judge"))
        write_part(_rows(ROWS), Path(folder), 0)
        start = perf_counter()
        with Verdicts(Path(folder, "store")) as ledger:
            tables = list(judge(Parts(Path(folder)), params, ledger, calls))
        seconds = perf_counter() - start
    answered = sum(each["judge"]["judge_status"].to_pylist().count("answered") for each in tables)
    ideal = ROWS * LATENCY / CONCURRENCY
    row = {"rows": ROWS, "answered": answered, "seconds": seconds, "ideal, s": ideal, "of the ideal": ideal / seconds}
    name, real = real_rows()
    alone = Params(judge=section(Judge, {"judge": {**shipped, "provider": "offline"}}, "judge"))
    compared = {name: real, f"{GENERATED:,} rows made from it": generated_rows(real, GENERATED)}
    speeds = {title: _offline(normalized(rows), alone) for title, rows in compared.items()}
    shown = (
        Table("A server, nothing in the ledger", (row,)),
        Table("The offline judge", tuple({"rows": title, **speed} for title, speed in speeds.items())),
    )
    floors = (
        Floor("judge, rows/s of what the server's latency allows", "at least", SHARE, "", ideal / seconds),
        *chain.from_iterable(_floors(*both) for both in zip(("", ", generated"), speeds.values(), strict=True)),
    )
    return Result(shown, floors)


RATE = "rows/s, two cores"


def _floors(rows: str, speed: Mapping[str, float]) -> Iterator[Floor]:
    yield Floor(f"offline judge, two cores{rows}", "at least", OFFLINE, "rows/s", speed[RATE])
    yield Floor(f"offline judge, a row to F1 of a pair{rows}", "at most", RATIO, "x", speed["ratio"])


def _offline(rows: pa.Table, params: Params) -> dict[str, float]:
    """The speed of the stage's function, everything imported and compiled; in turns with F1 in Python on one core."""
    half = -(-rows.num_rows // CORES)
    parts = [rows.slice(start, half) for start in range(0, rows.num_rows, half)]
    import_module("goldmeter.models.offline.warm_up")
    judge_offline(rows.slice(0, 1), params)
    pairs = [
        (response or "", references[0])
        for response, references in zip(rows["response"].to_pylist(), rows["references"].to_pylist(), strict=True)
    ]
    rates, ours, theirs = [], [], []
    for _ in range(ROUNDS):
        together = get_context("fork").Barrier(CORES)
        spans = in_forks(*(partial(_judge, part, params, together) for part in parts))
        rates.append(rows.num_rows / (max(end for _, end, _ in spans) - min(start for start, _, _ in spans)))
        ours.append(sum(cpu for _, _, cpu in spans) / rows.num_rows)
        theirs.append(in_forks(partial(_compare, pairs))[0] / len(pairs))
    ours_typical, theirs_typical = (median(costs) * MICROSECONDS for costs in (ours, theirs))
    return {
        RATE: median(rates),
        "µs of CPU a row": ours_typical,
        "F1, µs": theirs_typical,
        "ratio": ours_typical / theirs_typical,
    }


def _judge(part: pa.Table, params: Params, together: Barrier) -> tuple[float, float, float]:
    """Start, end and processor time."""
    together.wait()
    start = perf_counter()
    cost = timed(lambda: judge_offline(part, params))[1]
    return start, perf_counter(), cost.cpu


def _compare(pairs: Sequence[tuple[str, str]]) -> float:
    """The processor time of SQuAD's F1, pair by pair."""
    f1 = stack("whitespace", None).scorers["f1"]
    return timed(lambda: [f1(*pair) for pair in pairs])[1].cpu


@contextmanager
def _server() -> Iterator[str]:
    """The address of a server in a process of its own."""
    ours, its = get_context("spawn").Pipe()
    process = get_context("spawn").Process(target=_serve, args=(its,), daemon=True)
    process.start()
    try:
        yield ours.recv()
    finally:
        ours.send(None)
        process.join()


def _serve(parent: Connection) -> None:
    with serving() as server:
        server.script = lambda body: Reply(*completion(verdict(body))[:2], delay=LATENCY)
        parent.send(server.url)
        parent.recv()


def _rows(count: int) -> pa.Table:
    columns = {
        "id": [str(i) for i in range(count)],
        "candidate": ["a"] * count,
        "input": [f"What is the capital of France? ({i})" for i in range(count)],
        "response": ["It is Paris."] * count,
        "references": [["Paris"]] * count,
        "phrases": pa.nulls(count, pa.list_(pa.string())),
    }
    return normalized(pa.table(columns))
