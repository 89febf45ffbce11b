"""The judge: against a server on loopback that takes its time, and the offline one on real rows."""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Barrier
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import pyarrow as pa

from benchmarks.data import real_rows
from benchmarks.measure import in_forks
from benchmarks.report import Floor, Result, Table, paragraphs
from tasks.judge import Params, judge
from tasks.judging.settings import Judge
from tasks.ledger.verdicts import Verdicts
from tasks.models import offline
from tasks.pipeline.params import section
from tasks.pipeline.run import RunJudge
from tasks.pipeline.tables import Parts, write_part
from tests.judge_server import Reply, completion, serving, verdict

ROWS, LATENCY, CONCURRENCY = 6_000, 0.5, 64
SHARE = 0.85
"""Of the ideal rate, which is concurrency / latency."""
CORES, ROUNDS, OFFLINE = 2, 5, 20_000.0
"""OFFLINE: rows a second."""


def run(shipped: Mapping[str, Any], how: Mapping[str, Any]) -> Result:
    """The section `judge`; shipped, how: the sections `judge` and `run.judge` of params.yaml."""
    calls = RunJudge(**{**how, "concurrency": CONCURRENCY, "confirm_calls": ROWS})
    with _server() as url, tempfile.TemporaryDirectory() as folder:
        options = {**shipped, "provider": "openai", "base_url": url, "api_key_env": None}
        params = Params(judge=section(Judge, {"judge": options}, "judge"))
        write_part(_rows(ROWS), Path(folder), 0)
        start = perf_counter()
        with Verdicts(Path(folder, "store")) as ledger:
            tables = list(judge(Parts(Path(folder)), params, ledger, calls))
        seconds = perf_counter() - start
    answered = sum(each["judge"]["judge_status"].to_pylist().count("answered") for each in tables)
    ideal = ROWS * LATENCY / CONCURRENCY
    row = {"rows": ROWS, "answered": answered, "seconds": seconds, "ideal, s": ideal, "of the ideal": ideal / seconds}
    name, rate = _offline()
    shown = (
        Table("A server, nothing in the ledger", (row,)),
        Table(f"The offline judge, two processes, {name}", ({"rows/s": rate},)),
    )
    floors = (
        Floor("judge, rows/s of what the server's latency allows", "at least", SHARE, "", ideal / seconds),
        Floor("offline judge, two cores", "at least", OFFLINE, "rows/s", rate),
    )
    return Result("judge", _about(), shown, floors)


def _offline() -> tuple[str, float]:
    """Rows a second in two processes, each with half of the real rows, everything imported and compiled."""
    name, rows = real_rows()
    columns = [rows[each].to_pylist() for each in ("input", "references", "response")]
    half = -(-rows.num_rows // CORES)
    offline.judge(["a?"], [["a"]], ["a"])
    rates = []
    for _ in range(ROUNDS):
        together = get_context("fork").Barrier(CORES)
        parts = ([column[start : start + half] for column in columns] for start in range(0, rows.num_rows, half))
        spans = in_forks(*(partial(_judge, part, together) for part in parts))
        rates.append(rows.num_rows / (max(end for _, end in spans) - min(start for start, _ in spans)))
    return name, median(rates)


def _judge(columns: Sequence[Sequence[Any]], together: Barrier) -> tuple[float, float]:
    together.wait()
    start = perf_counter()
    offline.judge(*columns)
    return start, perf_counter()


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
    }
    return pa.table(columns)


def _about() -> tuple[str, ...]:
    return paragraphs(f"""
        A server on loopback that answers each call after {LATENCY:g} s, {CONCURRENCY} calls at a time: the ideal is
        rows x latency / concurrency. From the first row to the last table: requests, replies, every verdict on the
        disk before it counts, tables.
    """)
