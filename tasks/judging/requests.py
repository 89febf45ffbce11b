"""Asking a judge: what a request is, its key in the ledger, and many requests at once."""

import base64
import json
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import NamedTuple, Protocol

from tasks.errors import ModelError, ServerError
from tasks.judging.budget import Budget, expected_tokens
from tasks.ledger.verdicts import Entry, Verdicts, canonical
from tasks.metrics.judged import LAYOUT, JudgeMetric, Verdict
from tasks.models.chat.client import Chat, Reply
from tasks.pipeline.hashing import sha256

NONCE_LENGTH = 10
TOO_MANY = "HTTP 429"
RETRY_SEED = 1_000_003
FEWEST_FAILURES = 10
"""Calls that fail one after the other before a server counts as down."""


@dataclass(frozen=True)
class Request:
    """One question to a judge; its key holds all that is known before the call.

    fields: the row's variables as one JSON object.
    """

    server: str
    model: str
    metric: JudgeMetric
    fields: str
    temperature: float
    seed: int
    draw: int

    @cached_property
    def key(self) -> str:
        """The key in the ledger, 64 hex digits."""
        known = {
            "server": self.server,
            "model": self.model,
            "prompt": self.metric.prompt_hash,
            "fields": self.fields,
            "options": {"temperature": self.temperature, "seed": self.seed},
            "draw": self.draw,
        }
        return sha256(canonical(known)).hex()

    @property
    def nonce(self) -> str:
        """What the reply must repeat: nobody who writes a field can know it without changing it."""
        return base64.b32encode(sha256(self.key)).decode()[:NONCE_LENGTH]

    @property
    def tokens(self) -> float:
        """Tokens of the request, about."""
        return expected_tokens(self.metric.prompt, self.message)

    @property
    def message(self) -> str:
        """The part of the request that differs from row to row."""
        return LAYOUT.format(nonce=self.nonce, fields=self.fields)


def encode_fields(values: Mapping[str, object]) -> str:
    """Variables as one line of JSON, in their own script; what can't be seen is written as an escape.

    >>> encode_fields({"input": None, "ground_truth": ["Zürich"], "output": 'a "city"'})
    '{"input": null, "ground_truth": ["Zürich"], "output": "a \\\\"city\\\\""}'
    """
    text = json.dumps(values, ensure_ascii=False)
    return "".join(each if each.isprintable() else json.dumps(each)[1:-1] for each in text)


class Progress(Protocol):
    """Is told what has been answered."""

    def __call__(self, entries: Sequence[Entry]) -> None: ...


def ask_all(
    requests: Iterable[Request],
    chat: Chat,
    ledger: Verdicts,
    budget: Budget,
    concurrency: int,
    retries: int,
    progress: Progress,
) -> None:
    """Ask every request and add what comes back to the ledger, each entry as it comes.

    No more calls than `concurrency` are ever made without being on the disk.
    retries: how often a reply that can't be parsed is asked for again.
    Raises ModelError when no call can succeed, ServerError when the server is down; what was answered before
    is in the ledger.
    """
    todo = iter(requests)
    waiting: set[Future[Answer]] = set()
    outage = _Outage(max(FEWEST_FAILURES, 2 * concurrency))
    with ThreadPoolExecutor(concurrency) as pool:
        try:
            while True:
                for each in islice(todo, concurrency - len(waiting)):
                    waiting.add(pool.submit(ask, each, chat, budget, retries))
                if not waiting:
                    return
                done, _ = wait(waiting, return_when=FIRST_COMPLETED)
                answers = [future.result() for future in done if not future.exception()]
                ledger.add([answer.entry for answer in answers])
                waiting -= done
                progress([answer.entry for answer in answers])
                for future in done:
                    future.result()
                outage.learn(answers)
        except BaseException:
            chat.stop()
            under_way = [future for future in waiting if not future.cancel()]
            ledger.add([future.result().entry for future in under_way if not future.exception()])
            raise


class Answer(NamedTuple):
    """The ledger's entry for one request. down: whether there is no reply because of the server."""

    entry: Entry
    down: bool


class _Outage:
    """Ends the stage when so many calls in a row failed because of the server, each after its retries."""

    def __init__(self, most: int) -> None:
        self._most, self._failed = most, 0

    def learn(self, answers: Sequence[Answer]) -> None:
        for answer in answers:
            self._failed = self._failed + 1 if answer.down else 0
            if self._failed >= self._most:
                problem = answer.entry["problem"]
                limited = "it limits the rate: lower run.judge.concurrency"
                raise ServerError(
                    f"the last {self._failed} calls failed ({problem}): "
                    f"{limited if problem == TOO_MANY else 'the server is down'}. "
                    "What it answered is in the ledger and is not asked again: run again later."
                )


def ask(request: Request, chat: Chat, budget: Budget, retries: int) -> Answer:
    """What one request brought; a reply that is no verdict is asked for again."""
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
        asked=next((reply.support.told for reply in reversed(replies) if reply.support), None),
        tokens={name: sum(each[name] for each in counted) for name in counted[0]} if counted else None,
        latency=round(sum(reply.latency for reply in replies), 3),
        attempts=sum(reply.attempts for reply in replies),
    )
    return Answer(entry, down=bool(replies) and replies[-1].down)


def _reply(request: Request, chat: Chat, earlier: int) -> Reply:
    """A reply, after so many that were no verdict: with another seed each, since the same would bring the same."""
    return chat.ask(
        request.metric.prompt,
        request.message,
        request.metric.reply_schema,
        temperature=request.temperature,
        seed=request.seed + request.draw + RETRY_SEED * earlier,
    )


def _parse(request: Request, reply: Reply) -> tuple[Verdict | None, str | None]:
    """The verdict, or what is wrong with the reply."""
    if reply.text is None or reply.problem:
        return None, reply.problem
    try:
        return request.metric.parse(
            reply.text, request.nonce, fenced=reply.support is not None and reply.support.format == "text"
        ), None
    except ValueError as problem:
        return None, str(problem)
