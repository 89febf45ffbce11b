"""Signals that end a run, noted while calls are under way: no answer is lost between its arrival and the disk."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from threading import current_thread, main_thread

SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def noted_signals(*, end_by_second: bool = False) -> Iterator[list[int]]:
    """Yield the list of SIGINT and SIGTERM received so far, instead of being interrupted by them.

    Python handles signals in the main thread; in another one, nothing changes.

    Args:
        end_by_second: A second signal ends this process at once.

    Raises:
        KeyboardInterrupt: At the end, if there was one.
    """
    received: list[int] = []
    is_main = current_thread() is main_thread()
    handlers = {number: signal.getsignal(number) for number in SIGNALS if is_main}
    handled = {number: handler for number, handler in handlers.items() if handler not in (signal.SIG_IGN, None)}

    def note(number: int, _: object) -> None:
        if received and end_by_second:
            end_by(number)
        received.append(number)

    for number in handled:
        signal.signal(number, note)
    try:
        yield received
    finally:
        for number, handler in handled.items():
            signal.signal(number, handler)
    if received:
        raise KeyboardInterrupt


def end_by(number: int) -> None:
    """End this process by a signal, whatever its threads are waiting for."""
    signal.signal(number, signal.SIG_DFL)
    signal.raise_signal(number)
