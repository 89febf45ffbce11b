"""Client of a chat model on any server with OpenAI's protocol."""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Self, TypeAlias, TypedDict, Unpack

from goldmeter.models.chat import limits
from goldmeter.models.chat.answer_tokens import ALTERNATIVES, tokens_of
from goldmeter.models.chat.envelope import CONTENT_FILTER, CUT_OFF, opened
from goldmeter.models.chat.exchange import Endpoint, Exchange, Negotiation, Other, Refusal, RefusedError
from goldmeter.models.chat.refusals import SUCCESS, Cause, cause_of, words_of
from goldmeter.models.chat.replies import TIMEOUT, Reply, no_reply, printable, since, usage_in
from goldmeter.models.servers import COMPATIBLE, server_class
from goldmeter.text.thoughts import CUT_THOUGHT, spoken

# JSON schema of a reply; None for a text.
Schema: TypeAlias = Mapping[str, Any] | None


class Options(TypedDict, total=False):
    """Options of a request; None is the server's default.

    seed: of the draw. logprobs: whether to ask for those of the reply's tokens. max_tokens: of the reply, thoughts
    included, as the user states it. reply_tokens: of the reply without thoughts.
    """

    temperature: float | None
    seed: int | None
    logprobs: bool
    max_tokens: int | None
    reply_tokens: int | None


def limit_names(base_url: str) -> Sequence[str]:
    """Return the names of the limit of a reply, the likely one first: OpenAI and Azure call it anew."""
    return limits.LIMITS if server_class(base_url) == COMPATIBLE else limits.LIMITS[::-1]


def messages_of(system: str, user: str, support: limits.Support) -> list[dict[str, str]]:
    """Return the messages; system: empty if there is none."""
    if system and limits.SYSTEM in support.dropped:
        return [{"role": "user", "content": f"{system}\n\n{user}"}]
    first = [{"role": "system", "content": system}] if system else []
    return [*first, {"role": "user", "content": user}]


def response_format(schema: Mapping[str, Any], support: limits.Support) -> dict[str, Any]:
    """Return the field `response_format` for a format other than text."""
    if support.format == "json_object":
        return {"type": support.format}
    strict = {} if "strict" in support.refused else {"strict": True}
    return {
        "type": support.format,
        "json_schema": {"name": "reply", **strict, "schema": _without(schema, support.refused)},
    }


def sent_in(body: Mapping[str, Any]) -> frozenset[str]:
    """Return the names of options, limits and schema keywords in a body, and whether it has a system message."""
    has_system = body["messages"][0]["role"] == limits.SYSTEM
    return frozenset({*body, *_keys(body.get("response_format")), *([limits.SYSTEM] if has_system else [])})


def tokens_asked(support: limits.Support) -> dict[str, Any]:
    """Return the options that ask for log-probabilities; nothing where the server refuses one of them."""
    asked = {limits.LOGPROBS: True, limits.TOP_LOGPROBS: ALTERNATIVES}
    return {} if asked.keys() & {*support.refused} else asked


def limit_in(body: Mapping[str, Any]) -> str | None:
    """Return the name of the limit of the reply in a body; None without one."""
    return next((name for name in limits.LIMITS if name in body), None)


def is_text(support: limits.Support, schema: Schema) -> bool:
    """Whether no format is asked for."""
    return support.format == limits.TEXT or schema is None


def _without(schema: Mapping[str, Any], refused: Collection[str]) -> dict[str, Any]:
    """Return a schema without some keywords."""
    kept = {name: value for name, value in schema.items() if name not in refused or name not in limits.KEYWORDS}
    if "properties" in kept:
        kept["properties"] = {name: _without(one, refused) for name, one in kept["properties"].items()}
    return kept | ({"items": _without(kept["items"], refused)} if "items" in kept else {})


