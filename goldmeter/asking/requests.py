"""Requests to a model, with their keys in the ledger, and replies, with the ledger's entry of each."""

import base64
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, compress
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np

from goldmeter.asking.budget import CRITERION_TOKENS, REPLY_TOKENS, expected_tokens
from goldmeter.ledger.entries import Entry, canonical
from goldmeter.ledger.verdicts import Verdicts
from goldmeter.metrics.verdict_types import Criterion
from goldmeter.models.chat.answer_tokens import true_probability
from goldmeter.models.chat.limits import Support
from goldmeter.models.chat.replies import Reply
from goldmeter.models.servers import ApiKey
from goldmeter.pipeline.hashing import sha256


class Parsed(Protocol):
    """What a reply says, as the ledger keeps it; of a question without a verdict, `score` is 1."""

    @property
    def score(self) -> float: ...
    @property
    def reason(self) -> str | None: ...
    @property
    def met(self) -> str: ...


class Question(Protocol):
    """What is asked about each row.

    instructions: the system message; empty: there is none. prompt_hash: of everything in a request but the row.
    reply_schema: of a reply in JSON; None for a text. sent_schema: the same with a longest length of each text.
    reply_tokens: the most of a reply without thoughts; None: no limit. criteria: that a reply must have.
    accepted_problems: of replies that have a text and are used all the same.
    """

    @property
    def name(self) -> str: ...
    @property
    def instructions(self) -> str: ...
    @property
    def prompt_hash(self) -> str: ...
    @property
    def reply_schema(self) -> dict[str, Any] | None: ...
    @property
    def sent_schema(self) -> dict[str, Any] | None: ...
    @property
    def reply_tokens(self) -> int | None: ...
    @property
    def criteria(self) -> tuple[Criterion, ...]: ...
    @property
    def accepted_problems(self) -> Collection[str]: ...

    def with_criteria(self, criteria: Sequence[Criterion]) -> Self:
        """Return the question as it is about a row with these criteria."""

    def message(self, fields: str, nonce: str) -> str:
        """Return the part of a request that differs from row to row."""

    def parse(self, reply: str, nonce: str) -> Parsed:
        """Return what a reply says. Raises ValueError when it is not usable."""


@runtime_checkable
class Decidable(Protocol):
    """A question that a decision model can answer, too.

    statements: name → statement about the message whose probability is asked for; empty if it can't be asked so.
    probability_field: of a reply, the name of a verdict of true or false; None for other verdicts.
    """

    @property
    def statements(self) -> Mapping[str, str]: ...
    @property
    def probability_field(self) -> str | None: ...

    def decided(self, probabilities: Mapping[str, float]) -> Parsed:
        """Return the verdict by the probability of each statement."""


class AskedModel(Protocol):
    """A model, and what it is asked.

    stage: of dvc.yaml, which begins messages. server_key: class of the server, and its name or address.
    is_decision_model: whether it gives probabilities, and no text.
    """

    @property
    def stage(self) -> str: ...
    @property
    def base_url(self) -> str: ...
    @property
    def model(self) -> str: ...
    @property
    def api_key(self) -> ApiKey: ...
    @property
    def is_decision_model(self) -> bool: ...
    @property
    def server_key(self) -> tuple[str, str]: ...
    @property
    def questions(self) -> Mapping[str, Question]: ...


NONCE_LENGTH = 10
# Of a probability in the ledger.
DECIMALS = 6


