"""What an error of a chat server is about: it may pass, or it is about the row, the setup, or a part of the request."""

import json
import re
from collections.abc import Collection, Iterator, Mapping
from enum import Enum
from http import HTTPStatus
from typing import Any, NamedTuple

# Objects in objects that are searched for the words of a server.
MOST_LEVELS = 6
# Members of an error that hold its words, or an object with them; those that come first are preferred.
WORDS = ("error", "message", "detail", "errors", "msg", "metadata", "raw")
# Members that hold short names of a reason.
CODES = ("code", "type", "status", "error_type", "reason")
SUCCESS, REDIRECTS, CLIENT_ERRORS, SERVER_ERRORS = range(200, 300), range(300, 400), range(400, 500), range(500, 600)


class Cause(Enum):
    """What an error is about.

    PASSING: may succeed later. CONTENT, CONTEXT: about the row: a filter, or more text than the model reads.
    REQUEST: about this request as it is; with fewer features it may succeed, else it is about the row. The others are
    about the setup: no call can succeed.
    """

    PASSING = "passing"
    CONTENT = "content filter"
    CONTEXT = "longer than the model's context"
    REQUEST = "request"
    KEY = "key"
    MODEL = "model"
    ADDRESS = "address"
    MONEY = "money"
    UNSUPPORTED = "unsupported"

    @property
    def is_of_setup(self) -> bool:
        """Whether no call can succeed."""
        return self in {Cause.KEY, Cause.MODEL, Cause.ADDRESS, Cause.MONEY, Cause.UNSUPPORTED}


class Said(NamedTuple):
    """The words of an error.

    message: on one line; "" without any. codes: short names of the reason, in lower case. fields: of the request.
    """

    message: str = ""
    codes: frozenset[str] = frozenset()
    fields: frozenset[str] = frozenset()


class _Rule(NamedTuple):
    """A cause. statuses: of HTTP. code: pattern of a whole code. words: pattern of the message; None: any."""

    cause: Cause
    statuses: Collection[int]
    code: str | None = None
    words: str | None = None


_ANY = range(300, 600)
_BAD = frozenset({400, 404, 413, 422, 429, 500})
# The first rule that fits decides. Words that a row may bring into a message stop a run only where a message begins.
RULES = (
    _Rule(Cause.ADDRESS, REDIRECTS),
    _Rule(Cause.CONTENT, _ANY, code=r"content_filter|content_policy_violation|responsibleaipolicyviolation"),
    _Rule(Cause.CONTENT, _BAD, code=r"data_?inspection_?failed|prohibited_content|moderation_blocked"),
    _Rule(Cause.CONTENT, frozenset({403}), words=r"\bflagged\b|requires moderation"),
    _Rule(Cause.CONTEXT, _BAD, code=r"context_length_exceeded|exceed_context_size_error|string_above_max_length"),
    _Rule(
        Cause.CONTEXT,
        _BAD,
        words=r"maximum context length|context (?:size|length|window)|prompt is too long|too many (?:input )?tokens|"
        r"input is too long|exceeds? the maximum (?:number of )?(?:input )?tokens|reduce the length|"
        r"token count \(?\d+\)? exceeds|tokens? \+ .{0,2}max_new_tokens.{0,2} must be|longer than the model|"
        r"request too large for",
    ),
    _Rule(Cause.CONTEXT, frozenset({413})),
    _Rule(
        Cause.MONEY,
        _ANY,
        code=r"insufficient_quota|exceeded_current_quota_error|billing_not_active|billing_hard_limit_reached|"
        r"insufficient_(?:balance|credits|user_quota)",
    ),
    _Rule(Cause.MONEY, CLIENT_ERRORS, words=r"\A(?:your credit balance is too low|insufficient balance)"),
    _Rule(Cause.MONEY, frozenset({402})),
    _Rule(Cause.REQUEST, frozenset({403}), words=r"not allowed to request logprobs"),
    _Rule(Cause.KEY, _BAD, code=r"api_key_invalid|invalid_api_key|authentication_error|unauthenticated"),
    _Rule(Cause.KEY, _BAD, words=r"\A(?:incorrect api key|api key not valid|invalid api key)"),
    _Rule(Cause.KEY, frozenset({401, 403})),
    _Rule(Cause.MODEL, _BAD, code=r"model_not_found|invalid_model|deploymentnotfound|model_not_available"),
    _Rule(
        Cause.MODEL,
        frozenset({400, 404, 422}),
        words=r"\A(?:invalid model\b|the model `?.{1,200}`? does not exist|model .{1,200} not found|"
        r".{1,200} is not a valid model id)",
    ),
    _Rule(Cause.ADDRESS, frozenset({404, 405, 410})),
    _Rule(Cause.UNSUPPORTED, frozenset({501, 505})),
    _Rule(Cause.PASSING, frozenset({408, 409, 425, 429})),
    _Rule(Cause.PASSING, SERVER_ERRORS),
    _Rule(Cause.REQUEST, CLIENT_ERRORS),
)


