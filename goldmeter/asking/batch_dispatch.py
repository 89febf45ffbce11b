"""Asks a model by batches: files of requests that the server answers within a day, at a lower price.

No request is in two batches at once. The state of a batch is on the disk before the batch is sent. After a run that was
killed, the next one finds the batch in the server's list, or knows that it was never started.
"""

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from goldmeter.asking.batch_files import AskedByBatch, BatchState, BatchStates, Draft, Results
from goldmeter.asking.budget import Budget, ExpectedTokens
from goldmeter.asking.dispatch import noted_signals
from goldmeter.asking.requests import Asked, AskedModel, Request, can_differ, entry_of, may_be_asked_again, parsed
from goldmeter.console.terminal import say
from goldmeter.errors import BATCHES_AT_WORK, BatchesAtWorkError, ModelError, ServerError
from goldmeter.ledger.entries import Entry
from goldmeter.ledger.verdicts import Verdicts
from goldmeter.models.chat.batch_client import (
    ENDED,
    MOST_REQUESTS,
    Batch,
    BatchClient,
    PassingError,
    RefusedError,
)
from goldmeter.models.chat.client import Chat
from goldmeter.models.chat.replies import Reply, no_reply
from goldmeter.pipeline.files import exclusive
from goldmeter.pipeline.progress import Progress
from goldmeter.pipeline.run import RunJudge

# Seconds after which a batch that the server does not list was not started.
CERTAIN = 60.0
# Seconds between two looks at the batches: at first, at most, and how they grow.
FIRST_PAUSE, LONGEST_PAUSE, GROWTH = 2.0, 120.0, 1.5
# Attempts to start a batch.
ATTEMPTS = 4
# Seconds after which a signal is noticed at the latest.
POLL = 0.2
# Entries that are added to the ledger at once.
BLOCK = 1_000
# Code of a batch that the server refuses until others have ended: it limits the tokens that wait.
QUEUE_FULL = "token_limit_exceeded"
CANCELLED, EXPIRED, FAILED = "cancelled", "expired", "failed"
# Problems of a failed batch that a message lists.
LISTED = 5


class Clock(NamedTuple):
    """now: seconds from any start. sleep: waits so many seconds."""

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], object] = time.sleep


class _Open(NamedTuple):
    """A request without a verdict after these replies. problem: of the last one."""

    asked: Asked
    replies: list[Reply]
    problem: str | None


class Calls(NamedTuple):
    """What calls to a model need.

    on_replies: called with the entries that were just added. ask: asks by single calls.
    """

    chat: Chat
    ledger: Verdicts
    budget: Budget
    run: RunJudge
    on_replies: Callable[[Sequence[Entry]], None]
    ask: Callable[[Sequence[Request]], None]


