"""An OpenAI-compatible server on loopback for tests: it counts calls and replies as a script says."""

import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = tuple[int, Any]
Script = Callable[[dict[str, Any]], Answer]


class JudgeServer:
    """What was asked, and who answers; `script` maps a request's body to a status and a body."""

    def __init__(self) -> None:
        self.calls: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.script: Script = lambda body: completion(verdict(body))
        self.url = ""
        self._lock = threading.Lock()

    def answer(self, body: dict[str, Any], key: str | None) -> Answer:
        with self._lock:
            self.calls.append(body)
            self.keys.append(key)
        return self.script(body)


def question(body: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Nonce and fields of a request."""
    match = re.fullmatch(r"<data nonce=(\w+)>\n(.*)\n</data nonce=\w+>", body["messages"][1]["content"], re.DOTALL)
    assert match
    return match[1], json.loads(match[2])


def verdict(body: dict[str, Any]) -> str:
    """An honest judge's reply: right when the answer contains an accepted one."""
    nonce, fields = question(body)
    right = any(truth.lower() in fields["output"].lower() for truth in fields["ground_truth"])
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


@contextmanager
def serving() -> Iterator[JudgeServer]:
    """A running server."""
    judge = JudgeServer()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            status, answer = judge.answer(body, self.headers["Authorization"])
            content = (answer if isinstance(answer, str) else json.dumps(answer)).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.send_header("retry-after-ms", "1")
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        judge.url = f"http://127.0.0.1:{server.server_port}/v1"
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        try:
            yield judge
        finally:
            server.shutdown()
