"""Progress of the judge on standard error: a bar on a terminal, a line now and then elsewhere."""

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from tasks.ledger.verdicts import Entry
from tasks.models.asking import Progress
from tasks.models.budget import Budget

LINE_EVERY, MINUTE = 30.0, 60.0
"""Seconds."""


class _Count:
    """What has been answered, and how fast."""

    def __init__(self, calls: int, budget: Budget) -> None:
        self.calls, self.done, self.failed = calls, 0, 0
        self._budget, self._start = budget, time.monotonic()

    def add(self, entries: Sequence[Entry]) -> None:
        self.done += len(entries)
        self.failed += sum(entry["verdict"] is None for entry in entries)

    def __str__(self) -> str:
        rate = self.done / max(time.monotonic() - self._start, 1e-9)
        cost = "" if self._budget.cost is None else f", ${self._budget.cost:,.2f}"
        left = (self.calls - self.done) / rate if rate else 0.0
        failed = f", {self.failed:,} failed" if self.failed else ""
        return f"judge: {self.done:,} of {self.calls:,}{failed}, {rate:,.1f}/s{cost}, {_duration(left)} left"


@contextmanager
def shown(calls: int, budget: Budget) -> Iterator[Progress]:
    """Show how many of the calls are answered, the rate, the cost and the time left."""
    count = _Count(calls, budget)
    with _bar(count) if sys.stderr.isatty() else _lines(count) as progress:
        yield progress


@contextmanager
def _bar(count: _Count) -> Iterator[Progress]:
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn
    from rich.progress import Progress as Bar

    columns = BarColumn(), TextColumn("{task.description}")
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(str(count), total=count.calls)

        def progress(entries: Sequence[Entry]) -> None:
            count.add(entries)
            bar.update(task, advance=len(entries), description=str(count))

        yield progress


@contextmanager
def _lines(count: _Count) -> Iterator[Progress]:
    said = time.monotonic()

    def progress(entries: Sequence[Entry]) -> None:
        nonlocal said
        count.add(entries)
        if time.monotonic() - said >= LINE_EVERY:
            said = time.monotonic()
            print(count, file=sys.stderr, flush=True)

    yield progress


def _duration(seconds: float) -> str:
    """As people write it.

    >>> _duration(59), _duration(3601)
    ('59 s', '1 h 0 min')
    """
    if seconds < MINUTE:
        return f"{seconds:.0f} s"
    hours, minutes = divmod(round(seconds / MINUTE), 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"
