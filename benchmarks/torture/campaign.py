"""A campaign: trials of one kind, drawn from a seed, each with an outcome; how they are limited, counted and shown."""

import logging
import resource
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import psutil

from benchmarks.data import ROOT
from goldmeter.console.markdown import table
from goldmeter.pipeline.files import read_json


class Trial(NamedTuple):
    """One trial.

    outcome: what happened, in a word or two, such as `healed` or `refused`. failure: what is wrong with that and how to
    repeat the trial; None if the promise was kept.
    """

    outcome: str
    failure: str | None = None


@dataclass(frozen=True)
class Campaign:
    """Trials of one kind.

    name: on the command line. promise: what must hold in each trial, one sentence. trials: their number by default.
    few: their number in `make test-all`, half a minute's worth, or 0. run: yields the trials, given a seed and their
    number; the same seed draws the same trials.
    """

    name: str
    promise: str
    trials: int
    few: int
    run: Callable[[int, int], Iterator[Trial]]


class Counts(NamedTuple):
    """What the trials of a campaign came to."""

    trials: int
    outcomes: Counter[str]
    failures: list[str]


def counted(campaign: Campaign, seed: int, trials: int, done: Callable[[], object] = lambda: None) -> Counts:
    """Run a campaign, and count its outcomes; done: called after each trial."""
    found = Counts(0, Counter(), [])
    for trial in campaign.run(seed, trials):
        found.outcomes[trial.outcome] += 1
        if trial.failure is not None:
            found.failures.append(trial.failure)
        found = found._replace(trials=found.trials + 1)
        done()
    return found


Item = TypeVar("Item")
# More than the 1 GiB of addresses that Arrow's allocator reserves at once.
MOST_BYTES = 3 << 29


def limited(
    call: Callable[[Item], Trial], items: Iterable[Item], *, seconds: float = 20.0, most_bytes: int = MOST_BYTES
) -> Iterator[Trial]:
    """Call a function with each item, in a fork of this process that logs errors only; yield what it returns, in order.

    A call that raises, ends its process or does not return is a failed trial; the next one has a new process.

    Args:
        call: What is tried.
        items: Its arguments; a failure quotes the item.
        seconds: Limit of a call.
        most_bytes: Memory that the process may take beyond what it has when it starts.
    """
    worker = _Worker(call, most_bytes)
    try:
        for item in items:
            trial = worker.call(item, seconds)
            if trial is None:
                worker.end()
                worker = _Worker(call, most_bytes)
                trial = Trial("no end", f"{item!r}: no end within {seconds:g} s, or its process ended")
            yield trial
    finally:
        worker.end()


class _Worker:
    """A fork of this process that makes calls."""

    def __init__(self, call: Callable[[Item], Trial], most_bytes: int) -> None:
        context = get_context("fork")
        self._ours, its = context.Pipe()
        self._process = context.Process(target=_serve, args=(its, call, most_bytes), daemon=True)
        self._process.start()
        its.close()

    def call(self, item: object, seconds: float) -> Trial | None:
        """Return the trial; None if it did not end in time, or ended the process."""
        try:
            self._ours.send(item)
            return self._ours.recv() if self._ours.poll(seconds) else None
        except (EOFError, OSError):
            return None

    def end(self) -> None:
        """End the process."""
        with closing(self._ours):
            self._process.kill()
            self._process.join()


def _serve(parent: Connection, call: Callable[[Item], Trial], most_bytes: int) -> None:
    logging.disable(logging.WARNING)
    limit = psutil.Process().memory_info().vms + most_bytes
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    while True:
        try:
            item = parent.recv()
        except EOFError:
            return
        try:
            parent.send(call(item))
        except Exception:  # noqa: BLE001 (whatever is raised is what the campaign looks for)
            parent.send(Trial("traceback", f"{item!r}: {traceback.format_exc(limit=-3)}"))


REPORT = ROOT / "reports/torture.json"
HEADS = ("campaign", "trials", "outcomes", "failures", "machine")


def markdown(report: Path = REPORT) -> str:
    """Return the lines of the table; one row per campaign whose own number of trials was run."""
    rows = ((name, *cells(row), str(row["machine"])) for name, row in read_json(report).items())
    return "\n".join(table(HEADS, rows))


def cells(row: Mapping[str, Any]) -> tuple[str, str, str]:
    """Return trials, outcomes with the most frequent first, and the number of failures, as text."""
    outcomes = sorted(row["outcomes"].items(), key=lambda found: (-found[1], found[0]))
    shown = ", ".join(f"{number:,} {outcome}" for outcome, number in outcomes)
    return f"{row['trials']:,}", shown, f"{len(row['failures']):,}"
