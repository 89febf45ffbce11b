"""Client of a decision model: of OpenAI's `/decisions`, or of a System One API, `/systemone`."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple, Self

from goldmeter.models.chat.envelope import REFUSAL
from goldmeter.models.chat.exchange import Body, Endpoint, Exchange, Negotiation, Other, RefusedError
from goldmeter.models.chat.limits import ConcurrencyLimit, Support
from goldmeter.models.chat.refusals import Cause
from goldmeter.models.chat.replies import Reply, printable, since, token_counts

NO_ANSWERS: Final = "the reply has no answers"
NOT_ANSWERED: Final = "the reply leaves out a question"
NOT_ASKED: Final = "the reply answers a question that was not asked"
TWICE: Final = "the reply answers a question twice"
OTHER_TYPE: Final = "the reply has an answer of another type than asked for"
NO_PROBABILITY: Final = "the reply has an answer without a probability from 0 to 1"
# Type of an answer to a statement → its member with the probability.
_MEMBERS: Final = {"predicate": "probability", "noul": "noul"}
_REFUSAL: Final = "refusal"


class Dialect(NamedTuple):
    """A form of requests. path: behind the address of the server."""

    name: str
    path: str

    def body(self, model: str, text: str, statements: Mapping[str, str]) -> dict[str, Any]:
        """Return the body of a request about one text.

        statements: name → what may be true of the text.
        """
        if self == SYSTEM_ONE:
            asked = {name: {"type": "noul", "instructions": one} for name, one in statements.items()}
            return {"model": model, "state": text, "questions": asked}
        listed = [{"type": "predicate", "name": name, "instructions": one} for name, one in statements.items()]
        return {"model": model, "input": text, "questions": listed}


DECISIONS: Final = Dialect("decisions", "/decisions")
SYSTEM_ONE: Final = Dialect("systemone", "/systemone")


class Decided(NamedTuple):
    """What a reply says. problem: why it is no answer to all statements. probabilities: of each statement by name."""

    problem: str | None
    probabilities: Mapping[str, float]


def decided(answers: object, statements: Mapping[str, str]) -> Decided:
    """Return what the answers of a reply, in either form, say of each statement.

    >>> decided([{"type": "predicate", "name": "a", "probability": 0.9}], {"a": "It is right."})
    Decided(problem=None, probabilities={'a': 0.9})
    """
    try:
        return Decided(None, _probabilities(answers, statements))
    except _UnusableError as problem:
        return Decided(str(problem), {})


def usage_of(usage: object) -> dict[str, int] | None:
    """Return the tokens that the server counted; None without valid counts."""
    found = token_counts(usage, "input", "output")
    return found or token_counts(usage, "prompt", "completion")


class _UnusableError(Exception):
    """The answers are not those that were asked for."""


def _probabilities(answers: object, statements: Mapping[str, str]) -> dict[str, float]:
    found: dict[str, float] = {}
    is_refused = False
    for name, answer in _named(answers, [*statements]):
        if name not in statements:
            raise _UnusableError(NOT_ASKED)
        if name in found:
            raise _UnusableError(TWICE)
        is_refused = is_refused or answer.get("type") == _REFUSAL
        found[name] = 0.0 if answer.get("type") == _REFUSAL else _probability(answer)
    if found.keys() != statements.keys():
        raise _UnusableError(NOT_ANSWERED)
    if is_refused:
        raise _UnusableError(REFUSAL)
    return found


def _named(answers: object, names: list[str]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield name and answer; answers in a list may be without names, if they are all and in order."""
    if isinstance(answers, Mapping):
        pairs: list[tuple[object, object]] = [*answers.items()]
    elif isinstance(answers, list):
        given = [one.get("name", one.get("id")) if isinstance(one, Mapping) else None for one in answers]
        pairs = [*zip(names if given == [None] * len(names) else given, answers, strict=True)]
    else:
        raise _UnusableError(NO_ANSWERS)
    for name, answer in pairs:
        if not isinstance(answer, Mapping):
            raise _UnusableError(OTHER_TYPE)
        if not isinstance(name, str):
            raise _UnusableError(NOT_ASKED)
        yield name, answer


def _probability(answer: Mapping[str, Any]) -> float:
    member = _MEMBERS.get(kind) if isinstance(kind := answer.get("type"), str) else None
    if member is None:
        raise _UnusableError(OTHER_TYPE)
    value = answer.get(member)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:  # NaN is not, either
        raise _UnusableError(NO_PROBABILITY)
    return float(value)


NEEDED = " A decision model is asked at base_url/decisions or base_url/systemone."


class Decisions:
    """Calls one decision model; threads may share it, and the concurrency limit applies to all of them.

    The first call detects which of the two forms the server has.

    Args:
        endpoint: The server.
        limit: Of calls at once.
    """

    def __init__(self, endpoint: Endpoint, limit: ConcurrencyLimit) -> None:
        self._model = endpoint.model
        self._exchange = Exchange(endpoint, limit, NEEDED)
        self._ways = Negotiation(self._exchange, DECISIONS, is_known=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Close the connections."""
        self._exchange.close()

    def ask(self, text: str, statements: Mapping[str, str]) -> Reply:
        """Return the probability of each statement about a text, asked in one call.

        Args:
            text: What the statements are about.
            statements: Name → statement.

        Raises:
            ModelError: No call can succeed: key, model or address are wrong.
        """

        def call(dialect: Dialect) -> Reply:
            body = dialect.body(self._model, text, statements)
            answer = self._exchange.post(dialect.path, body, other_paths=True)
            return answer if isinstance(answer, Reply) else self._read(answer, dialect, statements)

        return self._exchange.reply(lambda: self._ways.first_reply(call, _after) or call(self._ways.way))

    def stop(self) -> None:
        """Make no further call; every later `ask` raises ModelError."""
        self._exchange.stop()

    def _read(self, body: Body, dialect: Dialect, statements: Mapping[str, str]) -> Reply:
        try:
            content = json.loads(body.text)
        except (ValueError, RecursionError):
            content = None
        if not isinstance(content, dict) or "answers" not in content:
            return self._exchange.unusable(body.text, body.start, body.attempts)
        found, model = decided(content["answers"], statements), content.get("model")
        said = json.dumps(content["answers"], ensure_ascii=False)
        return Reply(
            text=self._exchange.clean(printable(said)),
            problem=found.problem,
            model=printable(self._exchange.clean(model)) if isinstance(model, str) else None,
            tokens=usage_of(content.get("usage")),
            latency=since(body.start),
            attempts=body.attempts,
            support=Support(dialect.name),
            probabilities=None if found.problem else found.probabilities,
        )


def _after(dialect: Dialect, refusal: RefusedError) -> Other[Dialect]:
    """Return the other form after a refusal; that the server lacks the path is certain, another refusal is not."""
    other = SYSTEM_ONE if dialect == DECISIONS and refusal.refusal.cause is not Cause.CONTEXT else None
    return Other(other, is_named=refusal.refusal.cause in {Cause.ADDRESS, Cause.UNSUPPORTED})
