"""The offline judge in the forms of model servers: the bodies of requests in, the bodies of replies out."""

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from math import log
from threading import Lock
from typing import Any, Final, NamedTuple, TypeAlias

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from goldmeter.console.arguments import Parser
from goldmeter.console.terminal import exit_status, say
from goldmeter.errors import GoldmeterError
from goldmeter.models import offline
from goldmeter.serving.server import LOOPBACK
from goldmeter.text.stated_objects import stated_objects

MODEL: Final = f"goldmeter-offline-{offline.VERSION}"
# Names of members of a JSON object in a request, in lower case and without "_".
_NAMES: Final[Mapping[str, frozenset[str]]] = {
    "input": frozenset({"input", "inputs", "question", "query", "prompt", "task"}),
    "references": frozenset(
        {"groundtruth", "reference", "references", "expected", "expectedoutput", "expectedresponse", "expectations"}
        | {"ideal", "target", "targets", "acceptedanswers", "expectedanswer", "referenceanswer"}
    ),
    "response": frozenset({"output", "outputs", "response", "answer", "actualoutput", "prediction", "completion"}),
}
# Names of the one question that it answers, in the same form.
_ASKED: Final = frozenset({"correct", "iscorrect", "correctness", "right", "isright", "meaningmatch"})
# Names of any question, as MLflow and DeepEval give them, and the words of one that it answers.
_ANY: Final = re.compile(r"evaluation|verdict||q(?:uestion)?\d+")
_OF_RIGHT: Final = re.compile(
    r"(?=.*(?:answer|output|response))(?=.*(?:correct|\bright\b|\bwrong\b|accura|match|same meaning)).*",
    re.IGNORECASE | re.DOTALL,
)
_TRUE, _FALSE = frozenset({"true", "yes", "pass", "correct", "right", "1"}), frozenset(
    {"false", "no", "fail", "incorrect", "wrong", "0"}
)  # fmt: skip
_VERDICTS: Final = frozenset({"result", "verdict", "value", "label", "grade", "choice", "correct"})
_OBJECTS: Final = re.compile(r"\{.*\}", re.DOTALL)
_NONCE: Final = re.compile(r"<data nonce=(\w{1,32})>")
NO_ROW: Final = "the request holds no JSON object with an answer (output) and accepted answers (ground_truth)"
SEVERAL: Final = "the request holds several answers, or several sets of accepted answers"
OTHER_QUESTION: Final = "it answers only whether an answer is right"
OUTSIDE: Final = "outside my domain: {}"
# Members that are looked into, and words of a prompt that say nothing of what is asked.
_DEPTH: Final = 4
_FEW: Final = 5


class BadRequestError(Exception):
    """The body is no request of this form; the message says why."""


class Row(NamedTuple):
    """What is judged."""

    input: str | None
    references: tuple[str, ...]
    response: str


class Opinion(NamedTuple):
    """What the offline judge says of a row. refusal: why it says nothing; probability, reason: of a right answer."""

    refusal: str | None
    probability: float = 0.0
    reason: str = ""

    @property
    def is_right(self) -> bool:
        """The verdict."""
        return self.probability >= offline.RIGHT


def models() -> dict[str, Any]:
    """Return the body of the list of models."""
    return {"object": "list", "data": [{"id": MODEL, "object": "model", "created": 0, "owned_by": "goldmeter"}]}