def _keys(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield name
            yield from _keys(inner)


_NO_ROOM = "the limit of the reply does not fit into the model's context"
_UNBOUND = f"{TIMEOUT}: the reply has no limit; set {{}}.max_tokens"
# Words of a server that counts the limit of the reply to the request.
_OF_REPLY = re.compile(r"completion|max_(?:new_)?tokens|max_completion_tokens|output", re.IGNORECASE)


class Chat:
    """Calls one model; threads may share it, and the concurrency limit applies to all of them.

    The first call detects what the server supports: JSON schema, JSON mode, temperature, seed, limits. What a later
    refusal names is not sent again.

    Args:
        endpoint: The server.
        limit: Of calls at once.
        known: What the server supports, if earlier replies show it.
        is_json: Whether replies are JSON; else no format is requested.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        limit: limits.ConcurrencyLimit,
        known: limits.Support | None = None,
        *,
        is_json: bool = True,
    ) -> None:
        self._endpoint, self._is_json = endpoint, is_json
        self._exchange = Exchange(endpoint, limit)
        first = known or (limits.Support() if is_json else limits.Support(limits.TEXT))
        self._ways = Negotiation(self._exchange, first, is_known=known is not None)
        self._limits, self._thinks, self._is_tried = limit_names(endpoint.base_url), False, False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Close the connections."""
        self._exchange.close()

    def ask(self, system: str, user: str, schema: Schema, **options: Unpack[Options]) -> Reply:
        """Return the reply to one request.

        Args:
            system: The system message; empty: there is none.
            user: The message about the row.
            schema: JSON schema of the reply; None for a text.
            options: Of the request.

        Raises:
            ModelError: No call can succeed: key, model or address are wrong.
        """
        return self._exchange.reply(lambda: self._answer(_Question(system, user, schema, options)))

    @property
    def support(self) -> limits.Support | None:
        """What the server supports; None before a first call has shown it."""
        return self._ways.way if self._ways.is_settled and self._is_tried else None

    def body(self, system: str, user: str, schema: Schema, **options: Unpack[Options]) -> dict[str, Any]:
        """Return the body of the request that `ask` would send; arguments as there."""
        without = Options(**{**options, "logprobs": False})  # a file with those of each token would be too large
        return self._body(_Question(system, user, schema, without), self._ways.way, has_room=True)

    def read(self, status: int, body: object, support: limits.Support) -> Reply:
        """Return the reply in a batch's result.

        Args:
            status: The HTTP status of this request.
            body: The body as JSON decodes it.
            support: What the request assumed.
        """
        if status in SUCCESS:
            return self._completion(body, None, 1, support)
        said = words_of(body)
        cause = cause_of(status, said)
        if cause is Cause.CONTENT:
            return no_reply(CONTENT_FILTER, billed=False)
        if cause is Cause.PASSING or not said.message:
            return no_reply(f"HTTP {status}", down=cause is Cause.PASSING, billed=False)
        refusal = Refusal(status, cause, said, self.quoted(said.message), 1)
        return no_reply(str(RefusedError(refusal, ())), billed=False)

    def quoted(self, text: str) -> str:
        """Return the beginning of a server's text, without our key."""
        return self._exchange.quoted(text)

    def stop(self) -> None:
        """Make no further call; every later `ask` raises ModelError."""
        self._exchange.stop()

    def _answer(self, question: "_Question") -> Reply:
        """Return the reply; a feature that the server refuses only now is not sent again."""
        if first := self._ways.first_reply(lambda support: self._call(question, support), _after):
            return first
        while True:
            support = self._ways.way
            try:
                return self._call(question, support)
            except RefusedError as refusal:
                weaker = support.without(refusal.said, refusal.sent)
                if weaker is None:
                    raise
            self._ways.replace(support, weaker)

    def _call(self, question: "_Question", support: limits.Support) -> Reply:
        """Make one call; a reply whose limit does not fit into the model's context is asked for without a limit."""
        has_room = self._thinks
        body = self._body(question, support, has_room=has_room)
        reply = self._sent(body, support)
        if reply.problem == TIMEOUT and not question.has_limit:
            return reply._replace(problem=_UNBOUND.format(self._endpoint.place))
        if reply.problem == _NO_ROOM:
            reply = self._sent({name: value for name, value in body.items() if name != limit_in(body)}, support)
        if reply.problem in {CUT_OFF, CUT_THOUGHT} and self._thinks and not has_room and not question.states_limit:
            return reply._replace(more_room=limit_in(body) is not None)
        return reply

    def _sent(self, body: dict[str, Any], support: limits.Support) -> Reply:
        try:
            answer = self._exchange.post("/chat/completions", body, sent_in(body))
        except RefusedError as problem:
            if problem.refusal.cause is not Cause.CONTEXT:
                raise
            has_room = not (limit_in(body) and _OF_REPLY.search(problem.said.message))
            return no_reply(str(problem) if has_room else _NO_ROOM, attempts=problem.refusal.attempts, billed=False)
        if isinstance(answer, Reply):
            return answer
        self._is_tried = True
        return self._reply(answer.text, answer.start, answer.attempts, support)

    def _body(self, question: "_Question", support: limits.Support, *, has_room: bool) -> dict[str, Any]:
        options = {name: value for name, value in question.options.items() if value is not None}
        stated, small = options.pop("max_tokens", None), options.pop("reply_tokens", None)
        wants_tokens = options.pop("logprobs", False) and not self._thinks  # thoughts have too many
        room = self._endpoint.thought_tokens if has_room else 0
        limit = stated or (small + room if isinstance(small, int) else None)
        body: dict[str, Any] = {
            "model": self._endpoint.model,
            "messages": messages_of(question.system, question.user, support),
            **{name: value for name, value in options.items() if name not in support.dropped},
            **(tokens_asked(support) if wants_tokens else {}),
        }
        if limit and (name := support.limit(self._limits) or (self._limits[0] if stated else None)):
            body[name] = limit
        if not is_text(support, question.schema) and question.schema is not None:
            body["response_format"] = response_format(question.schema, support)
        return body

    def _reply(self, body: str, start: float, attempts: int, support: limits.Support) -> Reply:
        """Parse the body of a response."""
        try:
            completion = json.loads(body)
        except (ValueError, RecursionError):
            return self._exchange.unusable(body, start, attempts)
        self._thinks = self._thinks or has_thought(completion)
        return self._completion(completion, start, attempts, support)

    def _completion(self, completion: Any, start: float | None, attempts: int, support: limits.Support) -> Reply:
        try:
            choice = completion["choices"][0]
            model = completion.get("model")
            letter = opened(choice["message"], choice.get("finish_reason"), is_json=self._is_json)
        except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError):
            return self._exchange.unusable(_written(completion), start, attempts)
        served = printable(self._exchange.clean(model)) if isinstance(model, str) else None
        text, usage = self._exchange.clean(letter.text), usage_in(completion.get("usage"))
        said = tokens_of(choice)
        return Reply(text, letter.problem, served, usage, since(start), attempts, support, tokens_said=said)