@dataclass(frozen=True)
class Request:
    """One question to a model.

    fields: what the request says of the row, without the nonce. server, address: class of the server, and its address
    or the name that the user gives to it; "" for OpenAI, which has one address. temperature, seed: None: the server's.
    max_tokens: of the reply; None: the server's limit. by_decision: a decision model is asked. logprobs: the
    log-probabilities of the verdict are asked for, which changes no verdict and is no part of the key.
    """

    server: str
    address: str
    model: str
    question: Question
    fields: str
    temperature: float | None
    seed: int | None
    draw: int
    max_tokens: int | None = None
    by_decision: bool = False
    logprobs: bool = False

    @cached_property
    def key(self) -> str:
        """The key in the ledger, 64 hex digits: a hash of everything that is known before the call."""
        limited = {} if self.max_tokens is None else {"max_tokens": self.max_tokens}
        known = {
            **({"address": self.address} if self.address else {}),
            "server": self.server,
            "model": self.model,
            "prompt": self.question.prompt_hash,
            "fields": self.fields,
            "options": {"temperature": self.temperature, "seed": self.seed, **limited},
            "draw": self.draw,
            **({"statements": dict(self.statements)} if self.by_decision else {}),
        }
        return sha256(canonical(known)).hex()

    @property
    def statements(self) -> Mapping[str, str]:
        """What a decision model is asked about the message; empty of a question that it can't be asked."""
        return self.question.statements if isinstance(self.question, Decidable) else {}

    @property
    def nonce(self) -> str:
        """A code that the reply must repeat. A text of the row can't forge it: it depends on that text."""
        return nonce_of(self.key)

    @property
    def tokens(self) -> float:
        """Estimated tokens of the request."""
        return expected_tokens(self.question.instructions, self.message)

    @property
    def message(self) -> str:
        """The part of the request that differs from row to row."""
        return self.question.message(self.fields, self.nonce)


def nonce_of(key: str) -> str:
    """Return the nonce of the request with this key."""
    return base64.b32encode(sha256(key)).decode()[:NONCE_LENGTH]


# Larger than any draw, so that no retry has the seed of another draw.
RETRY_SEED = 1_000_003


class Asked(Protocol):
    """The parts of a request that its entry states, or that are needed to parse a reply."""

    @property
    def key(self) -> str: ...
    @property
    def nonce(self) -> str: ...
    @property
    def question(self) -> Question: ...
    @property
    def draw(self) -> int: ...
    @property
    def address(self) -> str: ...


def attempt_seed(seed: int | None, draw: int, earlier: int) -> int | None:
    """Return the seed of a call after so many replies that were no verdict."""
    return None if seed is None else seed + draw + RETRY_SEED * earlier


# Replies to one request that are paid for at most.
MOST_PAID = 2
# Follows the message where the reply to it was no verdict: at temperature 0, the same message brings the same reply.
ASKED_AGAIN = (
    "\n\nAn earlier reply to this message could not be used: {problem}. Reply with the JSON object only, without text "
    'around it. Its nonce is "{nonce}".'
)


def arguments(request: Request, earlier: Sequence[Reply]) -> dict[str, Any]:
    """Return the arguments of `Chat.ask`, or of `Decisions.ask`, for a call after replies that were no verdict."""
    if request.by_decision:
        return {"text": request.message, "statements": request.statements}
    garbled = next((reply for reply in reversed(earlier) if reply.text is not None), None)
    again = ""
    if garbled and request.question.reply_schema is not None:
        again = ASKED_AGAIN.format(problem=parsed(request, garbled)[1], nonce=request.nonce)
    return {
        "system": request.question.instructions,
        "user": f"{request.message}{again}",
        "schema": request.question.sent_schema,
        "temperature": request.temperature,
        "seed": attempt_seed(request.seed, request.draw, len(earlier)),
        "max_tokens": request.max_tokens,
        "reply_tokens": request.question.reply_tokens,
        "logprobs": request.logprobs and _probability_field(request.question) is not None,
    }


def may_be_asked_again(earlier: Sequence[Reply], retries: int) -> bool:
    """Return whether these replies leave room for another call."""
    return len(earlier) <= retries and sum(reply.billed for reply in earlier) < MOST_PAID


def can_differ(request: Request, last: Reply) -> bool:
    """Return whether another call may bring another reply than the last one: a text is asked for as before."""
    if request.by_decision:
        return last.text is None
    return request.question.reply_schema is not None or request.temperature != 0 or last.text is None


def parsed(request: Asked, reply: Reply) -> tuple[Parsed | None, str | None]:
    """Return what the reply says, and what is wrong with it."""
    is_accepted = reply.problem is None or (reply.problem in request.question.accepted_problems and reply.text)
    if reply.text is None or not is_accepted:
        return None, reply.problem
    try:
        if reply.probabilities is not None and isinstance(request.question, Decidable):
            return request.question.decided(reply.probabilities), reply.problem
        return request.question.parse(reply.text, request.nonce), reply.problem
    except ValueError as problem:
        return None, str(problem)


