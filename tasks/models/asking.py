"""Asking a judge: what a request is, its key in the ledger, and many requests at once."""

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from tasks.ledger.verdicts import Entry, Verdicts, canonical
from tasks.metrics.judged import JudgeMetric, Verdict
from tasks.models.chat import Chat, Reply

NONCE_LENGTH = 10


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
        return hashlib.sha256(canonical(known)).hexdigest()

    @property
    def nonce(self) -> str:
        """What the reply must repeat: nobody who writes a field can know it without changing it."""
        return base64.b32encode(hashlib.sha256(self.key.encode()).digest()).decode()[:NONCE_LENGTH]

    @property
    def message(self) -> str:
        """The part of the request that differs from row to row."""
        return f"<data nonce={self.nonce}>\n{self.fields}\n</data nonce={self.nonce}>"


def encode_fields(values: Mapping[str, object]) -> str:
    """Variables as one line of JSON, in their own script.

    >>> encode_fields({"input": None, "ground_truth": ["Zürich"], "output": 'a "city"'})
    '{"input": null, "ground_truth": ["Zürich"], "output": "a \\\\"city\\\\""}'
    """
    return json.dumps(values, ensure_ascii=False)


def ask_all(requests: Sequence[Request], chat: Chat, ledger: Verdicts, *, concurrency: int, retries: int) -> None:
    """Ask every request and add what comes back to the ledger, each entry as it comes.

    retries: how often a reply that can't be parsed is asked for again.
    Raises ModelError when no call can succeed; what was answered before is in the ledger.
    """
    todo = iter(requests)
    waiting: set[Future[Entry]] = set()
    with ThreadPoolExecutor(concurrency) as pool:
        try:
            while True:
                waiting |= {
                    pool.submit(ask, each, chat, retries) for each in islice(todo, 2 * concurrency - len(waiting))
                }
                if not waiting:
                    return
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                ledger.add([future.result() for future in done if not future.exception()])
                for future in done:
                    future.result()
        except BaseException:
            under_way = [future for future in waiting if not future.cancel()]
            ledger.add([future.result() for future in under_way if not future.exception()])
            raise


def ask(request: Request, chat: Chat, retries: int) -> Entry:
    """The ledger's entry for one request; a reply that is no verdict is asked for again."""
    raw: str | None = None
    attempts, latency = 0, 0.0
    for _ in range(retries + 1):
        reply = chat.ask(
            request.metric.prompt,
            request.message,
            request.metric.reply_schema,
            temperature=request.temperature,
            seed=request.seed + request.draw,
        )
        verdict, problem = _parse(request, reply)
        raw = raw if reply.text is None else reply.text
        attempts, latency = attempts + reply.attempts, latency + reply.latency
        if verdict or reply.text is None:
            break
    return Entry(
        key=request.key,
        metric=request.metric.name,
        prompt=request.metric.prompt_hash,
        draw=request.draw,
        raw=raw,
        verdict=verdict.score if verdict else None,
        reason=verdict.reason if verdict else None,
        problem=problem,
        model=reply.model,
        tokens=reply.tokens,
        latency=round(latency, 3),
        attempts=attempts,
    )


def _parse(request: Request, reply: Reply) -> tuple[Verdict | None, str | None]:
    """The verdict, or what is wrong with the reply."""
    if reply.text is None or reply.problem:
        return None, reply.problem
    try:
        return request.metric.parse(reply.text, request.nonce, fenced=reply.fenced), None
    except ValueError as problem:
        return None, str(problem)
