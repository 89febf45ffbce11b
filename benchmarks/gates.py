"""The gate of a part: checked without its texts, against all of it; and the memory that many parts leave behind."""

import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import psutil
import pyarrow as pa

from benchmarks.data import PARAMS, generated_sections, normalized, real_rows, write_generated
from benchmarks.measure import MICROSECONDS, in_forks
from benchmarks.report import Floor, Result, Table, paragraphs
from tasks import load, normalize
from tasks.dataset.settings import Params
from tasks.dataset.sources import records
from tasks.pipeline import params, validation
from tasks.pipeline.frames import frame_of
from tasks.pipeline.tables import Parts, write_part
from tasks.pipeline.workers import collect_garbage

ROWS = 50_000
REPEATS = 5
RATIO = 2.0
FEW, MANY = 20, 100
"""Parts after which memory is compared."""
GROWTH = 1.1
MIB = 2**20


def run() -> Result:
    """The section `gates`."""
    gates = dict(_gates())
    costs = {name: _cost(*gate) for name, gate in gates.items()}
    [grown] = in_forks(partial(_grown, *gates["normalize"]))
    tables = (
        Table("Great Expectations on a part", tuple(_cost_row(name, cost) for name, cost in costs.items())),
        Table("Memory of a process", ({f"after {FEW} parts, MiB": grown[0] / MIB, f"{MANY}": grown[1] / MIB},)),
    )
    floors = [
        *(Floor(f"gate of {name}, without texts", "at least", RATIO, "x", cost.ratio) for name, cost in costs.items()),
        Floor(f"memory after {MANY} parts, of that after {FEW}", "at most", GROWTH, "x", grown[1] / grown[0]),
    ]
    return Result("gates", _about(), tables, tuple(floors))


class GateCost(NamedTuple):
    """Processor seconds of the checks of one part: of all its columns, and without texts as the runner does."""

    whole: float
    narrow: float

    @property
    def ratio(self) -> float:
        """How many times the cost the whole texts have."""
        return self.whole / self.narrow


def _gates() -> Iterator[tuple[str, tuple[pa.Table, list[Any]]]]:
    """Name of a stage → one part of its table, and what is expected of the rows."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "answers.parquet")
        write_generated(real_rows()[1], ROWS, path)
        sections = generated_sections(str(path))
        given = Params(dataset=sections["dataset"], load=sections["load"])
        rows = pa.concat_tables(part["load"] for part in load.load(records(path), given))
    validation.load_gx()
    yield "load", (rows, [*load.expect(given).rows])
    expected = normalize.expect(normalize.Params(normalize=params.raw(PARAMS)["normalize"]))
    yield "normalize", (normalized(rows), [*expected.rows])


def _cost(table: pa.Table, expectations: list[Any]) -> GateCost:
    def whole() -> object:
        return validation.check(frame_of(table, expectations), expectations)

    turns = [(_seconds(whole), _seconds(partial(validation.check_rows, table, expectations))) for _ in range(REPEATS)]
    return GateCost(*map(min, zip(*turns, strict=True)))


def _seconds(call: Callable[[], object]) -> float:
    collect_garbage()
    start = time.process_time()
    call()
    return time.process_time() - start


def _grown(table: pa.Table, expectations: list[Any]) -> tuple[int, int]:
    """Bytes of resident memory after FEW and after MANY parts."""
    sizes = []
    with tempfile.TemporaryDirectory() as folder:
        write_part(table, Path(folder), 0)
        for _ in range(MANY):
            validation.check_rows(Parts(Path(folder)).part(0), expectations)
            collect_garbage()
            sizes.append(psutil.Process().memory_info().rss)
    return sizes[FEW - 1], sizes[MANY - 1]


def _cost_row(name: str, cost: GateCost) -> dict[str, Any]:
    return {
        "stage": name,
        "whole texts, cpu µs a row": cost.whole / ROWS * MICROSECONDS,
        "without texts, cpu µs a row": cost.narrow / ROWS * MICROSECONDS,
        "ratio": cost.ratio,
    }


def _about() -> tuple[str, ...]:
    return paragraphs(f"""
        One part of {ROWS:,} generated rows (section `stage` says how) against the contract of the stage, by Great
        Expectations: on a frame of all columns that the contract names, and as the runner does it, on the lengths and
        matches that Arrow computes of texts. Processor seconds, the least of {REPEATS}.

        Memory: {MANY} parts of the normalize stage are read and checked in one process, with the collection of garbage
        that the runner does after each.
    """)