def entry_of(
    request: Asked, replies: Sequence[Reply], verdict: Parsed | None, problem: str | None, *, by_batch: bool = False
) -> Entry:
    """Build the entry of a request.

    Args:
        request: What was asked.
        replies: All replies to it, the last one being the one that was parsed.
        verdict: What the last reply says.
        problem: Why there is none, or an accepted problem.
        by_batch: Whether the calls were part of batches, at their price.
    """
    counted = [reply.tokens for reply in replies if reply.tokens]
    entry = Entry(
        key=request.key,
        metric=request.question.name,
        prompt=request.question.prompt_hash,
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
    if by_batch:
        entry["batch"] = True
    if verdict and verdict.met:
        entry["met"] = verdict.met
    if verdict and (p := _stated_probability(request.question, replies[-1])) is not None:
        entry["probability"] = round(p, DECIMALS)
    return entry


def _stated_probability(question: Question, reply: Reply) -> float | None:
    """Return the probability that a verdict is true; None where the reply does not state it, and of other verdicts."""
    field = _probability_field(question)
    if field is None:
        return None
    if reply.probabilities is not None:
        return reply.probabilities.get(field)
    return true_probability(reply.tokens_said, field) if reply.tokens_said else None


def _probability_field(question: Question) -> str | None:
    return question.probability_field if isinstance(question, Decidable) else None


def replies(requests: Iterable[Request], ledger: Verdicts) -> dict[str, Entry]:
    """Return the ledger's entries for the requests, by key."""
    return ledger.get(request.key for request in requests)


# Replies of a metric that are read: more change the mean little.
MOST = 200


class EarlierReplies:
    """The replies to requests of this run that are answered: of the same judge and prompt as the replies to come."""

    def __init__(self, ledger: Verdicts) -> None:
        self._ledger = ledger
        self._tokens: dict[str, list[int]] = {}
        self._asked = Counter[str]()

    def add(self, answered: Iterable[Request]) -> None:
        """Read the replies to requests, until there are enough of each metric."""
        room = {name: MOST - len(tokens) for name, tokens in self._tokens.items()}
        chosen = list[Request]()
        for request in answered:
            name = request.question.name
            if left := room.get(name, MOST):
                room[name] = left - 1
                chosen.append(request)
        for entry in replies(chosen, self._ledger).values() if chosen else ():
            self._asked.update(filter(None, [entry["asked"]]))
            if tokens := entry["tokens"]:
                self._tokens.setdefault(entry["metric"], []).append(tokens["completion"])

    def mean(self, calls: Mapping[str, int], criteria: Mapping[str, int]) -> float:
        """Return the expected tokens of a reply, reasoning included.

        A metric without replies has those of the others, and some for each criterion. Without any, a guess is returned
        that holds no reasoning.

        Args:
            calls: Metric → its calls.
            criteria: Metric → criteria that all its calls ask about.
        """
        everything = [*chain.from_iterable(self._tokens.values())]
        usual = float(np.mean(everything)) if everything else float(REPLY_TOKENS)
        tokens = [
            count * float(np.mean(own))
            if (own := self._tokens.get(name))
            else count * usual + CRITERION_TOKENS * criteria.get(name, 0)
            for name, count in calls.items()
        ]
        total = Counter(calls).total()
        return sum(tokens) / total if total else REPLY_TOKENS

    @property
    def support(self) -> Support | None:
        """What the server supports, by the way in which most of the replies were asked for; None without any."""
        return next((Support.of(summary) for summary, _ in self._asked.most_common(1)), None)

    @property
    def longest(self) -> int:
        """The most tokens of a reply; a guess without any."""
        return max(chain.from_iterable(self._tokens.values()), default=REPLY_TOKENS)


def unanswered(
    blocks: Iterable[Iterable[Request]],
    ledger: Verdicts,
    *,
    retry_failed: bool,
    earlier: EarlierReplies | None = None,
) -> Iterator[Request]:
    """Yield each request that the ledger has no reply to, once, in order.

    Args:
        blocks: The requests; those of one block are in memory at once.
        ledger: The store of replies.
        retry_failed: Yield requests whose reply is not usable, too.
        earlier: Of replies, to which those of the ledger are added.
    """
    asked = set[str]()
    for requests in blocks:
        by_key = {request.key: request for request in requests}
        is_missing = ledger.unanswered([*by_key], retry_failed=retry_failed)
        if earlier:
            earlier.add(compress(by_key.values(), ~is_missing))
        new = {*compress(by_key, is_missing)} - asked
        asked |= new
        yield from (request for key, request in by_key.items() if key in new)
