"""The ledger's entry for one request, built from the replies to it."""

from collections.abc import Sequence
from typing import Protocol

from tasks.asking.model import Parsed, Question
from tasks.ledger.entries import Entry
from tasks.models.chat.client import Reply

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
    """Return the seed of a call after so many replies that were no verdict: the same one would bring the same reply."""
    return None if seed is None else seed + draw + RETRY_SEED * earlier


def parsed(request: Asked, reply: Reply) -> tuple[Parsed | None, str | None]:
    """Return what the reply says, and what is wrong with it."""
    is_accepted = reply.problem is None or (reply.problem in request.question.accepted_problems and reply.text)
    if reply.text is None or not is_accepted:
        return None, reply.problem
    try:
        # Some servers take a JSON schema and ignore it, so that the reply may come in a fence all the same.
        return request.question.parse(reply.text, request.nonce, fenced=True), reply.problem
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
    return entry