class _Question(NamedTuple):
    """What is asked; system: empty if there is no system message."""

    system: str
    user: str
    schema: Schema
    options: Options

    @property
    def has_limit(self) -> bool:
        """Whether a limit of the reply is asked for."""
        return self.states_limit or self.options.get("reply_tokens") is not None

    @property
    def states_limit(self) -> bool:
        """Whether the user states the limit of the reply."""
        return self.options.get("max_tokens") is not None


def _after(support: limits.Support, refusal: RefusedError) -> Other[limits.Support]:
    """Return the request with fewer features that may succeed after a refusal."""
    is_named = support.without(refusal.said, refusal.sent) is not None
    return Other(support.reduced(refusal.said, refusal.sent), is_named)


def _written(content: Any) -> str:
    """Return JSON that was read; empty if it is nested so deeply that it can be read, and not written."""
    try:
        return json.dumps(content, ensure_ascii=False)
    except RecursionError:
        return ""


def has_thought(completion: Any) -> bool:
    """Return whether a completion, as JSON decodes it, shows that the model thinks.

    >>> has_thought({"choices": [{"message": {"content": "<think>The answer"}}]})
    True
    """
    try:
        message, usage = completion["choices"][0]["message"], completion.get("usage") or {}
        details = usage.get("completion_tokens_details") or usage.get("output_tokens_details") or {}
        content, counted = message.get("content"), details.get("reasoning_tokens")
    except (TypeError, KeyError, IndexError, AttributeError):
        return False
    if any(message.get(name) for name in ("reasoning_content", "reasoning")):
        return True
    is_counted = isinstance(counted, int) and counted > 0
    return is_counted or (isinstance(content, str) and spoken(content, anywhere=True).has_thought)