def decisions(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the reply to a request of OpenAI's form, `/decisions`.

    Raises:
        BadRequestError: It is no such request.
    """
    questions = body.get("questions")
    if not isinstance(questions, list) or not all(isinstance(one, Mapping) for one in questions):
        raise BadRequestError("questions: expected a list of objects")
    opinion = opinion_of(_texts(body.get("input")))
    answers = [{"name": one.get("name"), **_answer(one, one.get("name"), opinion)} for one in questions]
    counts = {"input_tokens": 0, "output_tokens": 0, "total_tokens": 0}
    details = {"input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0}}
    thoughts = {"output_tokens_details": {"reasoning_tokens": 0}}
    return {"model": MODEL, "answers": answers, "usage": counts | details | thoughts}


def system_one(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the reply to a request of the System One form, `/systemone`; errors as of `decisions`."""
    questions = body.get("questions")
    if not isinstance(questions, Mapping) or not all(isinstance(one, Mapping) for one in questions.values()):
        raise BadRequestError("questions: expected an object of objects")
    opinion = opinion_of(_texts(body.get("state")))
    answers = {name: _answer(one, name, opinion) for name, one in questions.items()}
    return {"model": MODEL, "answers": answers, "usage": {"input_tokens": 0, "output_tokens": 0}}


def chat(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the reply to a request for a chat completion.

    It is an object by the JSON schema of the request, else with `verdict`, `probability` and `reason`.

    Raises:
        BadRequestError: It is no such request, or wants a stream.
    """
    messages = body.get("messages")
    if not isinstance(messages, list | Mapping):  # promptfoo sends a prompt that is an object instead of a list
        raise BadRequestError("messages: expected a list of objects")
    if body.get("stream"):
        raise BadRequestError("stream: replies come whole; set it to false")
    texts = _texts(messages)
    opinion = opinion_of(texts)
    said = _said(body, texts, opinion) if not opinion.refusal and _may_ask_whether_right(texts) else None
    if said is None:
        opinion = Opinion(opinion.refusal or OTHER_QUESTION)
    content = None if said is None else json.dumps(said, ensure_ascii=False)
    choice: dict[str, Any] = {
        "index": 0,
        "finish_reason": "stop",
        "message": {"role": "assistant", "content": content, "refusal": opinion.refusal},
        "logprobs": _logprobs(content, opinion) if content and body.get("logprobs") else None,
    }
    usage = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
    name = f"chatcmpl-{time.time_ns()}"
    top = {"id": name, "object": "chat.completion", "created": int(time.time()), "model": MODEL}
    return {**top, "choices": [choice], "usage": usage}


def opinion_of(texts: Sequence[str]) -> Opinion:
    """Return what the offline judge says of the one row in some texts."""
    row = row_in(texts)
    if isinstance(row, str):
        return Opinion(row)
    with _ONE_AT_A_TIME:
        judged = offline.judge([row.input], [row.references], [row.response])
    if outside := judged.outside[0]:
        return Opinion(OUTSIDE.format(outside))
    return Opinion(None, float(judged.probabilities[0]), str(judged.reasons[0]))


def row_in(texts: Sequence[str]) -> Row | str:
    """Return the one row that the JSON objects in some texts state; else, in words, why there is none."""
    found: dict[str, dict[tuple[str, ...], None]] = {name: {} for name in _NAMES}
    for text in texts:
        for one in [*stated_objects(text).objects, _lines(text)]:
            for name, value in _members(one, _DEPTH):
                found[name][value] = None
    responses = {one for value in found["response"] for one in value}
    references = {tuple(filter(str.strip, value)) for value in found["references"]} - {()}
    if len(responses) > 1 or len(references) > 1:
        return SEVERAL
    if not responses or not references:
        return NO_ROW
    asked = next(iter(found["input"]), ())
    return Row(" ".join(asked) or None, references.pop(), responses.pop())


_ONE_AT_A_TIME = Lock()
_LINE: Final = re.compile(r"^(\w{1,40}):[ \t]*(?=[\[{\"])", re.MULTILINE)


def _lines(text: str) -> dict[str, Any]:
    """Return the values of lines of a name and a JSON value, as MLflow writes them.

    >>> _lines('outputs: "It is Paris."')
    {'outputs': 'It is Paris.'}
    """
    found, decoder = dict[str, Any](), json.JSONDecoder()
    for match in _LINE.finditer(text):
        with suppress(ValueError, RecursionError):
            found[match[1]] = decoder.raw_decode(text, match.end())[0]
    return found


def _members(value: Mapping[str, Any], depth: int) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield what members of an object state of a row; an object in a member counts with its own members."""
    for key, inner in value.items():
        name = next((name for name, keys in _NAMES.items() if _plain(key) in keys), None)
        if isinstance(inner, Mapping) and depth:
            nested = [*_members(inner, depth - 1)]
            texts = tuple(one for one in inner.values() if isinstance(one, str))
            yield from nested or ([(name, texts)] if name and texts else [])
            continue
        texts = tuple(one for one in (inner if isinstance(inner, list) else [inner]) if isinstance(one, str))
        if name and texts:
            yield name, texts


def _answer(question: Mapping[str, Any], name: object, opinion: Opinion) -> dict[str, Any]:
    """Return the answer to one question: of type predicate, noul, or a choice between two verdicts."""
    kind, p = question.get("type"), opinion.probability
    refusal = opinion.refusal or (None if _asks_whether_right(_plain(name or ""), question) else OTHER_QUESTION)
    options = _options(question) if kind == "choice" else {}
    if kind not in {"predicate", "noul"} and not options:
        refusal = refusal or OTHER_QUESTION
    if refusal:
        return {"type": "refusal", "reason": refusal}
    if not options:
        return {"type": kind, "probability" if kind == "predicate" else "noul": p}
    chances = {value: p if is_true else 1.0 - p for value, is_true in options.items()}
    chosen = max(chances, key=lambda value: chances[value])
    listed: Any = [{"value": value, "probability": chance} for value, chance in chances.items()]
    if isinstance(question.get("criteria"), Mapping):
        listed = chances
    return {"type": "choice", "choice": chosen, "confidence": max(chances.values()), "probabilities": listed}


def _asks_whether_right(name: str, question: Mapping[str, Any]) -> bool:
    """Return whether a question asks if the answer is right: by its name, else by its instructions if it has any."""
    if name in _ASKED:
        return True
    stated = question.get("instructions")
    words = bool(stated) or name.startswith("q")
    return _ANY.fullmatch(name) is not None and not (words and _OF_RIGHT.match(str(stated)) is None)


def _options(question: Mapping[str, Any]) -> dict[Any, bool]:
    """Return the values of a choice between a true and a false verdict; empty for any other choice."""
    listed, by_name = question.get("choices"), question.get("criteria")
    values = [*by_name] if isinstance(by_name, Mapping) else []
    if isinstance(listed, list):
        values = [one.get("value") for one in listed if isinstance(one, Mapping)]
    found = {value: _truth(value) for value in values if isinstance(value, str | bool)}
    known = {value: is_true for value, is_true in found.items() if is_true is not None}
    return known if sorted(known.values()) == [False, True] and len(known) == len(values) else {}


def _said(body: Mapping[str, Any], texts: Sequence[str], opinion: Opinion) -> dict[str, Any] | None:
    """Return the object of a chat reply; None if its schema asks for something else than the verdict."""
    nonces = [nonce for text in texts for nonce in _NONCE.findall(text)]
    schema = _schema(body)
    if schema is None:
        said = {"verdict": opinion.is_right, "probability": opinion.probability, "reason": opinion.reason}
        return ({"nonce": nonces[-1]} if nonces else {}) | said
    found = {name: _value(name, one, opinion, nonces) for name, one in schema.items() if isinstance(one, Mapping)}
    return None if None in found.values() or len(found) < len(schema) else found


def _may_ask_whether_right(texts: Sequence[str]) -> bool:
    """Return whether a prompt's words ask if the answer is right, or there are few or none beside its JSON."""
    words = " ".join(_OBJECTS.sub(" ", text) for text in texts)
    return len(words.split()) <= _FEW or _OF_RIGHT.match(words) is not None


def _schema(body: Mapping[str, Any]) -> Mapping[str, Any] | None:
    wanted = body.get("response_format")
    inner = wanted.get("json_schema") if isinstance(wanted, Mapping) else None
    schema = inner.get("schema") if isinstance(inner, Mapping) else None
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    return properties if isinstance(properties, Mapping) else None


def _value(name: str, schema: Mapping[str, Any], opinion: Opinion, nonces: Sequence[str]) -> Any:
    """Return the value of a property of a schema; None if it asks for something else than the verdict."""
    listed = schema.get("enum")
    if isinstance(listed, list):
        return next((one for one in listed if _truth(one) == opinion.is_right), None)
    kind = schema.get("type")
    if kind == "boolean":
        return opinion.is_right
    if kind == "number":
        return opinion.probability
    if kind != "string":
        return None
    if _plain(name) == "nonce":
        return nonces[-1] if nonces else ""
    return ("yes" if opinion.is_right else "no") if _plain(name) in _VERDICTS else opinion.reason


def _logprobs(content: str, opinion: Opinion) -> dict[str, Any] | None:
    """Return log-probabilities of a reply with a verdict of true or false, in three tokens; else None."""
    found = re.search(r'": (true|false)(?=[,}])', content)
    if found is None:
        return None
    chances = {"true": opinion.probability, "false": 1.0 - opinion.probability}
    top = [{"token": word, "logprob": _logarithm(chance), "bytes": None} for word, chance in chances.items()]
    before, word, after = content[: found.start(1)], found[1], content[found.end(1) :]
    told = [(before, 0.0, []), (word, _logarithm(chances[word]), top), (after, 0.0, [])]
    tokens = [{"token": one, "logprob": p, "bytes": None, "top_logprobs": more} for one, p, more in told]
    return {"content": tokens, "refusal": None}


def _logarithm(chance: float) -> float:
    return log(max(chance, 1e-12))


def _texts(content: object) -> list[str]:
    """Return the texts of an input: a text, an object, or a list of messages or parts."""
    if isinstance(content, str):
        return [content]
    if isinstance(content, list):
        return [text for one in content for text in _texts(one)]
    if not isinstance(content, Mapping):
        return []
    inner = next((content[name] for name in ("content", "text", "json") if name in content), None)
    return [json.dumps(content)] if inner is None else _texts(inner)


def _plain(name: object) -> str:
    return str(name).casefold().replace("_", "").replace(" ", "")


def _truth(value: object) -> bool | None:
    word = _plain(value)
    return True if word in _TRUE else False if word in _FALSE else None


PORT = 8321
# Bytes of a request.
MOST_BYTES = 1 << 20
Form: TypeAlias = Callable[[Mapping[str, Any]], dict[str, Any]]
FORMS: Mapping[str, Form] = {
    "/v1/decisions": decisions,
    "/v1/systemone": system_one,
    "/v1/chat/completions": chat,
}


def main(arguments: Sequence[str]) -> int:
    """Serve until Ctrl-C; returns the exit status."""
    chosen = parser().parse_args(arguments)
    return exit_status(lambda: serve(chosen.port), "stopped")


def parser() -> Parser:
    """The parser of the command line."""
    command_line = Parser(
        prog="python -m flows.serve_judge",
        description="Serve the offline judge to other tools, on loopback, as a decision model and as a chat model.",
        epilog="It answers whether an answer is right: the request holds a JSON object with input, output and "
        "ground_truth. Exit status: 0 stopped; 2 the port is taken.",
        examples=["python -m flows.serve_judge", "python -m flows.serve_judge --port 9000"],
    )
    command_line.add_argument("--port", type=int, default=PORT, metavar="N", help=f"the port; {PORT} if not given")
    return command_line


def app() -> Starlette:
    """The server: `/v1/models`, and a POST of each form."""
    routes = [Route(path, partial(_answered, form), methods=["POST"]) for path, form in FORMS.items()]
    # A page of another site can't reach it under a name of its own.
    hosts = Middleware(TrustedHostMiddleware, allowed_hosts=[LOOPBACK, "localhost"])
    return Starlette(routes=[Route("/v1/models", _listed), *routes], middleware=[hosts])


async def _listed(_: Request) -> Response:
    return JSONResponse(models())


async def _answered(form: Form, request: Request) -> Response:
    content = bytearray()
    async for chunk in request.stream():
        content += chunk
        if len(content) > MOST_BYTES:
            return _refused(413, f"the request has more than {MOST_BYTES:,} bytes")
    try:
        body = json.loads(content)
    except (ValueError, RecursionError):
        return _refused(400, "the body is not JSON")
    if not isinstance(body, dict):
        return _refused(400, "the body is not a JSON object")
    try:
        return JSONResponse(await run_in_threadpool(form, body))
    except BadRequestError as problem:
        return _refused(400, str(problem))


def _refused(status: int, message: str) -> Response:
    error = {"message": message, "type": "invalid_request_error", "param": None, "code": None}
    return JSONResponse({"error": error}, status)


def serve(port: int) -> int:
    """Serve until Ctrl-C. Raises GoldmeterError if the port is taken."""
    import socket

    import uvicorn

    opinion_of(['{"input": "What is 1 + 1?", "output": "2", "ground_truth": ["2"]}'])  # loads the model
    with socket.socket() as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((LOOPBACK, port))
        except (OSError, OverflowError) as error:
            raise GoldmeterError(f"--port {port}: {error}; choose another one") from None
        address = f"http://{LOOPBACK}:{listening.getsockname()[1]}/v1"
        say(f"the offline judge answers at {address}: /decisions, /systemone, /chat/completions; Ctrl-C stops it")
        uvicorn.Server(uvicorn.Config(app(), log_level="warning", lifespan="off")).run([listening])
    return 0
