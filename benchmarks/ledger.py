"""The ledger of verdicts in a run with nothing new: opened, evidence taken in, every verdict used, evidence written.

Made-up verdicts of 500 bytes, all of them in the store and in the evidence of the checked-out version. The
process opens the store, takes the evidence in, asks which verdicts are missing, marks all as used and writes
the evidence of the next version. Hashing the rows' requests is part of it; building the table is not.
Filling adds 50,000 at once; each call waits for the disk.
"""

import sys
import time
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.data import ROOT
from benchmarks.measure import MICROSECONDS, Cost
from benchmarks.measure import run as run_command
from benchmarks.report import Floor, Result, Table
from goldmeter.ledger.entries import Entry
from goldmeter.ledger.verdicts import Verdicts
from goldmeter.pipeline.hashing import sha256

MILLION = 1_000_000
LIMITS = {MILLION: (40.0, 500.0)}
"""Verdicts → seconds and MB that a run with nothing new may take."""
BATCH = 50_000
MB, GB = 10**6, 10**9
RAW = '{"nonce": "abcdefghij", "verdict": true, "reason": "The response names the city that the reference names, %d."}'


def run(verdicts: int) -> Result:
    """The section `ledger`; verdicts: in the store and in the evidence."""
    with TemporaryDirectory() as folder:
        store, evidence, again = (Path(folder, name) for name in ("store", "evidence", "again"))
        filling = _fill(store, evidence, verdicts)
        size = sum(path.stat().st_size for path in evidence.iterdir())
        costs = [_nothing_new(store, evidence, again, number) for number in (0, verdicts)]
        same = all(path.read_bytes() == (again / path.name).read_bytes() for path in evidence.iterdir())
    idle, cost = costs
    row = {
        "verdicts": verdicts,
        "µs a verdict, filling": filling / verdicts * MICROSECONDS,
        "s": cost.wall,
        "cpu s": cost.cpu - idle.cpu,
        "µs a verdict": (cost.wall - idle.wall) / verdicts * MICROSECONDS,
        "MB of memory": cost.peak / MB,
        "GB of evidence": size / GB,
        "evidence has the same bytes": same,
    }
    return Result([Table("A run with nothing new", [row])], [*_floors(verdicts, cost)])


def _floors(verdicts: int, cost: Cost) -> Iterator[Floor]:
    if verdicts in LIMITS:
        seconds, memory = LIMITS[verdicts]
        yield Floor(f"{verdicts:,} verdicts, nothing new", "at most", seconds, "s", cost.wall)
        yield Floor(f"{verdicts:,} verdicts, memory", "at most", memory, "MB", cost.peak / MB)


def _fill(store: Path, evidence: Path, verdicts: int) -> float:
    """Put the verdicts into the store, and into the evidence of a version; return the seconds of the former."""
    seconds = 0.0
    with Verdicts(store) as ledger:
        for start in range(0, verdicts, BATCH):
            entries = [_entry(number) for number in range(start, min(start + BATCH, verdicts))]
            began = time.perf_counter()
            ledger.add(entries)
            seconds += time.perf_counter() - began
        ledger.use(_keys(verdicts))
        ledger.write_evidence(evidence)
    return seconds


def _nothing_new(store: Path, evidence: Path, again: Path, verdicts: int) -> Cost:
    return run_command([sys.executable, "-m", __name__, *map(str, (store, evidence, again, verdicts))], ROOT)


def main(arguments: Sequence[str]) -> None:
    """What the judge stage does with its ledger when it has every verdict; without verdicts only the imports."""
    store, evidence, again, verdicts = *map(Path, arguments[:3]), int(arguments[3])
    if not verdicts:
        return
    with Verdicts(store) as ledger:
        ledger.take_in(evidence)
        every = _keys(verdicts)
        while keys := [*islice(every, BATCH)]:
            if ledger.unanswered(keys).any():
                raise ValueError(f"{store}: a verdict is missing")
            ledger.use(keys)
        ledger.write_evidence(again)


def _keys(verdicts: int) -> Iterator[str]:
    return (_key(number) for number in range(verdicts))


def _key(number: int) -> str:
    return sha256(str(number)).hex()


def _entry(number: int) -> Entry:
    return Entry(
        key=_key(number),
        metric="meaning_match",
        prompt="0" * 64,
        draw=0,
        raw=RAW % number,
        verdict=float(number % 3 > 0),
        reason="The response names the city that the reference names.",
        problem=None,
        model="some-model-2026-01-01",
        asked="json_schema",
        tokens={"prompt": 812, "completion": 31},
        latency=0.812,
        attempts=1,
    )


if __name__ == "__main__":
    main(sys.argv[1:])
