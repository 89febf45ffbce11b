"""Sends many requests to a judge at once, and adds every reply to the ledger as it comes."""

import sys
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from itertools import islice
from typing import NamedTuple

from tasks.console.terminal import say
from tasks.errors import ModelError, ServerError
from tasks.judging.budget import Budget
from tasks.judging.requests import Request
from tasks.judging.signals import end_by, noted_signals
from tasks.ledger.entries import Entry
from tasks.ledger.verdicts import Verdicts
from tasks.metrics.judged import Verdict
from tasks.models.chat.client import Chat, Reply
from tasks.pipeline.run import RunJudge

TOO_MANY_REQUESTS = "HTTP 429"
# Larger than any draw, so that no retry has the seed of another draw.
RETRY_SEED = 1_000_003
# Calls that fail one after the other before a server counts as down; more where more calls are made at once.
FEWEST_FAILURES = 10
# Seconds after which a signal is noticed at the latest.
POLL = 0.2
# Seconds for replies that have arrived to reach the ledger after a second signal.
LAST_REPLIES = 0.5


def dispatch(
    requests: Iterable[Request],
    chat: Chat,
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
    failures, limit = 0, max(FEWEST_FAILURES, 2 * run.concurrency)
    with noted_signals() as signals, ThreadPoolExecutor(run.concurrency) as pool:
        try:
            while not signals:
                for request in islice(remaining, run.concurrency - len(waiting)):
                    waiting.add(pool.submit(_ask, request, chat, budget, run.retries))
                if not waiting:
                    return
                done, _ = wait(waiting, POLL, FIRST_COMPLETED)
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


class _Outcome(NamedTuple):
    """The ledger's entry for one request. down: whether there is no reply because of the server."""

    entry: Entry
    down: bool


def _keep_replies(calls: Sequence[Future[_Outcome]], ledger: Verdicts, signals: Sequence[int]) -> None:
    """Add the replies to the calls under way; after a second signal, only those that have arrived."""
    running = {*calls}
    if running and signals:
        with suppress(OSError):  # nobody reads it if the flow was killed
            say(f"judge: interrupted; waiting for {len(running)} calls under way (again: end at once)", sys.stderr)
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


def _ask(request: Request, chat: Chat, budget: Budget, retries: int) -> _Outcome:
    """Ask one request; ask again while the reply is no verdict."""
    replies: list[Reply] = []
    verdict: Verdict | None = None
    problem: str | None = None
    while not verdict and len(replies) <= retries and (not replies or replies[-1].worth_another):
        expected = budget.reserve(request.tokens)
        if isinstance(expected, str):
            problem = problem or expected
            break
        try:
            reply = _reply(request, chat, len(replies))
        except ModelError:
            budget.refund(expected)
            if not replies:
                raise
            break
        if reply.billed:
            budget.settle(expected, reply.tokens)
        else:
            budget.refund(expected)
        verdict, problem = _parse(request, reply)
        replies.append(reply)
    counted = [reply.tokens for reply in replies if reply.tokens]
    entry = Entry(
        key=request.key,
        metric=request.metric.name,
        prompt=request.metric.prompt_hash,
        draw=request.draw,
        raw=next((reply.text for reply in reversed(replies) if reply.text is not None), None),
        verdict=verdict.score if verdict else None,
        reason=verdict.reason if verdict else None,
        problem=problem,
        model=next((reply.model for reply in reversed(replies) if reply.model), None),
        asked=next((reply.support.summary for reply in reversed(replies) if reply.support), None),
        tokens={name: sum(tokens[name] for tokens in counted) for name in counted[0]} if counted else None,
        latency=round(sum(reply.latency for reply in replies), 3),
        attempts=sum(reply.attempts for reply in replies),
    )
    if request.address:
        entry["server"] = request.address
    return _Outcome(entry, down=bool(replies) and replies[-1].down)


def _reply(request: Request, chat: Chat, earlier: int) -> Reply:
    """Ask once. After replies that were no verdict, use another seed: the same one would bring the same reply."""
    return chat.ask(
        request.metric.prompt,
        request.message,
        request.metric.reply_schema,
        temperature=request.temperature,
        seed=request.seed + request.draw + RETRY_SEED * earlier,
    )


def _parse(request: Request, reply: Reply) -> tuple[Verdict | None, str | None]:
    """Return the verdict, or what is wrong with the reply."""
    if reply.text is None or reply.problem:
        return None, reply.problem
    try:
        return request.metric.parse(
            reply.text, request.nonce, fenced=reply.support is not None and reply.support.format == "text"
        ), None
    except ValueError as problem:
        return None, str(problem)
