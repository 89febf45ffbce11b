"""Sends many requests to a model at once, and adds every reply to the ledger as it comes, also after a signal."""

import signal
import sys
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from itertools import islice
from threading import current_thread, main_thread
from typing import NamedTuple

from goldmeter.asking.budget import Budget
from goldmeter.asking.requests import Parsed, Request, arguments, can_differ, entry_of, may_be_asked_again, parsed
from goldmeter.console.terminal import say
from goldmeter.errors import ModelError, ServerError
from goldmeter.ledger.entries import Entry
from goldmeter.ledger.verdicts import Verdicts
from goldmeter.models.chat.client import Chat
from goldmeter.models.chat.replies import Reply
from goldmeter.models.decisions.client import Decisions
from goldmeter.pipeline.run import RunJudge

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


TOO_MANY_REQUESTS = "HTTP 429"
# Calls that fail one after the other before a server counts as down; more where more calls are made at once.
FEWEST_FAILURES = 10
# Seconds without any reply after which it is said that calls wait.
QUIET = 60.0
# Seconds after which a signal is noticed at the latest.
POLL = 0.2
# Seconds for replies that have arrived to reach the ledger after a second signal.
LAST_REPLIES = 0.5


def dispatch(
    requests: Iterable[Request],
    chat: Chat | Decisions,
    ledger: Verdicts,
    budget: Budget,
    run: RunJudge,
    on_replies: Callable[[Sequence[Entry]], None],
) -> None:
    """Ask every request and add each reply to the ledger as it comes.

    No more than `run.concurrency` replies are ever paid for and not yet on the disk. After SIGINT or SIGTERM no call is
    made, and the replies to those under way are added; a second signal ends the process without waiting for them.

    Args:
        requests: Read as fast as they are asked.
        chat: The connection to the server.
        ledger: The store of verdicts.
        budget: Requests that do not fit into it are recorded as not asked.
        run: Section `run.judge`; `retries` limits how often a reply that can't be parsed is asked for again.
        on_replies: Called with the entries that were just added.

    Raises:
        ModelError: No call can succeed.
        ServerError: The server is down.
        KeyboardInterrupt: After a signal.
    """
    remaining = iter(requests)
    waiting: set[Future[_Outcome]] = set()
    silence = _Silence()
    failures, limit = 0, max(FEWEST_FAILURES, 2 * run.concurrency)
    with noted_signals() as signals, ThreadPoolExecutor(run.concurrency) as pool:
        try:
            while not signals:
                for request in islice(remaining, run.concurrency - len(waiting)):
                    waiting.add(future := pool.submit(_ask, request, chat, budget, run.retries))
                    silence.sent(future)
                if not waiting:
                    return
                done, _ = wait(waiting, POLL, FIRST_COMPLETED)
                silence.noted(done)
                if not done:
                    continue
                outcomes = [future.result() for future in done if not future.exception()]
                ledger.add([outcome.entry for outcome in outcomes])
                waiting -= done
                on_replies([outcome.entry for outcome in outcomes])
                for future in done:
                    future.result()  # raises what the call raised, after the replies of the others were added
                failures = _count_failures(outcomes, failures, limit)
        finally:
            if waiting:  # after a signal or an error
                chat.stop()
                _keep_replies([future for future in waiting if not future.cancel()], ledger, signals)


class _Silence:
    """Says how many calls wait, and how long, if no reply came for a while; each time after twice that while."""

    def __init__(self) -> None:
        self._starts: dict[Future[_Outcome], float] = {}
        self._last, self._next = time.monotonic(), QUIET

    def sent(self, call: "Future[_Outcome]") -> None:
        """Note the start of a call."""
        self._starts[call] = time.monotonic()

    def noted(self, done: "Collection[Future[_Outcome]]") -> None:
        """Note the calls that have just ended; none: say so if it is time."""
        now = time.monotonic()
        for call in done:
            self._starts.pop(call, None)
        if done:
            self._last, self._next = now, QUIET
        elif self._starts and now - self._last >= self._next:
            longest = now - min(self._starts.values())
            with suppress(OSError):
                say(
                    f"no reply for {now - self._last:.0f} s: {len(self._starts)} calls wait, the longest for "
                    f"{longest:.0f} s",
                    sys.stderr,
                )
            self._next *= 2


class _Outcome(NamedTuple):
    """The ledger's entry for one request. down: whether there is no reply because of the server."""

    entry: Entry
    down: bool


def _keep_replies(calls: Sequence[Future[_Outcome]], ledger: Verdicts, signals: Sequence[int]) -> None:
    """Add the replies to the calls under way; after a second signal, only those that have arrived."""
    running = {*calls}
    if running and signals:
        with suppress(OSError):  # nobody reads it if the flow was killed
            say(f"interrupted; waiting for {len(running)} calls under way (again: end at once)", sys.stderr)
    while running:
        is_last = len(signals) > 1
        done, running = wait(running, LAST_REPLIES if is_last else POLL)
        ledger.add([future.result().entry for future in done if not future.exception()])
        if is_last:
            end_by(signals[-1])


def _count_failures(outcomes: Iterable[_Outcome], failures: int, limit: int) -> int:
    """Count the calls that failed one after the other, after `failures` earlier ones; ServerError at the limit."""
    for outcome in outcomes:
        failures = failures + 1 if outcome.down else 0
        if failures >= limit:
            problem = outcome.entry["problem"]
            limited = problem == TOO_MANY_REQUESTS
            cause = "it limits the rate: lower run.judge.concurrency" if limited else "the server is down"
            raise ServerError(
                f"the last {failures} calls failed ({problem}): {cause}. "
                "What it answered is in the ledger and is not asked again: run again later."
            )
    return failures


def _ask(request: Request, chat: Chat | Decisions, budget: Budget, retries: int) -> _Outcome:
    """Ask one request; ask again while the reply is no verdict."""
    replies: list[Reply] = []
    verdict: Parsed | None = None
    problem: str | None = None
    while not verdict and (not replies or _is_worth_another(request, replies, retries)):
        expected = budget.reserve(request.tokens)
        if isinstance(expected, str):
            problem = problem or expected
            break
        try:
            reply = chat.ask(**arguments(request, replies))
        except ModelError:
            budget.refund(expected)
            if not replies:
                raise
            break
        if reply.billed:
            budget.settle(expected, reply.tokens)
        else:
            budget.refund(expected)
        verdict, problem = parsed(request, reply)
        replies.append(reply)
    entry = entry_of(request, replies, verdict, problem)
    return _Outcome(entry, down=bool(replies) and replies[-1].down)


def _is_worth_another(request: Request, replies: Sequence[Reply], retries: int) -> bool:
    last = replies[-1]
    return last.worth_another and may_be_asked_again(replies, retries) and can_differ(request, last)
