"""Progress of a long step on standard error: a bar on a terminal, a line at intervals elsewhere."""

import os
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from threading import Timer
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from rich.table import Table

# Seconds until the bar appears: a shorter step prints nothing.
BAR_DELAY = 2.0
# Seconds until the first line where there is no terminal, and between two lines.
FIRST_LINE, LINE_INTERVAL = 5.0, 30.0
# Share of the work below which no time left is estimated.
MIN_SHARE = 1e-6
# Seconds by whose rate the time left is estimated, and how many single results it takes at least, where each takes a
# time of its own.
RECENT, FEWEST = 60.0, {"calls": 10}
BAR_WIDTH = 12  # columns
Clock = Callable[[], float]


class Progress(Protocol):
    """Takes reports of how far a step is. A call is cheap, so a step may report often.

    Args:
        what: What is counted, such as "rows". Another word, or a smaller `done`, starts a new count.
        done: How many are done.
        total: How many there are; None while that is unknown.
        share: Share of the work that is done, 0 to 1, where that is not `done / total`.
        note: What else to show.
    """

    def __call__(
        self, what: str, done: int, total: int | None = None, *, share: float | None = None, note: str = ""
    ) -> None: ...


def quiet(what: str, done: int, total: int | None = None, *, share: float | None = None, note: str = "") -> None:
    """Progress that shows nothing."""


@contextmanager
def display(step: str) -> Iterator[Progress]:
    """Display what the step reports while the context lasts: share, time left, count and rate."""
    if sys.stderr is None or sys.stderr.closed:
        yield quiet
    elif sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
        status = Status(step)
        with _bar(status):
            yield status
    else:
        lines = Lines(step)
        yield lines
        lines.end()


class _Mark(NamedTuple):
    """How far a step was at a time."""

    time: float
    done: int
    share: float


class Status:
    """The last report of a step, and when its current count started."""

    def __init__(self, step: str, clock: Clock = time.monotonic) -> None:
        self.step, self.clock = step, clock
        self.what, self.count, self.done, self.note = "", "", 0, ""
        self.total: int | None = None
        self.share: float | None = None
        self._start, self._start_done = clock(), 0
        self._began = self._start
        self._marks = deque([_Mark(self._start, 0, 0.0)])

    def __call__(
        self, what: str, done: int, total: int | None = None, *, share: float | None = None, note: str = ""
    ) -> None:
        """Store a report."""
        self.share = done / total if share is None and total else share
        if what != self.what or done < self.done:
            self._start, self._start_done = self.clock(), done
            self._began = self._began if self.done == 0 else self._start  # else the time of a first result is lost
            self._marks = deque([_Mark(self._start, done, self.share or 0.0)])
        self.what, self.done, self.total, self.note = what, done, total, note
        self._mark()
        self.count = f"{done:,} {what}" if total is None else f"{done:,} of {total:,} {what}"
        self.reported()

    def reported(self) -> None:
        """Called after each report."""

    @property
    def seconds(self) -> float:
        """Seconds since the current count started, or what was counted before it without a result."""
        return self.clock() - self._began

    def text(self) -> str:
        """Share, time left, count, rate and note: the end is cut where a terminal is narrow."""
        share = "" if self.share is None else f"{self.share:.0%}"
        return self._joined(share, self._time_left(), self.count, self._rate(), self.note)

    def summary(self) -> str:
        """What to print at the end of the step."""
        return self._joined(f"{self.done:,} {self.what} in {_duration(self.seconds)}", self._rate(), self.note)

    def __rich__(self) -> "Table":
        """A bar and the text, on one line."""
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        total = None if self.share is None else 1.0  # None: a bar that pulses
        line = Table.grid(padding=(0, 1, 0, 0))
        line.add_column(no_wrap=True)
        line.add_column()  # this one shrinks, so that the text is cut and the bar is not
        bar = ProgressBar(total=total, completed=self.share or 0.0, width=BAR_WIDTH)
        line.add_row(bar, Text(self.text(), no_wrap=True, overflow="ellipsis"))
        return line

    def _joined(self, *parts: str) -> str:
        return f"{self.step}: {', '.join(filter(None, parts))}"

    def _rate(self) -> str:
        since = self.done - self._start_done
        seconds = self.clock() - self._start
        if since <= 0 or seconds <= 0:
            return ""
        rate = since / seconds
        return f"{rate:,.0f}/s" if rate >= 10 else f"{rate:,.1f}/s"  # noqa: PLR2004 (two digits are enough)

    def _time_left(self) -> str:
        """Time left by the recent rate, or the time taken where there is nothing to estimate it from."""
        share, first = self.share or 0.0, self._marks[0]
        since = share - first.share
        if since <= MIN_SHARE or self.done - self._start_done < FEWEST.get(self.what, 0):
            return _duration(self.seconds)
        return f"{_duration((self.clock() - first.time) * (1 - share) / since)} left" if share < 1 else ""

    def _mark(self) -> None:
        """Note how far the step is, at most once a second, and forget what is no longer recent."""
        now, marks = self.clock(), self._marks
        if now - marks[-1].time >= 1:
            marks.append(_Mark(now, self.done, self.share or 0.0))
        fewest = FEWEST.get(self.what, 0)
        while len(marks) > 1 and now - marks[1].time >= RECENT and self.done - marks[1].done >= fewest:
            marks.popleft()


class Lines(Status):
    """Prints a line at intervals, and one at the end of a step that took long."""

    def __init__(self, step: str, clock: Clock = time.monotonic) -> None:
        super().__init__(step, clock)
        self._due, self._printed = clock() + FIRST_LINE, False

    def reported(self) -> None:
        """Print a line if one is due."""
        now = self.clock()
        if now >= self._due and self.done not in {0, self.total}:
            self._due, self._printed = now + LINE_INTERVAL, True
            _print(self.text())

    def end(self) -> None:
        """Print the summary, if the step took long enough for a line."""
        if self.what and (self._printed or self.seconds >= FIRST_LINE):
            _print(self.summary())


@contextmanager
def _bar(status: Status) -> Iterator[None]:
    """Show the status as a bar once the step has taken a while; nothing of it stays on the terminal."""
    from rich.console import Console
    from rich.live import Live

    is_terminal = sys.stdout is not None and sys.stdout.isatty()
    live = Live(status, console=Console(stderr=True), transient=True, redirect_stdout=is_terminal)

    def start() -> None:
        with suppress(OSError, ValueError):  # a terminal that is gone must not stop the step
            live.start()

    timer = Timer(BAR_DELAY, start)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        with suppress(OSError, ValueError):
            live.stop()


def _print(line: str) -> None:
    with suppress(OSError, ValueError):  # a reader that is gone must not stop the step
        print(line, file=sys.stderr, flush=True)


def _duration(seconds: float) -> str:
    return str(timedelta(seconds=round(seconds)))
