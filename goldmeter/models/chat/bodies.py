"""Bodies of requests to a chat server, as far as it supports them."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, TypeAlias, TypedDict

from goldmeter.models.chat.answer_tokens import ALTERNATIVES
from goldmeter.models.chat.limits import KEYWORDS, LIMITS, LOGPROBS, SYSTEM, TEXT, TOP_LOGPROBS, Support
from goldmeter.models.servers import COMPATIBLE, server_class

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
    return LIMITS if server_class(base_url) == COMPATIBLE else LIMITS[::-1]


def messages_of(system: str, user: str, support: Support) -> list[dict[str, str]]:
    """Return the messages; system: empty if there is none."""
    if system and SYSTEM in support.dropped:
        return [{"role": "user", "content": f"{system}\n\n{user}"}]
    first = [{"role": "system", "content": system}] if system else []
    return [*first, {"role": "user", "content": user}]


def response_format(schema: Mapping[str, Any], support: Support) -> dict[str, Any]:
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
    has_system = body["messages"][0]["role"] == SYSTEM
    return frozenset({*body, *_keys(body.get("response_format")), *([SYSTEM] if has_system else [])})


def tokens_asked(support: Support) -> dict[str, Any]:
    """Return the options that ask for log-probabilities; nothing where the server refuses one of them."""
    asked = {LOGPROBS: True, TOP_LOGPROBS: ALTERNATIVES}
    return {} if asked.keys() & {*support.refused} else asked


def limit_in(body: Mapping[str, Any]) -> str | None:
    """Return the name of the limit of the reply in a body; None without one."""
    return next((name for name in LIMITS if name in body), None)


def is_text(support: Support, schema: Schema) -> bool:
    """Whether no format is asked for."""
    return support.format == TEXT or schema is None


def _without(schema: Mapping[str, Any], refused: Collection[str]) -> dict[str, Any]:
    """Return a schema without some keywords."""
    kept = {name: value for name, value in schema.items() if name not in refused or name not in KEYWORDS}
    if "properties" in kept:
        kept["properties"] = {name: _without(one, refused) for name, one in kept["properties"].items()}
    return kept | ({"items": _without(kept["items"], refused)} if "items" in kept else {})


def _keys(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield name
            yield from _keys(inner)
