"""Errors of chat servers, in the forms that servers have for them: what each is about, and what is done then."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.models.chat.limits import FORMATS, KEYWORDS, LIMITS, OPTIONAL, Support
from goldmeter.models.chat.refusals import Cause, Said, cause_of, error_status, said_in, words_of

FILTERED = "The response was filtered"
# Status, body, what it is about.
ERRORS: dict[str, tuple[int, Any, Cause]] = {
    "OpenAI: busy": (429, {"error": {"message": "Rate limit", "code": "rate_limit_exceeded"}}, Cause.PASSING),
    "OpenAI: quota": (429, {"error": {"message": "You exceeded", "code": "insufficient_quota"}}, Cause.MONEY),
    "OpenAI: key": (401, {"error": {"message": "Incorrect API key", "code": "invalid_api_key"}}, Cause.KEY),
    "OpenAI: model": (
        404,
        {"error": {"message": "The model `x` does not exist", "code": "model_not_found"}},
        Cause.MODEL,
    ),
    "OpenAI: context": (400, {"error": {"message": "too long", "code": "context_length_exceeded"}}, Cause.CONTEXT),
    "OpenAI: one row above the rate": (
        429,
        {"error": {"message": "Request too large for gpt on tokens per min"}},
        Cause.CONTEXT,
    ),
    "OpenAI: parameter": (
        400,
        {"error": {"message": "no", "param": "seed", "code": "unsupported_value"}},
        Cause.REQUEST,
    ),
    "Azure: filter": (400, {"error": {"message": FILTERED, "code": "content_filter"}}, Cause.CONTENT),
    "Azure: inner error": (
        400,
        {"error": {"message": FILTERED, "code": None, "innererror": {"code": "ResponsibleAIPolicyViolation"}}},
        Cause.CONTENT,
    ),
    "Azure: deployment": (404, {"error": {"code": "DeploymentNotFound", "message": "The API deployment"}}, Cause.MODEL),
    "vLLM: context": (
        400,
        {
            "object": "error",
            "message": "This model's maximum context length is 16 tokens.",
            "type": "BadRequestError",
            "code": 400,
        },
        Cause.CONTEXT,
    ),
    "vLLM: model": (
        404,
        {"error": {"message": "The model `x` does not exist.", "type": "NotFoundError", "code": 404}},
        Cause.MODEL,
    ),
    "FastAPI: 422": (422, {"detail": [{"loc": ["body", "messages"], "msg": "Field required"}]}, Cause.REQUEST),
    "FastAPI: 404": (404, {"detail": "Not Found"}, Cause.ADDRESS),
    "FastAPI: 405": (405, {"detail": "Method Not Allowed"}, Cause.ADDRESS),
    "llama.cpp: context": (
        400,
        {
            "error": {
                "code": 400,
                "message": "request (6 tokens) exceeds the available context size (2 tokens)",
                "type": "exceed_context_size_error",
                "n_ctx": 2,
            }
        },
        Cause.CONTEXT,
    ),
    "llama.cpp: context, as 500": (
        500,
        {"error": {"code": 500, "message": "the request exceeds the available context size", "type": "server_error"}},
        Cause.CONTEXT,
    ),
    "llama.cpp: no such feature": (
        501,
        {"error": {"code": 501, "message": "This server does not support it", "type": "not_supported_error"}},
        Cause.UNSUPPORTED,
    ),
    "llama.cpp: path": (
        404,
        {"error": {"message": "File Not Found", "type": "not_found_error", "code": 404}},
        Cause.ADDRESS,
    ),
    "llama.cpp: loading": (
        503,
        {"error": {"code": 503, "message": "Loading model", "type": "unavailable_error"}},
        Cause.PASSING,
    ),
    "Ollama: model": (
        404,
        {"error": {"message": 'model "x" not found, try pulling it first', "type": "api_error"}},
        Cause.MODEL,
    ),
    "Ollama: text": (400, {"error": "invalid format"}, Cause.REQUEST),
    "Mistral: 422": (
        422,
        {"object": "error", "message": {"detail": [{"loc": ["body", "temperature"], "msg": "Input should be less"}]}},
        Cause.REQUEST,
    ),
    "Mistral: model": (
        400,
        {"object": "error", "message": "Invalid model: x", "type": "invalid_model", "code": "1500"},
        Cause.MODEL,
    ),
    "Anthropic: busy": (
        529,
        {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
        Cause.PASSING,
    ),
    "Anthropic: money": (
        400,
        {
            "type": "error",
            "error": {"type": "invalid_request_error", "message": "Your credit balance is too low to access"},
        },
        Cause.MONEY,
    ),
    "Anthropic: context": (
        400,
        {"type": "error", "error": {"message": "prompt is too long: 9 tokens > 8 maximum"}},
        Cause.CONTEXT,
    ),
    "Anthropic: key": (
        401,
        {"type": "error", "error": {"type": "authentication_error", "message": "invalid x-api-key"}},
        Cause.KEY,
    ),
    "Gemini: key": (
        400,
        [
            {
                "error": {
                    "code": 400,
                    "message": "API key not valid.",
                    "status": "INVALID_ARGUMENT",
                    "details": [{"reason": "API_KEY_INVALID"}],
                }
            }
        ],
        Cause.KEY,
    ),
    "Gemini: busy": (
        429,
        [{"error": {"code": 429, "message": "Resource exhausted", "status": "RESOURCE_EXHAUSTED"}}],
        Cause.PASSING,
    ),
    "Gemini: context": (
        400,
        [
            {
                "error": {
                    "code": 400,
                    "message": "The input token count (9) exceeds the maximum number of tokens allowed (8).",
                }
            }
        ],
        Cause.CONTEXT,
    ),
    "a gateway: moderation": (
        403,
        {"error": {"code": 403, "message": "x requires moderation", "metadata": {"reasons": ["hate"]}}},
        Cause.CONTENT,
    ),
    "a gateway: JSON in JSON": (
        400,
        {
            "error": {
                "message": "Provider returned error",
                "metadata": {"raw": '{"error": {"code": "context_length_exceeded"}}'},
            }
        },
        Cause.CONTEXT,
    ),
    "a gateway: money": (402, {"error": {"message": "Insufficient credits", "code": 402}}, Cause.MONEY),
    "a proxy: too large": (413, "<html>413 Request Entity Too Large</html>", Cause.CONTEXT),
    "a proxy: gateway": (502, "<html>Bad Gateway</html>", Cause.PASSING),
    "a proxy: redirect": (307, "", Cause.ADDRESS),
    "nothing": (400, "", Cause.REQUEST),
}


def said(body: Any) -> Said:
    return said_in(body if isinstance(body, str) else json.dumps(body))


@pytest.mark.parametrize(("status", "body", "cause"), ERRORS.values(), ids=[*ERRORS])
def test_what_an_error_is_about(status: int, body: Any, cause: Cause) -> None:
    assert cause_of(status, said(body)) is cause


@pytest.mark.parametrize("quoted", ["insufficient_quota", "Incorrect API key", "Your credit balance is too low"])
def test_the_text_of_a_row_that_a_server_quotes_stops_no_run(quoted: str) -> None:
    body = {"detail": [{"loc": ["body", "messages", 1], "msg": f"not valid: {quoted}", "input": quoted}]}

    assert cause_of(422, said(body)) is Cause.REQUEST


@given(st.integers(100, 1000), st.binary())
def test_no_body_raises(status: int, body: bytes) -> None:
    text = body.decode("utf-8", "replace")

    words = said_in(text)

    assert cause_of(status, words) in Cause
    assert "\n" not in words.message
    assert error_status(text) is None or 400 <= (error_status(text) or 0) < 600


NAMES = ("error", "message", "detail", "loc", "msg", "code", "type", "param", "innererror", "details", "metadata")
ODD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.floats(allow_nan=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=4),
    max_leaves=12,
)


@given(st.sampled_from([200, 400, 404, 422, 429, 500]), ODD, st.frozensets(st.sampled_from([*OPTIONAL, *LIMITS])))
def test_errors_of_any_shape_are_read(status: int, content: Any, sent: frozenset[str]) -> None:
    words = words_of(content)

    assert cause_of(status, words) in Cause
    Support().reduced(words, sent)


@pytest.mark.parametrize(
    "body", ["[" * 100_000, '{"error":' * 2_000 + "1" + "}" * 2_000, '{"error": "' + "\\ud800" * 9]
)
def test_bodies_that_are_nested_deeply_are_read(body: str) -> None:
    assert cause_of(400, said_in(body)) is Cause.REQUEST
    assert error_status(body) in {None, 500}


@given(st.text(), st.frozensets(st.sampled_from([*OPTIONAL, *LIMITS, *KEYWORDS, "response_format"])))
def test_each_refusal_leads_to_a_weaker_request_until_there_is_none(message: str, fields: frozenset[str]) -> None:
    support: Support | None = Support()
    steps = 0
    while support:
        steps, last = steps + 1, support
        support = support.reduced(Said(message, frozenset(), fields), [*OPTIONAL, *LIMITS, *KEYWORDS])

    assert last.format == FORMATS[-1]
    assert steps <= len([*OPTIONAL, *LIMITS, *KEYWORDS, *FORMATS])
