"""The judge stage against a server on loopback that takes its time: rows a second, of what its latency allows."""

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from time import perf_counter
from typing import Any

import pyarrow as pa

from benchmarks.report import Floor, Result, Table, paragraphs
from tasks.judge import Asking, Judge, Params, judge
from tasks.ledger.verdicts import Verdicts
from tasks.params import section
from tasks.tables import Parts, write_part
from tests.judge_server import Reply, completion, serving, verdict

ROWS, LATENCY, CONCURRENCY = 4_000, 0.5, 64
SHARE = 0.85
"""Of the ideal rate, which is concurrency / latency."""


def run(shipped: Mapping[str, Any], how: Mapping[str, Any]) -> Result:
    """The section `judge`; shipped, how: the sections `judge` and `run.judge` of params.yaml."""
    asking = Asking(**{**how, "concurrency": CONCURRENCY, "retry_failed": False})
    with _server() as url, tempfile.TemporaryDirectory() as folder:
        options = {**shipped, "provider": "openai", "base_url": url, "api_key_env": None}
        params = Params(judge=section(Judge, {"judge": options}, "judge"))
        write_part(_rows(ROWS), Path(folder), 0)
        start = perf_counter()
        with Verdicts(Path(folder, "store")) as ledger:
            tables = list(judge(Parts(Path(folder)), params, ledger, asking))
        seconds = perf_counter() - start
    answered = sum(each["judge"]["judge_status"].to_pylist().count("answered") for each in tables)
    ideal = ROWS * LATENCY / CONCURRENCY
    row = {"rows": ROWS, "answered": answered, "seconds": seconds, "ideal, s": ideal, "of the ideal": ideal / seconds}
    floor = Floor("judge, rows/s of what the server's latency allows", "at least", SHARE, "", ideal / seconds)
    return Result("judge", _about(), (Table("Nothing in the ledger", (row,)),), (floor,))


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