def cause_of(status: int, said: Said) -> Cause:
    """Return what an error is about; status: of HTTP."""
    return next((rule.cause for rule in RULES if _fits(rule, status, said)), Cause.PASSING)


def said_in(body: str) -> Said:
    """Return the words in the body of an error; of a body that is no JSON, its text."""
    content = _parsed(body)
    return words_of(content) if content is not None else Said(_on_one_line(body))


def words_of(content: Any) -> Said:
    """Return the words in an error, as JSON decodes it.

    The forms of OpenAI, Azure, vLLM, FastAPI, Mistral, llama.cpp, Ollama, Anthropic, Gemini and gateways are known.

    >>> words_of({"detail": [{"loc": ["body", "seed"], "msg": "Extra inputs are not permitted", "input": 0}]}).message
    'seed: Extra inputs are not permitted'
    """
    messages, codes, fields = list[str](), set[str](), set[str]()
    for error in _errors(content, MOST_LEVELS):
        if isinstance(error, str):
            messages.append(error)
            continue
        codes.update(str(error[name]).lower() for name in CODES if isinstance(error.get(name), str | int))
        where = error.get("loc")
        path = where if isinstance(where, list) else [error.get("param")]
        fields.update(word for step in path if isinstance(step, str) for word in re.findall(r"\w+", step))
    return Said(_on_one_line("; ".join(dict.fromkeys(messages))), frozenset(codes), frozenset(fields))


def error_status(body: str) -> int | None:
    """Return the status of an error that came as a success; None for anything else.

    >>> error_status('{"error": {"message": "upstream overloaded", "code": 502}}'), error_status('{"choices": []}')
    (502, None)
    """
    content = _parsed(body) if '"error"' in body and '"choices"' not in body else None
    if not isinstance(content, dict) or not content.get("error"):
        return None
    error = content["error"]
    numbers = [error.get(name) for name in ("code", "status")] if isinstance(error, dict) else []
    known = (number for number in numbers if type(number) is int and 400 <= number < 600)  # noqa: PLR2004 (of HTTP)
    return next(known, HTTPStatus.INTERNAL_SERVER_ERROR.value)


def _fits(rule: _Rule, status: int, said: Said) -> bool:
    if status not in rule.statuses:
        return False
    if rule.code is not None:
        return any(re.fullmatch(rule.code, code) for code in said.codes)
    return rule.words is None or re.search(rule.words, said.message, re.IGNORECASE) is not None


def _errors(content: Any, levels: int) -> Iterator[Mapping[str, Any] | str]:
    """Yield the objects and the words of an error, from the outside in."""
    if levels == 0:
        return
    if isinstance(content, str):
        inner = _parsed(content) if content.lstrip()[:1] in {"{", "["} else None
        yield from [content] if inner is None else _errors(inner, levels - 1)
    elif isinstance(content, list):
        for one in content[:20]:
            yield from _errors(one, levels - 1)
    elif isinstance(content, dict):
        yield content
        if isinstance(where := content.get("loc"), list) and isinstance(message := content.get("msg"), str):
            steps = [str(step) for step in where if isinstance(step, str | int) and step != "body"]
            yield f"{'.'.join(steps)}: {message}" if steps else message
            return
        for name in WORDS:
            yield from _errors(content.get(name), levels - 1)
        for name in ("innererror", "details"):
            yield from (one for one in _errors(content.get(name), levels - 1) if not isinstance(one, str))


def _parsed(text: str) -> Any:
    """Return the JSON object or list of a text; None if it is none."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return content if isinstance(content, dict | list) else None


def _on_one_line(text: str) -> str:
    return " ".join(text.split())
