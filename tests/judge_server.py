"""An OpenAI-compatible server on loopback for tests: it counts calls and replies as a script says."""

import asyncio
import json
import re
import socket
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

import uvicorn
from fastapi import FastAPI, Request, Response
from fastapi.responses import StreamingResponse

from goldmeter.judging.canaries import canaries
from goldmeter.models.servers import ApiKey
from tests.batch_server import BatchEndpoints

NO_KEY = ApiKey(None, "judge.api_key_env")
"""The key of this server."""
KNOWN = {(each.input, each.output): each.verdict for each in canaries()}


class Reply(NamedTuple):
    """A response. delay: seconds before it. cut: the connection ends after so many bytes of the body.

    drip: seconds between its bytes.
    """

    status: int
    body: Any
    headers: Mapping[str, str] = {"retry-after-ms": "1"}
    delay: float = 0.0
    cut: int | None = None
    drip: float = 0.0


Answer = tuple[int, Any] | Reply
Script = Callable[[dict[str, Any]], Answer]


class JudgeServer:
    """What was asked, and who answers; `script` maps a request's body to a status and a body."""

    def __init__(self) -> None:
        self.calls: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.headers: list[dict[str, str]] = []
        self.script: Script = lambda body: completion(verdict(body))
        self.url = ""
        self.paths = {"decisions"}
        self.batches = BatchEndpoints(lambda body: Reply(*self.script(body))[:2])
        self._lock = threading.Lock()

    def answer(self, body: dict[str, Any], headers: dict[str, str]) -> Answer:
        with self._lock:
            self.calls.append(body)
            self.keys.append(headers.get("authorization"))
            self.headers.append(headers)
        return self.script(body)


def question(body: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Nonce and fields of a request."""
    match = re.match(r"<data nonce=(\w+)>\n(.*)\n</data nonce=\w+>", body["messages"][1]["content"], re.DOTALL)
    assert match
    return match[1], json.loads(match[2])


def verdict(body: dict[str, Any]) -> str:
    """An honest judge's reply: right when the answer contains an accepted one; it knows the canaries."""
    nonce, fields = question(body)
    contains = any(truth.lower() in fields["output"].lower() for truth in fields["ground_truth"])
    right = KNOWN.get((fields["input"], fields["output"]), contains)
    rates = "rating" in body["messages"][0]["content"]
    return json.dumps(
        {"nonce": nonce, "reason": "compared", **({"rating": 5 if right else 1} if rates else {"verdict": right})}
    )


def completion(content: str | None, model: str = "judge-2026-01", finish: str = "stop", **message: Any) -> Answer:
    """A successful response with that content."""
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": content, **message}}
    usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
    return 200, {
        "id": "1",
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "choices": [choice],
        "usage": usage,
    }


def problem(status: int, message: str = "no") -> Answer:
    """An error response."""
    return status, {"error": {"message": message, "type": "error", "code": None}}


async def _dripping(content: bytes, pause: float) -> AsyncIterator[bytes]:
    for byte in content:
        yield bytes([byte])
        await asyncio.sleep(pause)


class _Broken(StreamingResponse):
    """A response whose connection ends before its body does."""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        with suppress(RuntimeError):  # uvicorn: fewer bytes than announced, and ends the connection
            await super().__call__(scope, receive, send)


def _app(judge: JudgeServer) -> FastAPI:
    app = FastAPI()

    @app.post("/v1/chat/completions")
    @app.post("/v1/decisions")
    @app.post("/v1/systemone")
    async def complete(request: Request) -> Response:
        path = request.url.path.removeprefix("/v1/")
        if path != "chat/completions" and path not in judge.paths:
            return Response('{"detail":"Not Found"}', 404, {"Content-Type": "application/json"})
        reply = Reply(*judge.answer(await request.json(), dict(request.headers)))
        await asyncio.sleep(reply.delay)
        content = (reply.body if isinstance(reply.body, str) else json.dumps(reply.body)).encode()
        headers = {"Content-Type": "application/json", **reply.headers}
        if reply.drip:
            return StreamingResponse(_dripping(content, reply.drip), reply.status, headers)
        if reply.cut is None:
            return Response(content, reply.status, headers)
        length = {"Content-Length": str(len(content))}
        return _Broken(iter([content[: reply.cut]]), reply.status, headers | length)

    @app.api_route("/v1/files", methods=["POST"])
    @app.api_route("/v1/files/{rest:path}", methods=["GET"])
    @app.api_route("/v1/batches", methods=["GET", "POST"])
    @app.api_route("/v1/batches/{rest:path}", methods=["GET"])
    async def batch(request: Request) -> Response:
        path, query = request.url.path, dict(request.query_params)
        status, answer, cut = judge.batches.serve(request.method, path, query, await request.body())
        content = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        if not cut:
            return Response(content, status, {"Content-Type": "application/json", "retry-after-ms": "1"})
        return _Broken(iter([content[:5]]), status, {"Content-Length": str(len(content))})

    return app


class _Server(uvicorn.Server):
    """Ends at once: uvicorn looks each 0.1 s whether to end, and waits 0.1 s more, in each of hundreds of tests."""

    async def main_loop(self) -> None:
        while not self.should_exit:  # noqa: ASYNC110 (another thread sets it)
            await asyncio.sleep(0.002)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for listener in (*self.servers, *(sockets or ())):
            listener.close()
        for connection in [*self.server_state.connections]:
            connection.shutdown()
        if self.server_state.tasks:
            await asyncio.wait(self.server_state.tasks, timeout=1)


@contextmanager
def serving() -> Iterator[JudgeServer]:
    """A running server, which ends with the block."""
    judge = JudgeServer()
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listening:  # asyncio: no delay then
        listening.bind(("127.0.0.1", 0))
        listening.listen(128)
        judge.url = f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
        options: Any = {"log_config": None, "access_log": False, "lifespan": "off"}
        server = _Server(uvicorn.Config(_app(judge), **options))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        try:
            yield judge
        finally:
            server.should_exit = True
            thread.join()
