"""Progress of a long step on standard error: a bar on a terminal, a line now and then elsewhere."""

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Lock, Timer
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.live import Live

SOON = 2.0
"""Seconds after which a bar appears: a step that is done before says nothing."""
FIRST_LINE, LINE_EVERY = 5.0, 30.0
"""Seconds until the first line where there is no terminal, and between two of them."""
MINUTE = 60.0
LEAST_SHARE = 1e-6
"""Of the work: from less, no time left is told."""
REDRAWN = 4
"""Times a second."""
BAR, NARROWEST_BAR = 30, 6
"""Columns of the bar, and what is left of it where the terminal is narrow; with less there is none."""
Clock = Callable[[], float]


class Progress(Protocol):
    """Is told how far a step is: cheap, and may be told often.

    what: what is counted; counting something else begins anew. total: None where it is not known yet.
    share: of the work, where that is not done / total. note: what else is worth knowing.
    """

    def __call__(
        self, what: str, done: int, total: int | None = None, *, share: float | None = None, note: str = ""
    ) -> None: ...


def quiet(what: str, done: int, total: int | None = None, *, share: float | None = None, note: str = "") -> None:
    """Progress that nobody sees."""


@contextmanager
def shown(step: str) -> Iterator[Progress]:
    """Show how far the step is while the context lasts: what is done, of how much, how fast, the time left."""
    state = State(step)
    if sys.stderr is None or sys.stderr.closed:
        yield quiet
    elif sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
        with _Bar(state):
            yield state.told
    else:
        lines = Lines(state, _write)
        yield lines.told
        lines.end()


class State:
    """How far a step is, as it was told last."""

    def __init__(self, step: str, clock: Clock = time.monotonic) -> None:
        self.step, self.clock = step, clock
        self.what, self.done, self.note = "", 0, ""
        self.total: int | None = None
        self.share: float | None = None
        self._began, self._before, self._already = clock(), 0, 0.0

    def told(
        self, what: str, done: int, total: int | None = None, *, share: float | None = None, note: str = ""
    ) -> None:
        """Take in what a step says."""
        if what != self.what or done < self.done:
            self._began, self._before, self._already = self.clock(), done, share or 0.0
        self.what, self.done, self.total, self.note = what, done, total, note
        self.share = done / total if share is None and total else share

    @property
    def seconds(self) -> float:
        """Since what is counted now was begun."""
        return self.clock() - self._began

    def texts(self) -> list[str]:
        """What there is to say, from the longest to the shortest way of saying it."""
        if not self.what:
            return [f"{self.step}: {duration(self.seconds)}", self.step]
        of = "" if self.total is None else f" of {self.total:,}"
        counted = f"{self.step}: {self.done:,}{of} {self.what}"
        left = self._left()
        percent = f"{self.step} {self.share:.0%}" if self.share is not None else f"{self.step} {self.done:,}"
        return [
            ", ".join(filter(None, [counted, self._rate(), self.note, left])),
            ", ".join(filter(None, [counted, left])),
            ", ".join(filter(None, [percent, left])),
            percent,
        ]

    def summed_up(self) -> str:
        """What there is to say at the end."""
        counted = f"{self.step}: {self.done:,} {self.what} in {duration(self.seconds)}"
        return ", ".join(filter(None, [counted, self._rate(), self.note]))

    def _rate(self) -> str:
        since = self.done - self._before
        if since <= 0 or self.seconds <= 0:
            return ""
        rate = since / self.seconds
        return f"{rate:,.0f}/s" if rate >= 10 else f"{rate:,.1f}/s"  # noqa: PLR2004 (two digits are enough)

    def _left(self) -> str:
        """The time left, or where nothing is known of it the time taken."""
        since, ahead = (self.share or 0.0) - self._already, 1 - (self.share or 0.0)
        if since <= LEAST_SHARE:
            return duration(self.seconds)
        return f"{duration(self.seconds * ahead / since)} left" if ahead > 0 else ""


class Lines:
    """A line now and then."""

    def __init__(self, state: State, write: Callable[[str], object]) -> None:
        self._state, self._write = state, write
        self._due, self._said = state.clock() + FIRST_LINE, False

    def told(
        self, what: str, done: int, total: int | None = None, *, share: float | None = None, note: str = ""
    ) -> None:
        """Take in what a step says, and say it when a line is due."""
        self._state.told(what, done, total, share=share, note=note)
        now = self._state.clock()
        if now >= self._due and done not in {0, total}:
            self._due, self._said = now + LINE_EVERY, True
            self._write(self._state.texts()[0])

    def end(self) -> None:
        """Say how it went, if it took long enough for a line."""
        if self._state.what and (self._said or self._state.seconds >= FIRST_LINE):
            self._write(self._state.summed_up())


def duration(seconds: float) -> str:
    """As people write it.

    >>> duration(59), duration(61), duration(3601)
    ('59 s', '1 min', '1 h 0 min')
    """
    if round(seconds) < MINUTE:
        return f"{seconds:.0f} s"
    hours, minutes = divmod(round(seconds / MINUTE), 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"


def drawn(state: State, console: "Console") -> "RenderableType":
    """The bar and as much text beside it as fits into one line."""
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    room = console.width - 1  # the cursor's
    texts = state.texts()
    text = next((each for each in texts if len(each) <= room - NARROWEST_BAR - 1), texts[-1])
    beside = min(BAR, room - len(text) - 1)
    line = Table.grid(padding=(0, 1, 0, 0), pad_edge=False)
    line.add_column(no_wrap=True, overflow="ellipsis")
    if beside < NARROWEST_BAR:
        line.add_row(Text(text[:room]))
        return line
    bar = ProgressBar(total=1.0 if state.share else None, completed=state.share or 0.0, width=beside)
    line.add_column(no_wrap=True)
    line.add_row(bar, Text(text))
    return line


class _Bar:
    """A bar that appears when the step takes long, and leaves nothing behind."""

    def __init__(self, state: State) -> None:
        self._state, self._lock, self._over = state, Lock(), False
        self._live: Live | None = None
        self._timer = Timer(SOON, self._appear)
        self._timer.daemon = True

    def __enter__(self) -> None:
        self._timer.start()

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        with self._lock, suppress(OSError, ValueError):
            self._over = True
            if self._live is not None:
                self._live.stop()

    def _appear(self) -> None:
        from rich.console import Console
        from rich.live import Live

        console = Console(stderr=True)
        with self._lock, suppress(OSError, ValueError):  # a terminal that is gone is no reason to fail
            if self._over:
                return
            self._live = Live(
                get_renderable=lambda: drawn(self._state, console),
                console=console,
                transient=True,
                refresh_per_second=REDRAWN,
                redirect_stdout=sys.stdout is not None and sys.stdout.isatty(),
            )
            self._live.start()


def _write(line: str) -> None:
    with suppress(OSError, ValueError):  # nobody reads any more, which is no reason to fail
        print(line, file=sys.stderr, flush=True)