class Batches:
    """The batches of one model; one process at a time sends them and takes them in."""

    def __init__(
        self, options: AskedModel, client: BatchClient, calls: Calls, progress: Progress, clock: Clock | None = None
    ) -> None:
        self._address, self._questions, self._stage = options.base_url, options.questions, options.stage
        self._server = server_of(options)
        self._client, self._calls, self._progress, self._clock = client, calls, progress, clock or Clock()
        self._states = BatchStates(calls.ledger.folder)
        # Batches that the server has, of this run and of earlier ones, and how many requests of each are answered.
        self._running: dict[str, BatchState] = {}
        self._answered: dict[str, int] = {}
        # Batches whose requests are asked again, or that were not started: their files go when those are sent.
        self._obsolete: list[BatchState] = []
        self._open: dict[str, _Open] = {}
        self._signals: list[int] = []
        # Requests of a batch at most, and those of this round that the server had no room for.
        self._most, self._too_large = MOST_REQUESTS, 0
        self._deadline = 0.0

    def ask(self, requests: Callable[[], Iterator[Request]]) -> None:
        """Ask every request, and wait for the verdicts.

        Args:
            requests: Yields the requests that the ledger lacks; called before each round of batches.

        Raises:
            BatchesAtWorkError: `run.judge.batch_wait` is over, or a signal came.
            ModelError: The server has no batches, or refuses one.
            ServerError: The server is down.
            KeyboardInterrupt: A signal came before there was a batch.
        """
        self._states.create()
        refusal = BatchesAtWorkError(
            f"{self._stage}: {BATCHES_AT_WORK}: another run sends or takes in those of {self._states.folder}; run "
            "again later"
        )
        self._deadline = self._clock.now() + self._calls.run.batch_wait
        with exclusive(self._states.lock, refusal=refusal):
            try:
                with noted_signals(end_by_second=True) as self._signals:
                    self._resume()
                    self._send(requests(), is_first=True)
                    while self._running or self._open:
                        self._wait()
                        self._send(requests() if self._open else iter(()), is_first=False)
            except KeyboardInterrupt:
                if not self._running:
                    raise
                raise self._at_work() from None

    def take_in_ended(self) -> None:
        """Look once, and take in the verdicts of the batches that have ended.

        Raises: as `ask`.
        """
        self._states.create()
        refusal = BatchesAtWorkError(
            f"{self._stage}: {BATCHES_AT_WORK}: another run takes in those of {self._states.folder}"
        )
        self._deadline = self._clock.now()
        with exclusive(self._states.lock, refusal=refusal), noted_signals(end_by_second=True) as self._signals:
            self._resume()
            self._look()
            self._open.clear()  # single calls ask these
            self._remove_obsolete()

    def _resume(self) -> None:
        """Take over the batches of earlier runs."""
        for state in self._states.of(self._server, self._questions):
            found = state if state.batch else self._found(state)
            if found:
                self._running[found.token] = found
                self._calls.budget.resume(found.token, [_expected(found)] * len(found.requests))
            else:
                self._reopen_all(state)

    def _found(self, state: BatchState) -> BatchState | None:
        """Return the state of a batch whose start was not confirmed, with its id; None if it was not started."""
        if state.creating is None or state.file is None:
            return None
        start = self._clock.now()
        while True:
            problem, is_certain = "", not 0 <= time.time() - state.creating < CERTAIN
            try:
                if batch := self._client.find(state.file, state.token, state.creating):
                    return self._started(state, batch)
            except PassingError as error:
                problem, is_certain = f" ({error})", False
            except RefusedError as error:
                raise ModelError(
                    f"{self._address}: a batch of {len(state.requests):,} requests may have been started when a run "
                    f"ended, and the server does not list its batches ({error}).\n"
                    f"Look there for a batch of the file {state.file}, or with the metadata goldmeter: {state.token}.\n"
                    'If there is one, write its id as "batch" into the file below. If there is none, remove this file: '
                    f"the requests are then asked again.\n{self._states.path(state)}"
                ) from None
            if is_certain:
                return None
            if self._clock.now() - start > 2 * CERTAIN:
                raise ServerError(f"{self._address}: a batch may have been started, or not{problem}; run again later")
            self._pause(FIRST_PAUSE)

    def _started(self, state: BatchState, batch: Batch) -> BatchState:
        started = state.started(batch.id)
        self._states.save(started)
        return started

    def _send(self, requests: Iterator[Request], *, is_first: bool) -> None:
        """Send the requests that are in no batch; after the first round, only those that are open."""
        chat, budget = self._calls.chat, self._calls.budget
        waiting = {key for state in self._running.values() for key in state.requests}
        opened, self._open = self._open, {}
        with TemporaryDirectory(prefix="goldmeter-") as folder:
            draft = Draft(Path(folder))
            for request in requests:
                self._check_signals()
                before = opened.pop(request.key, None)
                if request.key in waiting or not (before or is_first):
                    continue
                if chat.support is None:
                    self._calls.ask([request])  # detects what the server supports
                    continue
                replies = before.replies if before else []
                if before and replies and not can_differ(request, replies[-1]):
                    self._add([entry_of(request, replies, None, before.problem, by_batch=True)])
                    continue
                expected = budget.reserve(request.tokens, by_batch=True)
                if isinstance(expected, str):
                    problem = before.problem if before and before.problem else expected
                    self._add([entry_of(request, replies, None, problem, by_batch=True)])
                    continue
                if not draft.takes(line := draft.line(request, chat, replies), self._most):
                    self._submit(draft)
                    draft = Draft(Path(folder))
                draft.add(request, line, expected, replies)
            if draft.requests:
                self._submit(draft)
        gone = [request for key, request in opened.items() if key not in waiting]
        self._add([entry_of(one.asked, one.replies, None, one.problem, by_batch=True) for one in gone if one.replies])
        self._remove_obsolete()

    def _submit(self, draft: Draft) -> None:
        """Start a batch; its state is on the disk before anything is sent."""
        state, problem = draft.state(self._server, self._calls.chat), ""
        self._states.save(state)
        self._calls.budget.started(state.token)
        for attempt in range(ATTEMPTS):
            state = state.unsent()
            try:
                state = state.sent(self._client.upload(draft.path))
                self._states.save(state)
                started: BatchState | None = self._started(state, self._client.create(str(state.file), state.token))
            except PassingError as error:
                problem = str(error)
                started = None if error.is_refusal else self._found(state)
            except RefusedError as error:
                self._states.remove([state])
                raise ModelError(
                    f"{self._address}: the server refuses a batch: {error}\nIf it has no batches, set "
                    "run.judge.batch to false."
                ) from None
            if started:
                self._running[started.token] = started
                return
            self._states.save(state.unsent())
            self._pause(FIRST_PAUSE * 2**attempt)
        raise ServerError(f"{self._address}: a batch could not be started ({problem}); run again later")

    def _wait(self) -> None:
        """Take in each batch that ends, until all have ended."""
        pause, self._too_large = FIRST_PAUSE, 0
        sent = sum(len(state.requests) for state in self._running.values())
        while True:
            self._look()
            waiting = sum(len(state.requests) for state in self._running.values())
            answered = sent - waiting + sum(self._answered[token] for token in self._running)
            self._progress("requests in batches", min(answered, sent), sent, note=self._cost)
            if not self._running:
                break
            if (left := self._deadline - self._clock.now()) <= 0:
                raise self._at_work()
            self._pause(min(pause, left))
            pause = min(pause * GROWTH, LONGEST_PAUSE)
        if self._too_large == sent and self._most == 1:
            raise ServerError(f"{self._address}: too many tokens wait in batches of this account; run again later")
        if 2 * self._too_large > sent:
            self._most = max(1, min(self._most, sent) // 2)

    def _look(self) -> None:
        """Look at each batch once, and take in those that have ended."""
        for state in [*self._running.values()]:
            self._check_signals()
            self._answered.setdefault(state.token, 0)
            try:
                batch = self._client.get(str(state.batch))
                self._answered[state.token] = batch.done
                if batch.status in ENDED:
                    self._take_in(state, batch)
            except PassingError:
                continue  # the next look may succeed
            except RefusedError as error:
                raise ModelError(
                    f"{self._address}: batch {state.batch} with {len(state.requests):,} requests: {error}\n"
                    "Use a key of the account and project that it was started with. If the batch is lost, remove this "
                    f"file to ask its requests again:\n{self._states.path(state)}"
                ) from None

    def _take_in(self, state: BatchState, batch: Batch) -> None:
        """Add the verdicts of an ended batch to the ledger, and open the requests that are to be asked again."""
        if batch.status == FAILED and not batch.files:
            self._failed(state, batch)
            return
        entries = list[Entry]()
        with TemporaryDirectory(prefix="goldmeter-") as folder:
            for asked, reply in self._results(state, batch, Path(folder)):
                self._settle(state, reply)
                replies = [*state.earlier.get(asked.key, ()), reply]
                verdict, problem = parsed(asked, reply)
                is_open = not verdict and (reply.worth_another or reply.down) and batch.status != CANCELLED
                if is_open and may_be_asked_again(replies, self._calls.run.retries):
                    self._reopen(_Open(asked, replies, problem))
                else:
                    entries.append(entry_of(asked, replies, verdict, problem, by_batch=True))
                if len(entries) >= BLOCK:
                    self._add(entries)
                    entries = []
        self._add(entries)
        self._end(state)

    def _results(self, state: BatchState, batch: Batch, folder: Path) -> Iterator[tuple[AskedByBatch, Reply]]:
        """Yield each request of a batch with its result, or with the reason why it has none."""
        paths = [folder / str(number) for number in range(len(batch.files))]
        for file, path in zip(batch.files, paths, strict=True):
            self._client.save(file, path)
        asked, chat = {one.key: one for one in state.asked(self._questions)}, self._calls.chat
        results = Results(asked, lambda status, body: chat.read(status, body, state.support), self._client.clean)
        for key, reply in results.of(paths):
            yield asked[key], reply
        if ignored := results.ignored:
            say(f"{self._stage}: batch {batch.id}: ignored lines: {ignored}", sys.stderr)
        reason = {CANCELLED: "the batch was cancelled", EXPIRED: "the batch expired"}.get(batch.status, "no result")
        for key in asked.keys() - results.seen:
            yield asked[key], no_reply(reason, attempts=0, down=True, billed=False)

    def _failed(self, state: BatchState, batch: Batch) -> None:
        """Ask the requests of a batch again that the server had no room for; raise if it refuses them."""
        if not (batch.problems and all(code == QUEUE_FULL for code, _ in batch.problems)):
            self._states.remove([state])
            said = (
                "\n".join(f"  {self._client.clean(message)}" for _, message in batch.problems[:LISTED]) or "  no reason"
            )
            raise ModelError(f"{self._address}: the server refuses batch {batch.id}:\n{said}")
        for _ in state.requests:
            self._calls.budget.refund(_expected(state))
        self._too_large += len(state.requests)
        self._reopen_all(state)
        del self._running[state.token]

    def _reopen_all(self, state: BatchState) -> None:
        """Open the requests of a batch that was not started, with what earlier batches replied to them."""
        for asked in state.asked(self._questions):
            earlier = [*state.earlier.get(asked.key, ())]
            self._reopen(_Open(asked, earlier, parsed(asked, earlier[-1])[1] if earlier else None))
        self._obsolete.append(state)

    def _reopen(self, request: _Open) -> None:
        known = self._open.get(request.asked.key)
        if known is None or len(known.replies) < len(request.replies):
            self._open[request.asked.key] = request

    def _settle(self, state: BatchState, reply: Reply) -> None:
        expected = _expected(state)
        if reply.billed:
            self._calls.budget.settle(expected, reply.tokens)
        else:
            self._calls.budget.refund(expected)

    def _add(self, entries: Sequence[Entry]) -> None:
        if entries:
            self._calls.ledger.add(entries)
            self._calls.on_replies(entries)

    def _end(self, state: BatchState) -> None:
        """Remove the state of a batch whose results are in the ledger, unless some requests are to be asked again."""
        del self._running[state.token]
        if self._open.keys() & state.requests.keys():
            self._obsolete.append(state)
        else:
            self._states.remove([state])

    def _remove_obsolete(self) -> None:
        self._states.remove(self._obsolete)
        self._obsolete = []

    @property
    def _cost(self) -> str:
        cost = self._calls.budget.cost
        return "" if cost is None else f"${cost:,.2f}"

    def _at_work(self) -> BatchesAtWorkError:
        requests = sum(len(state.requests) for state in self._running.values())
        answered = min(requests, sum(self._answered.get(token, 0) for token in self._running))
        return BatchesAtWorkError(
            f"{self._stage}: {BATCHES_AT_WORK} at {self._address}: {answered:,} of {requests:,} requests are answered; "
            "the next run takes the results in"
        )

    def _check_signals(self) -> None:
        if self._signals:
            raise KeyboardInterrupt

    def _pause(self, seconds: float) -> None:
        end = self._clock.now() + seconds
        while (left := end - self._clock.now()) > 0:
            self._check_signals()
            self._clock.sleep(min(POLL, left))
        self._check_signals()


def waiting(options: AskedModel, ledger: Verdicts) -> set[str]:
    """Return the keys of the requests that are in batches of this model; removes batches that have nothing to give."""
    states = BatchStates(ledger.folder)
    found = states.of(server_of(options), options.questions)
    done = [state for state in found if not ledger.unanswered([*state.requests]).any()]
    states.remove(done)
    sent = [state for state in found if state not in done and state.creating is not None]
    return {key for state in sent for key in state.requests}


def require_none_waiting(requests: Iterable[Request], options: AskedModel, ledger: Verdicts) -> None:
    """Raise BatchesAtWorkError if one of the requests is in a batch: a single call would pay for it again."""
    keys = waiting(options, ledger)
    if not keys:
        return
    if count := sum(request.key in keys for request in requests):
        raise BatchesAtWorkError(
            f"{options.stage}: {BATCHES_AT_WORK} at {options.base_url} with {count:,} of the missing requests. Run "
            "again later, or set run.judge.batch to true to wait for them. To ask by single calls, cancel the batches "
            "at the server."
        )


def server_of(options: AskedModel) -> str:
    """Return the server and the model whose batches these are."""
    return " ".join([*options.server_key, options.model])


def _expected(state: BatchState) -> ExpectedTokens:
    """The expected tokens of a request of a batch."""
    requests = len(state.requests)
    return ExpectedTokens(state.prompt_tokens / requests, state.completion_tokens / requests, by_batch=True)
