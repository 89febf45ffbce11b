"""Serve the offline judge to other tools, on loopback, as a decision model and as a chat model."""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

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
from goldmeter.serving.served_judge import BadRequestError, chat, decisions, models, opinion_of, system_one
from goldmeter.serving.server import LOOPBACK

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
        description=__doc__,
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
